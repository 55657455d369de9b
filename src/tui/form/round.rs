//! Forms of a question: for a new definition, and for later rounds.

use std::borrow::Cow;

use serde_json::Value;

use super::{CheckItem, Field, FieldValue, Form, FormKind, MORE};
use crate::ballot::{BallotKind, OptionOrder};
use crate::history::Session;
use crate::tally::{Rule, Tier};
use crate::workflow::{
    DEFAULT_PANEL, Quorum, Round, Template, WITH_OPTIONS, is_model_text, split_participants, strategies,
};
use crate::yaml::Out;

pub(super) const NOBODY: &str = "`participants`: select at least one";

/// Returns the form of a new question.
/// `personas` are all available ones with their description, `own` the project's strategies.
pub fn new_question(personas: &[(String, String)], own: &[String]) -> Form {
    let built_in = strategies().iter().map(|strategy| &strategy.name);
    let strategies: Vec<&String> = built_in.chain(own).collect();
    let pick = |(name, about): &(String, String)| {
        CheckItem::new(name, about, DEFAULT_PANEL.contains(&name.as_str()))
    };
    let who = vec![
        Field::choice("strategy", "", &strategies, "blind"),
        Field::picks("participants", "Space adds or removes", personas.iter().map(pick).collect())
            .labeled("who"),
        Field::line("models", "Seats without persona: openai/gpt-5-mini, human", "").labeled("also"),
    ];
    let mut fields = fields("choice", who);
    fields.push(Field::line("goal", "Purpose (optional)", ""));
    fields.push(Field::line("constraints", "Separated by ; (optional)", ""));
    Form::new(FormKind::NewQuestion, "A question of your own", fields, "new-topic")
}

pub fn round(session: &Session, step: &str, round: &Round) -> Form {
    let seat = |name: &String| {
        let about = session.roster.get(name).map_or("", |seat| &seat.model);
        CheckItem::new(name, about, round.participants.includes(name))
    };
    let seats = session.roster.keys().map(seat).collect();
    let who = Field::picks("participants", "Space adds or removes", seats).labeled("who");
    let mut fields = fields(round.ballot.kind.name(), vec![who]);
    for (id, value) in values(round) {
        let Some(field) = fields.iter_mut().find(|field| field.id == id) else { continue };
        // The definition may have a value that the form does not offer.
        if let FieldValue::Choice(words, _) = &mut field.entry
            && !words.contains(&value)
        {
            words.push(value.clone());
        }
        field.restore(&value);
    }
    let draft_name = format!("{}-round-{step}", session.id);
    Form::new(FormKind::Round(step.to_owned()), format!("Round `{step}`"), fields, &draft_name)
}

/// Returns the fields of a question with this ballot kind, then `who`; rarely needed fields are folded.
fn fields(kind: &str, who: Vec<Field>) -> Vec<Field> {
    let orders = OptionOrder::WORDS.map(|(word, _)| word);
    let mut fields = vec![
        Field::text("question", "What everyone is asked", ""),
        Field::text("exploration", "What they should know; type or paste it", "").labeled("background"),
        Field::text("options", "One per line; a choice without any is an open question", ""),
        Field::choice("ballot", "how it is answered", &BallotKind::names(), kind),
        rule_field(kind),
    ];
    fields.extend(who);
    let about = "deadline, quorum, close, ties, order, scale, act_at";
    fields.extend([
        Field::choice(MORE, about, &["folded", "shown"], "folded").labeled("more …"),
        Field::line("deadline", "90s, 5m; empty for none", ""),
        Field::line("quorum", "Seats a decision needs: 3, 60%; empty for more than half", ""),
        Field::choice("close", "when it closes", &["all", "quorum", "deadline", "manual"], ""),
        Field::choice("ties", "no decision, you decide, or by lot", &["none", "ask", "{seeded: 1}"], ""),
        Field::choice("order", "in which seats see the options", &orders, ""),
        Field::line("scale", "Scores: 0 to 5; cards of an estimate: 1, 2, 3, 5, 8", ""),
        Field::choice("act_at", "least strength", &["any", "weak", "strong", "unanimous"], "any"),
    ]);
    fields
}

