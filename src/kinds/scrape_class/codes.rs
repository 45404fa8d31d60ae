//! The rules of ScrapeClass; USHC005 is C5 of the specification, and so on.

use crate::rule::rules;

rules! {
    BLANK_NAME = "USHC001" Error "the class has no name",
        "Monitors pick a class by its name.",
        "set metadata.name";
    SECOND_DEFAULT = "USHC004" Error "another default class covers the same workloads",
        "A monitor without a class would have two defaults.",
        "set spec.default to false here, or on the other class first";
    TWO_SOURCES = "USHC005" Error "a certificate is given twice",
        "A reference and a file for the same thing exclude each other in Prometheus.",
        "keep either the reference or the file";
    HALF_PAIR = "USHC006" Error "a client certificate without its key, or a key without a certificate",
        "Prometheus refuses the whole configuration when half of a pair is missing.",
        "give both the certificate and the key, by reference or by file";
    SECRET_AND_CONFIG_MAP = "USHC007" Error "a value comes from a Secret and a ConfigMap at once",
        "Only one of them can be used.",
        "keep either secret or configMap";
    EMPTY_REFERENCE = "USHC008" Error "a reference names no object or no key",
        "It would lead to a file that does not exist.",
        "set both name and key";
    TLS_ORDER = "USHC009" Error "maxVersion is lower than minVersion",
        "No TLS version satisfies both.",
        "swap the two, or drop one";
    TWO_CREDENTIALS = "USHC010" Error "credentials and credentialsFile exclude each other",
        "Prometheus takes one of them.",
        "keep one of the two";
    BASIC_AUTH = "USHC011" Error "the authorization type must not be Basic",
        "Prometheus has fields of its own for basic authentication and refuses the type here.",
        "use basicAuth on the monitor, or another type";
    NO_CREDENTIALS = "USHC012" Error "authorization without credentials",
        "Only the scheme would be sent.",
        "set credentials or credentialsFile, or drop authorization";
    UNSAFE_PATH = "USHC013" Error "the file path is not safe",
        "Dot segments leave the mounted directories; NUL, line breaks and $( change the generated configuration.",
        "write a plain absolute path";
    RELATIVE_PATH = "USHC014" Warning "the file path is relative",
        "It depends on the working directory of Prometheus.",
        "write an absolute path";
    NOT_MOUNTED = "USHC015" Warning "no volume of the workload holds the file",
        "Prometheus would not find it.",
        "mount the volume in the workload, or correct the path";
    META_LABEL = "USHC017" Warning "metric relabeling reads a __meta_ label",
        "Those labels are gone when samples are relabeled.",
        "copy the label in relabelings first";
    REDIRECTS_TARGET = "USHC018" Warning "the rule rewrites where or how targets are scraped",
        "A class applies to many monitors; rewriting addresses or job labels there surprises their authors and breaks sharding.",
        "do this in the monitor that needs it";
    INSECURE = "USHC020" Warning "certificates are not verified",
        "Anybody on the path can answer for the target.",
        "give a CA instead of insecureSkipVerify";
    USELESS_CA = "USHC021" Warning "a CA has no effect with insecureSkipVerify",
        "Nothing is verified, so the CA is never used.",
        "drop insecureSkipVerify or the CA";
    OLD_WORKLOAD = "USHC022" Warning "a workload's Prometheus is too old for a field",
        "The field is ignored for that workload.",
        "raise the workload's version, or narrow workloadSelector";
    NO_EFFECT = "USHC023" Warning "the class sets nothing",
        "Monitors that name it are scraped as without a class.",
        "set a field, or call the class none if it is the way out of a default";
    DEFAULT_CREDENTIAL = "USHC026" Warning "a default class sends its credential to every target",
        "Every monitor without a class gets it, and monitor authors choose the targets.",
        "use the credential in a class that monitors must name";
    UNKNOWN_ACTION = "USHR001" Error "the relabeling action does not exist",
        "Prometheus refuses the configuration.",
        "use one of replace, keep, drop, hashmod, labelmap, labeldrop, labelkeep, lowercase, uppercase, keepequal, dropequal";
    ACTION_VERSION = "USHR002" Error "the relabeling action needs a newer Prometheus",
        "lowercase and uppercase came with 2.36, keepequal and dropequal with 2.41.",
        "raise the workload's version, or use another action";
    BAD_REGEX = "USHR003" Error "the regular expression is not valid",
        "Prometheus reads expressions as Go's regexp package does and refuses the configuration.",
        "mend the expression at the place that is named";
    NO_MODULUS = "USHR004" Error "hashmod needs a modulus",
        "A hash modulo nothing does not exist.",
        "set modulus to the number of shards";
    STRAY_MODULUS = "USHR005" Error "the modulus has no meaning here",
        "Only hashmod divides.",
        "remove modulus";
    NO_TARGET = "USHR006" Error "the action needs a targetLabel",
        "The result has nowhere to go.",
        "set targetLabel";
    BAD_TARGET = "USHR007" Error "the targetLabel is not a label name or template",
        "Prometheus refuses the configuration.",
        "use a valid label name, or a template such as ${1}_total with replace";
    TEMPLATE_TARGET = "USHR008" Error "the targetLabel must be a plain label name",
        "Only replace takes a template.",
        "write the label's name";
    REPLACEMENT = "USHR009" Error "the replacement has no meaning here",
        "The action writes the matched value itself.",
        "remove replacement";
    LABELMAP_REPLACEMENT = "USHR010" Error "the replacement is no label name or template",
        "labelmap writes labels of that name.",
        "use a template such as ${1}";
    ONLY_SOURCE = "USHR011" Error "keepequal and dropequal take only sourceLabels and targetLabel",
        "Prometheus refuses the other fields.",
        "remove the field";
    ONLY_REGEX = "USHR012" Error "labeldrop and labelkeep take only a regex",
        "Prometheus refuses the other fields.",
        "remove the field";
    BAD_SOURCE = "USHR013" Error "a source label is not a label name",
        "Prometheus refuses the configuration.",
        "use a valid label name";
    NEWER_GO = "USHR014" Warning "older releases of Prometheus do not read the expression",
        "Go learned it later; a Prometheus that was built before refuses the configuration.",
        "write it in the older form if such a Prometheus uses the class";
}
