//! Forms for a facilitator's orders and for a person's answers.
//!
//! They are prefilled with the current values. Submitting one yields the order, or an error to show in the form.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::round::{NOBODY, definition, parts, round_text};
use super::{CheckItem, Field, FieldValue, Form, FormKind, OPEN, PATH};
use crate::ballot::{BallotForm, BallotKind, FormField, Input, ParsedReply, read_reply, typed_number};
use crate::core::{AgendaChange, Command, FACILITATOR, Proposal, Question, QuestionKind};
use crate::engine::FacilitatorRequest;
use crate::history::{
    ApprovalGiven, CollectedIdea, Merge, Point, RoundRevised, RoundRun, Session, WorkItemOffered, option_id,
};
use crate::insight::headline::blocked;
use crate::launch::scripted_answers::merged as merged_ideas;
use crate::round::material::EvidencePlace;
use crate::workflow::split_participants;
use crate::yaml::{Out, read as read_yaml};

const LEAVE_BLOCKED: &str = "leave it blocked";
const MERGE_HINT: &str = "YAML: move ids between lists, or to set_aside: [{idea: a#1, reason: \"…\"}]";

/// Returns the roster entry of a persona without the tools it lists.
pub fn without_tools(persona: &str) -> String {
    format!("{{persona: {persona}, tools: none}}")
}

/// Returns the form for the seats of a session that has not begun: all personas, plus further seats by name.
pub fn seats(personas: &[(String, String)], seats: &[String]) -> Form {
    let sits = |seat: &String, name: &String| seat == name || *name == without_tools(seat);
    let pick = |(name, about): &(String, String)| {
        CheckItem::new(name, about, seats.iter().any(|seat| sits(seat, name)))
    };
    let also = seats.iter().filter(|seat| !personas.iter().any(|(name, _)| sits(seat, name)));
    let also: Vec<&str> = also.map(String::as_str).collect();
    let hint = "More: human, openai/gpt-5-mini, {persona: coder, tools: none}";
    let personas = personas.iter().map(pick).collect();
    let fields = vec![
        Field::picks("participants", "Space adds or removes", personas).labeled("personas"),
        Field::line("also", hint, &also.join(", ")),
    ];
    Form::new(FormKind::Seats, "Who is asked", fields, "")
}

pub fn artifact(session: &Session) -> Form {
    let of_file = "Read from the project: src/a.rs or src/a.rs:10-80; Tab completes (optional)";
    let fields = vec![
        Field::line("id", "Identifier; a known one replaces it", &next_id(session)),
        Field::line("summary", "One line", ""),
        Field::line(PATH, of_file, ""),
        Field::line("status", "open, done … (optional)", ""),
        Field::text("description", "Full text (optional)", ""),
    ];
    let draft_name = format!("{}-artifact", session.id);
    Form::new(FormKind::Artifact, "Artifact (used from the next round)", fields, &draft_name)
}

/// Returns the next free id, starting with `REQ-001`.
fn next_id(session: &Session) -> String {
    let artifacts = session.definition().artifacts.iter();
    crate::history::next_id("REQ", artifacts.map(|artifact| artifact.id.as_str()))
}

pub fn note(session: &Session, round: &RoundRun) -> Form {
    let (round, text) = (&round.opened.round, round.synthesis.as_deref().unwrap_or_default());
    let fields = vec![Field::text("note", "Your conclusion; later rounds see it", text)];
    let draft_name = format!("{}-note-{round}", session.id);
    Form::new(FormKind::Note(round.clone()), format!("Note on round `{round}`"), fields, &draft_name)
}

