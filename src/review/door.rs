//! The webhook door without its socket: body in, answer out.
//!
//! Everything that one review needs is in [`Door`]; the server adds limits, TLS and metrics around it.

use std::sync::Arc;

use jiff::Timestamp;

use super::admit::{Source, Subject, Undecodable};
use super::envelope::{BadReview, Request, read};
use super::verdict::Verdict;
use crate::kinds::{Admission, KindInfo};
use crate::rule::{Facts, Findings, Operation};
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
}

impl Door {
    /// A door with the real clock.
    pub fn new(settings: Arc<Settings>, view: Arc<View>) -> Self {
        Self { settings, view, clock: Clock::System }
    }

    /// Answers one review about a kind that has rules.
    ///
    /// # Errors
    /// When the body is no review about that kind.
    pub fn answer(
        &self,
        phase: Phase,
        kind: &'static KindInfo,
        admission: &'static Admission,
        body: &[u8],
    ) -> Result<Answer, BadReview> {
        let request = read(body, kind)?;
        let (verdict, undecodable) = self.judge(phase, admission, &request);
        let body = verdict.encode(&request.uid, kind, &request.name);
        Ok(Answer { body, verdict, operation: request.operation, dry_run: request.dry_run, undecodable })
    }

    fn judge(&self, phase: Phase, admission: &Admission, request: &Request<'_>) -> (Verdict, bool) {
        let allowed = || Verdict::Allowed(Findings::default());
        if !request.sub_resource.is_empty() {
            return (allowed(), false);
        }
        let facts = Facts {
            operation: request.operation,
            user: &request.user,
            now: self.clock.now(),
            settings: &self.settings,
            view: &self.view,
        };
        let (object, old) = match request.operation {
            Operation::Delete => (request.old_object, None),
            _ => (request.object, request.old_object),
        };
        // The envelope has made sure of it.
        let Some(object) = object else { return (allowed(), false) };
        let subject = Subject {
            object: Source::Text(object.get()),
            old: old.map(|old| Source::Text(old.get())),
            namespace: &request.namespace,
        };
        match (phase, request.operation) {
            (Phase::Mutate, Operation::Delete) => (allowed(), false),
            // Mutation comes before schema validation, so ill-typed objects arrive; the schema says what is wrong.
            (Phase::Mutate, _) => match admission.mutate.map(|mutate| mutate(&subject, &facts)) {
                Some(Ok(edits)) => (Verdict::Patched(edits), false),
                Some(Err(_)) => (allowed(), true),
                None => (allowed(), false),
            },
            (Phase::Validate, Operation::Delete) => {
                match admission.delete.map(|delete| delete(&subject, &facts)) {
                    Some(Ok(findings)) => (findings.into(), false),
                    Some(Err(_)) => (allowed(), true),
                    None => (allowed(), false),
                }
            }
            (Phase::Validate, _) => match (admission.validate)(&subject, &facts) {
                Ok(findings) => (findings.into(), false),
                Err(undecodable) => (denied(undecodable).into(), true),
            },
        }
    }
}

/// The finding about an object that is not of its kind's shape.
pub fn denied(undecodable: Undecodable) -> Findings {
    let Undecodable { path, message } = undecodable;
    let mut findings = Findings::default();
    findings.deny(&NOT_OF_ITS_KIND, path, message);
    findings
}
