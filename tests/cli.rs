//! The command line as people and scripts use it: the real binary, real files.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used)]

#[path = "support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const GOOD: &str = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata: {name: good, namespace: shop}\nspec:\n  comment: work\n  duration: 2h\n  matchers: [{name: alertname, value: Down}]\n";
const BAD: &str = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata: {name: bad, namespace: shop}\nspec:\n  comment: \" \"\n  duration: 2h\n  matchers: [{name: alertname, value: Up}]\n";

fn usher(arguments: &[&str], input: &str, directory: &Path) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_usher"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn exit_codes_tell_findings_from_wrong_usage() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "good.yaml", GOOD);
    write(at, "bad.yaml", BAD);
    write(at, "warned.yaml", &GOOD.replace("duration: 2h", "duration: 60d"));
    write(at, "broken.yaml", "a: [\n");
    for (arguments, code) in [
        (vec!["check", "good.yaml"], 0),
        (vec!["check", "bad.yaml"], 1),
        (vec!["check", "warned.yaml"], 0),
        (vec!["check", "--strict", "warned.yaml"], 1),
        (vec!["check", "broken.yaml"], 1),
        (vec!["check", "missing.yaml"], 2),
        (vec!["check"], 2),
        (vec!["check", "--nonsense", "good.yaml"], 2),
        (vec!["check", "--silence-max-duration", "1x", "good.yaml"], 2),
        (vec!["explain", "USHS004"], 0),
        (vec!["explain", "nothing"], 2),
        (vec!["serve"], 2),
        (vec!["--version"], 0),
        (vec!["completions", "bash"], 0),
    ] {
        let output = usher(&arguments, "", at);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The form that other programs rely on.
#[test]
fn json_is_one_object_per_line_and_a_summary() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "two.yaml", &format!("# first\n{GOOD}---\n{BAD}"));
    let output = usher(&["check", "-o", "json", "two.yaml"], "", at);
    let lines = lines(&output);
    assert_eq!(lines.len(), 2);
    let expected = serde_json::json!({
        "file": "two.yaml", "document": 1, "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
        "namespace": "shop", "name": "bad", "severity": "error", "code": "USHS001", "path": "spec.comment",
        "line": 14, "column": 12, "message": "the comment is blank",
        "help": "say why the alerts are muted and until when you expect it"
    });
    assert_eq!(lines[0], expected);
    assert_eq!(
        lines[1],
        serde_json::json!({"summary": {"files": 1, "documents": 2, "errors": 1, "warnings": 0}})
    );
    let keys = [
        "file",
        "document",
        "apiVersion",
        "kind",
        "namespace",
        "name",
        "severity",
        "code",
        "path",
        "line",
        "column",
        "message",
        "help",
    ];
    let text = out(&output);
    let places: Vec<usize> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "the keys stand in their order");
}

#[test]
fn text_shows_the_line_with_a_caret() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "bad.yaml", BAD);
    let text = out(&usher(&["check", "bad.yaml"], "", directory.path()));
    for part in [
        "error[USHS001]: the comment is blank",
        "--> bad.yaml:5:12",
        "5 |   comment: \" \"",
        "^^^ spec.comment",
        "help:",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colours without a terminal");
    let coloured = out(&usher(&["check", "--color", "always", "bad.yaml"], "", directory.path()));
    assert!(coloured.contains('\u{1b}'));
}

#[test]
fn sarif_and_github_name_file_line_and_code() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "a b.yaml", BAD);
    let github = out(&usher(&["check", "-o", "github", "a b.yaml"], "", directory.path()));
    assert!(
        github.starts_with("::error file=a b.yaml,line=5,col=12,title=USHS001::spec.comment: "),
        "{github}"
    );
    let sarif: Value =
        serde_json::from_str(&out(&usher(&["check", "-o", "sarif", "a b.yaml"], "", directory.path())))
            .unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (sarif["version"].as_str(), result["ruleId"].as_str(), result["level"].as_str()),
        (Some("2.1.0"), Some("USHS001"), Some("error"))
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
    assert_eq!(
        (place["region"]["startLine"].as_u64(), place["region"]["startColumn"].as_u64()),
        (Some(5), Some(12))
    );
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], "USHS001");
}

