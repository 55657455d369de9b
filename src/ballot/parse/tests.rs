//! Test cases of `tests/fixtures/replies/`, and properties of any text.
//!
//! A case names its row in `docs/SESSION_FORMAT.md`. To add a case, add an entry to a fixture file.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value as Json;
use strum::VariantArray as _;

use crate::ballot::{Ballot, BallotForm, BallotKind, ParsedReply, Stance, answer_rules, read_reply};
use crate::yaml;

const FILES: [(&str, &str); 9] = [
    ("choice", include_str!("../../../tests/fixtures/replies/choice.yaml")),
    ("approval", include_str!("../../../tests/fixtures/replies/approval.yaml")),
    ("ranking", include_str!("../../../tests/fixtures/replies/ranking.yaml")),
    ("score", include_str!("../../../tests/fixtures/replies/score.yaml")),
    ("estimate", include_str!("../../../tests/fixtures/replies/estimate.yaml")),
    ("position", include_str!("../../../tests/fixtures/replies/position.yaml")),
    ("consent", include_str!("../../../tests/fixtures/replies/consent.yaml")),
    ("ideas", include_str!("../../../tests/fixtures/replies/ideas.yaml")),
    ("findings", include_str!("../../../tests/fixtures/replies/findings.yaml")),
];

const PAGE: &str = include_str!("../../../docs/SESSION_FORMAT.md");

struct ReplyCase {
    place: String,
    row: String,
    form: BallotForm,
    reply: String,
    expected: Json,
}

static ALL: LazyLock<Vec<ReplyCase>> = LazyLock::new(cases);

fn cases() -> Vec<ReplyCase> {
    FILES.iter().flat_map(|(name, text)| cases_of(name, text)).collect()
}

fn cases_of(name: &str, text: &str) -> Vec<ReplyCase> {
    let tree = yaml::read(text, name).unwrap().to_json();
    let form: BallotForm = serde_json::from_value(tree["form"].clone()).unwrap();
    let case = |(i, case): (usize, &Json)| {
        let mut form = form.clone();
        if let Some(options) = case.get("options") {
            form.options = serde_json::from_value(options.clone()).unwrap();
        }
        if let Some(other) = case.get("form") {
            form = serde_json::from_value(other.clone()).unwrap();
        }
        let row = case["row"].as_str().unwrap().to_owned();
        let reply = case["reply"].as_str().unwrap_or_else(|| panic!("{name} case {} has no reply", i + 1));
        let place = format!("{name}.yaml, case {} ({row})", i + 1);
        ReplyCase { place, row, form, reply: reply.to_owned(), expected: case.clone() }
    };
    tree["cases"].as_array().unwrap().iter().enumerate().map(case).collect()
}

fn format_ballot(ballot: &Ballot) -> String {
    match ballot {
        Ballot::Position => "position".to_owned(),
        Ballot::Choice(option) => option.clone(),
        Ballot::Consent(Stance::Support, _) => "support".to_owned(),
        Ballot::Consent(Stance::StandAside, _) => "stand-aside".to_owned(),
        Ballot::Consent(Stance::Block, change) => format!("block: {}", change.as_deref().unwrap_or("?")),
        Ballot::Approval(options) => options.join(", "),
        Ballot::Ranking(places) => places.iter().map(|tied| tied.join(" = ")).collect::<Vec<_>>().join(" > "),
        Ballot::Scores(scores) => {
            scores.iter().map(|(option, score)| format!("{option} {score}")).collect::<Vec<_>>().join(", ")
        }
        Ballot::Estimate(value) => value.to_string(),
        Ballot::Ideas(_) | Ballot::Findings(_) => ballot.listing().join("; "),
        Ballot::Abstain => "abstain".to_owned(),
    }
}

