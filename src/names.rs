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
/// On an Account: let it go at once, whatever still uses it.
pub const SKIP_CLEANUP: &str = "uptimerobot.com/skip-cleanup";
/// On an Account: keeps it until nothing uses it any more.
pub const ACCOUNT_IN_USE: &str = "uptimerobot.com/account-in-use";
/// Label of Leases that are claims.
pub const CLAIM: &str = usher!("claim");
/// On a claim: the uid of the object that was admitted.
pub const CLAIM_UID: &str = usher!("claim-uid");
/// On a claim: the resourceVersion that the admitted update starts from; empty for a creation.
pub const CLAIM_FROM: &str = usher!("claim-from");
/// On a claim: `pending` or `confirmed`.
pub const CLAIM_PHASE: &str = usher!("claim-phase");
/// On a claim: several admissions of the holder may still land.
pub const CLAIM_OVERLAP: &str = usher!("claim-overlap");
/// On the certificate Secret: asks for a new CA.
pub const ROTATE: &str = usher!("rotate");
/// The name of the Service, the Deployment, the webhook configurations and everything else that is installed once.
pub const USHER: &str = "usher";
/// The namespace that usher is installed in unless told otherwise.
pub const NAMESPACE: &str = "usher-system";
/// The Lease of the leader.
pub const LEADER_LEASE: &str = "usher-leader";
/// The Secret of `--cert-mode self`.
pub const CERTIFICATE_SECRET: &str = "usher-certificate";
/// Who usher is in `managedFields` and in events.
pub const FIELD_MANAGER: &str = "usher";
/// Prefix of audit annotations (the API server puts the webhook's name before the key).
pub const AUDIT_CODES: &str = "codes";