#[test]
fn lists_directories_stdin_and_gitignore() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [
        usher::yaml::read(BAD).unwrap()[0].root.to_json(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    ]});
    write(at, "set/b/list.json", &list.to_string());
    write(at, "set/a.yml", BAD);
    write(at, "set/ignored/bad.yaml", BAD);
    write(at, "set/.hidden.yaml", BAD);
    write(at, "set/readme.txt", BAD);
    write(at, "set/.gitignore", "ignored/\n");
    let found = lines(&usher(&["check", "-o", "json", "set"], "", at));
    let files: Vec<&str> = found.iter().filter_map(|line| line["file"].as_str()).collect();
    assert_eq!(files, ["set/a.yml", "set/b/list.json"], "a stable order, and nothing that is ignored");
    assert_eq!(found.last().unwrap()["summary"]["documents"], 2);
    let output = usher(&["check", "-o", "json", "-"], BAD, at);
    assert_eq!(lines(&output)[0]["file"], "<stdin>");
    let text = out(&usher(&["check", "set"], "", at));
    assert!(text.contains("note: 1 object of kinds that usher does not know"), "{text}");
}

#[test]
fn rules_see_the_whole_file_set_and_what_exists_already() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let account = |name: &str| {
        format!(
            "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {{name: {name}}}\nspec: {{isDefault: true, apiKeySecretRef: {{name: s, key: k}}}}\n"
        )
    };
    write(at, "set/one.yaml", &account("one"));
    write(at, "set/two.yaml", &account("two"));
    write(at, "there/zero.yaml", &account("zzz"));
    let found = lines(&usher(&["check", "-o", "json", "set"], "", at));
    assert_eq!(found.len(), 2, "the lowest name is the incumbent: {found:?}");
    assert_eq!((found[0]["name"].as_str(), found[0]["code"].as_str()), (Some("two"), Some("USHA002")));
    let found = lines(&usher(&["check", "-o", "json", "--objects", "there", "set/one.yaml"], "", at));
    assert_eq!((found[0]["name"].as_str(), found[0]["code"].as_str()), (Some("one"), Some("USHA002")));
    assert_eq!(found.last().unwrap()["summary"]["files"], 1, "what exists is not judged");
}

#[test]
fn the_default_namespace_and_the_instant_can_be_given() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(
        at,
        "s.yaml",
        "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata: {name: s}\nspec:\n  comment: work\n  expiresAt: 2026-01-10T12:00:00Z\n  matchers: [{name: namespace, value: other}, {name: a, value: b}]\n",
    );
    let found = lines(&usher(
        &["check", "-o", "json", "-n", "shop", "--now", "2026-01-10T10:00:00Z", "s.yaml"],
        "",
        at,
    ));
    assert_eq!((found[0]["code"].as_str(), found[0]["namespace"].as_str()), (Some("USHS010"), Some("shop")));
    let found = lines(&usher(
        &["check", "-o", "json", "-n", "other", "--now", "2026-01-10T13:00:00Z", "s.yaml"],
        "",
        at,
    ));
    assert_eq!(found[0]["code"], "USHS004");
}

#[test]
fn settings_come_from_flags_variables_and_the_file_in_that_order() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "s.yaml", GOOD);
    write(at, "usher.yaml", "silence-max-duration: 1h\n");
    let run = |arguments: &[&str], variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_usher"));
        command.args(["check", "-o", "json", "s.yaml"]).args(arguments).current_dir(at);
        if let Some(value) = variable {
            command.env("USHER_SILENCE_MAX_DURATION", value);
        }
        command.output().unwrap().status.code()
    };
    assert_eq!(run(&[], None), Some(0));
    assert_eq!(run(&["--config", "usher.yaml"], None), Some(1));
    assert_eq!(run(&["--config", "usher.yaml"], Some("3h")), Some(0));
    assert_eq!(run(&["--config", "usher.yaml", "--silence-max-duration", "30m"], Some("3h")), Some(1));
    let output = Command::new(env!("CARGO_BIN_EXE_usher"))
        .args(["explain", "Silence"])
        .env("USHER_PORT", "tcp://1")
        .output()
        .unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("USHER_PORT"));
}

