//! Key bindings: the table behind the footer, the help page, the palette and the README.
//!
//! In one screen state a key has one meaning. `screen.keys` of the configuration replaces the keys
//! of an action; it names the action by its id, which never changes.

mod action;
mod key;
mod table;

pub use action::Action;
pub use key::{KeyChord, label, labels};
pub use table::{Aim, BINDINGS, FORM_KEYS, FormKey, KeyBinding, ScreenState, table};

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent};

use key::{key, parse};
use table::ANY;

use crate::diagnostic::did_you_mean;

/// Key that leads back: from the panes to the home screen. It has no row of its own.
pub const BACK: KeyChord = key(KeyCode::Esc);

/// The keys in effect: those of the table, unless the configuration replaces them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    own: HashMap<Action, Vec<KeyChord>>,
}

impl Keys {
    /// Returns the keys with the replacements of `screen.keys`: `{ID: KEY or [KEYS]}`.
    pub fn configured<'a>(given: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Result<Self, String> {
        let mut keys = Self::default();
        for (name, labels) in given {
            let binding = BINDINGS.iter().find(|binding| binding.id == name).ok_or_else(|| {
                let mut ids: Vec<&str> = BINDINGS.iter().map(|binding| binding.id).collect();
                ids.sort_unstable();
                ids.dedup();
                format!("unknown action `{name}`; {}", did_you_mean(name, &ids))
            })?;
            let read =
                labels.iter().map(|label| parse(label).ok_or_else(|| format!("unknown key `{label}`")));
            keys.own.insert(binding.action, read.collect::<Result<_, _>>()?);
        }
        keys.clash().map_or(Ok(keys), Err)
    }

    pub fn keys_for<'a>(&'a self, binding: &KeyBinding) -> &'a [KeyChord] {
        self.own.get(&binding.action).map_or(binding.keys, Vec::as_slice)
    }

    pub fn action(&self, event: &KeyEvent, state: ScreenState) -> Option<Action> {
        let pressed = KeyChord::pressed(event);
        if pressed == BACK {
            return Some(Action::Home);
        }
        bindings_in(state)
            .find(|binding| self.keys_for(binding).contains(&pressed))
            .map(|binding| binding.action)
    }

    /// Returns which of the keys of an action was pressed, counted from 0.
    pub fn place_of(&self, action: Action, event: &KeyEvent) -> Option<usize> {
        let binding = BINDINGS.iter().find(|binding| binding.action == action)?;
        self.keys_for(binding).iter().position(|key| *key == KeyChord::pressed(event))
    }

    /// Returns a row in which a key has a meaning, whatever the state, with the key's label.
    pub fn in_another_state(&self, event: &KeyEvent) -> Option<(&'static KeyBinding, String)> {
        let pressed = KeyChord::pressed(event);
        let found = BINDINGS.iter().find(|binding| self.keys_for(binding).contains(&pressed));
        found.map(|binding| (binding, label(pressed)))
    }

    /// Returns an error message for the first key with two meanings in one state.
    fn clash(&self) -> Option<String> {
        for state in ANY {
            let mut seen: HashMap<KeyChord, &KeyBinding> = HashMap::new();
            for binding in bindings_in(*state) {
                for key in self.keys_for(binding) {
                    match seen.insert(*key, binding) {
                        Some(other) if other.action != binding.action => {
                            let key = label(*key);
                            return Some(format!(
                                "`{key}` would mean both `{}` and `{}`",
                                other.id, binding.id
                            ));
                        }
                        _ => {}
                    }
                }
            }
        }
        None
    }
}

pub fn bindings_in(state: ScreenState) -> impl Iterator<Item = &'static KeyBinding> {
    BINDINGS.iter().filter(move |binding| binding.states.contains(&state))
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
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::NONE, ScreenState::Replay), None);
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Home),
            Some(Action::NewQuestion)
        );
        assert_eq!(
            press(KeyCode::Char('n'), KeyModifiers::NONE, ScreenState::Revealed),
            Some(Action::RepeatRound)
        );
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT, ScreenState::Open), Some(Action::GoToEnd));
    }

    #[test]
    fn the_configuration_gives_other_keys() {
        let given = ["Ctrl-X".to_owned(), "F5".to_owned()];
        let keys = Keys::configured([("close-round", &given[..])]).unwrap();
        let press = |code, modifiers| keys.action(&KeyEvent::new(code, modifiers), ScreenState::Open);
        assert_eq!(press(KeyCode::F(5), KeyModifiers::NONE), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::CONTROL), Some(Action::CloseRound));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        let wrong = Keys::configured([("retry-saet", &[][..])]).unwrap_err();
        assert_eq!(wrong, "unknown action `retry-saet`; did you mean `retry-seat`?");
        assert!(Keys::configured([("quit", &["Hyper-q".to_owned()][..])]).is_err());
    }

    /// An id is the name of its action, so that rewording a label changes nothing.
    #[test]
    fn ids_are_action_names() {
        for binding in &BINDINGS {
            let name = format!("{:?}", binding.action);
            let words = name.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain([c]));
            let kebab = words.collect::<String>().to_lowercase();
            assert_eq!(binding.id, kebab.trim_start_matches('-'));
        }
    }
}
