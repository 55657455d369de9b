//! The home screen: sessions that can go on or be looked at, and ways to begin one.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTarget {
    /// A topic of one's own.
    NewQuestion,
    /// A definition's text, under a file's name.
    Text {
        name: String,
        text: String,
    },
    File(PathBuf),
    Replay(PathBuf),
    Resume(PathBuf),
    /// A new session with a saved one's events up to this `seq`.
    Fork(PathBuf, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HomeSection {
    Sessions,
    New,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeRow {
    pub part: HomeSection,
    /// A sign for its state, and the same in ASCII.
    pub sign: (&'static str, &'static str),
    pub name: String,
    pub about: String,
    /// How long ago it was touched; empty where it was never begun.
    pub age: String,
    /// All that is said of it beside the list, a line each.
    pub detail: Vec<String>,
    pub opening: OpenTarget,
}

#[derive(Debug, Clone, Default)]
pub struct Home {
    pub project: String,
    /// The model of seats for which nobody names one, where one was chosen.
    pub model: Option<String>,
    pub rows: Vec<HomeRow>,
    /// The chosen one, among those that are shown.
    pub at: usize,
    /// Only rows that hold these words are shown.
    pub words: String,
    /// Every persona as an entry of a roster, and a line about it.
    pub personas: Vec<(String, String)>,
    pub strategies: Vec<String>,
    pub notices: Vec<String>,
    pub is_reading: bool,
}

impl HomeRow {
    /// Whether it is a session that can go on.
    pub fn is_open(&self) -> bool {
        self.part == HomeSection::Sessions && self.sign.0 == "●"
    }
}

impl Home {
    /// The rows that are shown, by the words that are looked for.
    pub fn shown(&self) -> Vec<&HomeRow> {
        let words = self.words.to_lowercase();
        let holds = |row: &&HomeRow| {
            format!("{} {} {}", row.name, row.about, row.detail.join(" ")).to_lowercase().contains(&words)
        };
        self.rows.iter().filter(holds).collect()
    }

    pub fn chosen(&self) -> Option<HomeRow> {
        let shown = self.shown();
        shown.get(self.at.min(shown.len().saturating_sub(1))).map(|row| (*row).clone())
    }

    pub fn take(&mut self, mut read: Self) {
        let chosen = self.chosen().map(|row| row.opening);
        // What can go on stands first.
        read.rows.sort_by_key(|row| (row.part != HomeSection::Sessions, !row.is_open()));
        read.words = std::mem::take(&mut self.words);
        read.at = chosen
            .and_then(|opening| read.shown().iter().position(|row| row.opening == opening))
            .unwrap_or(self.at);
        *self = read;
    }
}
