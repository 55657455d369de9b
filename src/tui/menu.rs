//! A list to choose from.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    pub kind: MenuKind,
    pub title: String,
    pub rows: Vec<String>,
    /// What each row stands for, where that is more than its place.
    pub values: Vec<String>,
    /// The keys that choose, in words; empty where Enter alone does.
    pub hint: String,
    pub at: usize,
}

impl Menu {
    /// A list whose rows are chosen by their place, the cursor on the first.
    pub fn of(kind: MenuKind, title: String, rows: Vec<String>) -> Self {
        Self { kind, title, rows, values: Vec::new(), hint: String::new(), at: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuKind {
    /// The model of seats for which nobody names one.
    UsualModel,
    /// The model of one seat or all seats of a session that has not begun.
    SeatModel,
    /// The model that is asked again for a seat of the open round.
    RetryModel,
    /// What to do with the link of a remote seat.
    Invitation,
    Report,
    /// An artifact, or a new one.
    Artifact,
    /// An entry of the agenda, or a new one.
    Agenda,
    /// A work item, to be shown whole.
    Item,
    /// What to do with an unfinished session.
    Unfinished,
    /// Nothing: it is only read.
    ReadOnly,
}
