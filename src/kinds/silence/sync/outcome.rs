//! How a silence stands in one Alertmanager, as its binding's condition tells it.

use std::time::Duration;

use super::plan::Absence;
use super::snapshot::Failure;

/// The reason of a binding's condition, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Reason {
    SilenceApplied,
    SilencePending,
    Scheduled,
    SilenceExpired,
    Suspended,
    /// Nothing is left there; no condition shows it, the binding goes.
    Removed,
    PartiallySynced,
    ReplicationDegraded,
    AlertmanagerUnavailable,
    UnexpectedResponse,
    AuthenticationFailed,
    PermissionDenied,
    CredentialsUnavailable,
    ClientCertificateRequired,
    TlsError,
    NotReachableListenLocal,
    UrlNotAllowed,
    /// The answer to a draft; no plan says it.
    RejectedByAlertmanager,
    /// The answer to a draft; no plan says it.
    LimitExceeded,
    InvalidSpec,
}

impl Reason {
    /// As the condition says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SilenceApplied => "SilenceApplied",
            Self::SilencePending => "SilencePending",
            Self::Scheduled => "Scheduled",
            Self::SilenceExpired => "SilenceExpired",
            Self::Suspended => "Suspended",
            Self::Removed => "Removed",
            Self::PartiallySynced => "PartiallySynced",
            Self::ReplicationDegraded => "ReplicationDegraded",
            Self::AlertmanagerUnavailable => "AlertmanagerUnavailable",
            Self::UnexpectedResponse => "UnexpectedResponse",
            Self::AuthenticationFailed => "AuthenticationFailed",
            Self::PermissionDenied => "PermissionDenied",
            Self::CredentialsUnavailable => "CredentialsUnavailable",
            Self::ClientCertificateRequired => "ClientCertificateRequired",
            Self::TlsError => "TLSError",
            Self::NotReachableListenLocal => "NotReachableListenLocal",
            Self::UrlNotAllowed => "URLNotAllowed",
            Self::RejectedByAlertmanager => "RejectedByAlertmanager",
            Self::LimitExceeded => "LimitExceeded",
            Self::InvalidSpec => "InvalidSpec",
        }
    }

    /// Reads what a condition says.
    pub fn of(word: &str) -> Self {
        const ALL: [Reason; 20] = [
            Reason::SilenceApplied,
            Reason::SilencePending,
            Reason::Scheduled,
            Reason::SilenceExpired,
            Reason::Suspended,
            Reason::Removed,
            Reason::PartiallySynced,
            Reason::ReplicationDegraded,
            Reason::AlertmanagerUnavailable,
            Reason::UnexpectedResponse,
            Reason::AuthenticationFailed,
            Reason::PermissionDenied,
            Reason::CredentialsUnavailable,
            Reason::ClientCertificateRequired,
            Reason::TlsError,
            Reason::NotReachableListenLocal,
            Reason::UrlNotAllowed,
            Reason::RejectedByAlertmanager,
            Reason::LimitExceeded,
            Reason::InvalidSpec,
        ];
        ALL.into_iter().find(|reason| reason.as_str() == word).unwrap_or(Self::AlertmanagerUnavailable)
    }

    /// Is the binding ready with it?
    pub fn is_ready(self) -> bool {
        self <= Self::ReplicationDegraded
    }
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unavailable => Self::AlertmanagerUnavailable,
            Failure::UnexpectedResponse => Self::UnexpectedResponse,
            Failure::AuthenticationFailed => Self::AuthenticationFailed,
            Failure::PermissionDenied => Self::PermissionDenied,
            Failure::CredentialsUnavailable => Self::CredentialsUnavailable,
            Failure::ClientCertificateRequired => Self::ClientCertificateRequired,
            Failure::TlsError => Self::TlsError,
            Failure::NotReachableListenLocal => Self::NotReachableListenLocal,
            Failure::UrlNotAllowed => Self::UrlNotAllowed,
        }
    }
}

impl From<Absence> for Reason {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Expired => Self::SilenceExpired,
            Absence::Scheduled => Self::Scheduled,
            Absence::Suspended => Self::Suspended,
            Absence::Refused => Self::InvalidSpec,
            Absence::Deselected | Absence::Deleted => Self::Removed,
        }
    }
}

/// How things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The id for the status.
    pub silence_id: Option<String>,
    /// Instances that hold what they should, by content.
    pub synced_instances: usize,
    /// Instances that the Alertmanager has.
    pub total_instances: usize,
    /// The condition's reason.
    pub reason: Reason,
    /// Silences of the object beyond the one that stays.
    pub duplicates: usize,
    /// When to look again, apart from the resync.
    pub next_look: Option<Duration>,
}