fn rule_field(kind: &str) -> Field {
    Field::choice("rule", "", &rules_of(kind), usual_rule(kind))
}

/// Resets the rule to the default of the chosen ballot kind.
pub fn sync_rules(form: &mut Form) {
    let kind = form.value("ballot");
    if let Some(field) = form.fields.iter_mut().find(|field| field.id == "rule") {
        *field = rule_field(&kind);
    }
}

/// Returns the keys of a round as text for the fields of its form.
fn values(round: &Round) -> Vec<(&'static str, String)> {
    let ballot = &round.ballot;
    let rule = match (round.rule, serde_json::to_value(&round.terms)) {
        (Some(rule), Ok(Value::Object(terms))) if !terms.is_empty() => {
            let name = ("name".to_owned(), rule.name().into());
            Value::Object(std::iter::once(name).chain(terms).collect()).to_string()
        }
        (rule, _) => rule.map_or("none", Rule::name).to_owned(),
    };
    let word = |value: Value| match value {
        Value::Null => String::new(),
        Value::String(word) => word,
        value => value.to_string(),
    };
    let needed = |quorum| match quorum {
        Quorum::MoreThanHalf => Value::Null,
        Quorum::Seats(seats) => seats.into(),
        Quorum::Percent(share) => format!("{share}%").into(),
    };
    let time = |ms: u64| if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") };
    let end = |end: &Option<_>| end.as_ref().map(ToString::to_string).unwrap_or_default();
    let scale = match (&ballot.min, &ballot.max) {
        (None, None) => ballot.cards.join(", "),
        (min, max) => format!("{} to {}", end(min), end(max)),
    };
    let order = OptionOrder::WORDS.iter().find(|(_, order)| *order == ballot.order);
    vec![
        ("question", round.question.clone()),
        ("exploration", round.exploration.clone().unwrap_or_default()),
        ("options", ballot.options.join("\n")),
        ("rule", rule),
        ("deadline", round.deadline_ms.map(time).unwrap_or_default()),
        ("quorum", word(needed(round.quorum))),
        ("close", serde_json::to_value(round.close).map(word).unwrap_or_default()),
        ("ties", serde_json::to_value(round.ties).map(word).unwrap_or_default()),
        ("order", order.map_or("same", |(word, _)| word).to_owned()),
        ("scale", scale),
        ("act_at", round.act_at.map_or("any", Tier::name).to_owned()),
    ]
}

/// Returns the round in the format of a definition.
pub(super) fn round_text(form: &Form) -> Result<String, String> {
    let mut entries = vec![("question", literal(&form.needed("question")?))];
    background(form, &mut entries);
    let ballot = ballot(form, &form.value("ballot"));
    let is_open = ballot.is_none();
    entries.extend(ballot.map(|ballot| ("ballot", ballot)));
    counting(form, !is_open, &mut entries);
    Ok(document(entries))
}

/// Quotes typed text, so that it is not read as a template.
fn literal(text: &str) -> Out<'static> {
    Out::text(Template::literal(text.trim()))
}

fn background<'a>(form: &Form, entries: &mut Vec<(&'a str, Out<'a>)>) {
    let exploration = form.trimmed("exploration");
    if !exploration.is_empty() {
        entries.push(("exploration", literal(&exploration)));
    }
}

fn options(form: &Form) -> Option<Out<'static>> {
    let options = parts(&form.value("options"), '\n');
    (!options.is_empty()).then(|| Out::List(options.iter().map(|option| literal(option)).collect()))
}

