//! SlackIntegration: a Slack channel that UptimeRobot alerts. Schema and CEL only; its rules come with the
//! UptimeRobot system.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Cel, KindInfo};
use crate::gates::System;
use crate::model::cel::has_text;
use crate::rule::{Home, Rule, Severity};

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "SlackIntegration",
    plural: "slackintegrations",
    namespaced: true,
    slug: "slack-integration",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::SlackIntegration::crd,
    cel: &[Cel {
        at: &["spec", "integration"],
        expression: "(has(self.webhookURL) && size(self.webhookURL) > 0) != \
                     (has(self.secretName) && size(self.secretName) > 0)",
        rule: &ONE_WEBHOOK,
        holds: has_one_webhook,
    }],
    admission: None,
    reconciler: None,
};

/// The webhook comes from one place.
pub static ONE_WEBHOOK: Rule = Rule {
    code: "USHI901",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "not exactly one of webhookURL and secretName is given",
    why: "The webhook is read from one place. With none nothing can be called, with two nobody knows which.",
    fix: "put the webhook into a Secret and name it in spec.integration.secretName, without webhookURL",
};

fn has_one_webhook(integration: &Value) -> bool {
    has_text(integration, "webhookURL") != has_text(integration, "secretName")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_webhook_comes_from_one_place() {
        assert!(has_one_webhook(&json!({"secretName": "slack"})));
        assert!(has_one_webhook(&json!({"webhookURL": "https://hooks.slack.com/x", "secretName": ""})));
        assert!(!has_one_webhook(&json!({})));
        assert!(!has_one_webhook(&json!({"webhookURL": "", "secretName": ""})));
        assert!(!has_one_webhook(&json!({"webhookURL": "https://hooks.slack.com/x", "secretName": "slack"})));
    }
}
