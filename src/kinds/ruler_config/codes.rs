//! The rules of RulerConfig: code, verdict, why and what to write instead.

use crate::rule::rules;

rules! {
    TWO_CREDENTIALS = "USHG001" Error "credentials and credentialsFile are both set",
        "Loki takes one of them and refuses a configuration with both.",
        "keep credentialsFile, which keeps the secret out of the object";
    DURATION = "USHG002" Error "the duration cannot be read",
        "A duration that Loki cannot read stops it from starting.",
        "write a duration like 1m or 1h30m";
    ENDPOINT = "USHG003" Error "the endpoint is not a URL of an Alertmanager",
        "Loki joins the endpoints with commas and reads each as a URL; with enableSRV the host must name a service record.",
        "write a URL like http://alertmanager:9093, or with enableSRV http://_http._tcp.alertmanager";
    URL = "USHG004" Error "the URL is not absolute, or carries a password",
        "Loki refuses a relative URL, and sends a masked password in place of the one in the URL.",
        "write scheme and host; put credentials where the kind has fields for them";
    LABEL_NAME = "USHG005" Error "the label name is not valid",
        "External labels have classic names.",
        "use a name of the form [a-zA-Z_][a-zA-Z0-9_]*";
    TWO_AUTHS = "USHG006" Error "headerAuth and basicAuth are both set",
        "Both set the header Authorization.",
        "keep one of the two";
    HALF_PAIR = "USHG007" Error "a certificate without its key, or a key without its certificate",
        "Loki needs both to prove who it is.",
        "give both certPath and keyPath";
    NO_CLIENT = "USHG008" Error "remote write is enabled without a client",
        "There is nobody to write to.",
        "set remoteWrite.client, or enabled to false";
    RELABEL = "USHG009" Error "the relabel rule is not valid",
        "Loki refuses the whole configuration for one such rule.",
        "mend the rule as the message says";
    QUEUE = "USHG010" Error "the queue's limits contradict each other",
        "Loki would not send, or not start.",
        "use positive numbers, the smaller one for the lower limit";
    HEADER = "USHG011" Error "the header cannot be set here",
        "Loki drops it, or refuses to start with it.",
        "leave the header out";
    TENANT_ID = "USHG012" Error "the key is not a tenant ID that Loki can serve",
        "The settings would belong to nobody.",
        "use letters, digits and !-_.*'(), at most 150 of them";
    OVERRIDE_FIELD = "USHG013" Error "the field does not exist for single tenants",
        "Loki refuses the runtime configuration of every tenant for one unknown key.",
        "set it in spec.alertmanager, for all tenants";
    INLINE_SECRET = "USHG101" Warning "a secret is written in the object",
        "Whoever may read the object reads the secret, and so does every backup.",
        "use credentialsFile, or a Secret where the kind takes one";
    OLD_API = "USHG102" Warning "Alertmanager's API v1 is gone since 0.27",
        "With enableV2 false no current Alertmanager gets an alert.",
        "leave enableV2 out";
    HEADER_WORD = "USHG103" Warning "header is an old word for bearer",
        "It is read as bearer.",
        "write bearer, unless the installed CRD is older and refuses it";
    NO_TARGET = "USHG104" Warning "no Loki has the name of the object",
        "A RulerConfig belongs to the Loki of its own name and namespace; without one its settings reach nobody.",
        "give the object the name and the namespace of the LokiStack, or of the target in the settings";
}