/// Returns the form for an entry of the list `change`: the entry `id`, or a new one if `id` is empty.
pub fn agenda(session: &Session, change: &str, id: &str) -> Form {
    const DESCRIPTION: (&str, &str) = ("description", "Full text (optional)");
    let known = &session.agenda;
    let hints: &[(&'static str, &'static str)] = match change {
        "agenda" if id.is_empty() => &[("title", "One line")],
        "agenda" => &[
            ("title", "One line"),
            ("status", "open, done, dropped, or a word of your own"),
            ("reason", "Why it has this status (optional)"),
        ],
        "conflicts" => {
            &[("title", "One line"), DESCRIPTION, ("minimum_change", "What would have to change (optional)")]
        }
        "questions" => &[("title", "The question"), DESCRIPTION],
        "resolved" => &[("how", "How it is resolved")],
        _ => &[("answer", "The answer")],
    };
    let item = known.item(id);
    let value = |field: &str| match (item, field) {
        (Some(item), "title") => item.title.clone(),
        (Some(item), "status") => item.status.clone(),
        (Some(item), "reason") => item.reason.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let fields = hints.iter().map(|(field, hint)| Field::line(field, hint, &value(field))).collect();
    let point = known.conflicts.iter().chain(&known.questions).find(|point| point.id == id);
    let noun = match change {
        "agenda" => "agenda item",
        "conflicts" | "resolved" => "conflict",
        _ => "question",
    };
    let title = if id.is_empty() { format!("New {noun}") } else { format!("{change}: {id}") };
    let draft_name = format!("{}-agenda-{change}-{id}", session.id);
    let purpose = FormKind::Agenda(change.to_owned(), id.to_owned());
    Form { intro: point.map(about).unwrap_or_default(), ..Form::new(purpose, title, fields, &draft_name) }
}

fn about(point: &Point) -> String {
    let change = point.minimum_change.as_ref().map(|change| format!("Would pass with: {change}"));
    let parts = [Some(point.title.clone()), point.description.clone(), change];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Returns the change that the form describes; the core refuses empty required values.
fn changed(form: &Form, change: &str, id: &str) -> Result<AgendaChange, String> {
    const OPTIONAL: [&str; 4] = ["description", "minimum_change", "status", "reason"];
    let values = form.fields.iter().map(|field| (field.id.to_owned(), field.value().trim().to_owned()));
    let filled = values.filter(|(id, value)| !value.is_empty() || !OPTIONAL.contains(&id.as_str()));
    let mut map: Map<String, Value> = filled.map(|(id, value)| (id, value.into())).collect();
    if change == "agenda" && id.is_empty() {
        map.insert("id".to_owned(), option_id(&form.trimmed("title")).into());
    } else if !id.is_empty() {
        map.insert("id".to_owned(), id.into());
    }
    serde_json::from_value(json!({change: map})).map_err(|error| error.to_string())
}

pub fn answer(session: &Session, question: &Question) -> Form {
    let draft_name = format!("{}-answer-{}", session.id, question.step);
    let choice = |words: &[&str]| Field::choice("answer", "← → to choose", words, "");
    if let Some(round) = blocked(session) {
        let text = round.opened.question.clone();
        let fields = vec![
            Field::text("proposal", "Change what would let it pass", &text),
            choice(&["ask again with this text", LEAVE_BLOCKED]).labeled("then"),
        ];
        return Form::new(FormKind::Amendment(text), "The proposal, amend it here", fields, &draft_name);
    }
    let comment = Field::text("comment", "Optional, recorded", "");
    let (purpose, fields) = match &question.kind {
        QuestionKind::Approval => (FormKind::Approval, vec![choice(&[OPEN, "approve", "reject"]), comment]),
        QuestionKind::Proposal(proposal) => {
            let text = Out::json_document(proposal, false);
            let proposed = Field::text("proposal", "YAML; change what you like", &text);
            let fields = vec![choice(&[OPEN, "accept", "refuse"]), proposed, comment];
            (FormKind::Proposal(proposal.clone()), fields)
        }
        QuestionKind::Merge(ideas) => {
            let step = session.definition().step(&question.step);
            let proposed = step.and_then(|step| Proposal::for_step(session, step)?.merge());
            let merge = proposed.unwrap_or_else(|| Merge::unmerged(ideas));
            let merge = Out::json_document(&serde_json::to_value(merge).unwrap_or_default(), false);
            let ideas_field = Field::text("merge", MERGE_HINT, &merge).labeled("ideas");
            (FormKind::Merge(ideas.clone()), vec![ideas_field, choice(&["merge", "reject"]), comment])
        }
        QuestionKind::Tie(options) | QuestionKind::Exhausted(options) => {
            let words: Vec<&str> = [OPEN].into_iter().chain(options.iter().map(String::as_str)).collect();
            (FormKind::Tie, vec![choice(&words), comment])
        }
        QuestionKind::KeyLost(_) => (FormKind::KeyLost, vec![choice(&["ask again", "pause"])]),
    };
    Form::new(purpose, question.message.clone(), fields, &draft_name)
}

/// Returns the form of a seat's answer. Its draft is never stored, because the answer must stay private.
pub fn seat_answer(seat: &str, question: &str, ballot: &BallotForm, background: Option<&str>) -> Form {
    let spec = ballot.kind.spec();
    let mut fields: Vec<Field> = spec.fields(ballot).into_iter().map(field).collect();
    for remark in spec.remarks() {
        let hint = if *remark == "rationale" { "One reason per line" } else { "One per line (optional)" };
        fields.push(Field::text(remark, hint, ""));
    }
    if ballot.is_revision {
        let hint = "Which argument or fact changed your mind";
        fields.push(Field::line("changed_by", hint, "").labeled("changed by"));
    }
    fields.push(Field::line("confidence", "0 to 1 (optional)", ""));
    let options = ballot.options.join(" · ");
    let parts = [question, &options, background.unwrap_or_default()].into_iter();
    let intro = parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
    let purpose = FormKind::SeatAnswer(seat.to_owned(), Some(ballot.kind));
    Form { intro, ..Form::new(purpose, format!("Private answer for {seat}"), fields, "") }
}

/// Returns the form of a person's answer to a work item, introduced by its rules and its prompt.
pub fn work(session: &Session, item: &WorkItemOffered) -> Form {
    let rules = item.task.as_ref().and_then(|task| task.rules.as_deref()).unwrap_or_default();
    let purpose = FormKind::SeatAnswer(item.item.clone(), None);
    let fields = vec![Field::text("answer", "JSON where the form of an answer is given, else text", "")];
    let title = format!("{}: step `{}`", item.participant, item.step);
    let intro = format!("{rules}\n{}", session.agent_prompt(item).1);
    Form { intro, ..Form::new(purpose, title, fields, "") }
}

/// Checks an answer to the open round or to the work item `to`; fails with the reason it would not count.
pub fn check_reply(session: &Session, to: &str, text: &str) -> Result<(), String> {
    if let Some(item) = session.items.get(to) {
        return session.check_answer(&item.offered, text);
    }
    let Some(round) = session.open_round() else { return Ok(()) };
    match read_reply(&round.opened.ballot, text) {
        ParsedReply::Invalid(reason) | ParsedReply::BareBlock(_, reason) => {
            Err(reason.lines().next().unwrap_or_default().to_owned())
        }
        ParsedReply::Answered(answer)
            if text.contains("\"confidence\"") && !answer.content.contains_key("confidence") =>
        {
            Err("`confidence` is not a number from 0 to 1".to_owned())
        }
        ParsedReply::Answered(_) | ParsedReply::Refused(_) => Ok(()),
    }
}

fn field(FormField { key, hint, input }: FormField) -> Field {
    let field = match input {
        Input::Line(start) => Field::line(key, hint, &start),
        Input::Text(start) => Field::text(key, hint, &start),
        Input::OneOf(words) => {
            let words: Vec<String> = std::iter::once(OPEN.to_owned()).chain(words).collect();
            Field::choice(key, hint, &words, "")
        }
        Input::AnyOf(words) => {
            let pick = |name: &String| CheckItem::new(name, "", false);
            Field::picks(key, hint, words.iter().map(pick).collect())
        }
    };
    if key == "minimum_change" { field.labeled("minimum change") } else { field }
}

/// Returns the form as a reply in JSON.
fn reply(form: &Form, kind: BallotKind) -> String {
    let spec = kind.spec();
    let mut answer = Map::new();
    let picked = form.fields.iter().find(|field| field.id == kind.key()).map(Field::picked);
    let (picked, text) = (picked.unwrap_or_default(), form.trimmed(kind.key()));
    if !picked.is_empty() {
        answer.insert(kind.key().to_owned(), json!(picked));
    } else if kind != BallotKind::Position && matches!(&*text, "" | "abstain") {
        answer.insert("vote".to_owned(), "abstain".into());
    } else {
        answer.insert(kind.key().to_owned(), spec.typed(&text));
    }
    for key in ["minimum_change", "changed_by"] {
        let text = form.trimmed(key);
        answer.extend((!text.is_empty()).then(|| (key.to_owned(), text.into())));
    }
    for remark in spec.remarks() {
        let text = form.value(remark);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            answer.insert((*remark).to_owned(), json!(lines));
        }
    }
    let confidence = form.trimmed("confidence");
    if !confidence.is_empty() {
        answer.insert("confidence".to_owned(), typed_number(&confidence));
    }
    Value::Object(answer).to_string()
}

#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    Order(Box<FacilitatorRequest>),
    Definition(String),
    Reply(String, String),
    Seats(Vec<String>),
}

