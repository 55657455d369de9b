//! Unit tests of the leak scanner: names that are found, and texts that stay.

use serde_json::json;

use super::{LeakScanner, names_of_model, well_known};
use crate::history::{Leak, LeakKind};

fn names() -> Vec<Leak> {
    let name = |kind: LeakKind, text: &str| {
        let (participant, item, mask) = (String::new(), String::new(), Some(kind.mask().to_owned()));
        Leak { participant, item, kind, text: text.to_owned(), mask }
    };
    let mut names: Vec<Leak> = well_known().map(|(kind, text)| name(kind, text)).collect();
    names.extend(["qa-lead", "qa-lead-2", "skeptic", "Élise", "a"].map(|seat| name(LeakKind::Seat, seat)));
    for model in ["openai/gpt-5-mini", "lab/m1", "recorded"] {
        names.extend(names_of_model(model).into_iter().map(|part| name(LeakKind::Model, part)));
    }
    names
}

fn found(text: &str, material: &str) -> Vec<String> {
    let mut scanner = LeakScanner::new(names());
    scanner.leave_out(material);
    let hits = scanner.hits(text).into_iter();
    let shown = hits.map(|(at, name)| format!("{:?}:{}", name.kind, &text[at..at + name.text.len()]));
    shown.collect()
}

#[test]
fn exact_names_of_seats_models_and_makers_are_found() {
    for (text, wanted) in [
        ("I'm Claude, made by Anthropic.", vec!["Model:Claude", "Maker:Anthropic"]),
        ("as CLAUDE I say; MISTRAL AI too", vec!["Model:CLAUDE", "Maker:MISTRAL AI"]),
        ("openai/gpt-5-mini and gpt-5-mini", vec!["Model:openai/gpt-5-mini", "Model:gpt-5-mini"]),
        ("lab/m1, m1, GPT-4o", vec!["Model:lab/m1", "Model:GPT-4o"]),
        ("QA-Lead's point; qa-lead-2 differs", vec!["Seat:QA-Lead", "Seat:qa-lead-2"]),
        ("**Élise** (`skeptic`) objects", vec!["Seat:Élise", "Seat:skeptic"]),
    ] {
        assert_eq!(found(text, ""), wanted, "{text}");
    }
}

#[test]
fn other_spellings_longer_words_and_single_letters_are_left_alone() {
    for text in [
        "the qa lead, a software architect",
        "openair, anthropics, non-qa-lead, qa-lead-style",
        "C\u{200b}laude and Сlaude",
        "a library in option a",
        "the parts cohere; I grok it; a llama",
        "",
    ] {
        assert_eq!(found(text, ""), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn names_in_the_material_are_not_leaks() {
    let question = "Which first: Claude or openai/gpt-5-mini? QA-lead asked.";
    assert_eq!(found("Claude before gpt-5-mini, as qa-lead said", question), Vec::<String>::new());
    assert_eq!(found("DeepSeek", question), ["Model:DeepSeek"]);
}

#[test]
fn copies_are_masked() {
    let answer = json!({
        "position": "I'm Claude; qa-lead is right.\nAnthropic",
        "by Claude": ["OpenAI", { "x/~": "GPT-4" }],
        "by GPT-4": 3,
        "confidence": 0.5,
    });
    let leaks = LeakScanner::new(names()).leaks_in(&Ok(answer.clone()), "qa-lead", "pick/1");
    let masked = |leaks: &[Leak]| LeakScanner::new(leaks.iter().cloned()).masked(&answer);
    assert_eq!(
        masked(&leaks),
        json!({
            "position": "I'm [model]; [participant] is right.\n[maker]",
            "by [model]": ["[maker]", { "x/~": "[model]" }],
            "by [model]'": 3,
            "confidence": 0.5,
        })
    );
    let texts: Vec<&str> = leaks.iter().map(|leak| leak.text.as_str()).collect();
    assert_eq!(texts, ["Claude", "qa-lead", "Anthropic", "OpenAI", "GPT-4"]);
    // Names without a mask stay.
    let flagged: Vec<_> = leaks.into_iter().map(|leak| Leak { mask: None, ..leak }).collect();
    assert_eq!(masked(&flagged), answer);
}

proptest::proptest! {
    /// The scanner never panics; its hits are in order and do not overlap.
    #[test]
    fn every_text_is_scanned(text in "(Claude|GPT-4|qa-lead|skeptic|Élise|OpenAI|é|\u{200b}|[a-zA-Z ,.'/-]|\\PC){0,40}") {
        let scanner = LeakScanner::new(names());
        let mut last = 0;
        for (start, name) in scanner.hits(&text) {
            let end = start + name.text.len();
            proptest::prop_assert!(start >= last && start < end);
            proptest::prop_assert!(text.get(start..end).is_some());
            last = end;
        }
    }
}
