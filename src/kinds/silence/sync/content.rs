//! What a silence says, and when two say the same: matchers in any order, times to the second, annotations only where
//! they are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;

use crate::kinds::silence::tenancy::shown_name;
use crate::upstream::alertmanager::{Matcher, Silence, State};

/// A silence as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The effective matchers: the user's in their order, then the enforced one; no repetitions.
    pub matchers: Vec<Matcher>,
    /// The comment, trimmed.
    pub comment: String,
    /// When it begins; the past is as good as now.
    pub starts_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
}

impl Wanted {
    /// A word that silences share exactly when they mute the same for the same reason until the same time.
    pub fn hash(&self) -> String {
        let mut matchers: Vec<String> = self.matchers.iter().map(shown).collect();
        matchers.sort_unstable();
        let mut context = ring::digest::Context::new(&ring::digest::SHA256);
        let end = self.ends_at.as_second().to_string();
        // Each part with its length: no two lists run into the same text.
        for part in matchers.iter().chain([&self.comment, &end]) {
            context.update(format!("{}:", part.len()).as_bytes());
            context.update(part.as_bytes());
        }
        let mut text = String::with_capacity(64);
        for byte in context.finish().as_ref() {
            _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Everything that a silence of ours holds, to compare a copy with.
#[derive(Debug, Clone)]
pub(super) struct Content<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) created_by: String,
    /// Ours only: what else somebody put there is no concern of ours.
    pub(super) annotations: BTreeMap<String, String>,
}

impl Content<'_> {
    /// Does a copy say what it should? `state` is the one that it is in now.
    pub(super) fn is_in(&self, copy: &Silence, state: State, keeps_annotations: bool) -> bool {
        let wanted = self.wanted;
        state != State::Expired
            && copy.comment == wanted.comment
            && copy.created_by == self.created_by
            && same_second(copy.ends_at, wanted.ends_at)
            // What has begun cannot begin at another time, and what should have begun begins when it is sent.
            && (state == State::Active || same_second(copy.starts_at, wanted.starts_at))
            && same_matchers(&copy.matchers, &wanted.matchers)
            && (!keeps_annotations
                || self.annotations.iter().all(|(key, value)| copy.annotations.get(key) == Some(value)))
    }
}

/// A matcher as Alertmanager writes it and the status shows it: `name="value"`.
pub fn shown(matcher: &Matcher) -> String {
    let sign = match (matcher.is_equal, matcher.is_regex) {
        (true, false) => "=",
        (false, false) => "!=",
        (true, true) => "=~",
        (false, true) => "!~",
    };
    format!("{}{sign}{:?}", shown_name(&matcher.name), matcher.value)
}

/// Do two lists hold the same matchers, each as often, in whatever order?
pub(super) fn same_matchers(one: &[Matcher], other: &[Matcher]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    one == other || sorted(one) == sorted(other)
}

fn sorted(matchers: &[Matcher]) -> Vec<&Matcher> {
    let mut matchers: Vec<&Matcher> = matchers.iter().collect();
    matchers.sort_unstable();
    matchers
}

/// Are these the matchers that the status shows?
pub(super) fn are_shown(matchers: &[Matcher], shown_as: &[String]) -> bool {
    if matchers.len() != shown_as.len() {
        return false;
    }
    let mut texts: Vec<String> = matchers.iter().map(shown).collect();
    let mut others: Vec<&String> = shown_as.iter().collect();
    texts.sort_unstable();
    others.sort_unstable();
    texts.iter().eq(others)
}

/// Kubernetes knows seconds, Alertmanager milliseconds.
pub(super) fn same_second(one: Timestamp, other: Timestamp) -> bool {
    one.as_second() == other.as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(name: &str, value: &str, is_equal: bool, is_regex: bool) -> Matcher {
        Matcher { name: name.to_owned(), value: value.to_owned(), is_regex, is_equal }
    }

    #[test]
    fn matchers_are_shown_as_alertmanager_writes_them() {
        let all = [(true, false), (false, false), (true, true), (false, true)];
        let texts = all.map(|(equal, regex)| shown(&matcher("a", "b\"c", equal, regex)));
        assert_eq!(texts, [r#"a="b\"c""#, r#"a!="b\"c""#, r#"a=~"b\"c""#, r#"a!~"b\"c""#]);
    }

    #[test]
    fn lists_are_the_same_in_any_order_but_not_with_other_numbers() {
        let (a, b) = (matcher("a", "1", true, false), matcher("b", "2", true, false));
        let list = |matchers: &[&Matcher]| matchers.iter().copied().cloned().collect::<Vec<_>>();
        assert!(same_matchers(&list(&[&a, &b]), &list(&[&b, &a])));
        assert!(!same_matchers(&list(&[&a, &a, &b]), &list(&[&a, &b, &b])));
        assert!(!same_matchers(&list(&[&a]), &list(&[&a, &a])));
        assert!(are_shown(&list(&[&a, &b]), &["b=\"2\"".to_owned(), "a=\"1\"".to_owned()]));
        assert!(!are_shown(&list(&[&a, &b]), &["a=\"1\"".to_owned(), "a=\"1\"".to_owned()]));
    }

    #[test]
    fn the_hash_ignores_order_and_start_but_nothing_else() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let wanted = Wanted {
            matchers: vec![matcher("a", "1", true, false), matcher("b", "2", true, false)],
            comment: "c".to_owned(),
            starts_at: at("2026-01-10T10:00:00Z"),
            ends_at: at("2026-01-10T12:00:00Z"),
        };
        let hash = wanted.hash();
        assert_eq!(hash.len(), 64);
        let mut same = wanted.clone();
        same.matchers.reverse();
        same.starts_at = at("2026-01-10T11:00:00Z");
        same.ends_at = at("2026-01-10T12:00:00.900Z");
        assert_eq!(same.hash(), hash);
        let mut others = [wanted.clone(), wanted.clone(), wanted.clone()];
        others[0].comment.push('!');
        others[1].ends_at = at("2026-01-10T12:00:01Z");
        others[2].matchers.pop();
        assert!(others.iter().all(|other| other.hash() != hash));
    }
}
