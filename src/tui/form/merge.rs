//! The desk on which ideas are merged: options on the left, what is in none on the right.
//!
//! Every idea is on it once, wherever it is put: what is not in an option is not placed yet, or set aside
//! with a reason. Nobody's name is on it.

use crossterm::event::{KeyCode, KeyEvent};

use crate::history::{CollectedIdea, Merge, MergedOption, SetAside};

/// Ideas on their way into options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeDesk {
    /// Every idea, in the order of the roster.
    pub ideas: Vec<CollectedIdea>,
    pub merge: Merge,
    /// Whether the cursor is on the right.
    pub is_right: bool,
    /// The rows the cursors are on, left and right.
    pub at: [usize; 2],
    /// What is marked to be put somewhere else.
    pub marked: Option<Row>,
    pub typing: Option<(Typing, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// The option with this index.
    Option(usize),
    /// The idea with this id.
    Idea(String),
}

/// What a line that is typed is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typing {
    /// The title of the option with this index.
    Title(usize),
    /// Why the idea with this id is set aside.
    Reason(String),
}

impl MergeDesk {
    pub fn new(ideas: Vec<CollectedIdea>, merge: Merge) -> Self {
        Self { ideas, merge, is_right: true, at: [0, 0], marked: None, typing: None }
    }

    pub fn idea(&self, id: &str) -> Option<&CollectedIdea> {
        self.ideas.iter().find(|idea| idea.id == id)
    }

    /// Ideas in no option that are not set aside.
    pub fn unplaced(&self) -> Vec<&CollectedIdea> {
        let merge = &self.merge;
        let is_placed = |id: &String| {
            merge.options.iter().any(|option| option.from.contains(id))
                || merge.set_aside.iter().any(|aside| aside.idea == *id)
        };
        self.ideas.iter().filter(|idea| !is_placed(&idea.id)).collect()
    }

    /// The options, each with its ideas below it.
    pub fn left(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (index, option) in self.merge.options.iter().enumerate() {
            rows.push(Row::Option(index));
            rows.extend(option.from.iter().cloned().map(Row::Idea));
        }
        rows
    }

    /// The ideas that are not placed, then those set aside.
    pub fn right(&self) -> Vec<Row> {
        let unplaced = self.unplaced().into_iter().map(|idea| idea.id.clone());
        unplaced.chain(self.merge.set_aside.iter().map(|aside| aside.idea.clone())).map(Row::Idea).collect()
    }

    pub fn row(&self) -> Option<Row> {
        let rows = if self.is_right { self.right() } else { self.left() };
        rows.into_iter().nth(self.at[usize::from(self.is_right)])
    }

    /// The option that the left cursor is on or in.
    pub fn target(&self) -> Option<usize> {
        let rows = self.left();
        let at = self.at[0].min(rows.len().checked_sub(1)?);
        rows[..=at]
            .iter()
            .rev()
            .find_map(|row| if let Row::Option(index) = row { Some(*index) } else { None })
    }

    pub fn summary(&self) -> String {
        let (left, aside) = (self.unplaced().len(), self.merge.set_aside.len());
        let placed = self.ideas.len() - left - aside;
        let options = self.merge.options.len();
        let noun = if options == 1 { "option" } else { "options" };
        format!("{} ideas: {placed} in {options} {noun}, {aside} set aside, {left} left", self.ideas.len())
    }

    /// Puts back what was kept; ideas it does not name are not placed yet, and what is no idea here is left out.
    pub fn restore(&mut self, kept: &str) {
        let Ok(mut merge) = serde_json::from_str::<Merge>(kept) else { return };
        let mut known: Vec<String> = self.ideas.iter().map(|idea| idea.id.clone()).collect();
        let mut take = |id: &String| known.iter().position(|other| other == id).map(|at| known.remove(at));
        for option in &mut merge.options {
            option.from.retain(|id| take(id).is_some());
        }
        merge.set_aside.retain(|aside| take(&aside.idea).is_some());
        self.merge = merge;
    }

