//! The Markdown report as one web page: no script, no link out, nothing foreign that is markup.

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event as Markup, Options, Parser};

use super::markdown;
use crate::history::Session;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2rem .6rem}\
blockquote{border-left:3px solid #999;margin-left:0;padding-left:1rem}code,pre{font-size:.9em}\
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}";

/// The report of a session.
pub fn html(session: &Session) -> String {
    let text = markdown(session);
    // Markup in the text stands as text: nothing foreign becomes part of the page.
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES).map(|event| match event {
        Markup::Html(text) | Markup::InlineHtml(text) => Markup::Text(text),
        other => other,
    });
    let mut body = String::new();
    push_html(&mut body, events);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n",
        escaped(&session.id)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
