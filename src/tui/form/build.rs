//! The forms, filled in with what stands now.

use serde_json::{Value, json};

use super::{CheckItem, Field, Form, FormKind, ModelTarget};
use crate::core::{Proposal, Question, QuestionKind};
use crate::history::{Merge, Session};
use crate::round::material::{Artifact, EvidencePlace};
use crate::tally::{CountableKind, Rule};
use crate::workflow::{DEFAULT_PANEL, Quorum, Round, Template, strategies};
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
    let rules: Vec<&str> = std::iter::once("none").chain(Rule::for_kind(CountableKind::Choice)).collect();
    let built_in = strategies().iter().map(|strategy| &strategy.name);
    let strategies: Vec<&str> = built_in.chain(own).map(String::as_str).collect();
    let fields = vec![
        Field::text("question", "question", "What everyone is asked", ""),
        Field::text("exploration", "background", "What they should know; type or paste it", ""),
        Field::text("options", "options", "One option per line; empty for an open question", ""),
        Field::choice("rule", "rule", "", &rules, "majority"),
        Field::choice("strategy", "strategy", "", &strategies, "blind"),
        Field::picks("participants", "who", "Space adds or removes", panel(personas)),
        Field::line("models", "also", "Seats without persona: openai/gpt-5-mini, human", ""),
        Field::line("goal", "goal", "Purpose (optional)", ""),
        Field::line("constraints", "constraints", "Separated by ; (optional)", ""),
    ];
    form(FormKind::NewQuestion, "A question of your own", fields, "new-topic")
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

pub fn model(target: ModelTarget) -> Form {
    let fields = vec![Field::line("model", "model", "provider/model, for example ollama/llama3.2", "")];
    form(FormKind::Model(target), "Another model", fields, "")
}

/// The round of a step, as it would open now.
pub fn round(session: &Session, step: &str, round: &Round) -> Form {
    let seat = |name: &String| {
        let about = session.roster.get(name).map(|seat| seat.model.clone()).unwrap_or_default();
        CheckItem { name: name.clone(), about, is_picked: round.participants.holds(name) }
    };
    let fields = vec![
        Field::text("question", "question", "Question for all participants", &round.question),
        Field::text(
            "exploration",
            "exploration",
            "Background for participants",
            round.exploration.as_deref().unwrap_or_default(),
        ),
        Field::text(
            "rules",
            "rules",
            "YAML: ballot, rule, ties, quorum, quorum_ballots, act_at, close, deadline",
            &rules(round),
        ),
        Field::picks(
            "participants",
            "participants",
            "Space selects",
            session.roster.keys().map(seat).collect(),
        ),
    ];
    form(
        FormKind::Round(step.to_owned()),
        format!("Round `{step}`"),
        fields,
        format!("{}-round-{step}", session.id),
    )
}

/// The keys of a round beside its texts, as a definition writes them.
fn rules(round: &Round) -> String {
    let options: Vec<String> = round.ballot.options.iter().map(|option| Template::literal(option)).collect();
    let (min, max, cards) = (&round.ballot.min, &round.ballot.max, &round.ballot.cards);
    let rule = round.rule.map(|rule| match serde_json::to_value(&round.terms) {
        Ok(Value::Object(terms)) if !terms.is_empty() => {
            let name = ("name".to_owned(), rule.name().into());
            Value::Object(std::iter::once(name).chain(terms).collect())
        }
        _ => rule.name().into(),
    });
    let needed = |quorum| match quorum {
        Quorum::MoreThanHalf => Value::Null,
        Quorum::Seats(seats) => seats.into(),
        Quorum::Percent(share) => format!("{share}%").into(),
    };
    let time = |ms: u64| if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") };
    let mut keys = json!({
        "ballot": {"kind": round.ballot.kind.name(), "options": options, "min": min, "max": max, "cards": cards},
        "rule": rule,
        "ties": round.ties,
        "quorum": needed(round.quorum),
        "quorum_ballots": round.quorum_ballots.map(needed),
        "act_at": round.act_at,
        "close": round.close,
        "deadline": round.deadline_ms.map(time),
    });
    let is_set = |_: &String, value: &mut Value| {
        !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
    };
    keys["ballot"].as_object_mut().into_iter().for_each(|map| map.retain(is_set));
    keys.as_object_mut().into_iter().for_each(|map| map.retain(is_set));
    Out::json_document(&keys, true)
}

/// An artifact: one that is there, or a new one.
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

/// An artifact as a definition writes it.
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

pub fn answer(session: &Session, question: &Question) -> Form {
    let kept_as = format!("{}-answer-{}", session.id, question.step);
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
