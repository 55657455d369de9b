//! What a form means once it is handed in. What is wrong with it is said in the form.

use serde_json::{Map, Value};

use super::build::{LEAVE_BLOCKED, OPEN};
use super::{FieldValue, Form, FormKind, picked};
use crate::engine::{FacilitatorAnswer, FacilitatorRequest};
use crate::history::{CollectedIdea, RoundRevised};
use crate::launch::scripted_answers::merged as merged_ideas;
use crate::round::material::{EVIDENCE_KEYS, EvidencePlace};
use crate::workflow::{Template, WITH_OPTIONS, is_model_text, split_participants, strategies};
use crate::yaml::{Out, read as read_yaml};

#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    Order(Box<FacilitatorRequest>),
    Definition(String),
    Reply(String, String),
    Seats(Vec<String>),
}

pub fn read(form: &Form) -> Result<Submitted, String> {
    let value = |id: &str| form.value(id).trim().to_owned();
    let order = match &form.purpose {
        FormKind::SeatAnswer(seat, kind) => {
            return Ok(Submitted::Reply(seat.clone(), super::ballot::reply(form, *kind)));
        }
        FormKind::NewQuestion => return definition(form).map(Submitted::Definition),
        FormKind::Round(step) => FacilitatorRequest::Revise(RoundRevised {
            step: step.clone(),
            form: round_text(form)?,
            participants: seats(form)?,
        }),
        FormKind::Artifact(known) => FacilitatorRequest::Record(artifact(form, known.clone())?),
        FormKind::Agenda(of) => {
            let (change, by) = (super::agenda::change(form, of), "facilitator".to_owned());
            FacilitatorRequest::ChangeAgenda { change, by }
        }
        FormKind::Note(round) => FacilitatorRequest::Note { round: round.clone(), text: value("note") },
        FormKind::Seats => return everyone(form).map(Submitted::Seats),
        FormKind::Excuse(seat) => {
            FacilitatorRequest::Excuse { participant: seat.clone(), reason: needed(form, "reason")? }
        }
        FormKind::Approval | FormKind::Proposal(_) | FormKind::Tie(_) if value("answer") == OPEN => {
            return Err("`answer`: choose one first (← →)".to_owned());
        }
        FormKind::Merge(ideas) if value("answer") == "merge" => merged(form, ideas, value("comment"))?,
        FormKind::Merge(_) => says(false, None, value("comment")),
        FormKind::Amendment(_) if value("answer") == LEAVE_BLOCKED => says(false, None, String::new()),
        FormKind::Amendment(before) => {
            let amended = Some(needed(form, "proposal")?).filter(|text| text.trim() != before.trim());
            says(true, None, amended.unwrap_or_default())
        }
        FormKind::Approval => says(value("answer") == "approve", None, value("comment")),
        FormKind::Proposal(_) if value("answer") == "refuse" => says(false, None, value("comment")),
        FormKind::Proposal(proposal) => accepts(proposal, &form.value("proposal"), value("comment"))?,
        FormKind::Tie(_) => says(true, Some(value("answer")), value("comment")),
        FormKind::KeyLost => says(value("answer") != "pause", None, String::new()),
    };
    Ok(Submitted::Order(Box::new(order)))
}

fn says(approved: bool, choice: Option<String>, comment: String) -> FacilitatorRequest {
    FacilitatorRequest::Answer(FacilitatorAnswer {
        choice,
        ..FacilitatorAnswer::of_person(approved, comment)
    })
}

/// A proposal that is accepted, with what the person changed in it.
fn accepts(proposal: &Value, text: &str, comment: String) -> Result<FacilitatorRequest, String> {
    let node = read_yaml(text, "the proposal").map_err(|problem| problem.to_string())?;
    let edited = Some(node.to_json()).filter(|edited| edited != proposal);
    Ok(FacilitatorRequest::Answer(FacilitatorAnswer {
        edited,
        ..FacilitatorAnswer::of_person(true, comment)
    }))
}

/// The merge as it is written, if it leaves no idea out.
fn merged(form: &Form, ideas: &[CollectedIdea], comment: String) -> Result<FacilitatorRequest, String> {
    let text = form.value("merge");
    let node = read_yaml(&text, "the merge").map_err(|problem| problem.to_string())?;
    let read = merged_ideas(&node, "the merge").map_err(|problem| problem.to_string())?;
    let merge = read.merge.unwrap_or_default();
    merge.check(ideas)?;
    let merge = Some(merge);
    Ok(FacilitatorRequest::Answer(FacilitatorAnswer { merge, ..FacilitatorAnswer::of_person(true, comment) }))
}

