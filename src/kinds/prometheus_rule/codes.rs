//! The rules of PrometheusRule: code, verdict, why and what to write instead.

use crate::rule::rules;

rules! {
    REPEATED_GROUP = "USHP001" Error "two groups have the same name",
        "Prometheus refuses the file.",
        "give each group of the object a name of its own";
    NO_GROUP_NAME = "USHP002" Error "the group has no name",
        "Prometheus refuses the file.",
        "name the group";
    DURATION = "USHP003" Error "the duration cannot be read",
        "Prometheus refuses the file.",
        "write a duration like 5m or 1h30m";
    NO_NAME = "USHP004" Error "the rule has no name",
        "Prometheus refuses a rule with neither alert nor record.",
        "set alert or record";
    TWO_NAMES = "USHP005" Error "the rule is an alert and a record at once",
        "Prometheus refuses the file.",
        "keep one of alert and record, or make two rules";
    PROMQL = "USHP006" Error "the expression is not valid PromQL",
        "Prometheus refuses the file, and prometheus-operator leaves the whole object out.",
        "mend the expression at the place that is named";
    RECORD_NAME = "USHP007" Error "the record is not a metric name",
        "Prometheus refuses the file; a name with braces is usually an expression in the wrong field.",
        "use a name of the form [a-zA-Z_:][a-zA-Z0-9_:]*, for example job:errors:rate5m";
    RECORDING_FIELD = "USHP008" Error "the field does not exist for recording rules",
        "Prometheus refuses a record with for, keep_firing_for or annotations.",
        "leave the field out";
    LABEL_NAME = "USHP009" Error "the label name is not valid for the selecting Prometheus",
        "Prometheus before 3.0, and newer ones with the legacy scheme, take classic names only; none takes __name__.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*";
    ANNOTATION_NAME = "USHP010" Error "the annotation name is not valid for the selecting Prometheus",
        "Prometheus before 3.0, and newer ones with the legacy scheme, take classic names only.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*, for example runbook_url";
    TEMPLATE = "USHP011" Error "the template does not parse",
        "Prometheus reads labels and annotations of alerts as Go templates and refuses the file when one fails.",
        "mend the template at the place that is named";
    TOO_LARGE = "USHP012" Error "the rules are larger than prometheus-operator takes",
        "prometheus-operator leaves objects out whose rules take more than 524,288 bytes.",
        "spread the groups over several objects";
    NOT_TEXT = "USHP013" Error "the value is not a string",
        "Labels and annotations are strings.",
        "put the value in quotes";
    NUMBER = "USHP014" Error "the number is too large",
        "prometheus-operator reads an expression that is a number with 32 bits, and refuses the object.",
        "put the number in quotes";
    UNREADABLE = "USHP015" Error "the text has a character that YAML does not allow",
        "prometheus-operator makes YAML of the rules, and refuses the object when that cannot be read.",
        "take the character out, or write it as an escape of the language: \\u007f in PromQL and in templates";
    EXPERIMENTAL = "USHP101" Warning "a selecting Prometheus does not know the expression",
        "It uses something that only Prometheus with a feature flag understands; those without it refuse the file.",
        "enable the feature in every Prometheus that selects the object";
    EMPTY_DURATION = "USHP103" Warning "the duration is empty",
        "prometheus-operator's webhook takes it for absent, and then delivers it, which Prometheus cannot load.",
        "leave the field out, or write a duration";
    OLD_NAME = "USHP102" Warning "a selecting Prometheus does not know the name",
        "Some of the Prometheus that select the object take classic names only.",
        "use a classic name, or narrow the ruleSelector";
}
