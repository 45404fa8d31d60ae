//! The calls of Alertmanager's API v2: what is sent, and what its answers, old and new, and those of others mean.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use usher::upstream::alertmanager::{Alertmanager, Draft, Matcher, State};
use usher::upstream::error::Cause;

use crate::server::{Server, reply, text_of};

const ID: &str = "f3b1c9a0-4d5e-4f60-8a7b-9c0d1e2f3a4b";

fn listed(id: &str, state: &str) -> Value {
    json!({
        "id": id, "matchers": [{"name": "a", "value": "b", "isRegex": false, "isEqual": true}],
        "startsAt": "2026-11-18T10:00:00.000Z", "endsAt": "2026-11-18T12:00:00.000Z",
        "updatedAt": "2026-11-18T10:00:00.000Z", "createdBy": "frontend/quiet", "comment": "why",
        "status": {"state": state},
    })
}

fn draft(id: Option<&str>) -> Draft {
    Draft {
        id: id.map(str::to_owned),
        matchers: vec![Matcher {
            name: "a".to_owned(),
            value: "b".to_owned(),
            is_regex: false,
            is_equal: true,
        }],
        starts_at: "2026-11-18T10:00:00Z".parse().unwrap(),
        ends_at: "2026-11-18T12:00:00.5Z".parse().unwrap(),
        created_by: "frontend/quiet".to_owned(),
        comment: "why".to_owned(),
        annotations: BTreeMap::from([("usher.dev/managed-by".to_owned(), "usher".to_owned())]),
    }
}

async fn saying(status: u16, body: &str) -> (Alertmanager, Server) {
    let server = Server::saying(status, body).await;
    (Alertmanager::new(server.client()), server)
}

