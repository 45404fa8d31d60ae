//! Feature gates: each of usher's systems can be switched off.
//!
//! A system that is off admits everything unmodified at the webhook and reconciles nothing. `usher check` judges always:
//! what is in a file does not depend on what a cluster has switched on.

use serde::Deserialize;

use crate::rule::nearest::nearest;

/// One of usher's systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum System {
    /// Silences of Alertmanagers.
    Silence,
    /// Scrape classes of Prometheus.
    ScrapeClass,
    /// Rules of Prometheus.
    PrometheusRules,
    /// Rules of Loki's ruler.
    LokiRules,
    /// Monitors of UptimeRobot.
    UptimeRobot,
    /// Health of KMS plugins.
    KmsHealth,
}

impl System {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Silence,
        Self::ScrapeClass,
        Self::PrometheusRules,
        Self::LokiRules,
        Self::UptimeRobot,
        Self::KmsHealth,
    ];

    /// The name of its gate.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silence => "Silence",
            Self::ScrapeClass => "ScrapeClass",
            Self::PrometheusRules => "PrometheusRules",
            Self::LokiRules => "LokiRules",
            Self::UptimeRobot => "UptimeRobot",
            Self::KmsHealth => "KMSHealth",
        }
    }

    /// The system of a gate. The proposal for Silences uses two names of its own.
    fn of_gate(name: &str) -> Option<Self> {
        match name {
            "EnableSilenceCRD" | "SilenceCRD" => Some(Self::Silence),
            _ => Self::ALL.into_iter().find(|system| system.as_str() == name),
        }
    }
}

/// Which systems are off; all others are on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Gates {
    off: Vec<System>,
}

impl Gates {
    /// Is the system on?
    pub fn is_on(&self, system: System) -> bool {
        !self.off.contains(&system)
    }
}

impl TryFrom<String> for Gates {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for Gates {
    type Err = String;

    /// `Silence=true,KMSHealth=false`; the last word about a system counts.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut gates = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| format!("{part:?} is not of the form Name=true|false"))?;
            let system = System::of_gate(name).ok_or_else(|| {
                let hint = nearest(name, System::ALL.iter().map(|system| system.as_str()));
                let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                format!("there is no feature gate {name:?}{hint}")
            })?;
            gates.off.retain(|off| *off != system);
            match value {
                "true" => {}
                "false" => gates.off.push(system),
                _ => return Err(format!("{name}={value:?} is neither true nor false")),
            }
        }
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read() {
        let gates: Gates = "Silence=false, KMSHealth=false,EnableSilenceCRD=true".parse().unwrap();
        assert!(gates.is_on(System::Silence) && !gates.is_on(System::KmsHealth));
        assert!("".parse::<Gates>().unwrap().is_on(System::UptimeRobot));
        let error = "UptimeRobots=true".parse::<Gates>().unwrap_err();
        assert!(error.contains("did you mean UptimeRobot?"), "{error}");
        assert!("Silence".parse::<Gates>().is_err() && "Silence=yes".parse::<Gates>().is_err());
    }
}
