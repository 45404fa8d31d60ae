//! The webhook door without its socket: body in, answer out.
//!
//! Everything that one review needs is in [`Door`]; the server adds limits, TLS and metrics around it.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::admit::{self, Undecodable, decode_raw};
use super::edits::Edits;
use super::envelope::{BadReview, Request, read};
use super::verdict::Verdict;
use crate::claim::fate::Origin;
use crate::claim::{self, Pending};
use crate::kinds::{Kind, KindInfo, Permission};
use crate::model::object::Object;
use crate::rule::{Facts, Findings, Operation, Severity, Uniqueness, User};
use crate::schema::codes::NOT_OF_ITS_KIND;
use crate::settings::Settings;
use crate::view::View;

/// Which of the two webhooks is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the schema is validated.
    Mutate,
    /// After it.
    Validate,
}

impl Phase {
    /// The word in the path.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mutate => "mutate",
            Self::Validate => "validate",
        }
    }
}

/// The path of a kind's webhook.
pub fn path(phase: Phase, kind: &KindInfo) -> String {
    format!("/admit/{}/{}/{}", phase.as_str(), kind.group, kind.route())
}

/// What the reviews of one server share.
#[derive(Debug, Clone)]
pub struct Door {
    /// The settings of the rules.
    pub settings: Arc<Settings>,
    /// The other objects.
    pub view: Arc<View>,
    /// The clock; tests hold it still.
    pub clock: Clock,
    /// How uniqueness across objects is judged: in a cluster by claims, otherwise from the View.
    pub uniqueness: Uniqueness,
    /// Has the requester the permission that the kind asks for? Set only to answer a review a second time.
    pub permitted: bool,
}

/// Where "now" comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The machine.
    System,
    /// A fixed instant, for tests.
    Fixed(Timestamp),
}

impl Clock {
    fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(instant) => instant,
        }
    }
}

/// The answer to one review, and what is worth counting about it.
#[derive(Debug)]
pub struct Answer {
    /// The AdmissionReview.
    pub body: Vec<u8>,
    /// What was decided.
    pub verdict: Verdict,
    /// What was asked.
    pub operation: Operation,
    /// Was it only asked?
    pub dry_run: bool,
    /// Did the object not decode?
    pub undecodable: bool,
    /// What has to be claimed before the answer holds; nearly always nothing.
    pub claim: Option<Box<Claiming>>,
    /// The permission that would change the answer, if the requester has it.
    pub asks: Option<Permission>,
}

/// A claim, and what is needed to answer again when it is not granted.
#[derive(Debug)]
pub struct Claiming {
    /// The claim.
    pub pending: Pending,
    uid: String,
    name: String,
}

impl Answer {
    /// Another verdict for the same request.
    pub fn settle(&mut self, claiming: &Claiming, verdict: Verdict) {
        self.body = verdict.encode(&claiming.uid, claiming.pending.kind, &claiming.name);
        self.verdict = verdict;
    }
}

impl Door {
    /// A door with the real clock.
    pub fn new(settings: Arc<Settings>, view: Arc<View>, uniqueness: Uniqueness) -> Self {
        Self { settings, view, clock: Clock::System, uniqueness, permitted: false }
    }

    /// The same door for a requester who has the permission.
    #[must_use]
    pub fn permitting(&self) -> Self {
        Self { permitted: true, ..self.clone() }
    }

    /// What a judgement rests on.
    pub fn facts<'a>(&'a self, operation: Operation, user: &'a User, now: Timestamp) -> Facts<'a> {
        let Self { settings, view, uniqueness, .. } = self;
        Facts { operation, user, now, settings, view, uniqueness: *uniqueness }
    }
}

