//! Monitor: one check that UptimeRobot runs. Schema and CEL only; its rules come with the UptimeRobot system.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Cel, KindInfo};
use crate::gates::System;
use crate::model::cel::{has, has_text, text};
use crate::rule::{Home, Rule, Severity};

pub mod blocks;
pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "Monitor",
    plural: "monitors",
    namespaced: true,
    slug: "monitor",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::Monitor::crd,
    cel: &[
        Cel {
            at: &["spec", "monitor"],
            expression: "self.type != 'Keyword' || has(self.keyword)",
            rule: &KEYWORD_BLOCK,
            holds: keyword_monitor_has_a_keyword,
        },
        Cel {
            at: &["spec", "monitor"],
            expression: "self.type != 'Port' || has(self.port)",
            rule: &PORT_BLOCK,
            holds: port_monitor_has_a_port,
        },
        Cel {
            at: &["spec", "monitor"],
            expression: "self.type != 'DNS' || has(self.dns)",
            rule: &DNS_BLOCK,
            holds: dns_monitor_has_records,
        },
        Cel {
            at: &["spec", "monitor"],
            expression: "self.type == 'Heartbeat' || (has(self.url) && size(self.url) > 0)",
            rule: &URL,
            holds: all_but_heartbeats_have_a_url,
        },
    ],
    admission: None,
    reconciler: None,
};

/// A Keyword monitor needs its keyword.
pub static KEYWORD_BLOCK: Rule = Rule {
    code: "USHU901",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a Keyword monitor has no keyword",
    why: "UptimeRobot cannot search an answer without the text to look for, and refuses such a monitor.",
    fix: "add spec.monitor.keyword with type and value, or choose another type",
};

/// A Port monitor needs its port.
pub static PORT_BLOCK: Rule = Rule {
    code: "USHU902",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a Port monitor has no port",
    why: "UptimeRobot has no default port to connect to, and refuses such a monitor.",
    fix: "add spec.monitor.port with number, or choose another type",
};

/// A DNS monitor needs its records.
pub static DNS_BLOCK: Rule = Rule {
    code: "USHU903",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a DNS monitor has no dns records",
    why: "Without records to compare the answer with, the monitor watches nothing.",
    fix: "add spec.monitor.dns with at least one list of records, or choose another type",
};

/// Every monitor but a Heartbeat needs a url.
pub static URL: Rule = Rule {
    code: "USHU904",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a monitor that is not a Heartbeat has no url",
    why: "UptimeRobot has to know what to check. Only a Heartbeat is called instead of calling.",
    fix: "set spec.monitor.url, or use type Heartbeat",
};

fn keyword_monitor_has_a_keyword(monitor: &Value) -> bool {
    text(monitor, "type") != "Keyword" || has(monitor, "keyword")
}

fn port_monitor_has_a_port(monitor: &Value) -> bool {
    text(monitor, "type") != "Port" || has(monitor, "port")
}

fn dns_monitor_has_records(monitor: &Value) -> bool {
    text(monitor, "type") != "DNS" || has(monitor, "dns")
}

fn all_but_heartbeats_have_a_url(monitor: &Value) -> bool {
    text(monitor, "type") == "Heartbeat" || has_text(monitor, "url")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_type_needs_its_own_block() {
        type Twin = fn(&Value) -> bool;
        let cases: [(&str, &str, Twin); 3] = [
            ("Keyword", "keyword", keyword_monitor_has_a_keyword),
            ("Port", "port", port_monitor_has_a_port),
            ("DNS", "dns", dns_monitor_has_records),
        ];
        for (kind, block, holds) in cases {
            assert!(!holds(&json!({"type": kind})), "{kind} without");
            assert!(!holds(&json!({"type": kind, block: null})), "{kind} with null");
            assert!(holds(&json!({"type": kind, block: {}})), "{kind} with");
            assert!(holds(&json!({"type": "HTTPS"})), "another type");
        }
    }

    #[test]
    fn only_a_heartbeat_goes_without_a_url() {
        assert!(all_but_heartbeats_have_a_url(&json!({"type": "Heartbeat"})));
        assert!(all_but_heartbeats_have_a_url(&json!({"type": "Ping", "url": "db.example.com"})));
        assert!(!all_but_heartbeats_have_a_url(&json!({"type": "HTTPS"})));
        assert!(!all_but_heartbeats_have_a_url(&json!({"type": "HTTPS", "url": ""})));
    }
}
