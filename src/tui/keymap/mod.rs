//! Every key, in one table: the footer, the help page and the README are made of it.
//!
//! A row says where it holds; in one place a key means one thing. The configuration may give an
//! action other keys, by the action's name.

mod key;
mod table;

pub use key::{KeyChord, label, labels};
pub use table::{BINDINGS, FORM_KEYS, FormKey, KeyBinding, ScreenState, table};

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
    OpenRow,
    /// A topic of one's own.
    NewQuestion,
    /// Open the round.
    OpenRound,
    /// Edit question, ballot and rule.
    EditRound,
    /// Choose who is asked.
    ChooseParticipants,
    /// Add or edit an artifact.
    EditArtifact,
    /// What differs from the last round's snapshot.
    ShowDiff,
    /// Look at the snapshot.
    ShowSnapshot,
    /// Look at the workflow's map.
    ShowWorkflow,
    /// Look at the results so far.
    ShowResults,
    /// Show a work item whole.
    ShowWorkItems,
    /// Close the round.
    CloseRound,
    /// Let a seat go.
    ExcuseSeat,
    /// Ask the chosen seat anew.
    RetrySeat,
    /// See how the providers fare.
    CheckProviders,
    /// The same, with a word of each one's reply.
    CheckLatency,
    /// Move the deadline.
    ExtendDeadline,
    /// Answer for the person whose turn it is.
    AnswerSeat,
    /// Go on with what was counted.
    AcceptResult,
    /// Ask again as a new round.
    RepeatRound,
    /// Answer the question.
    AnswerQuestion,
    /// Note on the round.
    AddNote,
    /// Count by other rules.
    OtherRules,
    /// Answers side by side.
    ToggleSideBySide,
    /// Write a report.
    ExportReport,
    /// Copy what is looked at.
    CopyPane,
    /// A new session from this point.
    ForkSession,
    /// Go on with the session.
    ResumeSession,
    /// Back to the home screen.
    Home,
    /// Leave.
    Quit,
    /// Show or hide the keys.
    Help,
    /// One event on.
    NextEvent,
    /// One event back.
    PreviousEvent,
    /// To the next round.
    NextRound,
    /// To the round before.
    PreviousRound,
    /// To the first event, or the top.
    GoToStart,
    /// To the last event, or the bottom.
    GoToEnd,
    /// PlayPause, or pause.
    Play,
    /// Play faster.
    PlayFaster,
    /// Play slower.
    PlaySlower,
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
    NextMatch,
    /// To the hit before.
    PreviousMatch,
    /// Only the chosen seat's events, or all.
    FilterEvents,
    /// Find an action by its name.
    CommandPalette,
    /// Stop the program; the shell's `fg` goes on.
    Suspend,
}

/// The way back is no row of its own: it is what `Esc` means where nothing lies over the panes.
pub const BACK: KeyChord = key(KeyCode::Esc);

/// The keys in effect: the table's, and those the configuration gives in their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    own: HashMap<Action, Vec<KeyChord>>,
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
    pub fn keys_for<'a>(&'a self, binding: &KeyBinding) -> &'a [KeyChord] {
        self.own.get(&binding.action).map_or(binding.keys, Vec::as_slice)
    }

    /// The action of a key in a place.
    pub fn action(&self, event: &KeyEvent, place: ScreenState) -> Option<Action> {
        let pressed = KeyChord::pressed(event);
        if pressed == BACK {
            return Some(Action::Home);
        }
        let held =
            |binding: &&KeyBinding| binding.places.holds(place) && self.keys_for(binding).contains(&pressed);
        BINDINGS.iter().find(held).map(|binding| binding.action)
    }

    /// The first key that means two things in one place.
    fn clash(&self) -> Option<String> {
        for place in PLACES {
            let mut seen: HashMap<KeyChord, &KeyBinding> = HashMap::new();
            for binding in BINDINGS.iter().filter(|binding| binding.places.holds(place)) {
                for key in self.keys_for(binding) {
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
pub fn slug(binding: &KeyBinding) -> String {
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
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL, ScreenState::Open), Some(Action::Quit));
        assert_eq!(
            press(KeyCode::Char('c'), KeyModifiers::NONE, ScreenState::Open),
            Some(Action::CloseRound)
        );
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE, ScreenState::Replay), None);
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Home),
            Some(Action::NewQuestion)
        );
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Revealed),
            Some(Action::RepeatRound)
        );
        assert_eq!(
            press(KeyCode::Char('G'), KeyModifiers::SHIFT, ScreenState::Replay),
            Some(Action::GoToEnd)
        );
    }

    #[test]
    fn the_configuration_gives_other_keys() {
        let given = ["Ctrl-X".to_owned(), "F5".to_owned()];
        let keys = Keys::configured([("close-the-round-now", &given[..])]).unwrap();
        let press = |code, modifiers| keys.action(&KeyEvent::new(code, modifiers), ScreenState::Open);
        assert_eq!(press(KeyCode::F(5), KeyModifiers::NONE), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::CONTROL), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert!(Keys::configured([("fly", &[][..])]).unwrap_err().contains("no action `fly`"));
        assert!(Keys::configured([("quit", &["Hyper-q".to_owned()][..])]).is_err());
    }
}
