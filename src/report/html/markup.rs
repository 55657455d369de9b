//! Foreign text in HTML: shown, never markup, safe in elements and in attributes.

use crate::sanitize::harmless;

/// A text with what would act made visible and what would be markup escaped; line feeds stay.
pub fn e(text: &str) -> String {
    let text = harmless(text);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The class of a colour: an option by its place, the letters repeat after eight.
pub fn colour(place: usize) -> String {
    format!("o{}", place % 8 + 1)
}

/// The class of a stance, by its sign.
pub fn stance_class(sign: &str) -> Option<&'static str> {
    match sign {
        "✓" => Some("c-yes"),
        "–" => Some("c-aside"),
        "✕" => Some("c-no"),
        _ => None,
    }
}

/// A badge with a letter or sign; read out only by the name that follows it.
pub fn badge(class: &str, letter: &str) -> String {
    format!("<b class=\"bd {class}\" aria-hidden=\"true\">{}</b>", e(letter))
}

/// A sentence of the report's own, with what stands in backquotes as code.
pub fn told(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", e(part)) } else { e(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_is_markup_in_elements_or_attributes() {
        let text = "</style><img src=x onerror='a'>\"&\u{202e}\u{1b}[0m\n";
        let shown = "&lt;/style&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;\\u{202e}\\u{1b}[0m\n";
        assert_eq!(e(text), shown);
        assert_eq!(told("run `a <b>` now"), "run <code>a &lt;b&gt;</code> now");
    }
}