/// Describes the first mistake in the reading of a case.
fn mismatch(case: &ReplyCase) -> Option<String> {
    let reading = read_reply(&case.form, &case.reply);
    let expected = |key: &str| case.expected.get(key).and_then(Json::as_str);
    let ok = match &reading {
        ParsedReply::BareBlock(answer, reason) => {
            expected("asked_again").is_some_and(|part| reason.contains(part))
                && expected("ballot") == Some(&format_ballot(&answer.ballot))
        }
        ParsedReply::Invalid(reason) => expected("invalid").is_some_and(|part| reason.contains(part)),
        ParsedReply::Refused(words) => expected("refused").is_some_and(|part| words.contains(part)),
        ParsedReply::Answered(answer) => {
            let flags = case.expected.get("flags").and_then(Json::as_array).cloned().unwrap_or_default();
            let flags_fit = flags.len() == answer.flags.len()
                && flags.iter().zip(&answer.flags).all(|(part, flag)| flag.contains(part.as_str().unwrap()));
            let content = Json::Object(answer.content.clone()).to_string();
            let content_fits =
                case.expected.get("content").map(Json::to_string).is_none_or(|wanted| wanted == content);
            expected("ballot") == Some(&format_ballot(&answer.ballot)) && flags_fit && content_fits
        }
    };
    (!ok).then(|| format!("{}:\n{}\n=> {reading:?}\nexpected {}\n", case.place, case.reply, case.expected))
}

#[test]
fn every_case_has_its_one_reading() {
    let wrong: Vec<_> = cases().iter().filter_map(mismatch).collect();
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
    for (name, text) in FILES {
        assert!(cases_of(name, text).len() >= 50, "{name} has too few cases");
    }
}

#[test]
fn the_table_and_the_cases_have_the_same_rows() {
    let (_, table) = PAGE.split_once("\n## Replies\n").expect("the section");
    let rows: BTreeSet<_> =
        table.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    let cases = cases();
    let named: BTreeSet<_> = cases.iter().map(|case| case.row.as_str()).collect();
    // Text files cannot express these; tests below cover them.
    let coded = BTreeSet::from(["too-large", "too-deep", "too-many"]);
    assert_eq!(named.difference(&rows).collect::<Vec<_>>(), Vec::<&&str>::new(), "cases without a row");
    let covered: BTreeSet<_> = named.union(&coded).copied().collect();
    assert_eq!(rows.difference(&covered).collect::<Vec<_>>(), Vec::<&&str>::new(), "rows without a case");
}

fn form(kind: BallotKind) -> BallotForm {
    let options = ["file-based", "inline", "hybrid"].map(str::to_owned);
    let options = if kind.info().has_options { options.to_vec() } else { Vec::new() };
    BallotForm::over(kind, options)
}

fn invalid(form: &BallotForm, reply: &str) -> String {
    match read_reply(form, reply) {
        ParsedReply::Invalid(reason) => reason,
        other => panic!("{reply:.200} => {other:?}"),
    }
}

#[test]
fn limits_are_refused_with_their_number() {
    let choice = form(BallotKind::Choice);
    let large = format!("vote: inline\nrationale: \"{}\"\n", "x".repeat(256 * 1024));
    assert!(invalid(&choice, &large).contains("256 KiB"));
    assert!(invalid(&choice, &"{\"vote\": \"inline\"}\n".repeat(300)).contains("256 blocks"));
    let deep = |n: usize| format!("vote: inline\nextra: {}1{}\n", "[".repeat(n), "]".repeat(n));
    assert!(invalid(&choice, &deep(45)).contains("deeper than 40"));
    assert!(matches!(read_reply(&choice, &deep(36)), ParsedReply::Answered(_)));
    for bomb in ["[", "{", "{\"a\":", "- ", "? ", "a: ["] {
        let n = 250_000 / bomb.len();
        invalid(&choice, &bomb.repeat(n));
        invalid(&choice, &format!("vote: inline\nextra: {}", bomb.repeat(n - 10)));
    }
}

