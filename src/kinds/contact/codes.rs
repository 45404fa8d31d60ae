//! The rules of Contact.

use crate::rule::{cel_rules, rules};

rules! {
    BAD_ID = "USHN001" Error "the contact's id is not a number",
        "UptimeRobot's ids are positive decimal numbers.",
        "copy the id from UptimeRobot, or use spec.contact.name";
    SECOND_DEFAULT = "USHN002" Error "another Contact is the default",
        "Monitors that name no Contact would have two.",
        "set spec.isDefault to false here, or on the other Contact first";
    UNKNOWN_ID = "USHN003" Warning "the Account does not know the id",
        "Nobody would be alerted.",
        "copy the id from the Account's status.alertContacts";
    SAME_ID = "USHN004" Warning "another Contact resolves to the same id",
        "Two objects for one contact make it unclear which one alerts.",
        "use the existing Contact";
    CHANGED_IN_USE = "USHN005" Warning "Monitors use this Contact",
        "They alert somebody else from now on.",
        "nothing, if that is what you want";
    NO_ACCOUNT = "USHN006" Warning "the Account is missing",
        "The Contact is not ready until the Account is there.",
        "create the Account, or correct spec.account.name";
    TERMINATING_ACCOUNT = "USHN007" Error "the Account is being deleted",
        "A new use would keep it from ever going away.",
        "name another Account";
    IN_USE = "USHN008" Error "Monitors rely on this default Contact",
        "Their alerts would reach nobody.",
        "make another Contact the default first";
}

cel_rules! {
    ONE_IDENTITY = "USHN901" "exactly one of contact.id and contact.name must be set",
        "Either finds the contact; two could disagree.",
        "keep one of spec.contact.id and spec.contact.name";
}
