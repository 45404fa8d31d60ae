//! Names that usher writes on objects. One prefix, one place.

/// `usher.dev/…`, put together at compile time.
macro_rules! usher {
    ($name:literal) => {
        concat!("usher.dev/", $name)
    };
}

/// On an Alertmanager: which Silences it selects (selector text; `*` is everything).
pub const SILENCE_SELECTOR: &str = usher!("silence-selector");
/// On an Alertmanager: from which namespaces.
pub const SILENCE_NAMESPACE_SELECTOR: &str = usher!("silence-namespace-selector");
/// On an Alertmanager: always enforce the namespace.
pub const NAMESPACE_INJECTION: &str = usher!("namespace-injection");
/// On an Alertmanager: how to reach it.
pub const ALERTMANAGER_URL: &str = usher!("alertmanager-url");
/// On an Alertmanager: through which container port.
pub const ALERTMANAGER_PORT: &str = usher!("alertmanager-port");
/// On a Silence: who created it; written by the mutating door.
pub const CREATED_BY: &str = usher!("created-by");
/// On a Silence: who last changed its spec; written by the mutating door.
pub const MODIFIED_BY: &str = usher!("modified-by");
/// On a Silence: what is sent to each enforcing Alertmanager; written by the mutating door, informative.
pub const ENFORCED_MATCHERS: &str = usher!("enforced-matchers");
/// On a Silence: the matcher that the mutating door added to the spec.
pub const INJECTED_MATCHERS: &str = usher!("injected-matchers");
/// On an Account: delete it although it is in use.
pub const FORCE_DELETE: &str = "uptimerobot.com/force-delete";
/// Prefix of audit annotations (the API server puts the webhook's name before the key).
pub const AUDIT_CODES: &str = "codes";
