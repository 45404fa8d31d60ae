//! Verdicts equal to the originals': usher's parsers against the programs themselves. Run by `make test`, or with
//! `cargo test --test languages`.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

mod duration;
mod logql;
mod logql_grammar;
mod logql_metrics;
mod logql_mutation;
mod logql_pools;
mod oracle;
mod promql;
mod promql_corpus;
mod promql_generator;
mod promql_hostile;
mod promql_mistakes;
mod promql_pieces;
mod promql_words;
mod re2;
mod re2_hostile;
mod rules;
mod template;
mod template_complaints;
mod template_defects;
mod template_mutations;
mod template_soundness;
mod template_texts;
mod template_words;
mod url;