/// Answers one review about a kind.
pub type AnswerReview = fn(&Door, Phase, &'static KindInfo, &[u8]) -> Result<Answer, BadReview>;

/// Answers one review about a kind.
///
/// # Errors
/// When the body is no review about that kind.
pub fn answer<K: Kind>(
    door: &Door,
    phase: Phase,
    kind: &'static KindInfo,
    body: &[u8],
) -> Result<Answer, BadReview> {
    match read::<Object<K::Spec>>(body, kind) {
        Ok(mut request) => {
            place(&mut request);
            request.user.permitted = door.permitted;
            if !door.settings.gates.is_on(kind.system) {
                return Ok(encode(Verdict::Allowed(Findings::default()), &request, kind, false));
            }
            let verdict = judge::<K>(door, phase, &request);
            let claim = claim::<K>(door, phase, kind, &request, None, &verdict);
            let asks = asks::<K>(door, phase, &request, &verdict);
            let mut answer = encode(verdict, &request, kind, false);
            (answer.claim, answer.asks) = (claim, asks);
            Ok(answer)
        }
        // Perhaps only an object is not of its kind: then the review itself is good.
        Err(BadReview::NotJson(_)) => answer_raw::<K>(door, phase, kind, body),
        Err(other) => Err(other),
    }
}

/// The same for a review with an object that does not decode.
///
/// Mutation comes before schema validation, so ill-typed objects arrive there and pass unpatched; the schema says what
/// is wrong. Validation denies them with the place. A stored object that does not decode is no obstacle to replacing or
/// removing it.
fn answer_raw<K: Kind>(
    door: &Door,
    phase: Phase,
    kind: &'static KindInfo,
    body: &[u8],
) -> Result<Answer, BadReview> {
    let raw = read::<&RawValue>(body, kind)?;
    let object = raw.object.map(decode_raw::<Object<K::Spec>>).transpose();
    let old_object = raw.old_object.and_then(|old| decode_raw::<Object<K::Spec>>(old).ok());
    let (object, undecodable) = match object {
        Ok(object) => (object, None),
        Err(undecodable) => (None, Some(undecodable)),
    };
    let mut request = Request {
        uid: raw.uid,
        operation: raw.operation,
        sub_resource: raw.sub_resource,
        namespace: raw.namespace,
        name: raw.name,
        dry_run: raw.dry_run,
        user: raw.user,
        object,
        old_object,
    };
    place(&mut request);
    if !door.settings.gates.is_on(kind.system) {
        return Ok(encode(Verdict::Allowed(Findings::default()), &request, kind, true));
    }
    let verdict = match undecodable {
        Some(undecodable) if phase == Phase::Validate && request.sub_resource.is_empty() => {
            let mut findings = denied(undecodable);
            match leniency(raw.object, raw.old_object) {
                Leniency::Terminating => findings = Findings::default(),
                Leniency::SameSpec => findings.soften_all(),
                Leniency::None => {}
            }
            findings.into()
        }
        Some(_) if phase == Phase::Mutate && request.sub_resource.is_empty() => mend::<K>(raw.object),
        _ => judge::<K>(door, phase, &request),
    };
    let claim = claim::<K>(door, phase, kind, &request, raw.old_object, &verdict);
    let mut answer = encode(verdict, &request, kind, true);
    answer.claim = claim;
    Ok(answer)
}

/// What can be put right in an object that does not decode.
fn mend<K: Kind>(object: Option<&RawValue>) -> Verdict {
    let tree = object.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).unwrap_or_default();
    let mut edits = Edits::default();
    if tree["metadata"]["deletionTimestamp"].is_null() {
        K::mend(&tree, &mut edits);
    }
    if edits.is_empty() { Verdict::Allowed(Findings::default()) } else { Verdict::Patched(edits) }
}

/// Why an object that does not decode may pass.
enum Leniency {
    /// It is being deleted.
    Terminating,
    /// The update leaves its spec as it was stored.
    SameSpec,
    None,
}

/// What is never blocked is not blocked either when it does not decode.
fn leniency(object: Option<&RawValue>, old: Option<&RawValue>) -> Leniency {
    let tree = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let (Some(object), old) = (tree(object), tree(old)) else { return Leniency::None };
    if !object["metadata"]["deletionTimestamp"].is_null() {
        Leniency::Terminating
    } else if old.is_some_and(|old| old["spec"] == object["spec"]) {
        Leniency::SameSpec
    } else {
        Leniency::None
    }
}

/// The namespace of the request is that of its object, also while the object does not carry it yet.
fn place<S>(request: &mut Request<'_, Object<S>>) {
    if let Some(object) = &mut request.object
        && object.metadata.namespace.is_empty()
    {
        object.metadata.namespace.push_str(&request.namespace);
    }
}

