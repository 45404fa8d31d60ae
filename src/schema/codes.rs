//! Rules about files, schemas and metadata: what the API server itself would refuse.

use crate::rule::{Home, Rule, Severity};

macro_rules! schema_rules {
    ($($name:ident = $code:literal $title:literal, $why:literal, $fix:literal;)*) => {
        $(#[allow(missing_docs)] pub static $name: Rule = Rule {
            code: $code,
            verdict: Severity::Error,
            home: Home::Schema,
            title: $title,
            why: $why,
            fix: $fix,
        };)*

        /// All of them.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

schema_rules! {
    SYNTAX = "USHX001" "the file is not YAML or JSON",
        "kubectl cannot read it either.",
        "correct the syntax at this place";
    UNKNOWN_FIELD = "USHX002" "the field does not exist",
        "The API server drops unknown fields, or refuses them with strict validation; what you meant to set has no effect.",
        "correct the name, or remove the field";
    DUPLICATE_KEY = "USHX003" "the key is there twice",
        "Only the last one counts, which is hardly what was meant.",
        "remove one of the two";
    TYPE = "USHX004" "the value has the wrong type",
        "The schema asks for another type here.",
        "write a value of the type that is asked for";
    REQUIRED = "USHX005" "a required field is missing",
        "The schema asks for it.",
        "add the field";
    ENUM = "USHX006" "the value is none of those allowed",
        "The schema lists the allowed values.",
        "use one of the allowed values";
    PATTERN = "USHX007" "the text does not match the pattern",
        "The schema asks for a certain form.",
        "write the text in that form";
    LENGTH = "USHX008" "the text is too short or too long",
        "The schema bounds its length, counted in characters.",
        "shorten or extend the text";
    BOUND = "USHX009" "the number is too small or too large",
        "The schema bounds it.",
        "use a number within the bounds";
    COUNT = "USHX010" "too few or too many entries",
        "The schema bounds their number.",
        "add or remove entries";
    FORMAT = "USHX011" "the text is not of the format",
        "The schema asks for a certain format, for example an RFC 3339 time.",
        "write the text in that format, for example 2026-01-31T18:00:00Z";
    DUPLICATE_ITEM = "USHX012" "two entries of the list are the same",
        "The list is a set, or a map by certain keys.",
        "remove one of the two";
    METADATA = "USHX013" "the metadata is not valid",
        "Kubernetes has rules of its own for names, labels and annotations.",
        "correct the metadata";
    NOT_OF_ITS_KIND = "USHX014" "the object does not have the shape of its kind",
        "It came past the schema, for example because the CRD is another one.",
        "compare the object with the CRD that usher ships";
    UNSERVED_VERSION = "USHX015" "the kind has no such version",
        "The API server answers that there is no match for the kind.",
        "use a version that is served";
}
