//! Findings become an answer. Written by hand: the answer is small, its shape is fixed, and the API server reads
//! only some of it, within limits that are kept here.

use base64::Engine as _;

use super::edits::{Edits, write_json};
use crate::kinds::KindInfo;
use crate::names;
use crate::rule::{Finding, Findings};

/// kubectl shows every cause; more than this helps nobody.
const MOST_CAUSES: usize = 50;
/// One warning; the API server cuts those above 256 bytes when all together exceed 4096.
const LONGEST_WARNING: usize = 120;
/// 10 × 120 bytes stay far below the 4096 after which the API server drops warnings.
const MOST_WARNINGS: usize = 10;

/// What the webhook answers.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// The object may pass; perhaps with remarks.
    Allowed(Findings),
    /// The object may not pass.
    Denied(Findings),
    /// The object passes with changes.
    Patched(Edits),
    /// Not now: a claim is open, or could not be taken.
    Deferred(Deferral),
}

/// Why an object may not pass now, and when it is worth trying again.
#[derive(Debug)]
pub struct Deferral {
    /// 409 or 503.
    pub code: u16,
    /// The reason of that status.
    pub reason: &'static str,
    /// What to tell.
    pub message: String,
    /// Clients repeat the request by themselves after that; without it they do not.
    pub retry_after: Option<u32>,
}

impl From<Findings> for Verdict {
    fn from(findings: Findings) -> Self {
        if findings.denies() { Self::Denied(findings) } else { Self::Allowed(findings) }
    }
}