#[test]
fn diff_shows_what_the_mutating_door_would_change() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "s.yaml", &GOOD.replace("  duration: 2h\n", ""));
    write(
        at,
        "am.yaml",
        "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: main, namespace: monitoring}\nspec: {silenceSelector: {}, silenceNamespaceSelector: {}}\n",
    );
    let text =
        out(&usher(&["diff", "--silence-default-duration", "4h", "--objects", "am.yaml", "s.yaml"], "", at));
    assert!(
        text.contains("+  duration: \"4h\"") && text.contains("+    usher.dev/enforced-matchers:"),
        "{text}"
    );
    assert!(text.contains("1 changed, 0 unchanged"), "{text}");
}

/// The first two lines are for scripts, and the curl line works when pasted.
#[test]
fn standalone_prints_a_curl_line_that_works() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "objects/account.yaml",
        "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {name: main}\nspec: {isDefault: true, apiKeySecretRef: {name: s, key: k}}\n",
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_usher"))
        .args([
            "serve",
            "--standalone",
            "--objects",
            "objects",
            "--listen",
            "127.0.0.1:0",
            "--diagnostics-listen",
            "127.0.0.1:0",
        ])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (first, second) = (said.next().unwrap(), said.next().unwrap());
    assert!(
        first.starts_with("admission https://127.0.0.1:")
            && second.starts_with("diagnostics http://127.0.0.1:")
    );
    let curl = said.find_map(|line| line.strip_prefix("try: ").map(str::to_owned)).unwrap();
    let output = Command::new("bash").args(["-c", &format!("{curl} --silent --show-error")]).output();
    let answer = output.ok().filter(|output| output.status.success()).map(|output| out(&output));

    // Another object in the directory is seen without a restart.
    let diagnostics = second.strip_prefix("diagnostics ").unwrap().to_owned();
    let status = |path: &str| {
        let output =
            Command::new("curl").args(["--silent", &format!("{diagnostics}{path}")]).output().unwrap();
        out(&output)
    };
    assert_eq!(status("/readyz"), "ok\n");
    write(
        directory.path(),
        "objects/second.yaml",
        "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {name: other}\nspec: {apiKeySecretRef: {name: s, key: k}}\n",
    );
    let mut accounts = Value::Null;
    for _ in 0..100 {
        let shown: Value = serde_json::from_str(&status("/statusz")).unwrap();
        let row =
            shown["objects"].as_array().unwrap().iter().find(|row| row["kind"] == "Account").unwrap().clone();
        accounts = row["objects"].clone();
        if accounts == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let metrics = status("/metrics");
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    let ended = child.wait().unwrap();
    let answer: Value = serde_json::from_str(&answer.expect("curl ran")).unwrap();
    assert_eq!(answer["response"]["allowed"], false);
    assert!(answer["response"]["status"]["message"].as_str().unwrap().contains("USHS001"));
    assert_eq!(accounts, 2, "the new object was not seen");
    assert!(
        metrics.contains("usher_tls_certificate_not_after_seconds") && metrics.contains("verdict=\"denied\""),
        "{metrics}"
    );
    assert!(ended.success(), "SIGTERM ends it in order: {ended:?}");
}

