//! Who can answer on this machine: providers, local servers, programs, and the models they list.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSource {
    /// The name in front of `/` in a model's text.
    pub provider: String,
    pub state: SourceState,
    /// A few words about it: how many models, or what is missing.
    pub about: String,
    /// Its models as a seat names them: `provider/model`.
    pub models: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceState {
    Ready,
    /// It wants a key, and none is set.
    NeedsKey,
    /// It does not answer, or is not set up.
    Unreachable,
}

pub const REHEARSAL: &str = "rehearsal";
/// The model text of a person at this terminal.
pub const HUMAN: &str = "human";

pub use crate::workflow::LINK;

/// How the seats of a session that has not begun differ from what its definition says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatChoice {
    /// The model of every seat for which the definition names none.
    pub model: Option<String>,
    pub seats: Vec<(String, String)>,
    /// Who is asked; empty for those the definition names.
    pub participants: Vec<String>,
    /// Whether placeholders stand for them all.
    pub rehearse: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatLink {
    /// A link, or what an agent needs in its environment.
    pub text: String,
    /// The link for a phone's camera, in lines.
    pub code: Option<String>,
    /// What whoever is given it should know of the certificate.
    pub notes: Vec<String>,
}