impl Verdict {
    /// The word for metrics and logs.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Allowed(_) => "allowed",
            Self::Denied(_) => "denied",
            Self::Patched(edits) if edits.is_empty() => "allowed",
            Self::Patched(_) => "patched",
            Self::Deferred(_) => "deferred",
        }
    }

    /// What was found.
    pub fn findings(&self) -> Option<&Findings> {
        match self {
            Self::Allowed(findings) | Self::Denied(findings) => Some(findings),
            Self::Patched(_) | Self::Deferred(_) => None,
        }
    }

    /// The AdmissionReview to send back.
    pub fn encode(&self, uid: &str, kind: &KindInfo, name: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(
            br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"#,
        );
        write_json(&mut out, uid);
        match self {
            Self::Allowed(findings) => {
                out.extend_from_slice(br#","allowed":true"#);
                write_remarks(&mut out, findings);
            }
            Self::Denied(findings) => {
                out.extend_from_slice(br#","allowed":false"#);
                write_status(&mut out, findings, kind, name);
                write_remarks(&mut out, findings);
            }
            Self::Patched(edits) => {
                out.extend_from_slice(br#","allowed":true"#);
                write_patch(&mut out, edits);
            }
            Self::Deferred(deferral) => {
                out.extend_from_slice(br#","allowed":false"#);
                write_deferral(&mut out, deferral, kind, name);
            }
        }
        out.extend_from_slice(b"}}");
        out
    }
}

fn write_patch(out: &mut Vec<u8>, edits: &Edits) {
    if edits.is_empty() {
        return;
    }
    out.extend_from_slice(br#","patchType":"JSONPatch","patch":""#);
    let patch = base64::engine::general_purpose::STANDARD.encode(edits.to_json());
    out.extend_from_slice(patch.as_bytes());
    out.push(b'"');
}

fn write_deferral(out: &mut Vec<u8>, deferral: &Deferral, kind: &KindInfo, name: &str) {
    let mut status = serde_json::json!({
        "metadata": {},
        "status": "Failure",
        "reason": deferral.reason,
        "code": deferral.code,
        "message": format!("{}.{} {name:?}: {}", kind.kind, kind.group, deferral.message),
        "details": {"name": name, "group": kind.group, "kind": kind.kind}
    });
    if let Some(seconds) = deferral.retry_after {
        status["details"]["retryAfterSeconds"] = seconds.into();
    }
    out.extend_from_slice(br#","status":"#);
    write_json(out, &status);
}

/// kubectl prints only the causes when one object fails and only the message when several do, so both carry
/// everything; `details.kind` and `name` make its headline.
fn write_status(out: &mut Vec<u8>, findings: &Findings, kind: &KindInfo, name: &str) {
    out.extend_from_slice(
        br#","status":{"metadata":{},"status":"Failure","reason":"Invalid","code":422,"message":"#,
    );
    write_json(out, &message(findings, kind, name));
    out.extend_from_slice(br#","details":{"name":"#);
    write_json(out, name);
    out.extend_from_slice(br#","group":"#);
    write_json(out, kind.group);
    out.extend_from_slice(br#","kind":"#);
    write_json(out, kind.kind);
    out.extend_from_slice(br#","causes":["#);
    for (position, finding) in findings.errors().take(MOST_CAUSES).enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(br#"{"reason":"FieldValueInvalid","message":"#);
        write_json(out, &finding.line());
        out.extend_from_slice(br#","field":"#);
        write_json(out, &finding.path.to_string());
        out.push(b'}');
    }
    out.extend_from_slice(b"]}}");
}

fn message(findings: &Findings, kind: &KindInfo, name: &str) -> String {
    let lines: Vec<String> = findings
        .errors()
        .take(MOST_CAUSES)
        .map(|finding| format!("{}: {}", finding.path, finding.line()))
        .collect();
    let list = match lines.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    format!("{}.{} {name:?} is invalid: {list}", kind.kind, kind.group)
}

fn write_remarks(out: &mut Vec<u8>, findings: &Findings) {
    if findings.is_empty() {
        return;
    }
    let mut codes: Vec<&str> = findings.iter().map(|finding| finding.rule.code).collect();
    codes.sort_unstable();
    codes.dedup();
    out.extend_from_slice(br#","auditAnnotations":{""#);
    out.extend_from_slice(names::AUDIT_CODES.as_bytes());
    out.extend_from_slice(br#"":"#);
    write_json(out, &codes.join(","));
    out.push(b'}');
    let warnings = warnings(findings);
    if !warnings.is_empty() {
        out.extend_from_slice(br#","warnings":"#);
        write_json(out, &warnings);
    }
}

/// The warnings as the user sees them, within the API server's limits.
pub fn warnings(findings: &Findings) -> Vec<String> {
    let total = findings.warnings().count();
    let shown = if total > MOST_WARNINGS { MOST_WARNINGS - 1 } else { total };
    let mut lines: Vec<String> = findings.warnings().take(shown).map(warning).collect();
    if total > shown {
        lines.push(format!("usher: and {} more; `usher check` shows them all", total - shown));
    }
    lines
}

/// One line of at most 120 bytes; the text is cut, never the code. Control characters would break the HTTP header.
fn warning(finding: &Finding) -> String {
    let tail = format!(" ({})", finding.rule.code);
    let mut head: String = format!("usher: {}: {}", finding.path, finding.message)
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    let room = LONGEST_WARNING - tail.len();
    if head.len() > room {
        let ellipsis = '…';
        let mut end = room - ellipsis.len_utf8();
        while !head.is_char_boundary(end) {
            end -= 1;
        }
        head.truncate(end);
        head.push(ellipsis);
    }
    head + &tail
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::kinds::silence::{self, codes};
    use crate::rule::FieldPath;

    fn answer(verdict: &Verdict) -> Value {
        let bytes = verdict.encode("u\"1", &silence::KIND, "night");
        serde_json::from_slice::<Value>(&bytes).unwrap()["response"].take()
    }

    #[test]
    fn a_denial_carries_every_cause_with_code_and_hint() {
        let mut findings = Findings::default();
        findings.deny(&codes::PAST_END, FieldPath::spec("expiresAt"), "ended");
        findings.deny(&codes::BLANK_COMMENT, FieldPath::spec("comment"), "blank");
        findings.warn(&codes::SUSPENDED, FieldPath::spec("suspend"), "suspended");
        let answer = answer(&Verdict::from(findings));
        assert_eq!(answer["uid"], "u\"1");
        assert_eq!(answer["allowed"], json!(false));
        assert_eq!(answer["status"]["code"], json!(422));
        assert_eq!(answer["status"]["details"]["kind"], "Silence");
        let causes = answer["status"]["details"]["causes"].as_array().unwrap();
        assert_eq!(causes.len(), 2);
        assert_eq!(causes[0]["field"], "spec.expiresAt");
        let line = causes[0]["message"].as_str().unwrap();
        assert!(line.contains("USHS004") && line.contains(codes::PAST_END.fix), "{line}");
        let message = answer["status"]["message"].as_str().unwrap();
        assert!(message.contains("spec.comment: blank (USHS001)") && message.contains("night"), "{message}");
        assert_eq!(answer["auditAnnotations"]["codes"], "USHS001,USHS004,USHS114");
        assert_eq!(answer["warnings"], json!(["usher: spec.suspend: suspended (USHS114)"]));
    }

    #[test]
    fn warnings_stay_within_the_limits_of_the_api_server() {
        let mut findings = Findings::default();
        for _ in 0..40 {
            findings.warn(&codes::FAR_END, FieldPath::spec("expiresAt"), "ä\n".repeat(200));
        }
        let warnings = warnings(&findings);
        assert_eq!(warnings.len(), MOST_WARNINGS);
        assert!(warnings[9].contains("and 31 more"), "{}", warnings[9]);
        for line in &warnings {
            assert!(line.len() <= LONGEST_WARNING && !line.contains('\n'), "{line}");
        }
        assert!(warnings[0].ends_with("… (USHS102)"), "{}", warnings[0]);
    }

    #[test]
    fn an_allowed_object_without_remarks_gets_the_short_answer() {
        assert_eq!(answer(&Verdict::from(Findings::default())), json!({"uid": "u\"1", "allowed": true}));
    }
}
