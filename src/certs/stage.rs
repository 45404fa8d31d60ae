//! What is next for the certificates: a pure function, so that every step can be tested.
//!
//! A rotation has three steps. *Stage*: a new CA and leaf are made; the new CA is trusted beside the old one, the old
//! leaf is still served. *Switch*: when every webhook configuration has carried both CAs for the overlap, the new leaf is
//! served. *Retire*: when every replica has had the overlap to switch, the old CA is trusted no more. At every instant
//! each leaf that some replica may serve is signed by a CA that is trusted.

use std::time::Duration;

use super::material::{Made, Pair, is_signed_by};

/// What the Secret holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// The CAs that are trusted, the newest first.
    pub trusted: Vec<String>,
    /// What is served.
    pub serving: Pair,
    /// What will be served next.
    pub next: Option<Pair>,
    /// Somebody asks for a new CA.
    pub rotate: bool,
}

/// What a replica has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// How long the Secret has been as it is.
    pub unchanged_for: Duration,
    /// How long every webhook configuration has carried all trusted CAs; `None` while some does not.
    pub published_for: Option<Duration>,
    /// Two thirds of the serving certificate's life are over.
    pub is_due: bool,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Nothing yet.
    Wait,
    /// Make a new CA and leaf, and have both CAs trusted.
    Stage,
    /// Serve the new leaf.
    Switch,
    /// Trust only the CA of what is served.
    Retire,
}

impl Material {
    /// The first material of a cluster.
    pub fn first(made: Made) -> Self {
        Self { trusted: vec![made.authority], serving: made.pair, next: None, rotate: false }
    }

    /// What the API server must trust, as one text.
    pub fn bundle(&self) -> String {
        self.trusted.concat()
    }

    /// What is next.
    pub fn plan(&self, sight: Sight, overlap: Duration) -> Plan {
        let is_published = |least| sight.published_for.is_some_and(|published| published >= least);
        let is_rotating = self.next.is_some() || self.trusted.len() > 1;
        match &self.next {
            Some(_) if is_published(overlap) => Plan::Switch,
            None if is_rotating && sight.unchanged_for >= overlap && is_published(Duration::ZERO) => {
                Plan::Retire
            }
            None if !is_rotating && (self.rotate || sight.is_due) => Plan::Stage,
            _ => Plan::Wait,
        }
    }

    /// The new CA is trusted beside the old one.
    #[must_use]
    pub fn staged(&self, made: Made) -> Self {
        let trusted = std::iter::once(made.authority).chain(self.trusted.iter().cloned()).collect();
        Self { trusted, serving: self.serving.clone(), next: Some(made.pair), rotate: false }
    }

    /// The new leaf is served.
    #[must_use]
    pub fn switched(&self) -> Self {
        let serving = self.next.clone().unwrap_or_else(|| self.serving.clone());
        Self { serving, next: None, ..self.clone() }
    }

    /// Only the CA of what is served is trusted.
    #[must_use]
    pub fn retired(&self) -> Self {
        let signs = |authority: &&String| is_signed_by(&self.serving.certificate, authority);
        Self { trusted: self.trusted.iter().find(signs).cloned().into_iter().collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::make;
    use super::*;

    const OVERLAP: Duration = Duration::from_mins(1);

    fn made() -> Made {
        make(&["localhost".to_owned()]).unwrap()
    }

    fn sight(unchanged: u64, published: Option<u64>, is_due: bool) -> Sight {
        Sight {
            unchanged_for: Duration::from_secs(unchanged),
            published_for: published.map(Duration::from_secs),
            is_due,
        }
    }

    #[test]
    fn a_rotation_never_serves_what_is_not_trusted() {
        let (first, second) = (made(), made());
        let one = Material::first(first.clone());
        assert_eq!(one.plan(sight(1_000, Some(1_000), false), OVERLAP), Plan::Wait);
        assert_eq!(one.plan(sight(0, None, true), OVERLAP), Plan::Stage);
        let asked = Material { rotate: true, ..one.clone() };
        assert_eq!(asked.plan(sight(0, None, false), OVERLAP), Plan::Stage);

        let two = asked.staged(second.clone());
        assert_eq!(two.trusted, [second.authority.clone(), first.authority.clone()]);
        assert_eq!(two.serving, first.pair, "the old leaf is served until the new CA is trusted");
        assert_eq!(two.plan(sight(1_000, None, false), OVERLAP), Plan::Wait, "not published");
        assert_eq!(two.plan(sight(1_000, Some(59), false), OVERLAP), Plan::Wait, "just published");
        assert_eq!(two.plan(sight(0, Some(60), false), OVERLAP), Plan::Switch);

        let three = two.switched();
        assert_eq!((three.serving.clone(), three.next.clone()), (second.pair, None));
        assert_eq!(three.trusted.len(), 2, "a replica may still serve the old leaf");
        assert_eq!(three.plan(sight(59, Some(1_000), false), OVERLAP), Plan::Wait);
        assert_eq!(three.plan(sight(60, None, false), OVERLAP), Plan::Wait);
        assert_eq!(three.plan(sight(60, Some(1_000), false), OVERLAP), Plan::Retire);
        let four = three.retired();
        assert_eq!(four.trusted, [second.authority]);
        assert_eq!(four.plan(sight(0, None, false), OVERLAP), Plan::Wait);
        // Somebody took the staged pair away: the CA of what is served stays.
        let given_up = Material { next: None, ..two };
        assert_eq!(given_up.retired().trusted, [first.authority]);
    }

    #[test]
    fn no_key_is_printed() {
        let material = Material::first(made());
        assert!(!format!("{material:?}").contains("PRIVATE"), "{material:?}");
    }
}