/// Returns the ballot as a map, or `None` for a choice without options, which is an open question.
fn ballot(form: &Form, kind: &str) -> Option<Out<'static>> {
    let options = options(form);
    if kind == "choice" && options.is_none() {
        return None;
    }
    let order = Some(form.value("order")).filter(|order| order != "same" && options.is_some());
    let mut map: Vec<_> = vec![("kind".into(), Out::word(kind.to_owned()))];
    map.extend(options.map(|options| ("options".into(), options)));
    map.extend(order.map(|order| ("order".into(), Out::word(order))));
    let scale = form.value("scale");
    if let Some((min, max)) = scale.split_once(" to ") {
        for (key, end) in
            [("min", min.trim()), ("max", max.trim())].into_iter().filter(|(_, end)| !end.is_empty())
        {
            map.push((key.into(), Out::Raw(end.to_owned().into())));
        }
    } else if !scale.trim().is_empty() {
        let cards = parts(&scale, ',').into_iter().map(|card| Out::Raw(card.into())).collect();
        map.push(("cards".into(), Out::List(cards)));
    }
    Some(Out::Map(map))
}

/// Adds the keys of counting and closing that differ from the defaults.
fn counting<'a>(form: &Form, has_rule: bool, entries: &mut Vec<(&'a str, Out<'a>)>) {
    let usual = [
        ("rule", "none"),
        ("act_at", "any"),
        ("ties", "none"),
        ("quorum", ""),
        ("close", "all"),
        ("deadline", ""),
    ];
    for (key, usual) in usual {
        let value = form.trimmed(key);
        if value != usual && (has_rule || !matches!(key, "rule" | "act_at" | "ties")) {
            entries.push((key, Out::Raw(value.into())));
        }
    }
}

/// Returns the entries as YAML; texts are quoted, so that they stay texts.
fn document(entries: Vec<(&str, Out<'_>)>) -> String {
    let entries: Vec<_> = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
    Out::document(&entries)
}

/// Returns the parts of a text between separators, trimmed, without empty ones.
pub(super) fn parts(text: &str, by: char) -> Vec<String> {
    text.split(by).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

pub(super) fn definition(form: &Form) -> Result<String, String> {
    let question = form.needed("question")?;
    let mut entries = vec![("id", Out::text(id_of(&question)))];
    let (goal, constraints) = (form.trimmed("goal"), parts(&form.value("constraints"), ';'));
    if !goal.is_empty() {
        entries.push(("goal", Out::text(goal)));
    }
    if !constraints.is_empty() {
        entries.push(("constraints", Out::List(constraints.into_iter().map(Out::text).collect())));
    }
    entries.push(("participants", Out::List(roster(form)?)));
    let strategy = form.trimmed("strategy");
    let is_led = strategy != "blind";
    entries.push((if is_led { "topic" } else { "question" }, literal(&question)));
    background(form, &mut entries);
    let (options, chosen) = (options(form), form.trimmed("ballot"));
    let kind = if is_led { led_kind(&strategy, &chosen, options.is_some())? } else { Some(chosen.clone()) };
    let is_open = kind.as_deref() == Some("choice") && options.is_none();
    if is_led {
        entries.extend([("type", Out::word("discussion")), ("strategy", Out::word(strategy))]);
    }
    match (&kind, options) {
        (Some(kind), _) if is_led || !is_open => {
            entries.push(("ballot", ballot(form, kind).unwrap_or_else(|| Out::word(kind.clone()))));
        }
        (None, Some(options)) => entries.push(("ballot", Out::Map(vec![("options".into(), options)]))),
        _ => {}
    }
    // The rule fits only the ballot kind of the form; a discussion's options may follow in a later round.
    counting(form, kind == Some(chosen) && (is_led || !is_open), &mut entries);
    Ok(document(entries))
}

fn id_of(question: &str) -> String {
    let lower = question.to_lowercase();
    let words =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && word.is_ascii());
    let id: String = words.take(5).collect::<Vec<_>>().join("-").chars().take(40).collect();
    if id.is_empty() { "topic".to_owned() } else { id }
}

/// Returns the roster: the picked personas, then the further seats.
fn roster(form: &Form) -> Result<Vec<Out<'static>>, String> {
    let mut names = parts(&form.value("participants"), '\n');
    let models = split_participants(&form.trimmed("models"));
    if let Some(name) = models.iter().find(|name| !is_model_text(name) && !name.starts_with('{')) {
        return Err(format!("`models`: `{name}` is not a seat; write `provider/model` or `human`"));
    }
    names.extend(models);
    if names.is_empty() {
        return Err(NOBODY.to_owned());
    }
    let seat = |name: String| if name.starts_with('{') { Out::Raw(name.into()) } else { Out::word(name) };
    Ok(names.into_iter().map(seat).collect())
}