    /// Takes a key while a line is typed, or none is; false if the key means nothing here.
    pub fn press(&mut self, key: &KeyEvent) -> bool {
        if self.typing.is_some() {
            self.type_key(key.code);
            return true;
        }
        let side = usize::from(self.is_right);
        let last = (if self.is_right { self.right() } else { self.left() }).len().saturating_sub(1);
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.at[side] = self.at[side].saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.at[side] = (self.at[side] + 1).min(last),
            KeyCode::Left | KeyCode::Char('h') => self.is_right = false,
            KeyCode::Right | KeyCode::Char('l') => self.is_right = true,
            KeyCode::Char('m' | ' ') => {
                let row = self.row();
                self.marked = row.filter(|row| self.marked.as_ref() != Some(row));
            }
            KeyCode::Enter => self.put(),
            KeyCode::Char('n') => self.start_option(),
            KeyCode::Char('a') => self.place_all(),
            KeyCode::Char('r') => {
                if let Some(index) = self.target().filter(|_| !self.is_right) {
                    self.typing = Some((Typing::Title(index), self.merge.options[index].title.clone()));
                }
            }
            KeyCode::Char('s') => self.split(),
            KeyCode::Char('x') => {
                if let Some(Row::Idea(id)) = self.row() {
                    self.typing = Some((Typing::Reason(id), String::new()));
                }
            }
            KeyCode::Backspace | KeyCode::Delete => {
                if let Some(Row::Idea(id)) = self.row() {
                    self.take_out(&id);
                }
            }
            _ => return false,
        }
        self.settle();
        true
    }

    fn type_key(&mut self, code: KeyCode) {
        let Some((purpose, text)) = &mut self.typing else { return };
        match code {
            KeyCode::Esc => self.typing = None,
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(c) => text.push(c),
            KeyCode::Enter if !text.trim().is_empty() => {
                let (purpose, text) = (purpose.clone(), text.trim().to_owned());
                self.typing = None;
                match purpose {
                    Typing::Title(index) => self.rename(index, text),
                    Typing::Reason(idea) => {
                        self.take_out(&idea);
                        self.merge.set_aside.push(SetAside { idea, reason: text });
                    }
                }
                self.settle();
            }
            _ => {}
        }
    }

    /// Gives an option another title, and the id that goes with it.
    fn rename(&mut self, index: usize, title: String) {
        self.merge.options[index].id = String::new();
        let id = self.merge.free_id(&title);
        let option = &mut self.merge.options[index];
        (option.id, option.title) = (id, title);
    }

    /// Puts what is marked, or an idea on the right, into the option of the left cursor.
    fn put(&mut self) {
        let here = self.row().filter(|_| self.is_right);
        let Some(target) = self.target() else {
            if here.is_some() {
                self.start_option();
            }
            return;
        };
        match self.marked.take().or(here) {
            Some(Row::Idea(id)) => {
                self.take_out(&id);
                self.merge.options[target].from.push(id);
            }
            Some(Row::Option(index)) if index != target => {
                let joined = std::mem::take(&mut self.merge.options[index].from);
                self.merge.options[target].from.extend(joined);
            }
            _ => {}
        }
    }

    /// Makes an option of the idea of the cursor.
    fn start_option(&mut self) {
        let Some(Row::Idea(id)) = self.row() else { return };
        self.take_out(&id);
        self.make_option(&id);
    }

    fn make_option(&mut self, id: &str) {
        let Some(idea) = self.idea(id).cloned() else { return };
        let option = MergedOption {
            id: self.merge.free_id(&idea.title),
            title: idea.title,
            description: Some(idea.text),
            from: vec![idea.id],
        };
        self.merge.options.push(option);
    }

    /// Makes an option of each idea that is not placed yet.
    fn place_all(&mut self) {
        let unplaced: Vec<String> = self.unplaced().into_iter().map(|idea| idea.id.clone()).collect();
        for id in &unplaced {
            self.make_option(id);
        }
    }

    /// Makes an option of each idea of an option but the first.
    fn split(&mut self) {
        let Some(index) = self.target().filter(|_| !self.is_right) else { return };
        let others = self.merge.options[index].from.split_off(1);
        for id in &others {
            self.make_option(id);
        }
    }

    /// Takes an idea out of where it is: it is not placed then.
    fn take_out(&mut self, id: &str) {
        for option in &mut self.merge.options {
            option.from.retain(|other| other != id);
        }
        self.merge.set_aside.retain(|aside| aside.idea != id);
    }

    /// Options without ideas go, and the cursors stay on rows.
    fn settle(&mut self) {
        self.merge.options.retain(|option| !option.from.is_empty());
        let rows = [self.left().len(), self.right().len()];
        for (at, rows) in self.at.iter_mut().zip(rows) {
            *at = (*at).min(rows.saturating_sub(1));
        }
        let is_there = |row: &Row| match row {
            Row::Option(index) => *index < self.merge.options.len(),
            Row::Idea(_) => true,
        };
        self.marked = self.marked.take().filter(is_there);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> MergeDesk {
        let idea = |id: &str, title: &str| CollectedIdea {
            id: id.to_owned(),
            title: title.to_owned(),
            text: format!("{title}, because it works."),
        };
        let ideas = vec![
            idea("ann#1", "Redis"),
            idea("ann#2", "In process"),
            idea("bob#1", "One Redis"),
            idea("cid#1", "Rewrite it"),
        ];
        MergeDesk::new(ideas, Merge::default())
    }

    fn keys(desk: &mut MergeDesk, keys: &str) {
        for c in keys.chars() {
            let code = match c {
                '⏎' => KeyCode::Enter,
                '←' => KeyCode::Left,
                '→' => KeyCode::Right,
                '↓' => KeyCode::Down,
                '↑' => KeyCode::Up,
                '⌫' => KeyCode::Backspace,
                c => KeyCode::Char(c),
            };
            desk.press(&KeyEvent::from(code));
        }
    }

    fn shown(desk: &MergeDesk) -> Vec<String> {
        desk.merge.options.iter().map(|option| format!("{}: {}", option.id, option.from.join(" "))).collect()
    }

    #[test]
    fn ideas_are_put_joined_renamed_split_and_set_aside() {
        let mut desk = desk();
        keys(&mut desk, "n");
        assert_eq!(shown(&desk), ["redis: ann#1"]);
        // The rest: a new option, one put into the first, one set aside with a reason.
        keys(&mut desk, "n⏎");
        assert_eq!(shown(&desk), ["redis: ann#1 bob#1", "in-process: ann#2"]);
        assert_eq!(desk.summary(), "4 ideas: 3 in 2 options, 0 set aside, 1 left");
        keys(&mut desk, "xno new language⏎");
        assert_eq!(desk.merge.check(&desk.ideas), Ok(()));
        assert_eq!(desk.merge.set_aside[0].reason, "no new language");
        // One option joins the other, is renamed, and is split again.
        keys(&mut desk, "←↓↓↓m↑↑↑⏎");
        assert_eq!(shown(&desk), ["redis: ann#1 bob#1 ann#2"]);
        keys(&mut desk, "r⌫⌫⌫⌫⌫Cache⏎");
        assert_eq!(shown(&desk), ["cache: ann#1 bob#1 ann#2"]);
        keys(&mut desk, "s");
        assert_eq!(shown(&desk), ["cache: ann#1", "one-redis: bob#1", "in-process: ann#2"]);
        // What is taken out is not placed; the option that held it goes.
        keys(&mut desk, "↓⌫");
        assert_eq!(shown(&desk), ["one-redis: bob#1", "in-process: ann#2"]);
        assert_eq!(desk.unplaced()[0].id, "ann#1");
        assert!(desk.merge.check(&desk.ideas).unwrap_err().contains("ann#1"));
    }

    #[test]
    fn what_was_kept_comes_back_and_loses_no_idea() {
        let mut before = desk();
        keys(&mut before, "a←m");
        let kept = serde_json::to_string(&before.merge).unwrap();
        let mut after = desk();
        after.restore(&kept);
        assert_eq!(after.merge, before.merge);
        after.restore(r#"{"options": [{"id": "x", "title": "X", "from": ["ann#1", "ann#1", "dan#1"]}]}"#);
        assert_eq!((shown(&after), after.unplaced().len()), (vec!["x: ann#1".to_owned()], 3));
        after.restore("no JSON");
        assert_eq!(shown(&after).len(), 1);
    }
}
