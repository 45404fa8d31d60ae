//! URLs in a RulerConfig, read as Loki reads them: by Go's `net/url`.
//!
//! A URL may hold a password: nothing that looks as if it did is shown, whatever else is wrong with it.

use super::codes;
use crate::lang::{Fault, url};
use crate::rule::{FieldPath, Finding, Findings, Rule, quoted};

/// Judges an endpoint of Alertmanager. Loki splits the joined list at commas.
pub(super) fn check_endpoint(text: &str, by_service: bool, path: FieldPath, out: &mut Findings) {
    let problem = match url::parse(text) {
        _ if text.contains(',') => "has a comma, which separates endpoints",
        Err(fault) => return refuse(&codes::ENDPOINT, text, &fault, path, out),
        Ok(read) if !read.is_absolute() || !matches!(read.scheme.as_str(), "http" | "https") => {
            "is not an http or https URL"
        }
        Ok(read) if by_service && !is_service_name(&read.host) => "does not name a service record",
        Ok(_) => return,
    };
    rests_on(text, out.deny(&codes::ENDPOINT, path, format!("{} {problem}", shown(text))));
}

/// Judges a URL of which Loki asks that it is absolute.
pub(super) fn check_url(
    text: Option<&str>,
    refuses_password: bool,
    path: impl Fn() -> FieldPath,
    out: &mut Findings,
) {
    let Some(text) = text else { return };
    let message = match url::parse(text) {
        Err(fault) => return refuse(&codes::URL, text, &fault, path(), out),
        Ok(read) if refuses_password && read.has_password => {
            "the URL carries a password, which Loki does not send".to_owned()
        }
        Ok(read) if !read.is_absolute() => format!("{} is not an absolute URL", shown(text)),
        Ok(_) => return,
    };
    rests_on(text, out.deny(&codes::URL, path(), message));
}

fn refuse(rule: &'static Rule, text: &str, fault: &Fault, path: FieldPath, out: &mut Findings) {
    let message = format!("{} is not a URL: {}", shown(text), fault.message);
    let finding = out.deny(rule, path, message);
    finding.part(fault.span.clone());
    if let Some(hint) = &fault.hint {
        finding.help(hint.as_str());
    }
    rests_on(text, finding);
}

/// `^_.+._.+`, as Loki asks: an underscore, a name, anything, an underscore, a name.
fn is_service_name(host: &str) -> bool {
    let Some(rest) = host.strip_prefix('_') else { return false };
    rest.char_indices().skip(2).any(|(at, c)| c == '_' && at + 1 < rest.len())
}

fn may_hold_password(url: &str) -> bool {
    url.contains('@')
}

fn shown(url: &str) -> String {
    if may_hold_password(url) { "the URL".to_owned() } else { quoted(url) }
}

/// An update keeps the finding only with the same URL; one that is a secret is remembered by its hash.
pub(super) fn rests_on(url: &str, finding: &mut Finding) {
    if may_hold_password(url) {
        finding.secret_value(url);
    } else {
        finding.value(url);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for url in
            ["http://bob:hunter2@am,x", "bob:hunter2@am:9093", "http:/bob:hunter2@a", "http://b:hunter2@a b"]
        {
            let mut out = Findings::default();
            check_url(Some(url), false, || FieldPath::spec("url"), &mut out);
            check_url(Some(url), true, || FieldPath::spec("url"), &mut out);
            check_endpoint(url, false, FieldPath::spec("endpoints"), &mut out);
            check_endpoint(&format!("ftp{url}"), true, FieldPath::spec("endpoints"), &mut out);
            assert!(out.iter().count() >= 3, "{url}");
            assert!(!format!("{out:?}").contains("hunter2"), "{out:?}");
        }
    }
}
