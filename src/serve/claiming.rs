//! The claim step of a review: the one exception to "no live call inside a review".

use crate::claim::attempt::Outcome;
use crate::claim::take::{Claims, Error};
use crate::observe::metrics::{ClaimLabels, Metrics};
use crate::review::door::{Answer, Claiming};
use crate::review::verdict::{Deferral, Verdict};
use crate::rule::{Findings, quoted};

/// Takes the claim that an answer depends on, and changes the answer when it is not granted.
pub(super) async fn settle(claims: &Claims, claiming: &Claiming, answer: &mut Answer, metrics: &Metrics) {
    let pending = &claiming.pending;
    let taken = claims.take(pending).await;
    let outcome = match &taken {
        Ok(Outcome::Granted) => "granted",
        Ok(Outcome::Held(_)) => "held",
        Ok(Outcome::Open { .. }) => "open",
        Ok(Outcome::Busy) => "busy",
        Err(error) => error.label(),
    };
    metrics.claims.get_or_create(&ClaimLabels { kind: pending.kind.kind, outcome }).inc();
    let kind = pending.kind.kind;
    let defer = |code, reason, message, retry_after| {
        Verdict::Deferred(Deferral { code, reason, message, retry_after })
    };
    let verdict = match taken {
        Ok(Outcome::Granted) => return,
        Ok(Outcome::Held(name)) => {
            let mut findings =
                match std::mem::replace(&mut answer.verdict, Verdict::Allowed(Findings::default())) {
                    Verdict::Allowed(findings) => findings,
                    _ => Findings::default(),
                };
            let message = format!("{kind} {} is the default", quoted(&name));
            findings.deny(pending.rule, pending.path.clone(), message).value(name);
            Verdict::from(findings)
        }
        Ok(Outcome::Open { by, retry_after }) if by == pending.attempt.name => {
            let message = format!(
                "it was admitted as the default again and again and is never stored ({}); something else refuses it, and \
                 others get a chance first",
                pending.rule.code
            );
            defer(409, "Conflict", message, Some(retry_after))
        }
        Ok(Outcome::Open { by, retry_after }) => {
            let message = format!(
                "{kind} {} was admitted as the default a moment ago but is not stored yet ({}); try again in \
                 {retry_after} s, or store that one first",
                quoted(&by),
                pending.rule.code
            );
            defer(409, "Conflict", message, Some(retry_after))
        }
        Ok(Outcome::Busy) => {
            let message =
                format!("too many requests for the default at once ({}); try again", pending.rule.code);
            defer(409, "Conflict", message, Some(1))
        }
        Err(error) => {
            tracing::warn!(kind, %error, "a claim could not be taken");
            let retry_after = error.is_transient().then_some(1);
            let message = match &error {
                Error::Forbidden { .. } => {
                    format!("whether there is another default cannot be told: {error}")
                }
                _ => format!("whether there is another default cannot be told now: {error}"),
            };
            defer(503, "ServiceUnavailable", message, retry_after)
        }
    };
    answer.settle(claiming, verdict);
}
