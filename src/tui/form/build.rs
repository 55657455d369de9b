//! The forms, filled in with what stands now.

use serde_json::{Value, json};

use super::rule_hints::rules_of;
use super::{CheckItem, Field, Form, FormKind, MORE};
use crate::ballot::{BallotKind, OptionOrder};
use crate::core::{Proposal, Question, QuestionKind};
use crate::history::{Merge, Session};
use crate::insight::asked::blocked;
use crate::round::material::{Artifact, EvidencePlace};
use crate::tally::Rule;
use crate::workflow::{DEFAULT_PANEL, Quorum, Round, strategies};
use crate::yaml::Out;

pub(super) fn form(
    purpose: FormKind,
    title: impl Into<String>,
    fields: Vec<Field>,
    kept_as: impl Into<String>,
) -> Form {
    let (title, kept_as, filled) = (title.into(), kept_as.into(), String::new());
    let form = Form { purpose, title, fields, at: 0, error: None, intro: String::new(), filled, kept_as };
    Form { filled: form.kept(), ..form }
}

/// Everyone who may be asked, the usual panel picked.
pub fn panel(personas: &[(String, String)]) -> Vec<CheckItem> {
    let pick = |(name, about): &(String, String)| CheckItem {
        name: name.clone(),
        about: about.clone(),
        is_picked: DEFAULT_PANEL.contains(&name.as_str()),
    };
    personas.iter().map(pick).collect()
}

/// A question of one's own; `personas` are all there are, each with a line about it, `own` the strategies of
/// the project.
pub fn new_question(personas: &[(String, String)], own: &[String]) -> Form {
    let built_in = strategies().iter().map(|strategy| &strategy.name);
    let strategies: Vec<&str> = built_in.chain(own).map(String::as_str).collect();
    let usual = Asked { ballot: "choice".to_owned(), rule: "majority".to_owned(), ..Asked::default() };
    let mut fields = round_fields(&usual);
    fields.extend([
        Field::choice("strategy", "strategy", "", &strategies, "blind"),
        Field::picks("participants", "who", "Space adds or removes", panel(personas)),
        Field::line("models", "also", "Seats without persona: openai/gpt-5-mini, human", ""),
    ]);
    fields.extend(folded_fields(&usual));
    fields.extend([
        Field::line("goal", "goal", "Purpose (optional)", ""),
        Field::line("constraints", "constraints", "Separated by ; (optional)", ""),
    ]);
    form(FormKind::NewQuestion, "A question of your own", fields, "new-topic")
}

/// What a round is asked with, as text for the fields of its form: the same before the first round and later.
#[derive(Default)]
struct Asked {
    question: String,
    background: String,
    ballot: String,
    options: String,
    /// A rule's name; with terms, the map that a definition writes.
    rule: String,
    scale: String,
    deadline: String,
    quorum: String,
    close: String,
    ties: String,
    order: String,
    rest: String,
}

impl Asked {
    fn of(round: &Round) -> Self {
        let (ballot, json) = (&round.ballot, |value: Value| value.to_string());
        let rule = match (round.rule, serde_json::to_value(&round.terms)) {
            (Some(rule), Ok(Value::Object(terms))) if !terms.is_empty() => {
                let name = ("name".to_owned(), rule.name().into());
                json(Value::Object(std::iter::once(name).chain(terms).collect()))
            }
            (rule, _) => rule.map_or("none", Rule::name).to_owned(),
        };
        let word = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let needed = |quorum| match quorum {
            Quorum::MoreThanHalf => Value::Null,
            Quorum::Seats(seats) => seats.into(),
            Quorum::Percent(share) => format!("{share}%").into(),
        };
        let quorum = needed(round.quorum);
        let mut rest = json!({"quorum_ballots": round.quorum_ballots.map(needed), "act_at": round.act_at});
        rest.as_object_mut().into_iter().for_each(|map| map.retain(|_, value| !value.is_null()));
        let time =
            |ms: u64| if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") };
        let end = |end: &Option<_>| end.as_ref().map(ToString::to_string).unwrap_or_default();
        let scale = match (&ballot.min, &ballot.max) {
            (None, None) => ballot.cards.join(", "),
            (min, max) => format!("{} to {}", end(min), end(max)),
        };
        let order = OptionOrder::WORDS.iter().find(|(_, order)| *order == ballot.order);
        Self {
            question: round.question.clone(),
            background: round.exploration.clone().unwrap_or_default(),
            ballot: ballot.kind.name().to_owned(),
            options: ballot.options.join("\n"),
            rule,
            scale,
            deadline: round.deadline_ms.map(time).unwrap_or_default(),
            quorum: if quorum.is_null() { String::new() } else { word(quorum) },
            close: serde_json::to_value(round.close).map(word).unwrap_or_default(),
            ties: serde_json::to_value(round.ties).map(word).unwrap_or_default(),
            order: order.map_or("same", |(word, _)| word).to_owned(),
            rest: if rest == json!({}) { String::new() } else { Out::json_document(&rest, true) },
        }
    }
}