#[tokio::test]
async fn all_silences_are_asked_for_below_the_prefix() {
    let body = json!([listed(ID, "active"), listed("b", "expired"), listed("c", "pending")]).to_string();
    let server = Server::saying(200, &body).await;
    let client = crate::server::client(server.endpoint().at("/am/"));
    let silences = Alertmanager::new(client).list().await.unwrap();
    let states: Vec<_> = silences.iter().map(|silence| silence.state).collect();
    assert_eq!(states, [State::Active, State::Expired, State::Pending]);
    assert_eq!(server.last().uri, "/am/api/v2/silences?active=true&pending=true&expired=true");
    assert!(saying(200, "[]").await.0.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_list_of_many_megabytes_is_read() {
    let mut one = listed(ID, "active");
    one["comment"] = json!("x".repeat(1000));
    let body = json!(vec![one; 8000]).to_string();
    assert!(body.len() > 8 << 20);
    assert_eq!(saying(200, &body).await.0.list().await.unwrap().len(), 8000);
}

#[tokio::test]
async fn a_list_that_is_none_is_never_an_empty_one() {
    let odd = json!([listed(ID, "paused")]).to_string();
    for (status, body) in [
        (200, "<html>login</html>"),
        (200, ""),
        (200, "null"),
        (200, "{}"),
        (200, "[{}]"),
        (200, odd.as_str()),
        (200, "[] []"),
        (201, "[]"),
        (204, ""),
        (302, ""),
        (307, "[]"),
        (404, ""),
        (404, "404 page not found\n"),
        (404, r#"{"code":404,"message":"path /api/v2/silences was not found"}"#),
        (405, r#"{"code":405,"message":"method GET is not allowed"}"#),
        (410, "{}"),
        (400, "Client sent an HTTP request to an HTTPS server.\n"),
    ] {
        text_of(saying(status, body).await.0.list().await, "unexpected_response");
    }
}

#[tokio::test]
async fn outages_and_refusals_are_told_apart() {
    for (status, body, label) in [
        (401, "Unauthorized", "unauthorized"),
        (403, "Forbidden", "forbidden"),
        (429, "", "unavailable"),
        (500, "\"boom\"", "unavailable"),
        (502, "<html>", "unavailable"),
        (503, "Limit of concurrent GET requests reached (8), try again later.\n", "unavailable"),
        (400, "\"bad filter\"", "rejected"),
    ] {
        let (alertmanager, _server) = saying(status, body).await;
        text_of(alertmanager.list().await, label);
        text_of(alertmanager.get(ID).await, label);
        text_of(alertmanager.post(&draft(None)).await, label);
        text_of(alertmanager.expire(ID).await, label);
        text_of(alertmanager.status().await, label);
        text_of(alertmanager.alerts(10).await, label);
    }
}

#[tokio::test]
async fn a_list_that_one_silence_spoils_says_so() {
    let body =
        json!(format!("silence '{ID}' has multiple matcher sets which is not supported by this API version"));
    let (alertmanager, _server) = saying(500, &body.to_string()).await;
    let error = alertmanager.list().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unlistable(text) if text.as_str().contains(ID)), "{error}");
    // A page that happens to hold the word is an outage.
    text_of(saying(500, "no matcher").await.0.list().await, "unavailable");
}

#[tokio::test]
async fn a_silence_is_read_or_unknown() {
    let (alertmanager, server) = saying(200, &listed(ID, "active").to_string()).await;
    assert_eq!(alertmanager.get(ID).await.unwrap().unwrap().id, ID);
    assert_eq!(server.last().uri, format!("/api/v2/silence/{ID}").as_str());
    assert_eq!(saying(404, "").await.0.get(ID).await.unwrap(), None);
    // Whoever says this does not speak of silences.
    for body in ["404 page not found\n", "<html>", r#"{"code":404,"message":"path was not found"}"#] {
        text_of(saying(404, body).await.0.get(ID).await, "unexpected_response");
        text_of(saying(404, body).await.0.expire(ID).await, "unexpected_response");
        text_of(saying(404, body).await.0.post(&draft(Some(ID))).await, "unexpected_response");
    }
    text_of(saying(200, "[]").await.0.get(ID).await, "unexpected_response");
    let message = r#"{"code":601,"message":"silenceID in path must be of type uuid: \"x\""}"#;
    assert!(
        text_of(saying(422, message).await.0.get("x").await, "rejected").contains("must be of type uuid")
    );
}

#[tokio::test]
async fn a_draft_is_posted_as_api_v2_has_it() {
    let (alertmanager, server) = saying(200, &json!({"silenceID": ID}).to_string()).await;
    assert_eq!(alertmanager.post(&draft(Some("old"))).await.unwrap(), ID);
    let seen = server.last();
    assert_eq!((seen.method.as_str(), seen.uri.path()), ("POST", "/api/v2/silences"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let expected = json!({
        "id": "old", "matchers": [{"name": "a", "value": "b", "isRegex": false, "isEqual": true}],
        "startsAt": "2026-11-18T10:00:00.000Z", "endsAt": "2026-11-18T12:00:00.500Z",
        "createdBy": "frontend/quiet", "comment": "why", "annotations": {"usher.dev/managed-by": "usher"},
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn a_post_without_a_usable_answer_may_have_worked() {
    for body in ["<html>", "{}", r#"{"silenceID": ""}"#, r#"{"silenceID": "a/b"}"#, ""] {
        let error = saying(200, body).await.0.post(&draft(None)).await.unwrap_err();
        assert_eq!(error.label(), "unexpected_response", "{error}");
        assert!(error.may_have_arrived());
    }
    assert!(saying(502, "").await.0.post(&draft(None)).await.unwrap_err().may_have_arrived());
    assert!(!saying(400, "\"no\"").await.0.post(&draft(None)).await.unwrap_err().may_have_arrived());
}

#[tokio::test]
async fn refusals_of_a_post_have_their_words_and_limits_their_own_cause() {
    let post = async |status, body: &str, id| saying(status, body).await.0.post(&draft(id)).await;
    let text = text_of(post(400, r#""end time can't be in the past""#, None).await, "rejected");
    assert!(text.ends_with("rejected (status 400): end time can't be in the past"), "{text}");
    let coded = r#"{"code":602,"message":"comment in body is required"}"#;
    assert!(text_of(post(422, coded, None).await, "rejected").contains("comment in body"));
    for limit in [
        "exceeded maximum number of silences: 5 (limit: 5)",
        "silence exceeded maximum size: 900 bytes (limit: 100 bytes)",
    ] {
        assert!(text_of(post(400, &json!(limit).to_string(), None).await, "limit_exceeded").contains(limit));
    }
    text_of(post(404, "\"silence not found\"", Some(ID)).await, "not_found");
    // A new one cannot be missing: somebody else speaks.
    text_of(post(404, "\"silence not found\"", None).await, "unexpected_response");
    let long = json!(format!("bad\u{1b}[2J{}", "x".repeat(5000))).to_string();
    let text = text_of(post(400, &long, None).await, "rejected");
    assert!(!text.contains('\u{1b}') && text.chars().count() < 700, "{text}");
}

#[tokio::test]
async fn a_silence_is_expired_whatever_the_version_says() {
    let (alertmanager, server) = saying(200, "").await;
    assert!(alertmanager.expire(ID).await.unwrap());
    assert_eq!(server.last().method, "DELETE");
    assert!(!saying(404, "").await.0.expire(ID).await.unwrap());
    assert!(!saying(500, "\"silence not found\"").await.0.expire(ID).await.unwrap());
    let before = json!(format!("silence {ID} already expired")).to_string();
    assert!(saying(500, &before).await.0.expire(ID).await.unwrap());
    text_of(saying(500, "silence not found").await.0.expire(ID).await, "unavailable");
}

#[tokio::test]
async fn an_id_that_is_none_is_not_sent() {
    let (alertmanager, server) = saying(200, "{}").await;
    for id in ["", "../status", "a b", "ä"] {
        text_of(alertmanager.get(id).await, "bad_id");
        text_of(alertmanager.expire(id).await, "bad_id");
        text_of(alertmanager.post(&draft(Some(id))).await, "bad_id");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn status_and_alerts_are_read() {
    let server = Server::start(None, |seen| {
        let body = match seen.uri.path() {
            "/api/v2/status" => {
                json!({"cluster": {"status": "disabled"}, "versionInfo": {"version": "0.34.2"},
                "uptime": "2026-11-18T10:00:00.000Z", "config": {"original": ""}})
            }
            _ => json!([{"labels": {"alertname": "A"}, "status": {"state": "suppressed", "silencedBy": [ID],
                "inhibitedBy": []}}, {"labels": {}, "status": {"state": "active", "silencedBy": []}}]),
        };
        reply(200, &body.to_string())
    })
    .await;
    let alertmanager = Alertmanager::new(server.client());
    assert_eq!(alertmanager.status().await.unwrap().version.as_deref(), Some("0.34.2"));
    let alerts = alertmanager.alerts(1).await.unwrap();
    assert_eq!((alerts.first.len(), alerts.total), (1, 2));
    assert_eq!(alerts.first.first().unwrap().silenced_by, [ID]);
    text_of(saying(200, "{\"status\":\"ok\"}").await.0.status().await, "unexpected_response");
    text_of(saying(200, "<html>").await.0.alerts(1).await, "unexpected_response");
}
