//! Counts Silences for metrics: by phase always, by name only when the operator asks for it. Whatever is set for an object
//! is taken away when it is gone, also when it goes without a word.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use super::Identity;
use crate::kinds::silence::spec::{Binding, Phase, SilenceState};
use crate::observe::metrics::Metrics;
use crate::observe::silence_metrics::{InfoLabels, ObjectLabels, PhaseLabel};

/// What is counted.
#[derive(Debug, Default)]
pub struct Tally {
    counted: Mutex<HashMap<String, Counted>>,
    /// The objects whose silence was seen on every instance for the first time.
    arrived: Mutex<HashSet<String>>,
}

/// What is set for one object.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counted {
    phase: Phase,
    /// Namespace and name, when there are metrics with them.
    named: Option<Box<(String, String)>>,
}

impl Tally {
    /// An object and its status; `is_named` asks for metrics with its name.
    pub(super) fn put(&self, identity: &Identity, state: &SilenceState, is_named: bool, metrics: &Metrics) {
        let Some(phase) = state.phase else { return };
        let named = is_named.then(|| Box::new((identity.namespace.clone(), identity.name.clone())));
        let counted = Counted { phase, named };
        let mut all = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.insert(identity.uid.clone(), counted.clone());
        if before.as_ref() != Some(&counted) {
            if let Some(before) = before {
                before.unset(metrics);
            }
            counted.set(metrics);
        }
        counted.measure(state, metrics);
    }

    /// Is it the first time that an object's silence is on every instance? Its stored status alone cannot tell: the next
    /// pass may begin before it has come back.
    pub(super) fn arrives(&self, uid: &str) -> bool {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).insert(uid.to_owned())
    }

    /// An object that is gone.
    pub(super) fn forget(&self, uid: &str, metrics: &Metrics) {
        let removed = self.counted.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
        if let Some(counted) = removed {
            counted.unset(metrics);
        }
    }

    /// All objects that are gone.
    pub(super) fn retain(&self, exists: impl Fn(&str) -> bool, metrics: &Metrics) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).retain(|uid, counted| {
            let stays = exists(uid);
            if !stays {
                counted.unset(metrics);
            }
            stays
        });
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).retain(|uid| exists(uid));
    }
}

impl Counted {
    fn set(&self, metrics: &Metrics) {
        metrics.silence.phases.get_or_create(&PhaseLabel { phase: self.phase.as_str() }).inc();
        if let Some(named) = &self.named {
            metrics.silence.info.get_or_create(&info(named, self.phase)).set(1);
        }
    }

    fn measure(&self, state: &SilenceState, metrics: &Metrics) {
        let Some(labels) = self.named.as_deref().map(object) else { return };
        let silence = &metrics.silence;
        if let Some(end) = state.expires_at {
            silence.expires.get_or_create(&labels).set(end.as_second());
        }
        let sum = |count: fn(&Binding) -> Option<i32>| {
            let counts = state.bindings.iter().flatten().filter_map(count);
            counts.map(i64::from).sum()
        };
        silence.synced_instances.get_or_create(&labels).set(sum(|binding| binding.synced_instances));
        silence.silenced_alerts.get_or_create(&labels).set(sum(|binding| binding.silenced_alerts));
    }

    fn unset(&self, metrics: &Metrics) {
        metrics.silence.phases.get_or_create(&PhaseLabel { phase: self.phase.as_str() }).dec();
        if let Some(named) = &self.named {
            let (labels, silence) = (object(named), &metrics.silence);
            silence.info.remove(&info(named, self.phase));
            silence.expires.remove(&labels);
            silence.synced_instances.remove(&labels);
            silence.silenced_alerts.remove(&labels);
        }
    }
}

fn object((namespace, name): &(String, String)) -> ObjectLabels {
    ObjectLabels { namespace: namespace.clone(), name: name.clone() }
}

fn info((namespace, name): &(String, String), phase: Phase) -> InfoLabels {
    InfoLabels { namespace: namespace.clone(), name: name.clone(), phase: phase.as_str() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_an_object_goes_with_it() {
        let (metrics, tally) = (Metrics::default(), Tally::default());
        let identity = Identity {
            namespace: "shop".to_owned(),
            name: "api".to_owned(),
            uid: "u".to_owned(),
            cluster: "c".to_owned(),
            adopt: None,
        };
        let state = |phase| SilenceState { phase: Some(phase), ..SilenceState::default() };
        tally.put(&identity, &state(Phase::Pending), true, &metrics);
        tally.put(&identity, &state(Phase::Active), true, &metrics);
        let text = metrics.render();
        assert!(text.contains("usher_silences{phase=\"Active\"} 1"), "{text}");
        assert!(text.contains("usher_silences{phase=\"Pending\"} 0"), "{text}");
        assert!(
            text.contains("usher_silence_info{namespace=\"shop\",name=\"api\",phase=\"Active\"} 1"),
            "{text}"
        );
        tally.retain(|_| false, &metrics);
        let text = metrics.render();
        assert!(text.contains("usher_silences{phase=\"Active\"} 0") && !text.contains("\"api\""), "{text}");
    }
}