pub fn read(form: &Form) -> Result<Submitted, String> {
    let answer = form.trimmed("answer");
    let given = |approved| ApprovalGiven::by_person(approved, form.trimmed("comment"));
    let says = |approved| FacilitatorRequest::Answer(given(approved));
    if let Some(open) = form.fields.iter().find(|field| field.value() == OPEN) {
        return Err(format!("`{}`: choose one first (← →)", open.id));
    }
    let order = match &form.purpose {
        FormKind::SeatAnswer(seat, kind) => {
            let text = kind.map_or_else(|| form.needed("answer"), |kind| Ok(reply(form, kind)))?;
            return Ok(Submitted::Reply(seat.clone(), text));
        }
        FormKind::NewQuestion => return definition(form).map(Submitted::Definition),
        FormKind::Seats => {
            let mut names = parts(&form.value("participants"), '\n');
            names.extend(split_participants(&form.value("also")));
            return if names.is_empty() { Err(NOBODY.to_owned()) } else { Ok(Submitted::Seats(names)) };
        }
        FormKind::Round(step) => FacilitatorRequest::Order(Command::ReviseRound(RoundRevised {
            step: step.clone(),
            form: round_text(form)?,
            participants: picked_seats(form)?,
            models: IndexMap::new(),
        })),
        FormKind::Artifact => {
            let artifact = recorded(form)?;
            FacilitatorRequest::Order(Command::RecordArtifact { artifact, by: FACILITATOR.to_owned() })
        }
        FormKind::Agenda(change, id) => {
            FacilitatorRequest::Order(Command::ChangeAgenda(changed(form, change, id)?))
        }
        FormKind::Note(round) => {
            let (round, text) = (round.clone(), form.trimmed("note"));
            FacilitatorRequest::Order(Command::RecordSynthesis { round, text })
        }
        FormKind::Merge(ideas) if answer == "merge" => {
            FacilitatorRequest::Answer(ApprovalGiven { merge: Some(merged(form, ideas)?), ..given(true) })
        }
        FormKind::Proposal(proposal) if answer != "refuse" => {
            let text = form.value("proposal");
            let node = read_yaml(&text, "the proposal").map_err(|problem| problem.to_string())?;
            let edited = Some(node.to_json()).filter(|edited| edited != proposal);
            FacilitatorRequest::Answer(ApprovalGiven { edited, ..given(true) })
        }
        FormKind::Amendment(_) if answer == LEAVE_BLOCKED => says(false),
        FormKind::Amendment(before) => {
            let amended = Some(form.needed("proposal")?).filter(|text| text.trim() != before.trim());
            let amended = amended.unwrap_or_default();
            FacilitatorRequest::Answer(ApprovalGiven::by_person(true, amended))
        }
        FormKind::Merge(_) | FormKind::Proposal(_) => says(false),
        FormKind::Approval => says(answer == "approve"),
        FormKind::Tie => FacilitatorRequest::Answer(ApprovalGiven { choice: Some(answer), ..given(true) }),
        FormKind::KeyLost => says(answer != "pause"),
    };
    Ok(Submitted::Order(Box::new(order)))
}

