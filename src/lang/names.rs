//! Names of metrics, labels and tenants: what Prometheus and Loki take as one.

/// Whether a metric may be called so under the classic rules: `[a-zA-Z_:][a-zA-Z0-9_:]*`.
pub fn is_metric(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|first| !first.is_ascii_digit())
        && bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
}

/// Whether a label may be called so under the classic rules: `[a-zA-Z_][a-zA-Z0-9_]*`.
pub fn is_label(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|first| !first.is_ascii_digit())
        && bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a metric may be called so where names are UTF-8: any text that is not empty.
pub fn is_metric_utf8(name: &str) -> bool {
    !name.is_empty()
}

/// Whether a label may be called so where names are UTF-8: any text that is not empty.
pub fn is_label_utf8(name: &str) -> bool {
    !name.is_empty()
}

/// The longest name of a tenant, in bytes.
pub const TENANT_MAX: usize = 150;

/// Why a text names no tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantError {
    /// The byte at this offset is not allowed.
    Character(usize),
    /// Longer than [`TENANT_MAX`].
    TooLong,
    /// `.` and `..` would be folders.
    Folder,
}

impl std::fmt::Display for TenantError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Character(at) => write!(out, "character {} is not allowed", at + 1),
            Self::TooLong => write!(out, "it is longer than {TENANT_MAX} bytes"),
            Self::Folder => out.write_str("it would be a folder"),
        }
    }
}

/// Whether a tenant may be called so: letters and digits of ASCII and ``!-_.*'()``, at most 150 bytes, not `.` or `..`.
pub fn tenant(name: &str) -> Result<(), TenantError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!-_.*'()".contains(&byte);
    if let Some(at) = name.bytes().position(|byte| !allowed(byte)) {
        return Err(TenantError::Character(at));
    }
    if name.len() > TENANT_MAX {
        return Err(TenantError::TooLong);
    }
    if matches!(name, "." | "..") {
        return Err(TenantError::Folder);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(is_metric("a:b_1") && !is_metric("1a") && !is_metric("") && !is_metric("é"));
        assert!(
            is_label("__a")
                && !is_label("a:b")
                && !is_label("a.b")
                && is_label_utf8("a.b")
                && !is_label_utf8("")
        );
        assert!(tenant("team-a.b*!'()").is_ok() && tenant("").is_ok());
        assert_eq!(tenant("a/b"), Err(TenantError::Character(1)));
        assert_eq!(tenant(".."), Err(TenantError::Folder));
        assert_eq!(tenant(&"a".repeat(151)), Err(TenantError::TooLong));
    }
}
