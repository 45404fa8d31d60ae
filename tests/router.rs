//! The HTTP contract of the admission routes, in process, without a socket.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used)]

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode};
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use usher::observe::metrics::Metrics;
use usher::review::door::Door;
use usher::rule::Uniqueness;
use usher::serve::admission::{Shared, router};
use usher::serve::limits::{LARGEST_BODY, Limits};
use usher::settings::Settings;
use usher::view::View;

const VALIDATE: &str = "/admit/validate/monitoring.coreos.com/silence";
const MUTATE: &str = "/admit/mutate/monitoring.coreos.com/silence";

struct Server {
    router: Router,
    metrics: Arc<Metrics>,
}

fn server(in_flight: usize) -> Server {
    let metrics = Arc::new(Metrics::default());
    let door = Door::new(Arc::new(Settings::default()), Arc::new(View::default()), Uniqueness::ByView);
    let shared = Shared {
        door: Arc::new(ArcSwap::from_pointee(door)),
        claims: None,
        permissions: None,
        limits: Limits::new(in_flight),
        metrics: Arc::clone(&metrics),
        stopping: Arc::default(),
    };
    Server { router: router(shared), metrics }
}

impl Server {
    async fn post(&self, path: &str, body: impl Into<Body>) -> (StatusCode, String) {
        let request = Request::post(path).header("content-type", "application/json; charset=utf-8");
        self.send(request.body(body.into()).unwrap()).await
    }

    async fn send(&self, request: Request<Body>) -> (StatusCode, String) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }
}

fn silence(spec: Value) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
        "metadata": {"name": "s", "namespace": "shop"}, "spec": spec
    })
}

fn good() -> Value {
    silence(
        json!({"comment": "c", "duration": "2h", "matchers": [{"name": "alertname", "value": "Down", "matchType": "="}]}),
    )
}

fn review(operation: &str, object: Value, old: Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5", "operation": operation, "name": "s", "namespace": "shop",
            "kind": {"group": "monitoring.coreos.com", "version": "v1alpha1", "kind": "Silence"},
            "userInfo": {"username": "alice", "groups": ["a"]}, "object": object, "oldObject": old
        }
    })
}

fn response(text: &str) -> Value {
    let answer: Value = serde_json::from_str(text).unwrap();
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["response"]["uid"], "705ab4f5");
    answer["response"].clone()
}

