//! Foreign text in HTML: shown as text, safe in elements and attributes.

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event as Markup, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::sanitize::harmless;

/// Headings of the record are below that of the page.
const HEADING: Tag<'_> =
    Tag::Heading { level: HeadingLevel::H3, id: None, classes: Vec::new(), attrs: Vec::new() };

/// Makes unsafe characters visible and escapes markup; line feeds stay.
pub fn escape_html(text: &str) -> String {
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

/// Renders the report's own Markdown as HTML. Markup inside texts stays text; links and images are removed.
pub fn rendered(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Markup::InlineHtml(tag) if &*tag == "<br>" => Some(Markup::HardBreak),
        Markup::Html(text) | Markup::InlineHtml(text) => Some(Markup::Text(text)),
        Markup::Start(Tag::Link { .. } | Tag::Image { .. }) | Markup::End(TagEnd::Link | TagEnd::Image) => {
            None
        }
        Markup::Start(Tag::Heading { .. }) => Some(Markup::Start(HEADING)),
        Markup::End(TagEnd::Heading(_)) => Some(Markup::End(HEADING.to_end())),
        other => Some(other),
    });
    let mut out = "<div class=\"md\">".to_owned();
    push_html(&mut out, events);
    out.replace("<blockquote>", "<blockquote dir=\"auto\">").replace("<li>", "<li dir=\"auto\">") + "</div>"
}