/// Returns the ballot kind of a discussion: the chosen one if the strategy accepts it, else its first that fits.
/// Returns `None` for the project's own strategies, which are read with the definition.
fn led_kind(strategy: &str, chosen: &str, has_options: bool) -> Result<Option<String>, String> {
    let Some(found) = strategies().iter().find(|known| known.name == strategy) else { return Ok(None) };
    let fits = |kind: &&str| !has_options || WITH_OPTIONS.contains(kind) && !found.ranks_answers();
    let accepted = || found.accepts.iter().map(String::as_str);
    let kind = accepted().filter(fits).find(|kind| *kind == chosen).or_else(|| accepted().find(fits));
    match kind {
        Some(kind) => Ok(Some(kind.to_owned())),
        None => Err(format!("`options`: strategy `{strategy}` takes none")),
    }
}

pub fn rule_hint(name: &str) -> &'static str {
    let Some(rule) = Rule::from_name(name) else { return "ballots are counted, nothing is decided" };
    match rule {
        Rule::Plurality => "the option with the most votes",
        Rule::Majority => "more than half of those who name an option",
        Rule::Supermajority => "at least two thirds, or another threshold",
        Rule::Unanimous => "everyone names the same option",
        Rule::WeightedMajority => "more than half, by weight or confidence",
        Rule::Consent => "passes unless somebody blocks",
        Rule::Approval => "the option most approve of",
        Rule::Score => "the highest mean score",
        Rule::Median => "the middle estimate",
        Rule::Borda => "points for each place in a ranking",
        Rule::Irv => "the weakest goes out until one has more than half",
        Rule::Schulze => "the strongest chain of pairs",
    }
}

pub fn rules_of(kind: &str) -> Vec<&'static str> {
    let countable = BallotKind::from_name(kind).and_then(|kind| kind.info().countable);
    std::iter::once("none").chain(countable.into_iter().flat_map(Rule::for_kind)).collect()
}

pub fn usual_rule(kind: &str) -> &'static str {
    match kind {
        "choice" => "majority",
        "ranking" => "schulze",
        "estimate" => "median",
        kind => rules_of(kind).into_iter().find(|rule| *rule == kind).unwrap_or("none"),
    }
}

