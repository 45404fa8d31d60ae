//! The rules of LokiStack: code, verdict, why and what to write instead.

use crate::rule::rules;

rules! {
    SELECTOR = "USHT001" Error "the selector cannot be used",
        "Nobody can say which rules such a selector selects, so the ruler would get none.",
        "use In or NotIn with values, Exists or DoesNotExist without, and names and values that labels can have";
    NO_SELECTOR = "USHT101" Warning "rules are enabled and no selector selects any",
        "An absent selector selects nothing: the ruler runs and has no rules.",
        "write selector: {} for all rules, or name the labels of those you mean";
}
