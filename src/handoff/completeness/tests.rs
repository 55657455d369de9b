//! Sentences of a facilitator, and the expected findings.

use serde_json::json;

use super::{Gap, Material, findings, own_words};

/// Returns known ids: the content of REQ-001 and `login` is included, that of the others is not.
fn held() -> Material<'static> {
    let ids = [("REQ-001", true), ("REQ-002", false), ("APP-15", false), ("login", true), ("adr7", false)];
    let content = |is_held: bool| vec![(!is_held).then_some("what it holds")];
    Material { ids: ids.map(|(id, is_held)| (id, content(is_held))).into(), ..Material::default() }
}

fn found(said: &str) -> Vec<Gap> {
    findings(said, &held())
}

const INNOCENT: [&str; 16] = [
    "Do we accept artifact REQ-001?",
    "Does REQ-001 hold? What of REQ-001's wording?",
    "Improve the login flow; artifact login says how.",
    "check that the avatar loads at http://localhost:3000",
    "1. Navigate to http://localhost:3000/profile\n2. Verify avatar image loads",
    "Check whether the service at https://example.org answers within 1 s",
    "Never check Linear for data you already have",
    "Don't look up the ticket in Jira.",
    "Answer without reading the file",
    "Check linear-growth-free tables and unread the files",
    "Read src/cache.rs and say what it lacks",
    "Open https://example.org/spec and summarise it",
    "Use UTF-8 and ISO-8601 dates",
    "CVE-2024-1234 is the reason for it",
    "The details are in REQ-001.",
    "Find the bug that makes it slow",
];

/// Sentence and expected phrase.
const POSSIBLE: [(&str, &str); 12] = [
    ("Check Linear for the next issue", "Check Linear"),
    ("CHECK LINEAR FOR THE NEXT ISSUE", "CHECK LINEAR"),
    ("You must check Jira before you answer", "check Jira"),
    ("Could you check the tracker?", "check the tracker"),
    ("Please look up the ticket.", "look up the ticket"),
    ("Look it up in Jira", "Look it up"),
    ("Make sure to read the file first", "read the file"),
    ("Plan it, and open the link", "open the link"),
    ("Don't guess: check the tracker", "check the tracker"),
    ("Never read the file; or do read the file", "read the file"),
    ("Implement ticket ABC-7 now", "Implement ticket ABC-7"),
    ("Which risks does issue ABC-7 have?", "does issue ABC-7"),
];

/// Sentence, expected phrase, and part of the expected reason.
const CERTAIN: [(&str, &str, &str); 9] = [
    ("Implement issue APP-15", "Implement issue APP-15", "not handed over"),
    ("Implement APP-15 now", "Implement APP-15", "not handed over"),
    ("What about REQ-002?", "What about REQ-002", "not handed over"),
    ("Compare REQ-001/REQ-002", "Compare REQ-001/REQ-002", "not handed over"),
    ("Do we accept REQ-009?", "we accept REQ-009", "does not exist; there is `REQ-001`"),
    ("Is REQ-9's wording clear?", "Is REQ-9's", "does not exist"),
    ("(see APP-99)", "see APP-99", "does not exist"),
    ("What does adr7 cost?", "What does adr7", "not handed over"),
    ("Sum up artifact adr7", "up artifact adr7", "not handed over"),
];

#[test]
fn innocent_sentences_have_no_finding() {
    for said in INNOCENT {
        assert_eq!(found(said), [], "{said}");
    }
}

#[test]
fn phrases_and_unknown_ids_are_possible_findings() {
    for (said, phrase) in POSSIBLE {
        let found = found(said);
        assert!(
            matches!(&found[..], [one] if !one.is_certain && one.phrase == phrase),
            "{said}: wanted `{phrase}`, found {found:?}"
        );
    }
}

#[test]
fn exact_findings_are_certain() {
    for (said, phrase, why) in CERTAIN {
        let found = found(said);
        let fits =
            matches!(&found[..], [one] if one.is_certain && one.phrase == phrase && one.what.contains(why));
        assert!(fits, "{said}: wanted `{phrase}`, found {found:?}");
    }
}

#[test]
fn findings_that_a_result_may_resolve_are_not_certain() {
    let open = Material { may_grow: true, ..held() };
    assert!(findings("Do we accept REQ-009?", &open).iter().all(|finding| !finding.is_certain));
}

#[test]
fn template_tags_show_only_ids() {
    let scope = json!({ "input": "REQ-9", "plan": "An answer on REQ-9." });
    let cases = [
        ("Implement {{input}} now", "Implement REQ-9 now"),
        ("Implement {{{ input }}}.", "Implement REQ-9."),
        ("Improve {{plan}} {{~none~}}{{", "Improve … ……"),
    ];
    for (template, words) in cases {
        assert_eq!(own_words(template, Some(&scope)), words);
        assert!(!own_words(template, None).contains("REQ-9"));
    }
    assert!(found(&own_words("Implement {{input}}", Some(&scope)))[0].is_certain);
}