pub fn strategy_hint(name: &str) -> Cow<'static, str> {
    match strategies().iter().find(|strategy| strategy.name == name) {
        Some(strategy) => format!("for {}", strategy.good_for).into(),
        None => "from .s2s/strategies".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::fill_in;
    use super::super::{Submitted, read};
    use super::*;
    use crate::workflow::{SeatTools, Source, Step, load};

    #[test]
    fn a_topic_becomes_a_definition_that_loads() {
        let personas = ["qa-lead", "skeptic"].map(|name| (name.to_owned(), String::new()));
        let mut form = new_question(&personas, &[]);
        assert_eq!(read(&form).unwrap_err(), "`question` is empty");
        let question = "Which queue: \"ours\"?\n# no comment\n{{yes}} \\{{";
        fill_in(&mut form, &[("question", question), ("participants", "skeptic")]);
        let Ok(Submitted::Definition(open)) = read(&form) else { panic!("a definition") };
        assert!(!open.contains("rule") && !open.contains("ballot"), "{open}");
        let options = "in-process\nno, thanks \n0x1F";
        fill_in(&mut form, &[("options", options), ("constraints", "no new server; cheap")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("a definition") };
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads");
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
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads");
        let names: Vec<&str> = loaded.participants.iter().map(|seat| seat.name.as_str()).collect();
        assert_eq!(names, ["gpt-5-mini", "human", "human-2"]);
        fill_in(&mut form, &[("models", "human, {persona: coder, tools: none}")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("a definition") };
        let loaded = load(Source { text: &text, file: "topic.yaml", id: "x" }).expect("loads");
        let tools: Vec<Option<SeatTools>> = loaded.participants.iter().map(|seat| seat.tools).collect();
        assert_eq!(tools, [None, Some(SeatTools::LeftOut)]);
        fill_in(&mut form, &[("models", "gpt-5")]);
        assert!(read(&form).expect_err("no model").contains("write `provider/model` or `human`"));
    }

    /// The options of the form become the ballot that the strategy needs.
    #[test]
    fn a_topic_is_led_by_the_strategy_that_is_chosen() {
        let mut form = new_question(&[("skeptic".to_owned(), String::new())], &["ours".to_owned()]);
        fill_in(&mut form, &[("question", "Which {{queue}}?"), ("participants", "skeptic")]);
        fill_in(&mut form, &[("rule", "supermajority")]);
        // Ballots of the project's own strategy are known only once the definition is read.
        fill_in(&mut form, &[("strategy", "ours"), ("options", "mine\ntheirs")]);
        let Ok(Submitted::Definition(text)) = read(&form) else { panic!("ours") };
        assert!(
            text.contains("strategy: ours") && text.contains("\"mine\"") && !text.contains("kind:"),
            "{text}"
        );
        for strategy in strategies() {
            fill_in(&mut form, &[("strategy", &strategy.name), ("options", "")]);
            let Ok(Submitted::Definition(text)) = read(&form) else { panic!("{}", strategy.name) };
            let steps = load(Source { text: &text, file: "f", id: "x" }).expect(&text).steps;
            assert_eq!(steps.len() > 1, strategy.name != "blind", "{text}");
            let is_choice = strategy.name != "blind" && strategy.accepts[0] == "choice";
            assert_eq!(text.contains("rule: supermajority"), is_choice, "{text}");
            fill_in(&mut form, &[("options", "ours\ntheirs")]);
            match read(&form) {
                Ok(Submitted::Definition(text)) => {
                    let loaded = load(Source { text: &text, file: "f", id: "x" }).expect(&text);
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

    #[test]
    fn an_unedited_round_does_not_change() {
        let rounds = [
            "",
            "exploration: \"a\\nb: #c\"\nquorum: 60%\nclose: quorum\ndeadline: 1500ms\n",
            "ballot: {kind: choice, options: [a, \"no, thanks\", \"1\"]}\nrule: majority\nties: ask\nquorum: 2\nact_at: strong\n",
            "ballot: {kind: choice, options: [a, b]}\nrule: {name: supermajority, threshold: 3/4}\nties: {seeded: 7}\n",
            "ballot: {kind: choice, options: [a, b]}\nrule: {name: weighted-majority, threshold: 2/3}\nclose: manual\n",
            "ballot: consent\nrule: consent\n",
        ];
        for keys in rounds {
            let text = format!("participants: [qa-lead, skeptic]\nquestion: \"What: is #it?\"\n{keys}");
            let loaded = load(Source { text: &text, file: "d.yaml", id: "x" }).expect(keys);
            let before = loaded.steps[0].round().expect("a round");
            let form = round(&crate::history::Session::default(), "x", before);
            let text = round_text(&form).expect(keys);
            let again = load(Source { text: &text, file: "again.yaml", id: "x" }).expect(&text);
            let mut after = again.steps[0].round().expect("a round").clone();
            after.participants.clone_from(&before.participants);
            assert_eq!(&after, before, "{text}");
        }
    }

    #[test]
    fn every_rule_has_a_line_of_its_own() {
        let mut lines: Vec<&str> = Rule::names().into_iter().chain(["none"]).map(rule_hint).collect();
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), count);
        assert!(lines.iter().all(|line| line.len() <= 52), "{lines:?}");
    }
}