#[test]
fn cards_that_abstain_are_counted_as_abstentions() {
    let [cards, abstain] = [&["1", "2"], &["?", "☕"]].map(|words| words.map(str::to_owned).to_vec());
    let form = BallotForm { cards, abstain, ..BallotForm::over(BallotKind::Estimate, Vec::new()) };
    for (reply, abstains) in
        [("estimate: \"?\"", true), ("estimate: ☕\nrationale: [tea]", true), ("estimate: 2", false)]
    {
        let ParsedReply::Answered(answer) = read_reply(&form, reply) else { panic!("{reply}") };
        assert_eq!(answer.ballot == Ballot::Abstain, abstains, "{reply}");
    }
}

#[test]
fn repeating_the_rules_is_never_a_ballot() {
    for kind in BallotKind::VARIANTS.iter().copied() {
        let rules = answer_rules(&BallotForm::over(kind, Vec::new()));
        let example = rules.split("```").nth(1).unwrap().trim_start_matches("yaml\n");
        assert!(!rules.contains("participant_context:") && !rules.contains("your_role:"));
        invalid(&form(kind), &rules);
        invalid(&form(kind), example);
        invalid(&form(kind), &rules.replace("```", "~~~"));
        invalid(&form(kind), &rules.replace("```", ""));
    }
    let beside = format!(
        "{}\n```yaml\nvote: inline\n```\n",
        answer_rules(&BallotForm::over(BallotKind::Choice, Vec::new()))
    );
    let ParsedReply::Answered(answer) = read_reply(&form(BallotKind::Choice), &beside) else {
        panic!("{beside}")
    };
    assert_eq!(answer.ballot, Ballot::Choice("inline".to_owned()));
}

#[test]
fn stored_answers_read_back_the_same() {
    for case in cases() {
        let ParsedReply::Answered(answer) = read_reply(&case.form, &case.reply) else { continue };
        let again = Json::Object(answer.content.clone()).to_string();
        let ParsedReply::Answered(second) = read_reply(&case.form, &again) else {
            panic!("{}: {again}", case.place)
        };
        assert_eq!((second.ballot, second.content), (answer.ballot, answer.content), "{}", case.place);
    }
}

/// Repeated to build replies that might be slow to parse.
const HOSTILE: &[&str] = &[
    "\n",
    "`",
    "```\n",
    "```yaml\n```\n",
    "{",
    "{}\n",
    "{\"a\":1}",
    "{\"vote\":\"inline\"}\n",
    "{a",
    "<think>",
    "<think>\n",
    "</think>",
    "<think>\n</think>\n",
    "vote: inline\n",
    "vote: inline\n\n.\n",
    "- vote: inline\n",
    ">\n",
    "(",
    "vote: ((",
    "vote:\n",
    "\"",
    "\"\n",
    "x: &a [*a]\n",
    "<tool_call>",
    "#",
    "vote: #1\n",
    "\u{1b}",
    "k: v\n",
    "vote: [",
    "concerns:\n- a\n",
    "1. ",
    "**",
    "~~~\n",
    "[{",
    "sorry,",
    "<|channel|>final",
];

#[test]
fn every_kind_of_hostile_text_takes_linear_time() {
    for unit in HOSTILE {
        let text = unit.repeat(crate::cases::cases(8_000, 100_000) / unit.len());
        let started = std::time::Instant::now();
        for kind in BallotKind::VARIANTS.iter().copied() {
            read_reply(&form(kind), &text);
        }
        let took = started.elapsed();

        assert!(took.as_secs() < 10, "{unit:?} took {took:?}");
    }
}

fn any_form() -> impl Strategy<Value = BallotForm> {
    prop::sample::select(BallotKind::VARIANTS.to_vec()).prop_map(form)
}

