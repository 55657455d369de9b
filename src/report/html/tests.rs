//! Tests of the web page: foreign text, readable colors, structure.

use std::collections::BTreeMap;

use serde_json::json;

use super::{STYLE, html};
use crate::report::tests::{CHOICE, Table, decided};

/// Returns the relative luminance of `rrggbb`, by WCAG 2.
fn luminance(hex: &str) -> f64 {
    let full = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&full[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the colors in a part of the style sheet, by name.
fn colours(css: &str) -> BTreeMap<String, String> {
    let pairs =
        css.split(['{', '}', ';', '\n']).filter_map(|part| part.trim().strip_prefix("--")?.split_once(":#"));
    pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

#[test]
fn every_pair_of_colors_has_enough_contrast() {
    let dark_at = STYLE.find("prefers-color-scheme:dark").unwrap();
    let dark_end = dark_at + STYLE[dark_at..].find("*{box-sizing").unwrap();
    for (name, css) in [("light", &STYLE[..dark_at]), ("dark", &STYLE[dark_at..dark_end])] {
        let of = colours(css);
        let mut pairs: Vec<(String, String)> = Vec::new();
        for tone in 1..=8 {
            pairs.push(("on".to_owned(), format!("c{tone}")));
            pairs.push(("fg".to_owned(), format!("t{tone}")));
            pairs.push(("mut".to_owned(), format!("t{tone}")));
        }
        for stance in ["yes", "aside", "no"] {
            pairs.push(("on".to_owned(), stance.to_owned()));
            pairs.push(("fg".to_owned(), format!("t{stance}")));
        }
        for (text, ground) in [
            ("fg", "bg"),
            ("fg", "soft"),
            ("mut", "bg"),
            ("mut", "soft"),
            ("warn", "warnbg"),
            ("dis", "bg"),
            ("acc", "bg"),
            ("on", "acc"),
        ] {
            pairs.push((text.to_owned(), ground.to_owned()));
        }
        for (text, ground) in pairs {
            let ratio = contrast(&of[&text], &of[&ground]);
            assert!(ratio >= 4.5, "{name}: {text} on {ground} has {ratio:.2}");
        }
    }
}

/// Returns every start tag of a page with its attributes, as written.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag).collect()
}

/// Elements that a page may contain.
const OWN: &str = " !doctype html head meta title style body a main header p span h1 h2 h3 section div dl dt dd strong small i b u ul ol li table caption thead tbody tr th td svg path text tspan rect circle line g figure figcaption blockquote q em code pre details summary article footer br noscript ";

#[test]
fn nothing_foreign_acts() {
    let hostile = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)><a href=\"javascript:alert(1)\">x</a>\
                   <svg/onload=alert(1)>\" onmouseover=\"alert(1)\u{202e}\u{1b}[2J [x](data:text/html,y) ![p](http://e/p.png)";
    let definition = format!(
        "goal: {0}\nproject_summary: {0}\nconstraints: [{0}]\nquestion: {0}\nexploration: {0}\nballot: {{kind: choice, options: [inline, {0}]}}\n\
         rule: majority\nparticipants: [software-architect, qa-lead, devops-engineer]\n",
        json!(hostile)
    );
    let mut table = Table::round(&definition);
    for seat in ["software-architect", "qa-lead", "devops-engineer"] {
        table.seal(seat);
    }
    let said = json!({
        "position": hostile, "rationale": [hostile], "concerns": [hostile], "suggestions": [hostile],
        "trade_offs": {"risks": [hostile]}, "references": [hostile], hostile: hostile,
    });
    let answers = vec![
        table.vote("software-architect", "inline", said.clone()),
        table.vote("qa-lead", hostile, said),
        table.invalid("devops-engineer", hostile),
    ];
    table.close(answers);
    let page = html(&table.document());
    for tag in tags(&page) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        assert!(OWN.contains(&format!(" {name} ")), "<{tag}>");
        // Attribute values are quoted, so only the text outside quotes counts.
        let names: String = tag.split('"').step_by(2).collect();
        assert!(
            !names.contains(" on") && !names.contains(" src") && !names.contains("javascript:"),
            "<{tag}>"
        );
        assert!(name != "a" || tag == "/a" || tag.contains("href=\"#decision\""), "<{tag}>");
    }
    assert!(page.chars().all(|c| c == '\n' || !crate::sanitize::is_unsafe(c)));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains("http"));
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'\""), "no script may run");
}

#[test]
fn headings_go_down_one_at_a_time_and_tables_have_scopes() {
    let page = html(&decided().document());
    let levels: Vec<u8> = tags(&page)
        .iter()
        .filter(|tag| tag.len() >= 2 && tag.starts_with('h') && tag.as_bytes()[1].is_ascii_digit())
        .map(|tag| tag.as_bytes()[1] - b'0')
        .collect();
    assert_eq!(levels.first(), Some(&1));
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    assert!(
        tags(&page)
            .iter()
            .filter(|tag| tag.starts_with("th ") || **tag == "th")
            .all(|tag| tag.contains("scope="))
    );
    assert!(
        tags(&page)
            .iter()
            .filter(|tag| tag.starts_with("svg"))
            .all(|tag| tag.contains("role=\"img\" aria-label=\""))
    );
}

#[test]
fn the_first_page_answers_first() {
    let page = html(&decided().document());
    let first = &page[..page.find("The whole record").unwrap()];
    let order = [
        "<h1",
        "id=\"decision\"",
        ">inline</span></h2>",
        "2 of 3 seats chose it (a majority needed). 1 chose redis.",
        "Strength",
        "Quorum",
        "Independence",
        "Approval",
        "class=\"dis\"",
        "That happens *daily*.",
        "Who voted what",
        "The options",
        "What happens next",
        "Cost and time",
        "Check it yourself",
    ];
    let mut from = 0;
    for part in order {
        let at = first[from..].find(part).unwrap_or_else(|| panic!("no {part} after {from}"));
        from += at;
    }
    assert!(page.contains("<title>inline – Which cache first?</title>"));
    assert!(page.contains("<summary>By other rules, none of which was agreed beforehand</summary>"));
}

#[test]
fn options_that_look_alike_keep_their_letters() {
    let definition = CHOICE.replace("[inline, redis]", "[redis, rеdis]");
    let mut table = Table::round(&definition);
    table.seal("qa-lead");
    table.seal("devops-engineer");
    let answers = vec![
        table.vote("qa-lead", "redis", json!({"rationale": ["latin", "short", "known", "plain"]})),
        table.vote("devops-engineer", "rеdis", json!({"rationale": ["with a Cyrillic е"]})),
    ];
    table.close(answers);
    let page = html(&table.document());
    assert!(page.contains("aria-hidden=\"true\">A</b><span dir=\"auto\">redis</span>"));
    assert!(page.contains("aria-hidden=\"true\">B</b><span dir=\"auto\">rеdis</span>"));
    // What the first page leaves out is in the record.
    assert!(page.contains("<p class=\"more\">+ 1 more below</p>") && page.contains("All reasons, merged"));
    assert!(page.contains("<li dir=\"auto\">plain <small>qa-lead</small></li>"));
}
