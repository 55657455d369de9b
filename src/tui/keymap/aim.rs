//! What one wants to do with a key: the groups of the help page.

use super::action::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Open, close, accept, answer: what leads on.
    Lead,
    /// Who is asked, and by which model.
    Seats,
    Replay,
    Read,
    Find,
    /// Reports, notes, copies, forks.
    Keep,
    Move,
    Program,
}

impl Aim {
    /// All of them, in the order of the help page.
    pub const ALL: [Self; 8] = [
        Self::Lead,
        Self::Seats,
        Self::Replay,
        Self::Read,
        Self::Find,
        Self::Keep,
        Self::Move,
        Self::Program,
    ];

    pub fn heading(self) -> &'static str {
        match self {
            Self::Lead => "Lead the session",
            Self::Seats => "Choose who answers",
            Self::Replay => "Play and jump",
            Self::Read => "Read",
            Self::Find => "Find and filter",
            Self::Keep => "Keep and share",
            Self::Move => "Move",
            Self::Program => "Program",
        }
    }

    #[rustfmt::skip]
    pub fn of(action: Action) -> Self {
        use Action as A;
        match action {
            A::OpenRow | A::NewQuestion | A::OpenRound | A::EditRound | A::CloseRound |
            A::ExtendDeadline | A::ShowAgenda |
            A::AnswerSeat | A::AcceptResult | A::RepeatRound | A::AnswerQuestion | A::ResumeSession =>
            Self::Lead,
            A::ChooseParticipants | A::ChooseModel | A::InviteSeat | A::RetrySeat | A::ExcuseSeat |
            A::CheckProviders | A::CheckLatency => Self::Seats,
            A::PlayPause | A::JumpToTenth | A::NextReveal | A::NextEvent | A::PreviousEvent | A::PlayFaster
            | A::PlaySlower => Self::Replay,
            A::ReadItem | A::NextSeat | A::PreviousSeat | A::NextRound | A::PreviousRound |
            A::ToggleSideBySide | A::OtherRules | A::ShowSnapshot | A::ShowDiff |
            A::ShowResults | A::ShowWorkItems => Self::Read,
            A::Search | A::NextMatch | A::PreviousMatch | A::FilterEvents => Self::Find,
            A::ExportReport | A::AddNote | A::EditArtifact | A::CopyPane | A::ForkSession => Self::Keep,
            A::NextPane | A::PreviousPane | A::GoToStart | A::GoToEnd | A::Up | A::Down | A::PageUp |
            A::PageDown => Self::Move,
            A::Home | A::Help | A::CommandPalette | A::Suspend | A::Quit => Self::Program,
        }
    }
}