fn encode<T>(
    verdict: Verdict,
    request: &Request<'_, T>,
    kind: &'static KindInfo,
    undecodable: bool,
) -> Answer {
    let body = verdict.encode(&request.uid, kind, &request.name);
    let (operation, dry_run) = (request.operation, request.dry_run);
    Answer { body, verdict, operation, dry_run, undecodable, claim: None, asks: None }
}

/// The permission that would change the answer: nothing else stands in its way.
fn asks<K: Kind>(
    door: &Door,
    phase: Phase,
    request: &Request<'_, Object<K::Spec>>,
    verdict: &Verdict,
) -> Option<Permission> {
    let permission = K::PERMISSION.filter(|_| !door.permitted && request.sub_resource.is_empty())?;
    let object = request.object.as_ref().filter(|_| request.operation != Operation::Delete)?;
    let changes = match phase {
        Phase::Mutate => {
            let facts = door.facts(request.operation, &request.user, door.clock.now());
            !object.metadata.is_terminating() && K::asks(object, request.old_object.as_ref(), &facts)
        }
        Phase::Validate => verdict.findings().is_some_and(|findings| {
            let mut refusals =
                findings.iter().filter(|finding| finding.severity == Severity::Error).peekable();
            refusals.peek().is_some() && refusals.all(|finding| permission.lifts.contains(&finding.rule))
        }),
    };
    changes.then_some(permission)
}

/// What has to be claimed once all rules have passed. `old_raw` is the stored object when it does not decode: nothing can be
/// said of it then but its version.
fn claim<K: Kind>(
    door: &Door,
    phase: Phase,
    kind: &'static KindInfo,
    request: &Request<'_, Object<K::Spec>>,
    old_raw: Option<&RawValue>,
    verdict: &Verdict,
) -> Option<Box<Claiming>> {
    let object = request.object.as_ref()?;
    let asked = phase == Phase::Validate
        && door.uniqueness == Uniqueness::ByClaim
        && request.operation != Operation::Delete
        && request.sub_resource.is_empty()
        && matches!(verdict, Verdict::Allowed(_));
    if !asked {
        return None;
    }
    let old = request.old_object.as_ref();
    let version = match (old, old_raw) {
        (Some(old), _) => Some(old.metadata.resource_version.clone()),
        (None, Some(raw)) => serde_json::from_str::<Value>(raw.get())
            .ok()
            .map(|old| old["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned()),
        (None, None) => None,
    };
    let origin = version.map_or(Origin::Create, Origin::Update);
    let facts = door.facts(request.operation, &request.user, door.clock.now());
    let pending = claim::needed::<K>(kind, object, old, origin, request.dry_run, door, &facts)?;
    Some(Box::new(Claiming { pending, uid: request.uid.to_string(), name: object.metadata.name.clone() }))
}

fn judge<K: Kind>(door: &Door, phase: Phase, request: &Request<'_, Object<K::Spec>>) -> Verdict {
    let facts = door.facts(request.operation, &request.user, door.clock.now());
    let old = request.old_object.as_ref();
    match (phase, request.operation, &request.object) {
        _ if !request.sub_resource.is_empty() => Verdict::Allowed(Findings::default()),
        (Phase::Validate, Operation::Delete, _) => {
            old.map(|old| admit::delete::<K>(old, &facts)).unwrap_or_default().into()
        }
        (Phase::Mutate, Operation::Create | Operation::Update, Some(object)) => {
            Verdict::Patched(admit::mutate::<K>(object, old, &facts))
        }
        (Phase::Validate, Operation::Create | Operation::Update, Some(object)) => {
            admit::validate::<K>(object, old, &facts).into()
        }
        _ => Verdict::Allowed(Findings::default()),
    }
}

/// The finding about an object that is not of its kind's shape.
pub fn denied(undecodable: Undecodable) -> Findings {
    let Undecodable { path, message } = undecodable;
    let mut findings = Findings::default();
    findings.deny(&NOT_OF_ITS_KIND, path, message);
    findings
}