/// The picked seats; `None` for everyone.
fn seats(form: &Form) -> Result<Option<Vec<String>>, String> {
    let picks = form.fields.iter().find_map(|field| match &field.entry {
        FieldValue::Picks(picks, _) => Some(picks),
        _ => None,
    });
    let Some(picks) = picks else { return Ok(None) };
    let names = picked(picks);
    match names.len() {
        0 => Err(NOBODY.to_owned()),
        all if all == picks.len() => Ok(None),
        _ => Ok(Some(names)),
    }
}

fn round_text(form: &Form) -> Result<String, String> {
    let literal = |text: &str| Out::text(Template::literal(text.trim()));
    let exploration = form.value("exploration");
    let mut entries = vec![("question", literal(&needed(form, "question")?))];
    if !exploration.trim().is_empty() {
        entries.push(("exploration", literal(&exploration)));
    }
    let kind = form.value("ballot");
    if let Some(ballot) = ballot(form, &kind) {
        entries.push(("ballot", ballot));
    }
    let is_open = kind == "choice" && form.value("options").trim().is_empty();
    counting(form, !is_open, &mut entries);
    with_rest(form, entries)
}

/// The ballot as a map; none for a choice without options, which is an open question.
fn ballot(form: &Form, kind: &str) -> Option<Out<'static>> {
    let options = parts(&form.value("options"), '\n');
    if kind == "choice" && options.is_empty() {
        return None;
    }
    let mut map: Vec<_> = vec![("kind".into(), Out::word(kind.to_owned()))];
    if !options.is_empty() {
        let options = options.iter().map(|option| Template::literal(option)).collect();
        map.push(("options".into(), texts(options)));
    }
    let order = form.value("order");
    if order != "same" && !options.is_empty() {
        map.push(("order".into(), Out::word(order)));
    }
    let scale = form.value("scale");
    let (min, max) = scale.split_once(" to ").unwrap_or_default();
    for (key, end) in [("min", min), ("max", max)].into_iter().filter(|(_, end)| !end.trim().is_empty()) {
        map.push((key.into(), Out::Raw(end.trim().to_owned().into())));
    }
    if !scale.contains(" to ") && !scale.trim().is_empty() {
        let cards = parts(&scale, ',').into_iter().map(|card| Out::Raw(card.into())).collect();
        map.push(("cards".into(), Out::List(cards)));
    }
    Some(Out::Map(map))
}

/// How the ballots are counted, and when; what is as usual is left out.
fn counting<'a>(form: &Form, has_rule: bool, entries: &mut Vec<(&'a str, Out<'a>)>) {
    let usual = [("rule", "none"), ("ties", "none"), ("quorum", ""), ("close", "all"), ("deadline", "")];
    for (key, usual) in usual {
        let value = form.value(key).trim().to_owned();
        if value != usual && (has_rule || !matches!(key, "rule" | "ties")) {
            entries.push((key, Out::Raw(value.into())));
        }
    }
}

