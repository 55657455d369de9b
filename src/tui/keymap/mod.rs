//! Every key, in one table: the footer, the help page and the README are made of it.
//!
//! A row says where it holds; in one place a key means one thing. The configuration may give an
//! action other keys, by the action's name.

mod key;
mod table;

pub use key::{Key, label, labels};
pub use table::{BINDINGS, Binding, FORM_KEYS, FormKey, Place, table};

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent};

use key::{key, parse};
use table::PLACES;

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// What a key does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $($(#[$doc])* $name),+ }
    };
}

actions! {
    /// Open the chosen row of the home screen.
    Enter,
    /// A topic of one's own.
    NewTopic,
    /// Open the round.
    OpenRound,
    /// Edit question, ballot and rule.
    EditRound,
    /// Choose who is asked.
    EditSeats,
    /// Add or edit an artifact.
    Artifact,
    /// What differs from the last round's snapshot.
    Diff,
    /// Look at the snapshot.
    Snapshot,
    /// Look at the workflow's map.
    Map,
    /// Look at the results so far.
    Context,
    /// Show a work item whole.
    Items,
    /// Close the round.
    CloseRound,
    /// Let a seat go.
    Excuse,
    /// Ask the chosen seat anew.
    Retry,
    /// See how the providers fare.
    Doctor,
    /// The same, with a word of each one's reply.
    Probe,
    /// Move the deadline.
    MoreTime,
    /// Answer for the person whose turn it is.
    TakeTurn,
    /// Go on with what was counted.
    Accept,
    /// Ask again as a new round.
    AskAgain,
    /// Answer the question.
    Answer,
    /// Note on the round.
    Note,
    /// Count by other rules.
    WhatIf,
    /// Answers side by side.
    SideBySide,
    /// Write a report.
    Report,
    /// Copy what is looked at.
    Copy,
    /// A new session from this point.
    FromHere,
    /// Go on with the session.
    Resume,
    /// Back to the home screen.
    Home,
    /// Leave.
    Quit,
    /// Show or hide the keys.
    Help,
    /// One event on.
    Forward,
    /// One event back.
    Back,
    /// To the next round.
    NextRound,
    /// To the round before.
    PreviousRound,
    /// To the first event, or the top.
    Start,
    /// To the last event, or the bottom.
    End,
    /// Play, or pause.
    Play,
    /// Play faster.
    Faster,
    /// Play slower.
    Slower,
    /// The next seat.
    NextSeat,
    /// The seat before.
    PreviousSeat,
    /// The next pane.
    NextPane,
    /// The pane before.
    PreviousPane,
    /// Scroll up a line, or the row above.
    Up,
    /// Scroll down a line, or the row below.
    Down,
    /// Scroll up a page.
    PageUp,
    /// Scroll down a page.
    PageDown,
    /// Search.
    Search,
    /// To the next hit.
    NextHit,
    /// To the hit before.
    PreviousHit,
    /// Only the chosen seat's events, or all.
    Filter,
    /// Find an action by its name.
    Palette,
    /// Stop the program; the shell's `fg` goes on.
    Suspend,
}

/// The way back is no row of its own: it is what `Esc` means where nothing lies over the panes.
pub const BACK: Key = key(KeyCode::Esc);

/// The keys in effect: the table's, and those the configuration gives in their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    own: HashMap<Action, Vec<Key>>,
}

impl Keys {
    /// The keys with the configuration's `keys: {ACTION: KEY or [KEYS]}`.
    ///
    /// # Errors
    /// What is no action, no key, or a key that would mean two things in one place.
    pub fn configured<'a>(given: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Result<Self, String> {
        let mut keys = Self::default();
        for (name, labels) in given {
            let action = BINDINGS.iter().find(|binding| slug(binding) == name).map(|binding| binding.action);
            let action = action.ok_or_else(|| format!("there is no action `{name}`"))?;
            let read = labels.iter().map(|label| parse(label).ok_or_else(|| format!("`{label}` is no key")));
            keys.own.insert(action, read.collect::<Result<_, _>>()?);
        }
        keys.clash().map_or(Ok(keys), Err)
    }

    /// The keys of a row.
    pub fn of<'a>(&'a self, binding: &Binding) -> &'a [Key] {
        self.own.get(&binding.action).map_or(binding.keys, Vec::as_slice)
    }

    /// The action of a key in a place.
    pub fn action(&self, event: &KeyEvent, place: Place) -> Option<Action> {
        let pressed = Key::pressed(event);
        if pressed == BACK {
            return Some(Action::Home);
        }
        let held = |binding: &&Binding| binding.places.holds(place) && self.of(binding).contains(&pressed);
        BINDINGS.iter().find(held).map(|binding| binding.action)
    }

    /// The first key that means two things in one place.
    fn clash(&self) -> Option<String> {
        for place in PLACES {
            let mut seen: HashMap<Key, &Binding> = HashMap::new();
            for binding in BINDINGS.iter().filter(|binding| binding.places.holds(place)) {
                for key in self.of(binding) {
                    match seen.insert(*key, binding) {
                        Some(other) if other.action != binding.action => {
                            let (one, two) = (slug(other), slug(binding));
                            return Some(format!("`{}` would mean `{one}` and `{two}`", label(*key)));
                        }
                        _ => {}
                    }
                }
            }
        }
        None
    }
}

/// An action's name in the configuration.
pub fn slug(binding: &Binding) -> String {
    binding.name.replace([';', ',', '\''], "").replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        assert_eq!(Keys::default().clash(), None);
        let clash = Keys::configured([("next-seat", &["q".to_owned()][..])]).unwrap_err();
        assert!(clash.contains("`q`"), "{clash}");
    }

    #[test]
    fn a_key_finds_its_action_where_it_is() {
        let keys = Keys::default();
        let press = |code, modifiers, place| keys.action(&KeyEvent::new(code, modifiers), place);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL, Place::Open), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE, Place::Open), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE, Place::Film), None);
        assert_eq!(press(KeyCode::Char('n'), KeyModifiers::NONE, Place::Home), Some(Action::NewTopic));
        assert_eq!(press(KeyCode::Char('n'), KeyModifiers::NONE, Place::Counted), Some(Action::AskAgain));
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT, Place::Film), Some(Action::End));
    }

    #[test]
    fn the_configuration_gives_other_keys() {
        let given = ["Ctrl-X".to_owned(), "F5".to_owned()];
        let keys = Keys::configured([("close-the-round-now", &given[..])]).unwrap();
        let press = |code, modifiers| keys.action(&KeyEvent::new(code, modifiers), Place::Open);
        assert_eq!(press(KeyCode::F(5), KeyModifiers::NONE), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::CONTROL), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert!(Keys::configured([("fly", &[][..])]).unwrap_err().contains("no action `fly`"));
        assert!(Keys::configured([("quit", &["Hyper-q".to_owned()][..])]).is_err());
    }
}
