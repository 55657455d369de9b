//! A key with its modifier, as it is pressed and as it is written.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyChord {
    pub(super) code: KeyCode,
    pub(super) ctrl: bool,
}

pub(super) const fn key(code: KeyCode) -> KeyChord {
    KeyChord { code, ctrl: false }
}

pub(super) const fn ch(c: char) -> KeyChord {
    key(KeyCode::Char(c))
}

pub(super) const fn ctrl(c: char) -> KeyChord {
    KeyChord { code: KeyCode::Char(c), ctrl: true }
}

impl KeyChord {
    pub fn pressed(event: &KeyEvent) -> Self {
        Self { code: event.code, ctrl: event.modifiers.contains(KeyModifiers::CONTROL) }
    }
}

pub fn label(key: KeyChord) -> String {
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

/// A key from the way it is written: `x`, `space`, `Ctrl-X`, `F5`, `Enter`, `Left`.
pub(super) fn parse(text: &str) -> Option<KeyChord> {
    if let Some(rest) = text.strip_prefix("Ctrl-") {
        let mut chars = rest.chars();
        let c = chars.next().filter(|_| chars.next().is_none())?;
        return Some(ctrl(c.to_ascii_lowercase()));
    }
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(ch(c));
    }
    if let Some(number) = text.strip_prefix('F').and_then(|n| n.parse().ok()) {
        return Some(key(KeyCode::F(number)));
    }
    let code = match text.to_lowercase().as_str() {
        "space" => KeyCode::Char(' '),
        "enter" => KeyCode::Enter,
        "tab" => KeyCode::Tab,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        _ => return None,
    };
    Some(key(code))
}

/// Keys as they are written; of four or more in a row the first and the last.
pub fn labels(keys: &[KeyChord]) -> String {
    let follows = |pair: &[KeyChord]| match (pair[0].code, pair[1].code) {
        (KeyCode::Char(one), KeyCode::Char(next)) => {
            pair[0].ctrl == pair[1].ctrl && u32::from(one) + 1 == u32::from(next)
        }
        _ => false,
    };
    if let [first, _, _, .., last] = keys
        && keys.windows(2).all(follows)
    {
        return format!("{}–{}", label(*first), label(*last));
    }
    keys.iter().map(|key| label(*key)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_in_a_row_are_shown_as_a_range() {
        let keys = |chars: &str| labels(&chars.chars().map(ch).collect::<Vec<_>>());
        assert_eq!(keys("0123456789"), "0–9");
        assert_eq!((keys("abcd"), keys("abc")), ("a–d".to_owned(), "a b c".to_owned()));
        assert_eq!(keys("hjlk"), "h j l k");
        assert_eq!(keys("1235"), "1 2 3 5");
        assert_eq!(keys("ab"), "a b");
        assert_eq!(labels(&[ch('a'), ctrl('b'), ch('c')]), "a Ctrl-B c");
    }
}
