//! Every key, in one table: the footer, the help page and the README are made of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
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
    /// To the first event.
    Start,
    /// To the last event.
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
    /// Scroll up a line.
    Up,
    /// Scroll down a line.
    Down,
    /// Scroll up a page.
    PageUp,
    /// Scroll down a page.
    PageDown,
    /// Search the events.
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

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The action.
    pub action: Action,
    /// Its keys, the first one shown in the footer.
    pub keys: &'static [Key],
    /// What it does, as the palette and the help page say it.
    pub name: &'static str,
    /// Its word in the footer, if it has a place there.
    pub footer: Option<&'static str>,
}

/// A key with its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    code: KeyCode,
    ctrl: bool,
}

const fn key(code: KeyCode) -> Key {
    Key { code, ctrl: false }
}

const fn ch(c: char) -> Key {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Key {
    Key { code: KeyCode::Char(c), ctrl: true }
}

const fn row(
    action: Action,
    keys: &'static [Key],
    name: &'static str,
    footer: Option<&'static str>,
) -> Binding {
    Binding { action, keys, name, footer }
}

/// The table.
pub const BINDINGS: [Binding; 25] = [
    row(Action::Play, &[ch(' ')], "play or pause", Some("play")),
    row(Action::Forward, &[key(KeyCode::Right), ch('l')], "next event", Some("event")),
    row(Action::Back, &[key(KeyCode::Left), ch('h')], "event before", None),
    row(Action::NextRound, &[ch(']')], "next round", Some("round")),
    row(Action::PreviousRound, &[ch('[')], "round before", None),
    row(Action::NextPane, &[key(KeyCode::Tab)], "next pane", Some("pane")),
    row(Action::PreviousPane, &[key(KeyCode::BackTab)], "pane before", None),
    row(Action::NextSeat, &[ch('n')], "next seat", Some("seat")),
    row(Action::PreviousSeat, &[ch('p')], "seat before", None),
    row(Action::Search, &[ch('/')], "search the events", Some("find")),
    row(Action::NextHit, &[ch('>'), key(KeyCode::Enter)], "next hit", None),
    row(Action::PreviousHit, &[ch('<')], "hit before", None),
    row(Action::Filter, &[ch('f')], "only this seat's events, or all", None),
    row(Action::Faster, &[ch('.'), ch('+')], "play faster", None),
    row(Action::Slower, &[ch(','), ch('-')], "play slower", None),
    row(Action::Start, &[ch('g'), key(KeyCode::Home)], "first event", None),
    row(Action::End, &[ch('G'), key(KeyCode::End)], "last event", None),
    row(Action::Up, &[key(KeyCode::Up), ch('k')], "scroll up", None),
    row(Action::Down, &[key(KeyCode::Down), ch('j')], "scroll down", None),
    row(Action::PageUp, &[key(KeyCode::PageUp), ctrl('u')], "scroll up a page", None),
    row(Action::PageDown, &[key(KeyCode::PageDown), ctrl('d')], "scroll down a page", None),
    row(Action::Palette, &[ch(':'), ctrl('p')], "find an action by its name", None),
    row(Action::Help, &[ch('?'), key(KeyCode::F(1))], "show the keys", Some("help")),
    row(Action::Suspend, &[ctrl('z')], "to the shell; fg comes back", None),
    row(Action::Quit, &[ch('q'), ctrl('c')], "quit", Some("quit")),
];

/// The action of a key.
pub fn action(event: &KeyEvent) -> Option<Action> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let pressed = Key { code: event.code, ctrl };
    BINDINGS.iter().find(|binding| binding.keys.contains(&pressed)).map(|binding| binding.action)
}

/// A key as it is written.
pub fn label(key: Key) -> String {
    let code = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Right => "→".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        other => format!("{other:?}"),
    };
    if key.ctrl { format!("Ctrl-{}", code.to_uppercase()) } else { code }
}

/// The keys of a binding, as they are written.
pub fn labels(binding: &Binding) -> String {
    binding.keys.iter().map(|key| label(*key)).collect::<Vec<_>>().join(" ")
}

/// The table as Markdown, for the README.
pub fn table() -> String {
    let row = |binding: &Binding| {
        let keys = binding.keys.iter().map(|key| format!("`{}`", label(*key))).collect::<Vec<_>>().join(" ");
        format!("| {keys} | {} |\n", binding.name)
    };
    format!("| key | does |\n|---|---|\n{}", BINDINGS.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let mut seen: Vec<Key> = Vec::new();
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert!(!seen.contains(key), "{}", label(*key));
            seen.push(*key);
        }
    }

    #[test]
    fn a_key_finds_its_action() {
        let press = |code, modifiers| action(&KeyEvent::new(code, modifiers));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Action::End));
    }
}
