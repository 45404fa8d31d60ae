//! `usher silence import` and `preview` as people and scripts use them: the real binary, against Alertmanagers in this
//! process that can be made to fail, to ask for credentials, or to be old.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used)]

#[path = "support/mod.rs"]
mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::alertmanager_fake::{Answer, Call, Fake, Fault, Setup};
use support::alertmanagers::Release;

/// What the command said, and how it ended.
struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn usher(arguments: &[&str], input: &str, directory: &Path) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_usher"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), errors: text(output.stderr) }
}

/// The fake answers on another thread while the command is waited for.
async fn ran(arguments: &[&str], input: &str, directory: &Path) -> Said {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let (input, directory) = (input.to_owned(), directory.to_owned());
    let run = move || usher(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &input, &directory);
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn by_hand(id: &str, matchers: Value) -> Value {
    let now = jiff::Timestamp::now();
    json!({
        "id": id, "matchers": matchers, "createdBy": "jane", "comment": "disk swap: \"a\"\nline # two\u{85}",
        "startsAt": now, "endsAt": now + jiff::SignedDuration::from_hours(2),
    })
}

fn matcher(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value, "isRegex": false, "isEqual": true})
}

const ONE: &str = "11111111-aaaa-4000-8000-000000000001";
const TWO: &str = "22222222-aaaa-4000-8000-000000000002";
const THREE: &str = "33333333-aaaa-4000-8000-000000000003";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_passes_the_check_and_the_rest_is_told() {
    let (one, two) = (Fake::start(Setup::default()).await, Fake::start(Setup::default()).await);
    let there = tempfile::tempdir().unwrap();
    one.insert(&by_hand(ONE, json!([matcher("namespace", "shop"), matcher("service", "api")])));
    two.insert(&by_hand(ONE, json!([matcher("namespace", "shop"), matcher("service", "api")])));
    two.insert(&by_hand(TWO, json!([{"name": "pod", "value": "web-.*", "isRegex": true, "isEqual": false}])));
    let mut ours = by_hand(THREE, json!([matcher("namespace", "shop")]));
    ours["annotations"] = json!({"usher.dev/managed-by": "usher"});
    one.insert(&ours);
    let mut ended = by_hand("44444444", json!([matcher("namespace", "shop")]));
    ended["endsAt"] = json!(jiff::Timestamp::now() - jiff::SignedDuration::from_mins(1));
    ended["startsAt"] = json!(jiff::Timestamp::now() - jiff::SignedDuration::from_mins(2));
    one.insert(&ended);

    let urls = format!("{},{}", one.url(), two.url());
    let said = ran(&["silence", "import", "--alertmanager", &urls], "", there.path()).await;
    assert_eq!(said.code, Some(0), "{}", said.errors);
    let documents = usher::yaml::read(&said.out).unwrap();
    assert_eq!(documents.len(), 1, "{}", said.out);
    let object = documents[0].root.to_json();
    assert_eq!(object["metadata"]["annotations"]["usher.dev/adopt"], ONE);
    assert_eq!(object["spec"]["comment"], "disk swap: \"a\"\nline # two\u{85}");
    assert!(
        said.errors.contains("skipped 22222222") && said.errors.contains("choose one with -n"),
        "{}",
        said.errors
    );
    let summary = "1 printed, 1 skipped; left out: 1 ended, 1 kept by usher already";
    assert!(said.errors.contains(summary), "{}", said.errors);

    let said = ran(&["silence", "import", "-n", "shop", "--alertmanager", &urls], "", there.path()).await;
    assert_eq!(said.out.matches("kind: Silence").count(), 2, "{}", said.out);
    assert!(said.errors.contains("note: 22222222") && said.errors.contains("narrower"), "{}", said.errors);
    let checked = ran(&["check", "-"], &said.out, there.path()).await;
    assert_eq!(checked.code, Some(0), "{}", checked.out);
    let shown = ran(&["silence", "preview", "-f", "-"], &said.out, there.path()).await;
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.errors);
    assert_eq!(
        one.count(Call::Post) + one.count(Call::Delete) + two.count(Call::Post),
        0,
        "nothing is changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_import_is_no_failure() {
    let fake = Fake::start(Setup::default()).await;
    let there = tempfile::tempdir().unwrap();
    let said = ran(&["silence", "import", "--alertmanager", &fake.url()], "", there.path()).await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""));
    assert!(said.errors.contains("0 printed"), "{}", said.errors);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_be_asked_is_named_and_hides_nobody() {
    let (up, down) = (Fake::start(Setup::default()).await, Fake::start(Setup::default()).await);
    let there = tempfile::tempdir().unwrap();
    up.insert(&by_hand(ONE, json!([matcher("namespace", "shop")])));
    down.always(Call::Any, Fault::page());
    let urls = format!("{},{}", down.url(), up.url());
    let said = ran(&["silence", "import", "--alertmanager", &urls], "", there.path()).await;
    assert_eq!(said.code, Some(2));
    assert!(said.out.contains(ONE), "{}", said.out);
    assert!(said.errors.contains(&down.address.to_string()), "{}", said.errors);
    let gone = "http://127.0.0.1:1";
    let said = ran(&["silence", "import", "--alertmanager", gone], "", there.path()).await;
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.errors);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_alertmanager_cannot_tell_whose_a_signed_silence_is() {
    let fake = Fake::start(Setup { release: Release::Old, ..Setup::default() }).await;
    let there = tempfile::tempdir().unwrap();
    let mut signed = by_hand(ONE, json!([matcher("namespace", "shop")]));
    signed["createdBy"] = json!("shop/api");
    fake.insert(&signed);
    fake.insert(&by_hand(TWO, json!([matcher("namespace", "shop")])));
    let said = ran(&["silence", "import", "--alertmanager", &fake.url()], "", there.path()).await;
    assert!(said.out.contains(TWO) && !said.out.contains(ONE), "{}", said.out);
    assert!(said.errors.contains("before 0.32"), "{}", said.errors);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_come_from_files_and_are_never_shown() {
    let fake = Fake::start(Setup::default()).await;
    fake.expect_token("hunter2");
    fake.insert(&by_hand(ONE, json!([matcher("namespace", "shop")])));
    let there = tempfile::tempdir().unwrap();
    let at = there.path();
    std::fs::write(at.join("token"), "hunter2\n").unwrap();
    std::fs::write(at.join("wrong"), "hunter3\n").unwrap();
    let url = fake.url();
    let import = ["silence", "import", "--alertmanager", &url];
    let said = ran(&[&import[..], &["--token-file", "token", "--tenant", "blue"]].concat(), "", at).await;
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(said.out.contains(ONE));
    assert_eq!(fake.seen().first().unwrap().tenant.as_deref(), Some("blue"));
    let named = format!("http://me:hunter4@{}", fake.address);
    for arguments in [
        vec![],
        vec!["--token-file", "wrong"],
        vec!["--token-file", "missing"],
        vec!["--username-file", "token"],
        vec!["--token-file", "token", "--cert-file", "token", "--key-file", "token"],
        vec!["--alertmanager", &named],
    ] {
        let said = ran(&[&import[..], &arguments].concat(), "", at).await;
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{arguments:?}: {}", said.errors);
        assert!(!said.errors.contains("hunter"), "{arguments:?}: {}", said.errors);
    }
}

const SILENCE: &str = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata: {name: quiet}\nspec:\n  comment: work\n  duration: 2h\n  matchers: [{name: service, value: 'api|web', matchType: =~}]\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_shows_what_would_be_muted_and_refusals_first() {
    let fake = Fake::start(Setup::default()).await;
    let alert = |service: &str, namespace: &str, by: Value| {
        let labels =
            json!({"alertname": "Down", "service": service, "namespace": namespace, "severity": "critical"});
        json!({"labels": labels, "status": {"state": "active", "silencedBy": by, "inhibitedBy": []}})
    };
    let alerts = json!([
        alert("api", "shop", json!([])),
        alert("web", "bank", json!([])),
        alert("web", "shop", json!(["x"]))
    ]);
    fake.always(Call::Alerts, Fault::Answer(Answer::json(200, &alerts)));
    let there = tempfile::tempdir().unwrap();
    let at = there.path();
    std::fs::write(at.join("good.yaml"), SILENCE).unwrap();
    std::fs::write(at.join("bad.yaml"), SILENCE.replace("work", "' '").replace("quiet", "bad")).unwrap();
    let url = fake.url();
    let said =
        ran(&["silence", "preview", "-n", "shop", "-f", "good.yaml", "--alertmanager", &url], "", at).await;
    assert_eq!(said.code, Some(0), "{}", said.errors);
    for part in [
        "Silence shop/quiet (good.yaml)\n",
        r#"sent as   {service=~"api|web", namespace="shop"}"#,
        "enforcement of the namespace is assumed",
        "mutes     2 of 3 firing alerts (2 critical, 1 muted already)",
        r#"    {alertname="Down", namespace="shop", service="web", severity="critical"}  (muted already)"#,
    ] {
        assert!(said.out.contains(part), "{part}\n{}", said.out);
    }

    let said = ran(&["silence", "preview", "-f", "bad.yaml", "good.yaml"], "", at).await;
    assert_eq!(said.code, Some(1), "{}", said.errors);
    assert!(said.out.starts_with("error[USHS001]"), "{}", said.out);
    assert!(
        said.out.contains("Silence default/bad (bad.yaml)\n  would be refused: see above\n"),
        "{}",
        said.out
    );
    assert!(said.out.contains("Silence default/quiet (good.yaml)\n  window "), "{}", said.out);

    fake.always(Call::Alerts, Fault::status(503, "busy"));
    let said = ran(&["silence", "preview", "-f", "good.yaml", "--alertmanager", &url], "", at).await;
    assert_eq!(said.code, Some(2), "{}", said.errors);
    assert!(said.out.contains("Silence default/quiet"), "{}", said.out);
}

#[test]
fn wrong_usage_is_told_apart() {
    let there = tempfile::tempdir().unwrap();
    let at = there.path();
    std::fs::write(at.join("other.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n").unwrap();
    for arguments in [
        vec!["silence"],
        vec!["silence", "import"],
        vec!["silence", "import", "--alertmanager", "nonsense"],
        vec!["silence", "import", "--alertmanager", "http://127.0.0.1:1", "-n", "No Name"],
        vec!["silence", "preview"],
        vec!["silence", "preview", "-f", "missing.yaml"],
        vec!["silence", "preview", "-f", "other.yaml"],
        vec!["silence", "release", "--kubeconfig", "missing"],
    ] {
        let said = usher(&arguments, "", at);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}", said.errors);
        assert!(!said.errors.is_empty(), "{arguments:?}");
    }
    let help = usher(&["silence", "preview", "-h"], "", at).out;
    let (own, alertmanager) = help.split_once("\nAlertmanager:\n").unwrap();
    assert!(own.contains("--objects") && alertmanager.contains("to ask for firing alerts"), "{help}");
    for command in ["import", "preview", "release"] {
        let said = usher(&["silence", command, "--help"], "", at);
        assert!(said.code == Some(0) && said.out.contains("[env: USHER_"), "{command}: {}", said.out);
    }
}
