//! The rules of AlertingRule and RecordingRule: code, verdict, why and what to write instead.

use crate::rule::rules;

rules! {
    REPEATED_GROUP = "USHL001" Error "two groups have the same name",
        "Loki's loader refuses a file with a repeated group, and a file that it refuses stops the rules of every tenant.",
        "give each group of the object a name of its own";
    INTERVAL = "USHL002" Error "the interval is not a Prometheus duration",
        "Loki's loader refuses the file.",
        "write a duration like 1m or 1h30m";
    FOR = "USHL003" Error "for is not a Prometheus duration",
        "Loki's loader refuses the file.",
        "write a duration like 5m, or leave for out to fire at once";
    LOGQL = "USHL004" Error "the expression is not valid LogQL",
        "Loki's parser refuses it, and with it the file and the rules of every tenant.",
        "mend the expression at the place that is named";
    LOG_QUERY = "USHL005" Error "the expression is a log query",
        "A rule needs numbers: the ruler evaluates metric queries only.",
        "count the lines, for example with count_over_time({…}[5m]) > 0";
    RECORD_NAME = "USHL006" Error "the record is not a metric name",
        "Loki's loader takes classic metric names only.",
        "use a name of the form [a-zA-Z_:][a-zA-Z0-9_:]*, for example job:errors:rate5m";
    NO_GROUP_NAME = "USHL007" Error "the group has no name",
        "Loki's loader refuses the file.",
        "name the group";
    NO_NAME = "USHL008" Error "the rule has no name",
        "Loki's loader refuses a rule with neither alert nor record.",
        "name the rule";
    LABEL_NAME = "USHL009" Error "the label name is not valid",
        "Loki's loader takes classic label names only, and never __name__.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*";
    ANNOTATION_NAME = "USHL010" Error "the annotation name is not valid",
        "Loki's loader takes names like those of labels; a dash or a dot in one stops the file.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*, for example runbook_url";
    TEMPLATE = "USHL011" Error "the template does not parse",
        "Loki's loader reads labels and annotations of alerts as Go templates and refuses the file when one fails.",
        "mend the template at the place that is named";
    TENANT_ID = "USHL012" Error "the tenant is not a tenant ID that Loki can serve",
        "Loki refuses requests of such a tenant, or its rules would be looked for in another place than they are.",
        "use letters, digits and !-_.*'(), at most 150 of them, not beginning with a dot and without ___";
    LONG_NAME = "USHL013" Error "the name is too long for the key of a ConfigMap",
        "The rules are delivered under the key <namespace>-<name>-<uid>.yaml, of at most 253 characters.",
        "shorten the name";
    TOO_LARGE = "USHL014" Error "the rules do not fit into a ConfigMap",
        "One object is one file, and a file larger than 998,576 bytes fits into no ConfigMap.",
        "spread the groups over several objects";
    STAGE = "USHL015" Error "a stage of the expression fails at every evaluation",
        "Loki stores the rule and then fails each time it builds the pipeline (--logql-stage-checks changes this).",
        "mend the stage at the place that is named";
    LIMIT = "USHL016" Error "the limit is negative",
        "The ruler would refuse every answer.",
        "use 0 for no limit, or a positive number";
    TENANT_NOT_ALLOWED = "USHL020" Error "the namespace may not have rules of this tenant",
        "On OpenShift a namespace belongs to one tenant: openshift*, kube-* and default to infrastructure, openshift-logging to audit too, all others to application.",
        "use the tenant of the namespace";
    NO_SELECTOR = "USHL021" Error "the expression selects no logs",
        "On OpenShift a rule must say which logs it reads.",
        "select logs of the own namespace";
    NAMESPACE_MATCHER = "USHL022" Error "a selector does not pin the own namespace",
        "The ruler reads past the gateway: a selector without the namespace reads the logs of all of them.",
        "add kubernetes_namespace_name=\"<namespace>\" to each selector";
    BOTH_LABELS = "USHL023" Error "a selector has both namespace labels",
        "kubernetes_namespace_name and k8s_namespace_name are on different log streams: together they match none.",
        "keep one of the two";
    SEVERITY = "USHL024" Error "the label severity is missing or unknown",
        "OpenShift routes alerts by it.",
        "set labels.severity to critical, warning or info";
    SUMMARY = "USHL025" Error "the annotation summary or description is missing",
        "OpenShift asks both of every alert.",
        "write annotations.summary and annotations.description";
    DISABLE_ANNOTATION = "USHL026" Error "the annotation is not a boolean",
        "It decides whether the tenant is checked; a value that cannot be read must not decide.",
        "write \"true\" or \"false\"";
    NO_NAMESPACE = "USHL030" Error "a selector does not pin the own namespace",
        "The operator of this cluster asks for it (--tenancy-mode); with inject usher adds it where its mutating webhook is asked.",
        "add the matcher to each selector";
    FOREIGN_NAMESPACE = "USHL031" Error "a selector names another namespace",
        "The operator of this cluster lets rules read the logs of their own namespace only (--tenancy-mode).",
        "create the object in the namespace whose logs it reads";
    REPEATED_RULE = "USHL101" Warning "the rule is there twice in its group",
        "Both give the same series; one of them is superfluous or misnamed.",
        "rename or remove one";
    GROUP_ELSEWHERE = "USHL102" Warning "another object of the tenant has a group of this name",
        "It is legal, for each object is a file of its own; but whoever looks for a group by its name finds two.",
        "rename one of the two";
    ZERO_INTERVAL = "USHL103" Warning "an interval of 0 means the ruler's own",
        "It is not evaluated without pause.",
        "leave the interval out, or write the one you mean";
    GROUP_ADDRESS = "USHL104" Warning "the ruler's API cannot address the group",
        "The name is a part of a path there; in a file it is fine.",
        "use a name without /, and not . or ..";
    TENANT_LABEL = "USHL105" Warning "the label tenantId is overwritten",
        "It is set to the tenant on delivery.",
        "leave the label out";
    NO_COMPARISON = "USHL106" Warning "the expression compares nothing",
        "The alert fires for every series that the query gives, whatever its value.",
        "compare with a threshold, for example > 0";
    LINT = "USHL107" Warning "the expression is valid but looks wrong",
        "Loki accepts it and gives an answer that is seldom meant.",
        "look at the place that is named";
    TENANT_UNKNOWN = "USHL109" Warning "no Loki that selects the object has the tenant",
        "The rules are left out without a word.",
        "use a tenant of the Loki, or add the tenant to it";
    VERSION = "USHL108" Warning "Loki releases differ about the expression",
        "This release of Loki accepts it and the next one does not.",
        "write it in the form that both accept";
}

/// The rules that a RecordingRule can meet.
pub static OF_RECORDING: &[&crate::rule::Rule] = &[
    &REPEATED_GROUP,
    &INTERVAL,
    &LOGQL,
    &LOG_QUERY,
    &RECORD_NAME,
    &NO_GROUP_NAME,
    &NO_NAME,
    &LABEL_NAME,
    &TENANT_ID,
    &LONG_NAME,
    &TOO_LARGE,
    &STAGE,
    &LIMIT,
    &TENANT_NOT_ALLOWED,
    &NO_SELECTOR,
    &NAMESPACE_MATCHER,
    &BOTH_LABELS,
    &DISABLE_ANNOTATION,
    &NO_NAMESPACE,
    &FOREIGN_NAMESPACE,
    &REPEATED_RULE,
    &GROUP_ELSEWHERE,
    &ZERO_INTERVAL,
    &GROUP_ADDRESS,
    &TENANT_LABEL,
    &LINT,
    &TENANT_UNKNOWN,
    &VERSION,
];
