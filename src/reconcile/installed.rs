//! Can a kind be worked on? Its gate, its CRD with a schema that can hold what usher writes, and usher's rights decide.
//!
//! A kind that cannot is off by itself: the rest goes on, readiness stays, and it starts without a restart as soon as
//! everything is there.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::Value;

use crate::gates::Gates;
use crate::kinds::KindInfo;
use crate::manifests::crd;

/// Whether a kind is worked on, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// Not looked yet, or the API server does not answer.
    Unknown(String),
    /// Yes.
    Yes,
    /// Its system is switched off.
    GateDisabled,
    /// There is no such CRD.
    CrdMissing,
    /// There is one, and it is not usher's: the field that it lacks.
    IncompatibleCrd(String),
    /// usher may not do what it must: the missing right.
    RbacDenied(String),
}

impl Installed {
    /// Every word that [`Self::reason`] can give.
    pub const REASONS: [&'static str; 6] =
        ["", "Unknown", "GateDisabled", "CRDMissing", "IncompatibleCRD", "RBACDenied"];

    /// A word for metrics; empty when the kind is worked on.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "Unknown",
            Self::Yes => "",
            Self::GateDisabled => "GateDisabled",
            Self::CrdMissing => "CRDMissing",
            Self::IncompatibleCrd(_) => "IncompatibleCRD",
            Self::RbacDenied(_) => "RBACDenied",
        }
    }

    /// The same for people.
    pub fn why(&self) -> String {
        match self {
            Self::Unknown(why) => why.clone(),
            Self::Yes => String::new(),
            Self::GateDisabled => "switched off by its feature gate".to_owned(),
            Self::CrdMissing => "the kind is not installed; it is used as soon as it is".to_owned(),
            Self::IncompatibleCrd(field) => {
                format!("IncompatibleCRD: the installed CRD is not usher's ({field}); it is left alone")
            }
            Self::RbacDenied(right) => format!("usher may not {right}"),
        }
    }
}

/// Looks whether a kind can be worked on.
pub async fn look(client: &Client, kind: &KindInfo, gates: &Gates) -> Installed {
    if !gates.is_on(kind.system) {
        return Installed::GateDisabled;
    }
    match look_at_schema(client, kind).await {
        Ok(Installed::Yes) => {}
        Ok(other) => return other,
        Err(error) => return Installed::Unknown(error.to_string()),
    }
    match look_at_rights(client, kind).await {
        Ok(installed) => installed,
        Err(error) => Installed::Unknown(error.to_string()),
    }
}

async fn look_at_schema(client: &Client, kind: &KindInfo) -> Result<Installed, kube::Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    match api.get_opt(&format!("{}.{}", kind.plural, kind.group)).await {
        Ok(None) => Ok(Installed::CrdMissing),
        Ok(Some(found)) => Ok(compare_crd(kind, &serde_json::to_value(found).unwrap_or_default())),
        // Without the right to read CRDs the published schema tells nearly as much.
        Err(kube::Error::Api(status)) if status.code == 403 => published(client, kind).await,
        Err(error) => Err(error),
    }
}

fn compare_crd(kind: &KindInfo, found: &Value) -> Installed {
    let ours = crd::crd(kind);
    let wrong = |what: &str| Installed::IncompatibleCrd(what.to_owned());
    if found["spec"]["scope"] != ours["spec"]["scope"] {
        return wrong("its scope");
    }
    let served = |crd: &Value| {
        let versions = crd["spec"]["versions"].as_array().cloned().unwrap_or_default();
        versions
            .into_iter()
            .find(|version| version["name"] == kind.storage_version() && version["served"] == true)
    };
    let (Some(theirs), Some(ours)) = (served(found), served(&ours)) else {
        return wrong(&format!("version {} is not served", kind.storage_version()));
    };
    // What else a guest's CRD says is its owner's business: usher reads what is there.
    if kind.is_guest {
        return Installed::Yes;
    }
    if !ours["subresources"]["status"].is_null() && theirs["subresources"]["status"].is_null() {
        return wrong("no status subresource");
    }
    match missing(&ours["schema"]["openAPIV3Schema"], &theirs["schema"]["openAPIV3Schema"], "") {
        Some(path) => wrong(&path),
        None => Installed::Yes,
    }
}

