//! Colors and signs of the screen.
//!
//! Color never carries meaning alone: every state has a sign and a word.

use ratatui::style::Color::{self, Indexed};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::Block;

use super::text::clipped;
use crate::sanitize::harmless_line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub color: bool,
    pub ascii: bool,
    pub palette: Palette,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    good: Color,
    bad: Color,
    active: Color,
    key: Color,
    /// Colors of the ballot's options in their order; more options repeat them.
    /// None is yellow or red, which mean warning and failure.
    options: [Color; OPTIONS],
}

/// Number of options with distinct color and sign.
const OPTIONS: usize = 6;

impl Palette {
    pub const DARK: Self = Self {
        good: Color::Green,
        bad: Color::Red,
        active: Color::Yellow,
        key: Color::Cyan,
        options: [Color::LightBlue, Color::Magenta, Indexed(208), Indexed(37), Indexed(147), Indexed(150)],
    };
    /// For light backgrounds, on which yellow and cyan are unreadable.
    pub const LIGHT: Self = Self {
        good: Color::Green,
        bad: Color::Red,
        active: Color::Magenta,
        key: Color::Blue,
        options: [Indexed(25), Indexed(166), Indexed(30), Indexed(91), Indexed(94), Color::DarkGray],
    };
}

impl Default for Theme {
    fn default() -> Self {
        Self { color: true, ascii: false, palette: Palette::DARK }
    }
}

impl Theme {
    /// Reads `NO_COLOR`, `ROUNDTABLE_ASCII`, the locale and `COLORFGBG`.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| read(name).filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let speaks_utf8 = locale.is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        // `COLORFGBG` ends with the background; 7 and 15 are the light ones.
        let background = set("COLORFGBG").and_then(|colors| colors.rsplit(';').next()?.parse::<u8>().ok());
        let palette = if matches!(background, Some(7 | 15)) { Palette::LIGHT } else { Palette::DARK };
        let ascii = set("ROUNDTABLE_ASCII").is_some() || !speaks_utf8;
        Self { color: set("NO_COLOR").is_none(), ascii, palette }
    }

    fn with(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn block(self, title: &str, width: u16) -> Block<'static> {
        let title = clipped(&harmless_line(title), usize::from(width.saturating_sub(4)));
        let (style, title) = (self.strong(), Line::styled(format!(" {} ", title.trim_end()), self.strong()));
        Block::bordered().border_set(border::ROUNDED).border_style(style).title(title)
    }

    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub fn good(self) -> Style {
        self.with(self.palette.good)
    }

    pub fn bad(self) -> Style {
        self.with(self.palette.bad).add_modifier(Modifier::BOLD)
    }

    /// Style of warnings and of questions to the person.
    pub fn active(self) -> Style {
        self.with(self.palette.active)
    }

    /// Returns the style of an option by its index in the ballot form; it is the same everywhere.
    pub fn option(self, place: usize) -> Style {
        self.with(self.palette.options[place % OPTIONS])
    }

    pub fn option_sign(place: usize) -> &'static str {
        const SIGNS: [&str; OPTIONS] = ["●", "■", "▲", "◆", "★", "▼"];
        SIGNS[place % OPTIONS]
    }

    pub fn key(self) -> Style {
        self.with(self.palette.key).add_modifier(Modifier::BOLD)
    }
}

/// Returns the ASCII replacement of a symbol that this program draws.
pub fn ascii(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "·" | "–" | "─" => "-",
        "→" | "▸" | "▶" => ">",
        "←" | "◂" => "<",
        "↑" | "▲" => "^",
        "↓" | "▼" | "✓" => "v",
        "…" | "◌" | "□" | "┄" | "░" => ".",
        "┊" | "▒" => ":",
        "■" | "█" => "#",
        "●" | "◧" => "o",
        "○" | "▏" => "_",
        "•" | "◆" | "◇" => "*",
        "★" | "▓" | "└" | "┬" | "┴" | "├" | "┤" | "╭" | "╮" | "╰" | "╯" => "+",
        "│" => "|",
        "✗" | "×" => "x",
        "⏸" => "=",
        "⚑" => "!",
        "≈" | "ø" => "~",
        "“" | "”" => "\"",
        "’" => "'",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A named locale gets more than ASCII only if it names UTF-8; without a locale, UTF-8 is assumed.
    #[test]
    fn a_locale_without_utf_8_gets_ascii() {
        let ascii = |lang: &'static str| {
            Theme::from_environment(move |name| (name == "LANG" && !lang.is_empty()).then(|| lang.to_owned()))
                .ascii
        };
        assert!(ascii("C") && ascii("POSIX") && ascii("de_DE.ISO-8859-1"));
        assert!(!ascii("C.UTF-8") && !ascii("en_US.utf8") && !ascii(""));
    }
}
