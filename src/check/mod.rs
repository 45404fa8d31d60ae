//! The offline door: the same rules over files, judged as the API server would judge a CREATE.
//!
//! Order of a judgement: unknown fields and duplicate keys, schema defaults, mutation, schema, metadata, CEL twins,
//! rules. The file set is also the View, so that rules across objects see each other.

pub mod diff;
pub mod judge;
pub mod report;
pub mod run;
