//! Colours and signs. Colour never carries meaning alone: every state has its own sign and word.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are used.
    pub colour: bool,
    /// Whether only ASCII signs are used.
    pub ascii: bool,
}

impl Theme {
    /// What the environment asks for: `NO_COLOR`, `ROUNDTABLE_ASCII`, a locale without UTF-8.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| read(name).filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let speaks_utf8 = locale.is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8") || locale == "c"
        });
        Self { colour: set("NO_COLOR").is_none(), ascii: set("ROUNDTABLE_ASCII").is_some() || !speaks_utf8 }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Headings and what is chosen.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What matters less.
    pub fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What is chosen.
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What went well.
    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What went wrong.
    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What is under way.
    pub fn under_way(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// Keys in the footer.
    pub fn key(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The border's characters.
    pub fn border(self) -> border::Set<'static> {
        const ASCII: border::Set<'static> = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        if self.ascii { ASCII } else { border::ROUNDED }
    }

    /// One of two signs.
    pub fn sign(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { unicode }
    }
}