fn round_fields(asked: &Asked) -> Vec<Field> {
    let mut rules = rules_of(&asked.ballot);
    if !rules.contains(&asked.rule.as_str()) {
        rules.push(&asked.rule);
    }
    vec![
        Field::text("question", "question", "What everyone is asked", &asked.question),
        Field::text(
            "exploration",
            "background",
            "What they should know; type or paste it",
            &asked.background,
        ),
        Field::text(
            "options",
            "options",
            "One per line; a choice without any is an open question",
            &asked.options,
        ),
        Field::choice("ballot", "ballot", "how it is answered", &BallotKind::names(), &asked.ballot),
        Field::choice("rule", "rule", "", &rules, &asked.rule),
    ]
}

/// What few rounds need, below a field that unfolds it.
fn folded_fields(asked: &Asked) -> Vec<Field> {
    let orders: Vec<&str> = OptionOrder::WORDS.iter().map(|(word, _)| *word).collect();
    let mut ties = vec!["none", "ask", "{seeded: 1}"];
    if !asked.ties.is_empty() && !ties.contains(&asked.ties.as_str()) {
        ties.push(&asked.ties);
    }
    let about = "deadline, quorum, close, ties, order, scale";
    vec![
        Field::choice(MORE, "more …", about, &["folded", "shown"], "folded"),
        Field::line("deadline", "deadline", "90s, 5m; empty for none", &asked.deadline),
        Field::line(
            "quorum",
            "quorum",
            "Seats a decision needs: 3, 60%; empty for more than half",
            &asked.quorum,
        ),
        Field::choice(
            "close",
            "close",
            "when it closes",
            &["all", "quorum", "deadline", "manual"],
            &asked.close,
        ),
        Field::choice("ties", "ties", "no decision, you decide, or by lot", &ties, &asked.ties),
        Field::choice("order", "order", "in which seats see the options", &orders, &asked.order),
        Field::line("scale", "scale", "Scores: 0 to 5; cards of an estimate: 1, 2, 3, 5, 8", &asked.scale),
        Field::text("rest", "others", "YAML: quorum_ballots, act_at", &asked.rest),
    ]
}

/// Returns the entry of a roster that seats a persona without the tools it lists.
pub fn without_tools(persona: &str) -> String {
    format!("{{persona: {persona}, tools: none}}")
}

/// Who is asked in a session that has not begun: every persona, those of its seats picked, and further seats
/// by name. `seats` are names with their personas.
pub fn seats(personas: &[(String, String)], seats: &[(String, String)]) -> Form {
    let is_persona =
        |name: &str| personas.iter().any(|(persona, _)| persona == name || *persona == without_tools(name));
    let picks = personas
        .iter()
        .map(|(name, about)| CheckItem {
            name: name.clone(),
            about: about.clone(),
            is_picked: seats.iter().any(|(seat, _)| seat == name || *name == without_tools(seat)),
        })
        .collect();
    let also: Vec<&str> =
        seats.iter().map(|(seat, _)| seat.as_str()).filter(|seat| !is_persona(seat)).collect();
    let fields = vec![
        Field::picks("participants", "personas", "Space adds or removes", picks),
        Field::line(
            "also",
            "also",
            "More: human, openai/gpt-5-mini, {persona: coder, tools: none}",
            &also.join(", "),
        ),
    ];
    form(FormKind::Seats, "Who is asked", fields, "")
}

pub fn round(session: &Session, step: &str, round: &Round) -> Form {
    let seat = |name: &String| {
        let about = session.roster.get(name).map(|seat| seat.model.clone()).unwrap_or_default();
        CheckItem { name: name.clone(), about, is_picked: round.participants.holds(name) }
    };
    let asked = Asked::of(round);
    let mut fields = round_fields(&asked);
    let seats = session.roster.keys().map(seat).collect();
    fields.push(Field::picks("participants", "who", "Space adds or removes", seats));
    fields.extend(folded_fields(&asked));
    let kept_as = format!("{}-round-{step}", session.id);
    form(FormKind::Round(step.to_owned()), format!("Round `{step}`"), fields, kept_as)
}

pub fn artifact(session: &Session, known: Option<&Artifact>) -> Form {
    let detail = |key: &str| {
        let found = known.and_then(|known| known.details.iter().find(|(name, _)| *name == key));
        match found.map(|(_, value)| value) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    };
    let id = known.map_or_else(|| next_id(session), |known| known.id.clone());
    let place = known.and_then(|known| known.source.as_ref()).map(|source| &source.place);
    let file = place.filter(|place| matches!(place, EvidencePlace::File { .. })).map(EvidencePlace::name);
    let file = file.unwrap_or_default();
    let fields = vec![
        Field::line("id", "id", "Identifier", &id),
        Field::line("summary", "summary", "One line", known.map_or("", |known| known.summary.as_str())),
        Field::line(
            "file",
            "file",
            "Read from the project: src/a.rs or src/a.rs:10-80; Tab completes (optional)",
            &file,
        ),
        Field::line("status", "status", "open, done … (optional)", &detail("status")),
        Field::text("description", "description", "Full text (optional)", &detail("description")),
    ];
    let kept_as = format!("{}-artifact-{}", session.id, known.map_or("new", |known| known.id.as_str()));
    let purpose = FormKind::Artifact(known.map(written).unwrap_or_default());
    form(purpose, "Artifact (used from the next round)", fields, kept_as)
}

