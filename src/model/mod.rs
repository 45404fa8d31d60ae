//! Domain values: parsed once, compared by meaning.

pub mod cel;
pub mod condition;
pub mod cron;
pub mod duration;
pub mod loki;
pub mod naming;
pub mod object;
pub mod secret_text;
pub mod selector;
pub mod uptime;
