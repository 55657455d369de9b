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

/// Keys as they are written.
pub fn labels(keys: &[KeyChord]) -> String {
    keys.iter().map(|key| label(*key)).collect::<Vec<_>>().join(" ")
}
