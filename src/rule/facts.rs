//! What a rule may know besides the object: the request, the clock, the settings and the other objects.
//!
//! Each door makes its own `Facts`. A rule that wants to know anything else is a rule that cannot be judged offline.

use jiff::Timestamp;

use crate::model::object::Meta;
use crate::settings::Settings;
use crate::view::View;

/// What is being done to the object. CONNECT never reaches usher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A new object.
    Create,
    /// A changed one; the old version is known.
    Update,
    /// A removal; only the old version is known.
    Delete,
}

impl Operation {
    /// The word of the admission API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// Reads the word of the admission API.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Create, Self::Update, Self::Delete].into_iter().find(|operation| operation.as_str() == word)
    }
}

/// Who asks. Files have no requester.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// `userInfo.username`; empty when nobody asks.
    pub name: String,
    /// The API server says that they may do what the kind asks for (`Kind::PERMISSION`).
    pub permitted: bool,
}

/// Who tells that there is another one where only one can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uniqueness {
    /// The rule, from the View: what is there already stands first. In files and in `--standalone`.
    ByView,
    /// The claim that the webhook takes after the rules; the rule itself is silent.
    ByClaim,
    /// The rule, about objects that are all stored: the oldest stands first. For the guard.
    ByAge,
}

/// The knowledge that one judgement rests on.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What is being done.
    pub operation: Operation,
    /// Who asks.
    pub user: &'a User,
    /// The instant of the judgement; rules never read a clock.
    pub now: Timestamp,
    /// The settings, validated at start.
    pub settings: &'a Settings,
    /// The other objects.
    pub view: &'a View,
    /// How uniqueness across objects is judged.
    pub uniqueness: Uniqueness,
}

impl Facts<'_> {
    /// Does another object stand before this one, where only one of them can be?
    pub fn stands_before(&self, other: &Meta, mine: &Meta) -> bool {
        match self.uniqueness {
            Uniqueness::ByView => other.stands_before(mine),
            Uniqueness::ByClaim => false,
            Uniqueness::ByAge => other.is_elder_of(mine),
        }
    }
}