/// Links in a circle are passed over; what cannot be read is named, and the rest is judged all the same.
#[test]
fn one_bad_path_does_not_hide_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "set/bad.yaml", BAD);
    write(at, "elsewhere/linked.yaml", &GOOD.replace("name: good", "name: linked"));
    std::os::unix::fs::symlink("../set", at.join("set/circle")).unwrap();
    std::os::unix::fs::symlink("nowhere", at.join("set/latest")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/linked.yaml", at.join("set/linked.yaml")).unwrap();
    let output = usher(&["check", "-o", "json", "set"], "", at);
    assert_eq!((output.status.code(), lines(&output).len()), (Some(1), 2), "{}", out(&output));
    assert_eq!(lines(&output)[1]["summary"]["files"], 2, "a linked manifest is read");
    std::os::unix::fs::symlink("nowhere", at.join("set/broken.yaml")).unwrap();
    for arguments in
        [vec!["check", "-o", "json", "set"], vec!["check", "-o", "json", "missing.yaml", "set/bad.yaml"]]
    {
        let output = usher(&arguments, "", at);
        assert_eq!((output.status.code(), lines(&output)[0]["code"].as_str()), (Some(2), Some("USHS001")));
        assert!(!output.stderr.is_empty());
    }
    let output = usher(&["check", "/dev/zero"], "", at);
    assert_eq!(output.status.code(), Some(2), "an endless file ends");
}

#[test]
fn a_syntax_error_leaves_the_other_documents_judged() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "mixed.yaml",
        &format!("{BAD}---\na: [\n---\n{}", BAD.replace("name: bad", "name: last")),
    );
    let found = lines(&usher(&["check", "-o", "json", "mixed.yaml"], "", directory.path()));
    let mut codes: Vec<(u64, &str)> =
        found.iter().filter_map(|line| Some((line["document"].as_u64()?, line["code"].as_str()?))).collect();
    codes.sort_unstable();
    codes.retain(|(_, code)| *code != "USHS105");
    assert_eq!(codes, [(0, "USHS001"), (1, "USHX001"), (2, "USHS001")]);
    assert_eq!(found.last().unwrap()["summary"]["documents"], 3);
}

/// The caret stands under the part of the value that is meant.
#[test]
fn a_finding_points_at_the_part_of_a_value() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "class.yaml",
        "apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeClass\nmetadata: {name: c}\nspec:\n  tlsConfig:\n    caFile: \"/etc/../ca.pem\"\n",
    );
    let found = lines(&usher(&["check", "-o", "json", "class.yaml"], "", directory.path()));
    assert_eq!(
        (found[0]["code"].as_str(), found[0]["line"].as_u64(), found[0]["column"].as_u64()),
        (Some("USHC013"), Some(6), Some(19))
    );
}

/// In a literal and in a folded block, in quotes with escapes, and over several lines: the caret is under the character.
#[test]
fn a_caret_is_exact_inside_every_scalar() {
    let directory = tempfile::tempdir().unwrap();
    let rule = |expr: &str| {
        format!(
            "apiVersion: loki.grafana.com/v1\nkind: RecordingRule\nmetadata: {{name: a, namespace: shop}}\nspec:\n  tenantID: shop\n  groups:\n  - name: a\n    rules:\n    - record: a:b\n      expr: {expr}\n"
        )
    };
    for (name, expr) in [
        ("literal", "|\n        sum(rate(\n          {app=\"a\"}\n          | json = 1 [5m]\n        ))"),
        ("folded", ">-\n        sum(rate({app=\"a\"}\n        | json\n\n        = 1 [5m]))"),
        ("double", "\"sum(rate({app=\\\"a\\\"}\\n| json = 1 [5m]))\""),
        ("single", "'sum(rate({app=\"it''s\"}\n\n        | json = 1 [5m]))'"),
        ("plain", "sum(rate({app=\"a\"}\n        | json = 1 [5m]))"),
    ] {
        let text = rule(expr);
        write(directory.path(), "rule.yaml", &text);
        let output = usher(&["check", "-o", "json", "rule.yaml"], "", directory.path());
        let finding = &lines(&output)[0];
        assert_eq!(finding["code"], "USHL004", "{name}: {finding}");
        let (line, column) = (finding["line"].as_u64().unwrap(), finding["column"].as_u64().unwrap());
        let written = text.lines().nth(line as usize - 1).unwrap();
        let at: String = written.chars().skip(column as usize - 1).collect();
        assert!(at.starts_with("= 1"), "{name}: points at {at:?} in {written:?}");
    }
}

