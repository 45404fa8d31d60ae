//! Text that must not appear in logs: an API type may hold a password, its `Debug` form may not.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A secret that somebody wrote into a resource. It serialises as it is and prints as dots.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// The text itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretText(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_out_but_never_printed() {
        let secret = SecretText::from("hunter2".to_owned());
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
        assert!(!format!("{secret:?}").contains("hunter2"));
        assert_eq!(secret.expose(), "hunter2");
    }
}
