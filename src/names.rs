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
/// On an Alertmanager: `http` or `https`.
pub const ALERTMANAGER_SCHEME: &str = usher!("alertmanager-scheme");
/// On an Alertmanager: a Secret with `ca.crt`, `tls.crt` and `tls.key` for usher.
pub const ALERTMANAGER_TLS_SECRET: &str = usher!("alertmanager-tls-secret");
/// On an Alertmanager: believe any certificate.
pub const ALERTMANAGER_TLS_INSECURE: &str = usher!("alertmanager-tls-insecure");
/// On an Alertmanager: a Secret with `token`, or with `username` and `password`.
pub const ALERTMANAGER_AUTH_SECRET: &str = usher!("alertmanager-auth-secret");
/// On an Alertmanager: the tenant, for Mimir.
pub const ALERTMANAGER_TENANT: &str = usher!("alertmanager-tenant");
/// On a Silence: usher's finalizer, as the proposal names it.
pub const SILENCE_CLEANUP: &str = "monitoring.coreos.com/silence-cleanup";
/// On a Silence that is being deleted: let it go although Alertmanagers cannot be reached.
pub const SILENCE_FORCE_DELETE: &str = usher!("force-delete");
/// On a Silence: a silence that was made by hand and is taken over.
pub const ADOPT: &str = usher!("adopt");
/// On a Silence: somebody with the permission wanted it although it is broad; holds the hash of its matchers.
pub const BROAD_ALLOWED: &str = usher!("broad-allowed");
/// On a silence in an Alertmanager: who keeps it; the value is [`USHER`].
pub const MANAGED_BY: &str = usher!("managed-by");
/// On a silence in an Alertmanager: from which cluster.
pub const CLUSTER: &str = usher!("cluster");
/// On a silence in an Alertmanager: the uid of its Silence.
pub const SILENCE_UID: &str = usher!("uid");
/// On a silence in an Alertmanager: a hash of what it says.
pub const SPEC_HASH: &str = usher!("spec-hash");
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
