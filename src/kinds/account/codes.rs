//! The rules of Account.

use crate::rule::rules;

rules! {
    EMPTY_REFERENCE = "USHA001" Error "the reference to the API key names no Secret or no key",
        "Without the key usher cannot talk to UptimeRobot.",
        "set spec.apiKeySecretRef.name and spec.apiKeySecretRef.key";
    SECOND_DEFAULT = "USHA002" Error "another Account is the default",
        "Objects that name no Account would have two.",
        "set spec.isDefault to false here, or on the other Account first";
    SECRET_MISSING = "USHA003" Warning "the Secret or its key is missing",
        "The Account is not ready until it is there.",
        "create the Secret in usher's cluster-resource namespace";
    SUSPICIOUS_KEY = "USHA004" Warning "the API key does not look like a main key",
        "Monitor keys and read-only keys cannot create anything; blanks inside a key are a copy mistake.",
        "store the account's main API key";
    DEFAULT_IN_USE = "USHA005" Warning "objects rely on this Account being the default",
        "They resolve to no Account, or to another one, from now on.",
        "name the Account in those objects first";
    IN_USE = "USHA006" Error "the Account is in use",
        "The objects that use it could no longer be cleaned up at UptimeRobot without its key.",
        "delete or move the objects first, or annotate the Account with uptimerobot.com/force-delete: \"true\"";
}
