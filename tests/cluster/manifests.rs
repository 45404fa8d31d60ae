//! The CRDs and examples on the real API server.

use serde_json::Value;

use crate::cluster;

/// Everything that the file says is in the stored object, with the same value.
fn assert_stored(wanted: &Value, stored: &Value, path: &str) {
    match wanted {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{path}.{key}");
                let found = stored.get(key).unwrap_or_else(|| panic!("{path} was pruned"));
                assert_stored(value, found, &path);
            }
        }
        Value::Array(items) => {
            assert_eq!(stored.as_array().map(Vec::len), Some(items.len()), "{path}");
            for (index, item) in items.iter().enumerate() {
                assert_stored(item, &stored[index], &format!("{path}[{index}]"));
            }
        }
        other => assert_eq!(other, stored, "{path}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_stores_every_example_whole() {
    let (cluster, _turn) = cluster().await;
    let examples = crate::support::root().join("examples");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        count += 1;
        let file = path.display().to_string();
        let (ok, stored, errors) = cluster
            .kubectl(&["apply", "--validate=strict", "--dry-run=server", "-o", "json", "-f", &file], None);
        assert!(ok && errors.is_empty(), "{file}: {errors}");
        let stored: Value = serde_json::from_str(&stored).unwrap();
        let documents = usher::yaml::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(documents.len(), 1, "{file} holds one object");
        assert_stored(&documents[0].root.to_json(), &stored, &file);
    }
    assert_eq!(count, usher::kinds::TABLE.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_served_version_can_be_listed() {
    let (cluster, _turn) = cluster().await;
    for kind in usher::kinds::TABLE {
        for version in kind.versions {
            let resource = format!("{}.{version}.{}", kind.plural, kind.group);
            let (ok, _, errors) = cluster.kubectl(&["get", &resource, "-A"], None);
            assert!(ok, "{resource}: {errors}");
        }
    }
}