fn written(artifact: &Artifact) -> serde_json::Map<String, serde_json::Value> {
    let mut map = serde_json::Map::new();
    map.insert("id".to_owned(), artifact.id.clone().into());
    map.insert("summary".to_owned(), artifact.summary.clone().into());
    map.extend(artifact.details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    if artifact.relevant {
        map.insert("relevant".to_owned(), true.into());
    }
    map
}

/// `REQ-001`, or the next number after those that are there.
fn next_id(session: &Session) -> String {
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let numbers = artifacts.filter_map(|artifact| artifact.id.strip_prefix("REQ-")?.parse::<u32>().ok());
    format!("REQ-{:03}", numbers.max().unwrap_or(0) + 1)
}

pub fn note(session: &Session, round: &str, text: &str) -> Form {
    let fields = vec![Field::text("note", "note", "Your conclusion; later rounds see it", text)];
    let kept_as = format!("{}-note-{round}", session.id);
    form(FormKind::Note(round.to_owned()), format!("Note on round `{round}`"), fields, kept_as)
}

pub fn excuse(session: &Session, seat: &str) -> Form {
    let fields = vec![Field::line("reason", "reason", "Reason", "excused by the facilitator")];
    form(
        FormKind::Excuse(seat.to_owned()),
        format!("Excuse {seat}"),
        fields,
        format!("{}-excuse-{seat}", session.id),
    )
}

/// What a choice shows before anything is chosen.
pub const OPEN: &str = "choose…";

/// How ideas are merged: `set_aside` is written where a merge sets none aside, too.
const MERGE_HINT: &str =
    "YAML: move ids between `from` lists, or to set_aside: [{idea: seat#1, reason: \"…\"}]";

fn proposal(session: &Session, step: &str) -> Option<Proposal> {
    let definition = session.definition.as_ref()?;
    Proposal::of(session, definition, definition.step(step)?)
}

/// What the answer to a block is.
pub(super) const LEAVE_BLOCKED: &str = "leave it blocked";

pub fn answer(session: &Session, question: &Question) -> Form {
    let kept_as = format!("{}-answer-{}", session.id, question.step);
    if let Some(round) = blocked(session) {
        let text = round.opened.question.clone();
        let words = ["ask again with this text", LEAVE_BLOCKED];
        let fields = vec![
            Field::text("proposal", "proposal", "Change what would let it pass", &text),
            Field::choice("answer", "then", "← → to choose", &words, ""),
        ];
        return form(FormKind::Amendment(text), "The proposal, amend it here", fields, kept_as);
    }
    let comment = Field::text("comment", "comment", "Optional, recorded", "");
    let (purpose, first) = match &question.kind {
        QuestionKind::Approval => (
            FormKind::Approval,
            Field::choice("answer", "answer", "← → to choose", &[OPEN, "approve", "reject"], ""),
        ),
        QuestionKind::Proposal(proposal) => (
            FormKind::Proposal(proposal.clone()),
            Field::choice("answer", "answer", "← → to choose", &[OPEN, "accept", "refuse"], ""),
        ),
        QuestionKind::Merge(ideas) => (
            FormKind::Merge(ideas.clone()),
            Field::choice("answer", "answer", "← → to choose", &["merge", "reject"], ""),
        ),
        QuestionKind::Tie(options) | QuestionKind::Exhausted(options) => {
            let words: Vec<&str> = [OPEN].into_iter().chain(options.iter().map(String::as_str)).collect();
            (FormKind::Tie(options.clone()), Field::choice("answer", "answer", "← → to choose", &words, ""))
        }
        QuestionKind::KeyLost(_) => (
            FormKind::KeyLost,
            Field::choice("answer", "answer", "← → to choose", &["ask again", "pause"], ""),
        ),
    };
    let mut fields = if purpose == FormKind::KeyLost { vec![first] } else { vec![first, comment] };
    if let QuestionKind::Merge(ideas) = &question.kind {
        let proposed = proposal(session, &question.step).and_then(|proposal| proposal.merge());
        let merge =
            serde_json::to_value(proposed.unwrap_or_else(|| Merge::unmerged(ideas))).unwrap_or_default();
        fields.insert(0, Field::text("merge", "ideas", MERGE_HINT, &Out::json_document(&merge, false)));
    }
    if let QuestionKind::Proposal(proposal) = &question.kind {
        fields.insert(
            1,
            Field::text(
                "proposal",
                "proposal",
                "YAML; change what you like",
                &Out::json_document(proposal, false),
            ),
        );
    }
    form(purpose, question.message.clone(), fields, kept_as)
}
