//! Answers that no healthy Alertmanager gives: each is told for what it is, and nothing is concluded from it.

use serde_json::json;

use super::*;
use crate::support::alertmanager_fake::{Call, Fault, Setup};

/// Case 31: the list fails as a whole because of somebody else's silence. Known ids are read one by one, nothing is
/// made anew, and the condition keeps its value and names the cause.
#[tokio::test(flavor = "multi_thread")]
async fn case_31_a_list_that_fails_as_a_whole_makes_no_storm() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let running = usher(cluster, settings()).await;
    for name in ["one", "two", "three"] {
        apply(cluster, &silence("frontend", name, json!([{"name": "service", "value": name}])));
        told(cluster, "frontend", name, "True/SilenceApplied").await;
    }
    fake.always(Call::List, Fault::multiple_sets("5b1b07c8-c4a2-4b1c-9f5a-0d4ff8f5a7a1"));
    let posts = fake.count(Call::Post);
    for name in ["one", "two", "three"] {
        until(30, "the cause is named", || async {
            let object = stored(cluster, "frontend", name);
            let message = binding(&object, "main")["conditions"][0]["message"].to_string();
            message.contains("multiple matcher sets")
        })
        .await;
    }
    apply(cluster, &silence("frontend", "new", json!([{"name": "service", "value": "new"}])));
    told(cluster, "frontend", "new", "False/AlertmanagerUnavailable").await;
    some_passes().await;
    for name in ["one", "two", "three"] {
        assert_eq!(ready(&stored(cluster, "frontend", name)), "True/SilenceApplied", "{name}");
    }
    assert_eq!(fake.count(Call::Post), posts, "made anew");
    assert!(fake.count(Call::Get) > 0);
    assert_eq!(fake.live().len(), 3);
    fake.heal();
    told(cluster, "frontend", "new", "True/SilenceApplied").await;
    assert_eq!(fake.live().len(), 4);
    clean(cluster);
    running.stop().await;
}

/// Cases 32 and 33: too many requests at once are tried again; a POST that was applied and never answered is found in
/// the next list, and not sent again.
#[tokio::test(flavor = "multi_thread")]
async fn case_32_33_what_may_have_arrived_is_looked_for_before_it_is_sent_again() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let running = usher(cluster, settings()).await;
    // Case 32: three in a row would open the circuit.
    fake.times(2, Call::List, Fault::too_many());
    apply(cluster, &silence("frontend", "busy", json!([{"name": "service", "value": "busy"}])));
    until(20, "asked in vain", || async { fake.count(Call::List) >= 1 }).await;
    told(cluster, "frontend", "busy", "True/SilenceApplied").await;
    let heard = events(cluster, "busy");
    assert!(!heard.iter().any(|reason| ["AuthenticationFailed", "InvalidSpec"].contains(&reason.as_str())));
    assert_eq!(fake.count(Call::Post), 1);

    // Case 33, both ways: no answer at all, and a connection that breaks.
    for (name, fault) in [("mute", Fault::AppliedThenNever), ("broken", Fault::AppliedThenClosed)] {
        let posts = fake.count(Call::Post);
        fake.once(Call::Post, fault);
        apply(cluster, &silence("frontend", name, json!([{"name": "service", "value": name}])));
        let object = told(cluster, "frontend", name, "True/SilenceApplied").await;
        assert_eq!(fake.count(Call::Post), posts + 1, "{name}: sent again");
        let live = fake.live();
        let found: Vec<&Value> =
            live.iter().filter(|silence| silence["createdBy"] == format!("frontend/{name}")).collect();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(binding(&object, "main")["silenceID"], found[0]["id"]);
    }
    clean(cluster);
    running.stop().await;
}

/// Case 53: a proxy that answers in Alertmanager's place: redirects are not followed, pages are no lists, and refusals
/// are told apart.
#[tokio::test(flavor = "multi_thread")]
async fn case_53_a_proxy_that_answers_instead_is_not_believed() {
    let (cluster, _turn) = stage().await;
    let (fake, elsewhere) = tokio::join!(Fake::start(Setup::default()), Fake::start(Setup::default()));
    place_fake(cluster, "main", &fake, json!({}));
    let login = format!("{}/api/v2/silences", elsewhere.url());
    fake.always(Call::Any, Fault::redirect(&login));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "False/UnexpectedResponse").await;
    assert_eq!(elsewhere.connections(), 0, "the redirect was followed");
    running.stop().await;
    for (fault, reason) in [
        (Fault::page(), "False/UnexpectedResponse"),
        (Fault::status(404, "not found"), "False/UnexpectedResponse"),
        (Fault::status(401, "who are you"), "False/AuthenticationFailed"),
        (Fault::status(403, "not you"), "False/PermissionDenied"),
    ] {
        fake.heal();
        fake.always(Call::Any, fault);
        // A fresh one: what is refused is tried again rarely.
        let running = usher(cluster, settings()).await;
        let object = told(cluster, "frontend", "api", reason).await;
        assert!(!object["metadata"].to_string().contains("silence-cleanup"), "never sent, never held");
        let word = reason.trim_start_matches("False/").to_owned();
        until(10, "the event", || async { events(cluster, "api").contains(&word) }).await;
        running.stop().await;
    }
    assert!(fake.silences().is_empty());
    assert_eq!(fake.count(Call::Post) + fake.count(Call::Delete), 0);
    let running = usher(cluster, settings()).await;
    fake.heal();
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    clean(cluster);
    running.stop().await;
}