/// The schema as the API server publishes it for everybody.
async fn published(client: &Client, kind: &KindInfo) -> Result<Installed, kube::Error> {
    let path = format!("/openapi/v3/apis/{}/{}", kind.group, kind.storage_version());
    let request = http::Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)?;
    let document: Value = match client.request(request).await {
        Ok(document) => document,
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Installed::CrdMissing),
        Err(error) => return Err(error),
    };
    let is_it = |schema: &&Value| {
        let names = schema["x-kubernetes-group-version-kind"].as_array();
        names.into_iter().flatten().any(|name| name["group"] == kind.group && name["kind"] == kind.kind)
    };
    let schemas = document["components"]["schemas"].as_object();
    let Some(theirs) = schemas.into_iter().flat_map(|schemas| schemas.values()).find(is_it) else {
        return Ok(Installed::CrdMissing);
    };
    Ok(match missing(&crd::schema(kind), theirs, "") {
        Some(path) => Installed::IncompatibleCrd(path),
        None => Installed::Yes,
    })
}

/// The first field of ours that the other schema would drop or give another type. Limits and texts may differ: a CRD of a
/// newer or older usher is fine as long as nothing gets lost.
fn missing(ours: &Value, theirs: &Value, path: &str) -> Option<String> {
    if theirs["x-kubernetes-preserve-unknown-fields"] == true {
        return None;
    }
    if ours["type"] != theirs["type"] && !theirs["type"].is_null() {
        return Some(format!("{path} has another type"));
    }
    for (name, property) in ours["properties"].as_object().into_iter().flatten() {
        // What every object has is not in a CRD's own hands.
        if path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            continue;
        }
        let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let found = &theirs["properties"][name];
        if found.is_null() {
            return Some(format!("{place} is missing"));
        }
        if let Some(wrong) = missing(property, found, &place) {
            return Some(wrong);
        }
    }
    let mut inner = ["items", "additionalProperties"].into_iter().filter(|word| ours[*word].is_object());
    inner.find_map(|word| missing(&ours[word], &theirs[word], &format!("{path}[]")))
}

/// The rights that the reconciler of a kind cannot do without.
async fn look_at_rights(client: &Client, kind: &KindInfo) -> Result<Installed, kube::Error> {
    let Some(reconciler) = &kind.reconciler else { return Ok(Installed::Yes) };
    let own = |verb, subresource| (kind.group, kind.plural, verb, subresource);
    let mut rights = vec![own("list", ""), own("watch", ""), own("patch", "status")];
    if reconciler.finalizer.is_some() {
        rights.extend([own("get", ""), own("patch", "")]);
    }
    for (group, plural) in reconciler.needs {
        rights.extend([(*group, *plural, "list", ""), (*group, *plural, "watch", "")]);
    }
    let api: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    for (group, plural, verb, subresource) in rights {
        let attributes = ResourceAttributes {
            group: Some(group.to_owned()),
            resource: Some(plural.to_owned()),
            subresource: (!subresource.is_empty()).then(|| subresource.to_owned()),
            verb: Some(verb.to_owned()),
            ..ResourceAttributes::default()
        };
        let review = SelfSubjectAccessReview {
            spec: SelfSubjectAccessReviewSpec {
                resource_attributes: Some(attributes),
                ..SelfSubjectAccessReviewSpec::default()
            },
            ..SelfSubjectAccessReview::default()
        };
        let answer = api.create(&PostParams::default(), &review).await?;
        if !answer.status.is_some_and(|status| status.allowed) {
            let slash = if subresource.is_empty() { "" } else { "/" };
            return Ok(Installed::RbacDenied(format!("{verb} {plural}{slash}{subresource}")));
        }
    }
    Ok(Installed::Yes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::silence;

    #[test]
    fn usher_s_own_crd_fits_and_one_that_loses_a_field_does_not() {
        let own = crd::crd(&silence::KIND);
        assert_eq!(compare_crd(&silence::KIND, &own), Installed::Yes);
        let schema = "/spec/versions/0/schema/openAPIV3Schema/properties";
        let mut changed = own.clone();
        changed
            .pointer_mut(&format!("{schema}/spec/properties"))
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove("matchers");
        assert_eq!(
            compare_crd(&silence::KIND, &changed),
            Installed::IncompatibleCrd("spec.matchers is missing".to_owned())
        );
        let mut changed = own.clone();
        *changed.pointer_mut(&format!("{schema}/spec/properties/comment/type")).unwrap() = json!("integer");
        assert_eq!(
            compare_crd(&silence::KIND, &changed),
            Installed::IncompatibleCrd("spec.comment has another type".to_owned())
        );
        let mut changed = own.clone();
        changed["spec"]["versions"][0]["name"] = json!("v1");
        assert!(matches!(compare_crd(&silence::KIND, &changed), Installed::IncompatibleCrd(_)));
        let mut changed = own;
        *changed.pointer_mut(&format!("{schema}/spec")).unwrap() =
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        assert_eq!(compare_crd(&silence::KIND, &changed), Installed::Yes, "nothing gets lost");
    }
}