/// Reads the typed merge; fails if it leaves out an idea.
fn merged(form: &Form, ideas: &[CollectedIdea]) -> Result<Box<Merge>, String> {
    let text = form.value("merge");
    let node = read_yaml(&text, "the merge").map_err(|problem| problem.to_string())?;
    let read = merged_ideas(&node, "the merge").map_err(|problem| problem.to_string())?;
    let merge = read.merge.unwrap_or_default();
    merge.check(ideas)?;
    Ok(merge)
}

/// Returns the picked seats, or `None` if all are picked; fails if none is.
fn picked_seats(form: &Form) -> Result<Option<Vec<String>>, String> {
    let Some(field) = form.fields.iter().find(|field| matches!(field.entry, FieldValue::Picks(..))) else {
        return Ok(None);
    };
    let (names, FieldValue::Picks(all, _)) = (field.picked(), &field.entry) else { return Ok(None) };
    match names.len() {
        0 => Err(NOBODY.to_owned()),
        count if count == all.len() => Ok(None),
        _ => Ok(Some(names)),
    }
}

fn recorded(form: &Form) -> Result<Map<String, Value>, String> {
    let (file, summary) = (form.trimmed("file"), form.trimmed("summary"));
    let summary = if summary.is_empty() && !file.is_empty() { file.clone() } else { form.needed("summary")? };
    let mut map = Map::new();
    map.insert("id".to_owned(), form.needed("id")?.into());
    map.insert("summary".to_owned(), summary.into());
    if let EvidencePlace::File { path, lines } = EvidencePlace::file(&file)
        && !path.is_empty()
    {
        map.insert("file".to_owned(), path.into());
        let lines = lines.map(|lines| format!("{}-{}", lines.start(), lines.end()));
        map.extend(lines.map(|lines| ("lines".to_owned(), lines.into())));
    }
    for key in ["status", "description"] {
        let value = form.trimmed(key);
        if !value.is_empty() {
            map.insert(key.to_owned(), value.into());
            // Snapshots show the entry's text.
            map.insert("relevant".to_owned(), true.into());
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::super::testing::fill_in;
    use super::*;
    use crate::ballot::{Ballot, Idea};

    #[test]
    fn a_persona_may_be_seated_without_its_tools() {
        let personas =
            ["qa-lead", "{persona: coder, tools: none}"].map(|name| (name.to_owned(), String::new()));
        let mut form = seats(&personas, &["qa-lead", "coder", "human"].map(str::to_owned));
        let expected = ["qa-lead", "{persona: coder, tools: none}", "human"].map(str::to_owned);
        assert_eq!(read(&form), Ok(Submitted::Seats(expected.to_vec())));
        fill_in(&mut form, &[("also", "human, {persona: planner, tools: none}")]);
        let Ok(Submitted::Seats(names)) = read(&form) else { panic!("seats") };
        assert_eq!(names[3], "{persona: planner, tools: none}");
    }

    #[test]
    fn empty_fields_are_refused() {
        let session = crate::history::Session::default();
        let mut form = artifact(&session);
        assert_eq!(form.value("id"), "REQ-001");
        assert!(read(&form).is_err());
        fill_in(&mut form, &[("summary", "No new server")]);
        assert!(
            matches!(read(&form), Ok(Submitted::Order(order)) if matches!(*order, FacilitatorRequest::Order(Command::RecordArtifact { .. })))
        );
        fill_in(&mut form, &[("summary", ""), ("file", "src/a.rs:10-80")]);
        let Ok(Submitted::Order(order)) = read(&form) else { panic!("an order") };
        let FacilitatorRequest::Order(Command::RecordArtifact { artifact, .. }) = *order else {
            panic!("an artifact")
        };
        assert_eq!(artifact["file"], "src/a.rs");
        assert_eq!(artifact["lines"], "10-80");
        assert_eq!(artifact["summary"], "src/a.rs:10-80");
    }

    fn answered(kind: BallotKind, fill: &[(&str, &str)]) -> ParsedReply {
        let options = ["red", "dark green"].map(str::to_owned).to_vec();
        let form = BallotForm::over(kind, options);
        let mut typed = seat_answer("ann", "", &form, None);
        for (id, value) in fill {
            let field = typed.fields.iter_mut().find(|field| field.id == *id).expect("a field");
            field.restore(value);
        }
        read_reply(&form, &reply(&typed, kind))
    }

    #[test]
    fn a_filled_in_form_is_read_like_any_reply() {
        let is = |reading: ParsedReply, wanted: &Ballot| match reading {
            ParsedReply::Answered(answer) => assert_eq!(&answer.ballot, wanted),
            other => panic!("{other:?}"),
        };
        is(
            answered(
                BallotKind::Choice,
                &[("vote", "dark green"), ("rationale", "calm\nrare"), ("confidence", "0.5")],
            ),
            &Ballot::Choice("dark green".to_owned()),
        );
        is(answered(BallotKind::Choice, &[("vote", "abstain")]), &Ballot::Abstain);
        is(
            answered(BallotKind::Position, &[("position", "Yes: \"both\".\n# no comment")]),
            &Ballot::Position,
        );
        is(answered(BallotKind::Consent, &[("consent", "abstain")]), &Ballot::Abstain);
        let wrong = answered(BallotKind::Choice, &[("vote", "red"), ("confidence", "very")]);
        assert!(matches!(&wrong, ParsedReply::Answered(answer) if answer.flags.len() == 1), "{wrong:?}");
        is(
            answered(BallotKind::Ranking, &[("ranking", "dark green > red")]),
            &Ballot::Ranking(vec![vec!["dark green".to_owned()], vec!["red".to_owned()]]),
        );
        is(answered(BallotKind::Approval, &[("approve", "red")]), &Ballot::Approval(vec!["red".to_owned()]));
        let scores = [("red".to_owned(), 4.into()), ("dark green".to_owned(), 0.into())];
        is(
            answered(BallotKind::Score, &[("scores", "dark green: 0\nred: 4")]),
            &Ballot::Scores(scores.into_iter().collect()),
        );
        is(answered(BallotKind::Estimate, &[("estimate", "5")]), &Ballot::Estimate(5.into()));
        for kind in [BallotKind::Ranking, BallotKind::Score, BallotKind::Estimate] {
            let key = kind.key();
            is(answered(kind, &[(key, "")]), &Ballot::Abstain);
        }
        is(answered(BallotKind::Approval, &[]), &Ballot::Abstain);
        let idea = Idea { title: "Queue".to_owned(), text: "Let writes wait: in order.".to_owned() };
        is(
            answered(BallotKind::Ideas, &[("ideas", "Queue: Let writes wait: in order.\n")]),
            &Ballot::Ideas(vec![idea]),
        );
        is(answered(BallotKind::Ideas, &[("ideas", "")]), &Ballot::Abstain);
    }
}