/// Entries as YAML, and below them the keys that have no field of their own.
fn with_rest(form: &Form, entries: Vec<(&str, Out<'_>)>) -> Result<String, String> {
    let rest = form.value("rest");
    read_yaml(&rest, "`others`").map_err(|problem| problem.to_string())?;
    Ok(yaml(entries) + &rest)
}

/// The seats that were picked, and those that were typed.
fn everyone(form: &Form) -> Result<Vec<String>, String> {
    let mut names = parts(&form.value("participants"), '\n');
    names.extend(split_participants(&form.value("also")));
    if names.is_empty() { Err(NOBODY.to_owned()) } else { Ok(names) }
}

/// The artifact with what the form says of it; what it does not ask for stays.
fn artifact(form: &Form, mut map: Map<String, Value>) -> Result<Map<String, Value>, String> {
    map.insert("id".to_owned(), needed(form, "id")?.into());
    let file = form.value("file").trim().to_owned();
    let summary =
        if file.is_empty() { needed(form, "summary")? } else { form.value("summary").trim().to_owned() };
    map.insert("summary".to_owned(), if summary.is_empty() { file.clone() } else { summary }.into());
    if let EvidencePlace::File { path, lines } = EvidencePlace::file(&file)
        && !path.is_empty()
    {
        map.retain(|key, _| !EVIDENCE_KEYS.contains(&key.as_str()));
        map.insert("file".to_owned(), path.into());
        map.extend(
            lines.map(|lines| ("lines".to_owned(), format!("{}-{}", lines.start(), lines.end()).into())),
        );
    }
    for key in ["status", "description"] {
        let value = form.value(key).trim().to_owned();
        if value.is_empty() {
            map.shift_remove(key);
        } else {
            map.insert(key.to_owned(), value.into());
            // What is written into it is to be seen.
            map.insert("relevant".to_owned(), true.into());
        }
    }
    Ok(map)
}

pub const NOBODY: &str = "`participants`: select at least one";

/// Returns the value of a field that must be filled in.
pub fn needed(form: &Form, id: &str) -> Result<String, String> {
    let value = form.value(id).trim().to_owned();
    if value.is_empty() { Err(format!("`{id}` is empty")) } else { Ok(value) }
}

/// Returns the parts of a text between separators, trimmed, without empty ones.
pub fn parts(text: &str, by: char) -> Vec<String> {
    text.split(by).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

pub fn texts(items: Vec<String>) -> Out<'static> {
    Out::List(items.into_iter().map(Out::text).collect())
}

/// Writes entries as YAML; texts quoted, so that what is typed is never taken for something else.
pub fn yaml(entries: Vec<(&str, Out<'_>)>) -> String {
    let entries: Vec<_> = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
    Out::document(&entries)
}

pub fn definition(form: &Form) -> Result<String, String> {
    let value = |id: &str| form.value(id).trim().to_owned();
    let question = needed(form, "question")?;
    let id: String =
        question.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let words: Vec<&str> = id.split('-').filter(|word| !word.is_empty() && word.is_ascii()).take(5).collect();
    let id = if words.is_empty() { "topic".to_owned() } else { words.join("-").chars().take(40).collect() };
    let mut entries = vec![("id", Out::text(id))];
    if !value("goal").is_empty() {
        entries.push(("goal", Out::text(value("goal"))));
    }
    let constraints = parts(&value("constraints"), ';');
    if !constraints.is_empty() {
        entries.push(("constraints", texts(constraints)));
    }
    let background = value("exploration");
    let mut names = parts(&form.value("participants"), '\n');
    let models = split_participants(&value("models"));
    if let Some(name) = models.iter().find(|name| !is_model_text(name) && !name.starts_with('{')) {
        return Err(format!("`models`: `{name}` is not a seat; write `provider/model` or `human`"));
    }
    names.extend(models);
    if names.is_empty() {
        return Err(NOBODY.to_owned());
    }
    let seat = |name: String| if name.starts_with('{') { Out::Raw(name.into()) } else { Out::word(name) };
    entries.push(("participants", Out::List(names.into_iter().map(seat).collect())));
    let strategy = value("strategy");
    let is_led = strategy != "blind";
    entries.push((if is_led { "topic" } else { "question" }, Out::text(Template::literal(&question))));
    if !background.is_empty() {
        entries.push(("exploration", Out::text(Template::literal(&background))));
    }
    let options = parts(&form.value("options"), '\n');
    let chosen = value("ballot");
    let kind = if is_led { led_kind(&strategy, &chosen, &options)? } else { Some(chosen) };
    let made = kind.as_ref().map(|kind| ballot(form, kind).unwrap_or_else(|| Out::word(kind.clone())));
    let open = kind.as_deref() == Some("choice") && options.is_empty();
    if is_led {
        entries.extend([("type", Out::word("discussion")), ("strategy", Out::word(strategy))]);
    }
    match made {
        Some(made) if is_led || !open => entries.push(("ballot", made)),
        None if !options.is_empty() => {
            let options = options.iter().map(|option| Template::literal(option)).collect();
            entries.push(("ballot", Out::Map(vec![("options".into(), texts(options))])));
        }
        _ => {}
    }
    // The rule was chosen for the ballot of the form; of a discussion's choice the options may come later.
    counting(form, kind == Some(value("ballot")) && (is_led || !open), &mut entries);
    with_rest(form, entries)
}

/// The ballot kind of a discussion: the strategy's first, of those with options where there are some. None of
/// a project's own strategy, which is read with the definition.
fn led_kind(strategy: &str, chosen: &str, options: &[String]) -> Result<Option<String>, String> {
    let Some(found) = strategies().iter().find(|known| known.name == strategy) else { return Ok(None) };
    let fits = |kind: &&str| options.is_empty() || WITH_OPTIONS.contains(kind) && !found.ranks_answers();
    let accepted = || found.accepts.iter().map(String::as_str);
    let chosen = accepted().find(|kind| *kind == chosen).filter(fits);
    let kind = chosen.or_else(|| accepted().find(fits));
    kind.map(|kind| Some(kind.to_owned()))
        .ok_or_else(|| format!("`options`: strategy `{strategy}` takes none"))
}

#[cfg(test)]
mod tests {
    use super::super::{build, picked};
    use super::*;
    use crate::workflow::{SeatTools, Source, Step, load};

    fn fill_in(form: &mut Form, values: &[(&str, &str)]) {
        for (id, value) in values {
            let field = form.fields.iter_mut().find(|field| field.id == *id).expect("a field");
            field.restore(value);
        }
    }

    #[test]
    fn a_topic_becomes_a_definition_that_loads() {
        let personas = ["qa-lead", "skeptic"].map(|name| (name.to_owned(), String::new()));
        let mut form = build::new_question(&personas, &[]);
        assert_eq!(read(&form).unwrap_err(), "`question` is empty");
        let question = "Which queue: \"ours\"?\n# no comment\n{{yes}} \\{{";
        fill_in(&mut form, &[("question", question), ("participants", "skeptic")]);
        let Ok(Submitted::Definition(open)) = read(&form) else { panic!("a definition") };
        assert!(!open.contains("rule") && !open.contains("ballot"), "{open}");
        let options = "in-process\nno, thanks \n0x1F";
        fill_in(&mut form, &[("options", options), ("constraints", "no new server; cheap")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("a definition") };
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads").definition;
        let round = loaded.steps[0].round().expect("a round");
        assert_eq!(
            crate::workflow::Template::parse(&round.question)
                .expect("a template")
                .render(&serde_json::Value::Null),
            Ok(question.to_owned())
        );
        assert_eq!(round.ballot.options, ["in-process", "no, thanks", "0x1F"]);
        assert_eq!(loaded.constraints, ["no new server", "cheap"]);
        assert_eq!(loaded.id, "which-queue-ours-no-comment");
        assert_eq!(loaded.participants.len(), 1);
        fill_in(&mut form, &[("models", "openai/gpt-5-mini, human, human"), ("participants", "")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("a definition") };
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads").definition;
        let names: Vec<&str> = loaded.participants.iter().map(|seat| seat.name.as_str()).collect();
        assert_eq!(names, ["gpt-5-mini", "human", "human-2"]);
        fill_in(&mut form, &[("models", "human, {persona: coder, tools: none}")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("a definition") };
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads").definition;
        let tools: Vec<SeatTools> = loaded.participants.iter().map(|seat| seat.tools).collect();
        assert_eq!(tools, [SeatTools::Unset, SeatTools::LeftOut]);
        fill_in(&mut form, &[("models", "gpt-5")]);
        assert!(read(&form).expect_err("no model").contains("write `provider/model` or `human`"));
    }

    /// A topic may be led through any strategy; its options are what the ballot of the strategy needs.
    #[test]
    fn a_topic_is_led_by_the_strategy_that_is_chosen() {
        let mut form = build::new_question(&[("skeptic".to_owned(), String::new())], &["ours".to_owned()]);
        fill_in(&mut form, &[("question", "Which {{queue}}?"), ("participants", "skeptic")]);
        fill_in(&mut form, &[("rule", "supermajority")]);
        // What a project's own strategy takes is known when the definition is read.
        fill_in(&mut form, &[("strategy", "ours"), ("options", "mine\ntheirs")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("ours") };
        assert!(
            text.contains("strategy: ours") && text.contains("\"mine\"") && !text.contains("kind:"),
            "{text}"
        );
        for strategy in strategies() {
            fill_in(&mut form, &[("strategy", &strategy.name), ("options", "")]);
            let Ok(Submitted::Definition(text)) = read(&form) else { panic!("{}", strategy.name) };
            let steps = load(Source { text: &text, file: "f", id: "x" }).expect(&text).definition.steps;
            assert_eq!(steps.len() > 1, strategy.name != "blind", "{text}");
            let is_choice = strategy.name != "blind" && strategy.accepts[0] == "choice";
            assert_eq!(text.contains("rule: supermajority"), is_choice, "{text}");
            fill_in(&mut form, &[("options", "ours\ntheirs")]);
            match read(&form) {
                Ok(Submitted::Definition(text)) => {
                    let loaded = load(Source { text: &text, file: "f", id: "x" }).expect(&text).definition;
                    let round = loaded.steps.iter().filter_map(Step::round).next_back().expect("a round");
                    assert_eq!(round.ballot.options, ["ours", "theirs"], "{text}");
                }
                Ok(other) => panic!("{other:?}"),
                Err(why) => {
                    assert!(
                        ["estimate", "draft-rank", "consent", "findings"].contains(&strategy.name.as_str()),
                        "{why}"
                    );
                    assert!(why.contains("takes none"), "{why}");
                }
            }
        }
    }

    /// A persona that lists tools sits without them, picked or typed.
    #[test]
    fn who_is_asked_may_sit_without_tools() {
        let personas =
            ["qa-lead", "{persona: coder, tools: none}"].map(|name| (name.to_owned(), String::new()));
        let seats = ["qa-lead", "coder", "human"].map(|name| (name.to_owned(), String::new()));
        let mut form = build::seats(&personas, &seats);
        let expected = ["qa-lead", "{persona: coder, tools: none}", "human"].map(str::to_owned);
        assert_eq!(read(&form), Ok(Submitted::Seats(expected.to_vec())));
        fill_in(&mut form, &[("also", "human, {persona: planner, tools: none}")]);
        let Ok(Submitted::Seats(names)) = read(&form) else { panic!("seats") };
        assert_eq!(names[3], "{persona: planner, tools: none}");
    }

    /// What a form says of a round is the round, whatever its ballot, rule and terms.
    #[test]
    fn a_round_that_is_not_edited_comes_back_as_it_was() {
        let rounds = [
            "",
            "exploration: \"a\\nb: #c\"\nquorum: 60%\nclose: quorum\ndeadline: 1500ms\n",
            "ballot: {kind: choice, options: [a, \"no, thanks\", \"1\"]}\nrule: majority\nties: ask\nquorum: 2\nquorum_ballots: 50%\n",
            "ballot: {kind: choice, options: [a, b]}\nrule: {name: supermajority, threshold: 3/4}\nties: {seeded: 7}\n",
            "ballot: {kind: choice, options: [a, b]}\nrule: {name: weighted-majority, threshold: 2/3}\nclose: manual\n",
            "ballot: consent\nrule: consent\n",
        ];
        for keys in rounds {
            let text = format!("participants: [qa-lead, skeptic]\nquestion: \"What: is #it?\"\n{keys}");
            let loaded = load(Source { text: &text, file: "d.yaml", id: "x" }).expect(keys).definition;
            let before = loaded.steps[0].round().expect("a round");
            let form = build::round(&crate::history::Session::default(), "x", before);
            let text = round_text(&form).expect(keys);
            let again = load(Source { text: &text, file: "again.yaml", id: "x" }).expect(&text).definition;
            let mut after = again.steps[0].round().expect("a round").clone();
            after.participants.clone_from(&before.participants);
            assert_eq!(&after, before, "{text}");
        }
    }

    #[test]
    fn empty_fields_are_refused() {
        let session = crate::history::Session::default();
        let mut form = build::artifact(&session, None);
        assert_eq!(form.value("id"), "REQ-001");
        assert!(read(&form).is_err());
        fill_in(&mut form, &[("summary", "No new server")]);
        assert!(
            matches!(read(&form), Ok(Submitted::Order(order)) if matches!(*order, FacilitatorRequest::Record(_)))
        );
        fill_in(&mut form, &[("summary", ""), ("file", "src/a.rs:10-80")]);
        let Ok(Submitted::Order(order)) = read(&form) else { panic!("an order") };
        let FacilitatorRequest::Record(artifact) = *order else { panic!("an artifact") };
        assert_eq!(artifact["file"], "src/a.rs");
        assert_eq!(artifact["lines"], "10-80");
        assert_eq!(artifact["summary"], "src/a.rs:10-80");
        assert!(picked(&[]).is_empty());
    }
}