const PIECES: &[&str] = &[
    "vote: ",
    "approve: ",
    "ranking: ",
    "scores: ",
    "estimate: ",
    "ideas:\n- ",
    "title: a\n  ",
    "text: b\n",
    "findings:\n- ",
    "severity: low\n  ",
    "claim: c\n  ",
    "inline",
    " > ",
    "inline: 3",
    "hybrid",
    "file-based",
    "consent: block",
    "support",
    "minimum_change: x",
    "position: ",
    "abstain",
    "\n",
    "\n\n",
    "```",
    "```yaml\n",
    "~~~",
    "{",
    "}",
    "\"",
    "'",
    ":",
    ": ",
    "- ",
    "  ",
    "<think>",
    "</think>",
    "answer:\n  ",
    "confidence: 0.8",
    "80%",
    "rationale:\n  - a",
    "[",
    "]",
    ",",
    "<",
    ">",
    "|",
    "#",
    "*",
    "**",
    "`",
    "\u{200b}",
    "\u{0}",
    "\r",
    "é",
    "(b)",
    "2",
    "---\n",
    "trade_offs: ",
    "null",
    "&a ",
    "*a",
    "!!str ",
    "\u{2028}",
    "\u{85}",
    "\\u0000",
    "😀",
    "<tool_call>",
    "option ",
    "true",
];

/// Generates replies from random pieces.
fn patchwork() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40).prop_map(|parts| parts.concat())
}

/// Checks that a valid ballot uses only options of its form.
fn fits(form: &BallotForm, reading: &ParsedReply) -> bool {
    match reading {
        ParsedReply::BareBlock(answer, _) => answer.ballot == Ballot::Consent(Stance::Block, None),
        ParsedReply::Answered(answer) => match &answer.ballot {
            Ballot::Choice(option) => form.options.contains(option),
            Ballot::Consent(stance, change) => (*stance == Stance::Block) == change.is_some(),
            Ballot::Approval(options) => options.iter().all(|option| form.options.contains(option)),
            Ballot::Ranking(places) => {
                let mut seen = BTreeSet::new();
                !places.is_empty()
                    && places.iter().all(|tied| !tied.is_empty())
                    && places
                        .iter()
                        .flatten()
                        .all(|option| form.options.contains(option) && seen.insert(option))
            }
            Ballot::Scores(scores) => scores.keys().eq(&form.options),
            Ballot::Estimate(value) if form.cards.is_empty() => value.is_number(),
            Ballot::Estimate(value) => form.cards.iter().any(|card| value == card.as_str()),
            Ballot::Position => answer.content["position"].as_str().is_some_and(|text| !text.is_empty()),
            Ballot::Ideas(ideas) => {
                let mut titles = BTreeSet::new();
                !ideas.is_empty()
                    && ideas.iter().all(|idea| !idea.text.is_empty() && titles.insert(&idea.title))
            }
            Ballot::Findings(found) => found.iter().all(|one| !one.claim.is_empty()),
            Ballot::Abstain => true,
        },
        ParsedReply::Invalid(reason) => !reason.is_empty() && !reason.contains('\n'),
        ParsedReply::Refused(words) => !words.is_empty(),
    }
}

proptest! {
    #[test]
    fn any_text_has_a_reading(form in any_form(), reply in any::<String>()) {
        prop_assert!(fits(&form, &read_reply(&form, &reply)));
    }

    #[test]
    fn any_patchwork_has_a_reading(form in any_form(), reply in patchwork()) {
        prop_assert!(fits(&form, &read_reply(&form, &reply)));
    }

    #[test]
    fn damaged_replies_have_a_reading(
        at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>(), put in any::<char>(), cut in any::<bool>()
    ) {
        let case = &ALL[which.index(ALL.len())];
        let mut chars: Vec<char> = case.reply.chars().collect();
        let place = at.index(chars.len() + 1);
        if cut { chars.truncate(place) } else { chars.insert(place, put) }
        let reply: String = chars.into_iter().collect();
        prop_assert!(fits(&case.form, &read_reply(&case.form, &reply)));
    }
}