/// What the mutating door added moves every place behind it: the file is not blamed for a text that is not in it.
#[test]
fn a_finding_in_a_changed_text_points_at_the_whole_value() {
    let directory = tempfile::tempdir().unwrap();
    let text = "apiVersion: loki.grafana.com/v1\nkind: RecordingRule\nmetadata: {name: a, namespace: shop}\nspec:\n  tenantID: shop\n  groups:\n  - name: a\n    rules:\n    - record: a:b\n      expr: rate({a=\"b\"} |~ \"[\"[5m])  +1\n";
    write(directory.path(), "rule.yaml", text);
    let arguments = ["check", "-o", "json", "--tenancy-mode", "inject", "--tenancy-label", "ns", "rule.yaml"];
    let output = usher(&arguments, "", directory.path());
    let finding = &lines(&output)[0];
    assert_eq!(finding["code"], "USHL015", "{finding}");
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(10), Some(13)), "{finding}");
}

#[test]
fn output_that_nobody_reads_to_the_end_is_no_failure_of_ours() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "bad.yaml", BAD);
    let binary = env!("CARGO_BIN_EXE_usher");
    for command in ["completions bash", "explain all", "manifests crds"] {
        let line = format!("{binary} {command} | true; exit ${{PIPESTATUS[0]}}");
        let output = Command::new("bash").args(["-c", &line]).current_dir(directory.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
    }
    let line = format!("{binary} check bad.yaml | true; exit ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &line]).current_dir(directory.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the verdict stays");
}

const RULER: &str = "apiVersion: loki.grafana.com/v1\nkind: RulerConfig\nmetadata: {name: loki, namespace: shop}\nspec:\n  alertmanager:\n    endpoints: [\"ftp://bob:hunter2@am\"]\n    client:\n      headerAuth:\n        credentials: hunter2\n        credentialsFile: /run/token\n      basicAuth: {username: bob, password: hunter2}\n";

/// The line is shown, the secret is not; whatever the output.
#[test]
fn a_secret_is_masked_in_every_output() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "ruler.yaml", RULER);
    for form in ["text", "github", "json", "sarif"] {
        let output = usher(&["check", "-o", form, "ruler.yaml"], "", directory.path());
        let shown = out(&output);
        assert!(
            shown.contains("USHG001") && shown.contains("USHG003") && shown.contains("USHG101"),
            "{shown}"
        );
        assert!(!shown.contains("hunter2"), "{form}: {shown}");
        if form == "text" {
            assert!(
                shown.contains("credentials: *******\n") && shown.contains("password: *******}"),
                "{shown}"
            );
            assert!(shown.contains("ftp://bob:*******@am"), "{shown}");
        }
    }
}

/// What a file holds is shown by the terminal and never obeyed, whether it is written or escaped there.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let keyed = BAD.replace("spec:\n", "spec:\n  \"\\e[31mkey\\u009b\": 1\n");
    let raw = BAD.replace("spec:\n", "spec:\n  key\u{1b}[31m: 1\n");
    let late = BAD.replace("Up", "\u{9b}Up\u{202e}");
    write(directory.path(), "keyed.yaml", &keyed);
    write(directory.path(), "raw\u{1b}[1m.yaml", &raw);
    write(directory.path(), "late.yaml", &late);
    for form in ["text", "github"] {
        let output = usher(&["check", "--color", "never", "-o", form, "."], "", directory.path());
        let shown = out(&output);
        let wild = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(shown.contains("\\u{1b}") && !shown.contains(wild), "{form}: {shown:?}");
    }
}