#[tokio::test]
async fn a_good_object_is_allowed_and_a_bad_one_denied_with_its_causes() {
    let server = server(8);
    let (status, text) = server.post(VALIDATE, review("CREATE", good(), Value::Null).to_string()).await;
    assert_eq!((status, response(&text)["allowed"].as_bool()), (StatusCode::OK, Some(true)));

    let mut bad = good();
    bad["spec"]["comment"] = json!(" ");
    bad["spec"]["duration"] = json!("0s");
    let (status, text) = server.post(VALIDATE, review("CREATE", bad, Value::Null).to_string()).await;
    let answer = response(&text);
    assert_eq!((status, answer["allowed"].as_bool()), (StatusCode::OK, Some(false)));
    assert_eq!(answer["status"]["code"], 422);
    assert_eq!(answer["status"]["details"]["causes"].as_array().unwrap().len(), 2);
    let metrics = server.metrics.render();
    assert!(metrics.contains(r#"kind="Silence",operation="CREATE",verdict="denied""#), "{metrics}");
    assert!(
        metrics
            .contains(r#"usher_admission_findings_total{kind="Silence",code="USHS006",severity="error"} 1"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn an_ill_typed_object_passes_mutate_unpatched_and_is_denied_with_its_path_by_validate() {
    let server = server(8);
    let mut ill = good();
    ill["spec"]["matchers"][0]["value"] = json!(5);
    let (_, text) = server.post(MUTATE, review("CREATE", ill.clone(), Value::Null).to_string()).await;
    assert_eq!(response(&text), json!({"uid": "705ab4f5", "allowed": true}));
    let (_, text) = server.post(VALIDATE, review("CREATE", ill, Value::Null).to_string()).await;
    let cause = &response(&text)["status"]["details"]["causes"][0];
    assert_eq!(cause["field"], "spec.matchers[0].value");
    assert!(cause["message"].as_str().unwrap().contains("USHX014"), "{cause}");
}

#[tokio::test]
async fn what_must_never_be_blocked_is_not() {
    let server = server(8);
    let mut invalid = good();
    invalid["spec"]["comment"] = json!(" ");
    let mut terminating = invalid.clone();
    terminating["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut labelled = invalid.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    let mut finalized = invalid.clone();
    finalized["metadata"]["finalizers"] = json!(["a/b"]);
    for (new, old, warns) in
        [(terminating, good(), false), (labelled, invalid.clone(), true), (finalized, invalid.clone(), false)]
    {
        let (_, text) = server.post(VALIDATE, review("UPDATE", new, old).to_string()).await;
        let answer = response(&text);
        assert_eq!(answer["allowed"], json!(true), "{answer}");
        assert_eq!(answer.get("warnings").is_some(), warns, "{answer}");
    }
    // The same holds for objects that do not even decode.
    let mut ill = invalid.clone();
    ill["spec"]["comment"] = json!(3);
    let mut dying = ill.clone();
    dying["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut renamed = ill.clone();
    renamed["metadata"]["labels"] = json!({"a": "b"});
    for new in [dying, renamed] {
        let (_, text) = server.post(VALIDATE, review("UPDATE", new, ill.clone()).to_string()).await;
        assert_eq!(response(&text)["allowed"], json!(true), "{text}");
    }
    let (_, text) = server.post(VALIDATE, review("UPDATE", ill, invalid.clone()).to_string()).await;
    assert_eq!(response(&text)["allowed"], json!(false), "{text}");
    let mut status = review("UPDATE", invalid, good());
    status["request"]["subResource"] = json!("status");
    let (_, text) = server.post(VALIDATE, status.to_string()).await;
    assert_eq!(response(&text)["allowed"], json!(true));
}

#[tokio::test]
async fn an_update_that_makes_an_invalid_object_better_is_admitted_with_warnings() {
    let server = server(8);
    let mut old = good();
    old["spec"]["comment"] = json!(" ");
    old["spec"]["duration"] = json!("0s");
    let mut better = old.clone();
    better["spec"]["duration"] = json!("1h");
    let (_, text) = server.post(VALIDATE, review("UPDATE", better, old.clone()).to_string()).await;
    let answer = response(&text);
    assert_eq!(answer["allowed"], json!(true), "{answer}");
    assert!(answer["warnings"][0].as_str().unwrap().contains("USHS001"), "{answer}");
    let mut worse = old.clone();
    worse["spec"]["matchers"] = json!([{"name": "a", "value": "x"}, {"name": "a", "value": "y"}]);
    let (_, text) = server.post(VALIDATE, review("UPDATE", worse, old).to_string()).await;
    assert_eq!(response(&text)["allowed"], json!(false));
}

#[tokio::test]
async fn bad_reviews_get_a_clear_client_error_and_are_counted() {
    let server = server(8);
    let mut beta = review("CREATE", good(), Value::Null);
    beta["apiVersion"] = json!("admission.k8s.io/v1beta1");
    let mut no_uid = review("CREATE", good(), Value::Null);
    no_uid["request"]["uid"] = json!("");
    let mut pod = review("CREATE", good(), Value::Null);
    pod["request"]["kind"] = json!({"group": "", "version": "v1", "kind": "Pod"});
    let deep = review("CREATE", good(), Value::Null)
        .to_string()
        .replace("\"c\"", &format!("{}1{}", "[".repeat(9_000), "]".repeat(9_000)));
    for (path, body, status, word) in [
        (VALIDATE, beta.to_string(), 400, "admission.k8s.io/v1"),
        (VALIDATE, no_uid.to_string(), 400, "uid"),
        (VALIDATE, pod.to_string(), 400, "Silence.monitoring.coreos.com"),
        (VALIDATE, "{".to_owned(), 400, "AdmissionReview"),
        (VALIDATE, String::new(), 400, "AdmissionReview"),
        (VALIDATE, deep, 400, "nested"),
        (
            "/admit/validate/monitoring.coreos.com/podmonitor",
            "{}".to_owned(),
            404,
            "monitoring.coreos.com/silence",
        ),
        ("/admit/mutate/uptimerobot.com/contact", "{}".to_owned(), 404, "/admit/"),
        ("/", String::new(), 404, "/admit/"),
    ] {
        let (got, text) = server.post(path, body).await;
        assert_eq!(got.as_u16(), status, "{text}");
        assert!(text.contains(word), "{text}");
    }
    let get = Request::get(VALIDATE).body(Body::empty()).unwrap();
    assert_eq!(server.send(get).await.0, StatusCode::METHOD_NOT_ALLOWED);
    let plain = Request::post(VALIDATE).header("content-type", "text/plain").body(Body::from("{}")).unwrap();
    assert_eq!(server.send(plain).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let metrics = server.metrics.render();
    for reason in [
        "wrong_version",
        "no_uid",
        "wrong_kind",
        "not_json",
        "too_deep",
        "unknown_kind",
        "method",
        "media_type",
    ] {
        assert!(
            metrics.contains(&format!("usher_admission_bad_reviews_total{{reason=\"{reason}\"}}")),
            "{reason}: {metrics}"
        );
    }
}

/// Two objects of 2 MiB fit; 8 MiB do not, announced or not.
#[tokio::test]
async fn the_body_limit_is_that_of_two_objects() {
    let server = server(8);
    let mut large = good();
    large["metadata"]["annotations"] = json!({"blob": "x".repeat(2 * 1024 * 1024)});
    let body = review("UPDATE", large.clone(), large).to_string();
    assert!(body.len() > 4 * 1024 * 1024);
    let (status, text) = server.post(VALIDATE, body).await;
    assert_eq!((status, response(&text)["allowed"].as_bool()), (StatusCode::OK, Some(true)));
    assert_eq!(server.post(VALIDATE, vec![b' '; 8 * 1024 * 1024]).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let pieces = (0..80).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 100 * 1024])));
    let stream = Body::from_stream(futures::stream::iter(pieces));
    assert_eq!(server.post(VALIDATE, stream).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(LARGEST_BODY, 7 * 1024 * 1024);
}

#[tokio::test]
async fn a_full_server_sheds_with_429_and_retry_after() {
    let server = server(1);
    // A body that never comes holds the only place.
    let slow = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
    let router = server.router.clone();
    let request = Request::post(VALIDATE).header("content-type", "application/json").body(slow).unwrap();
    let held = tokio::spawn(router.oneshot(request));
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let request = Request::post(VALIDATE).header("content-type", "application/json");
    let request = request.body(Body::from(review("CREATE", good(), Value::Null).to_string())).unwrap();
    let shed = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(shed.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(shed.headers()["retry-after"], "1");
    assert!(server.metrics.render().contains("usher_admission_shed_total 1"));
    held.abort();
    let _ = held.await;
    let (status, _) = server.post(VALIDATE, review("CREATE", good(), Value::Null).to_string()).await;
    assert_eq!(status, StatusCode::OK, "the place is free again");
}

#[tokio::test]
async fn a_patch_leaves_unknown_fields_alone() {
    let server = server(8);
    let mut object = good();
    object["spec"]["unknown"] = json!({"n": 12345678901234567890_u64});
    let (_, text) = server.post(MUTATE, review("CREATE", object.clone(), Value::Null).to_string()).await;
    use base64::Engine as _;
    let patch = response(&text)["patch"].as_str().unwrap().to_owned();
    let patch = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
    let operations: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(response(&text)["patchType"], "JSONPatch");
    for operation in operations.as_array().unwrap() {
        assert!(operation["path"].as_str().unwrap().starts_with("/metadata/annotations"), "{operation}");
    }
    let patch: json_patch::Patch = serde_json::from_slice(&patch).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    assert_eq!(object["metadata"]["annotations"]["usher.dev/created-by"], "alice");
    assert_eq!(object["spec"]["unknown"]["n"].to_string(), "12345678901234567890");
}

/// Arbitrary JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("2026-01-10T10:00:00Z")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("name|value|matchType|key|[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever is in the objects, both routes of every kind answer, and the answer is a review.
    #[test]
    fn any_object_is_answered(
        field in "comment|matchers|duration|expiresAt|schedule|tlsConfig|relabelings|apiKeySecretRef|contact|isDefault",
        value in any_json(),
        meta in any_json(),
        old in any_json(),
        operation in "CREATE|UPDATE|DELETE",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = server(8);
        for kind in usher::kinds::TABLE.iter().filter(|kind| kind.admission.is_some()) {
            let mut object = good();
            object["spec"][field.as_str()] = value.clone();
            object["metadata"]["labels"] = meta.clone();
            let mut review = review(&operation, object.clone(), if old.is_null() { object } else { old.clone() });
            review["request"]["kind"] = json!({"group": kind.group, "kind": kind.kind});
            for phase in ["validate", "mutate"] {
                let path = format!("/admit/{phase}/{}/{}", kind.group, kind.route());
                let (status, text) = runtime.block_on(server.post(&path, review.to_string()));
                let mutates = kind.admission.as_ref().is_some_and(|admission| admission.mutate.is_some());
                let known = phase == "validate" || mutates;
                prop_assert_eq!(status, if known { StatusCode::OK } else { StatusCode::NOT_FOUND }, "{}", text);
            }
        }
    }
}
