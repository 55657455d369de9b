//! Forms of a facilitator model: its prompt, answer schema and checks.
//!
//! The model sees the same as a seat of the next round: closed rounds, and names as seats see them. An answer
//! that contradicts the log is refused with the reason.
//!
//! The prompt is recorded and `verify` recreates it, so a new wording needs a new version of the texts.

use serde_json::{Map, Value, json};

use super::names::gather_texts;
use crate::ballot::BallotKind;
use crate::history::{CollectedIdea, Merge, Point, RoundOutcome, RoundRun, Session};
use crate::round::material::SnapshotContent;
use crate::round::snapshot::{Snapshot, sha256_hex};
use crate::workflow::{FacilitatorForm, OutputSchema, RECENT_ROUNDS, Recorded, Step, StepKind};
use crate::yaml::Out;

/// Limits in characters.
const SHORTEST_QUESTION: usize = 8;
const LONGEST_QUESTION: usize = 600;
const LONGEST_PROPOSAL: usize = 6000;
const LONGEST_TITLE: usize = 120;
const LEAST_OPTIONS: usize = 2;
const MOST_OPTIONS: usize = 12;

/// Facts of the session that an answer must agree with.
#[derive(Debug, Clone)]
pub struct FormFacts {
    form: FacilitatorForm,
    /// Topic, or the last wording of the proposal.
    topic: String,
    /// The last wording of a proposal that was amended.
    amended: Option<String>,
    /// Single winner of the round in question.
    winner: Option<String>,
    options: Vec<String>,
    /// Ideas of that round, under ids that hide their seats.
    ideas: Vec<CollectedIdea>,
    own_ids: Vec<String>,
    is_blocked: bool,
    conflicts: Vec<String>,
    questions: Vec<String>,
    items: Vec<String>,
    pseudonyms: Vec<String>,
    /// That round may be repeated.
    can_repeat: bool,
}

impl Session {
    /// Returns the facts for an answer to a step now; `None` if the step has no form.
    pub fn form_facts(&self, step: &Step) -> Option<FormFacts> {
        let agent = step.agent()?;
        let form = agent.form?;
        let about = agent.synthesis_of.as_deref();
        let round = about.and_then(|id| self.last_round_of(id)).filter(|round| round.closed.is_some());
        let tally = round.and_then(|round| round.tally.as_ref()).filter(|tally| tally.decided);
        let winner = tally.and_then(|tally| match tally.verdict.winners.as_slice() {
            [winner] => Some(winner.clone()),
            _ => None,
        });
        let repeated = about.and_then(|id| self.definition().step(id));
        let is_blocked = repeated.and_then(|step| self.round_outcome(step)) == Some(RoundOutcome::Blocked);
        let open_items = self.agenda.items.iter().filter(|item| item.is_open());
        let (ideas, own_ids) = round.map(|round| self.ideas_to_show(round)).unwrap_or_default();
        let proposal = round.filter(|round| round.opened.ballot.kind == BallotKind::Consent);
        let first = self.rounds.iter().find(|first| Some(&*first.opened.step) == about);
        let amended = proposal.zip(first).filter(|(now, first)| now.opened.question != first.opened.question);
        let ids = |points: Vec<&Point>| points.into_iter().map(|point| point.id.clone()).collect();
        Some(FormFacts {
            form,
            topic: round.map_or_else(|| self.topic(step), |round| round.opened.question.clone()),
            amended: amended.map(|(now, _)| now.opened.question.clone()),
            winner,
            options: round.map(|round| round.opened.ballot.options.clone()).unwrap_or_default(),
            ideas,
            own_ids,
            is_blocked,
            conflicts: ids(self.agenda.open_conflicts().collect()),
            questions: ids(self.agenda.open_questions().collect()),
            items: open_items.map(|item| item.id.clone()).collect(),
            pseudonyms: self.pseudonyms().iter().flat_map(|names| names.values().cloned()).collect(),
            can_repeat: repeated.is_some_and(|step| !self.is_exhausted(step)),
        })
    }

    fn topic(&self, step: &Step) -> String {
        let scope = self.scope_of(step).ok();
        let prompt = step.agent().and_then(|agent| agent.prompt.as_ref()).zip(scope);
        prompt.and_then(|(prompt, scope)| prompt.render(&scope).ok()).unwrap_or_default()
    }

    /// Returns a form's prompt: a seat's view with the topic as its question, and the ideas to merge.
    pub(super) fn facilitator_prompt(&self, step: &Step, facts: &FormFacts) -> String {
        let past = self.all_past_rounds(&step.id);
        let mut text = Snapshot::freeze(&SnapshotContent {
            recent_rounds: past[past.len().saturating_sub(RECENT_ROUNDS)..].to_vec(),
            context: self.last_answers(step),
            ..self.snapshot_of(&self.topic(step))
        })
        .text
        .to_string();
        if !facts.ideas.is_empty() {
            let idea =
                |idea: &CollectedIdea| json!({ "id": idea.id, "title": idea.title, "text": idea.text });
            let ideas: Value = facts.ideas.iter().map(idea).collect();
            Out::write_entries(&[("ideas".into(), Out::json(&ideas, false))], 2, &mut text);
        }
        if let Some(comment) = self.refusal_of(step) {
            let refused = json!(format!("A person refused your last proposal: {comment}"));
            Out::write_entries(&[("refusal".into(), Out::json(&refused, false))], 2, &mut text);
        }
        text
    }

    fn refusal_of(&self, step: &Step) -> Option<String> {
        let edits = |other: &&Step| matches!(&other.kind, StepKind::Approval(approval) if approval.edits.as_ref() == Some(&step.id));
        let given = &self.results.get(&self.definition().all_steps().find(edits)?.id)?.data;
        let comment = given["comment"].as_str().filter(|_| given["approved"] == false)?;
        Some(comment.to_owned())
    }

    /// Returns the last closed round's answers as seats see them; none for ideas, which are listed separately.
    fn last_answers(&self, step: &Step) -> Map<String, Value> {
        let last = self.rounds.iter().rev().find(|round| round.closed.is_some());
        let last = last.filter(|round| round.opened.ballot.kind != BallotKind::Ideas);
        let key = last.and_then(|round| self.definition().step(&round.opened.step)).map(Step::key);
        let context = self.context_for(&step.id);
        context.into_iter().filter(|(name, _)| Some(name.as_str()) == key).collect()
    }

    /// Returns a round's ideas as seats may see them, in an order drawn by its snapshot, and their real ids.
    fn ideas_to_show(&self, round: &RoundRun) -> (Vec<CollectedIdea>, Vec<String>) {
        if round.opened.ballot.kind != BallotKind::Ideas {
            return Default::default();
        }
        let mut ideas = round.ideas();
        let seed = &round.opened.snapshot_sha256;
        ideas.sort_by_cached_key(|idea| sha256_hex(format!("roundtable ideas 1\n{seed}\n{}", idea.id)));
        let shown = (1..).zip(ideas).map(|(number, idea)| {
            let own = idea.id.clone();
            (CollectedIdea { id: format!("idea-{number}"), ..self.redacted_idea(round, idea) }, own)
        });
        shown.unzip()
    }
}

impl FormFacts {
    pub fn instructions(&self) -> String {
        let mut said = String::from(
            "You lead this discussion. You do not vote. Use only the rounds below: invent no \
             participant, option, number or agreement.\n",
        );
        said.push_str(match self.form {
            FacilitatorForm::Open => {
                "Write the question of the first round. `exploration` is background that helps to answer \
                 it; omit it if there is none.\n"
            }
            FacilitatorForm::Synthesize => {
                "Write the note on the last closed round: `synthesis` says what is agreed and what is \
                 disputed. `winner` is the winner of its count, null if there is none. Omit empty lists; \
                 add `leave`, with the reason, only to skip all further rounds.\n"
            }
            FacilitatorForm::Conclude => {
                "Say how the discussion ends. `conclude` ends it, `repeat` repeats the last round, \
                 `ask_person` leaves it to a person. `winner` is the winner of the count, null if there \
                 is none; `recommendation` is the winner, or your choice if there is none.\n"
            }
        });
        if !self.ideas.is_empty() {
            said.push_str(
                "Merge the ideas into options: put each idea in `from` of exactly one option, or in \
                 `set_aside` with a reason.\n",
            );
        }
        if self.is_blocked && self.form == FacilitatorForm::Synthesize {
            said.push_str(
                "The proposal is blocked: `amended` is its next text, changed no more than needed to \
                 lift the blocks.\n",
            );
        }
        said + &OutputSchema::parse(&self.schema()).map(|schema| schema.in_words()).unwrap_or_default()
    }

    /// Returns the JSON Schema of the answer. A fact of the log allows only one value.
    pub fn schema(&self) -> Value {
        let winner = json!({ "enum": [self.winner] });
        match self.form {
            FacilitatorForm::Open => object(
                &["question"],
                json!({
                    "question": { "type": "string", "minLength": SHORTEST_QUESTION, "maxLength": LONGEST_QUESTION },
                    "exploration": { "type": "string", "maxLength": 6000 },
                }),
            ),
            FacilitatorForm::Synthesize => self.note_schema(),
            FacilitatorForm::Conclude => {
                let mut actions = vec!["conclude", "ask_person"];
                if self.can_repeat {
                    actions.push("repeat");
                }
                let options: Vec<Value> =
                    self.options.iter().map(|id| id.as_str().into()).chain([Value::Null]).collect();
                let recommendation = match &self.winner {
                    Some(_) => winner.clone(),
                    None if self.options.is_empty() => {
                        json!({ "type": ["string", "null"], "maxLength": 600 })
                    }
                    None => json!({ "enum": options }),
                };
                object(
                    &["action", "winner", "recommendation", "summary", "reason"],
                    json!({
                        "action": { "enum": actions },
                        "winner": winner,
                        "recommendation": recommendation,
                        "summary": text(2000),
                        "reason": text(600),
                    }),
                )
            }
        }
    }

    fn note_schema(&self) -> Value {
        let list = |most: usize, item: Value| json!({ "type": "array", "maxItems": most, "items": item });
        let titled = object(&["title"], json!({ "title": text(200), "description": text(2000) }));
        let one_of = |ids: &[String], key: &str| {
            let item = json!({ "id": { "enum": ids }, key: text(600) });
            list(ids.len(), object(&["id", key], item))
        };
        let mut keys = Map::new();
        let mut add = |key: &str, schema: Value| keys.insert(key.to_owned(), schema);
        add("synthesis", text(2000));
        add("winner", json!({ "enum": [self.winner] }));
        let mut required = vec!["synthesis", "winner"];
        add("leave", text(600));
        if !self.ideas.is_empty() {
            let ids: Vec<&str> = self.ideas.iter().map(|idea| idea.id.as_str()).collect();
            let from = json!({ "type": "array", "minItems": 1, "items": { "enum": ids } });
            let id = json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$" });
            let option =
                json!({ "id": id, "title": text(LONGEST_TITLE), "description": text(600), "from": from });
            let mut options = list(MOST_OPTIONS, object(&["id", "title", "from"], option));
            options["minItems"] = LEAST_OPTIONS.min(self.ideas.len()).into();
            add("options", options);
            let aside = json!({ "idea": { "enum": ids }, "reason": text(300) });
            add("set_aside", list(ids.len(), object(&["idea", "reason"], aside)));
            required.push("options");
        }
        if self.is_blocked {
            add("amended", text(LONGEST_PROPOSAL));
            required.push("amended");
        }
        let artifact = json!({ "title": text(200), "summary": text(200), "description": text(2000) });
        add("artifacts", list(5, object(&["title", "summary"], artifact)));
        add("conflicts", list(5, titled));
        add("questions", list(5, text(200)));
        for (key, ids, how) in [("resolved", &self.conflicts, "how"), ("answered", &self.questions, "answer")]
        {
            if !ids.is_empty() {
                add(key, one_of(ids, how));
            }
        }
        if !self.items.is_empty() {
            let status = json!({ "enum": ["done", "dropped"] });
            let item = json!({ "id": { "enum": self.items }, "status": status, "reason": text(600) });
            add("agenda", list(self.items.len(), object(&["id", "status", "reason"], item)));
        }
        object(&required, keys)
    }

    /// Checks that an answer has the right form and agrees with the log.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        let answer = &without_nulls(answer, &self.schema()["required"]);
        OutputSchema::parse(&self.schema())?.check(answer)?;
        let mut texts = Vec::new();
        gather_texts(answer, &mut texts);
        if let Some(unknown) = texts.iter().find_map(|text| self.unknown_seat(text)) {
            return Err(format!("there is no `{unknown}`"));
        }
        for list in ["resolved", "answered", "agenda"] {
            let ids: Vec<&Value> = items(answer, list).map(|item| &item["id"]).collect();
            if let Some(twice) = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id)) {
                return Err(format!("`{list}` names {} twice", twice.1));
            }
        }
        if self.ideas.is_empty() {
            return Ok(());
        }
        Self::shown_merge(answer)?.check(&self.ideas)
    }

    /// Returns a name that looks like a pseudonym but belongs to no seat.
    fn unknown_seat(&self, text: &str) -> Option<String> {
        let (word, _) = self.pseudonyms.first()?.rsplit_once('-')?;
        let lower = text.to_lowercase();
        lower.match_indices(&format!("{word}-")).find_map(|(at, prefix)| {
            let digits: String =
                lower[at + prefix.len()..].chars().take_while(char::is_ascii_digit).collect();
            let name = format!("{prefix}{digits}");
            (!digits.is_empty() && !self.pseudonyms.contains(&name)).then_some(name)
        })
    }

    fn shown_merge(answer: &Value) -> Result<Merge, String> {
        let merge = json!({ "options": answer["options"], "set_aside": items(answer, "set_aside").collect::<Vec<_>>() });
        serde_json::from_value(merge).map_err(|error| error.to_string())
    }

    pub fn merges(&self) -> bool {
        !self.ideas.is_empty()
    }

    /// Returns the merge of a valid answer, by the ideas' real ids; `None` without ideas.
    pub fn merge(&self, answer: &Value) -> Option<Merge> {
        let mut merge = Self::shown_merge(answer).ok().filter(|_| !self.ideas.is_empty())?;
        let own = |id: &mut String| {
            if let Some(at) = self.ideas.iter().position(|idea| idea.id == *id) {
                id.clone_from(&self.own_ids[at]);
            }
        };
        merge.options.iter_mut().flat_map(|option| &mut option.from).for_each(own);
        merge.set_aside.iter_mut().map(|aside| &mut aside.idea).for_each(own);
        Some(merge)
    }

    /// Returns an accepted answer as later steps see it. A note has all lists, and the options of the merge.
    pub fn accepted(&self, answer: &Value, merge: Option<&Merge>) -> Map<String, Value> {
        let mut data =
            without_nulls(answer, &self.schema()["required"]).as_object().cloned().unwrap_or_default();
        data.shift_remove("set_aside");
        if self.form == FacilitatorForm::Synthesize {
            for (list, _) in Recorded::WORDS {
                data.entry(list).or_insert_with(|| json!([]));
            }
            if let Some(last) = &self.amended {
                data.entry("amended").or_insert_with(|| last.as_str().into());
            }
        }
        if let Some(merge) = merge {
            data.insert("options".to_owned(), merge.options_json());
        }
        data
    }

    pub fn placeholder(&self) -> Value {
        self.answer_of("Placeholder: no model was asked.")
    }

    /// Returns an answer whose texts are `words`. Empty, it is a person's starting point.
    pub fn answer_of(&self, words: &str) -> Value {
        match self.form {
            FacilitatorForm::Open => {
                let is_short = self.topic.chars().count() < SHORTEST_QUESTION;
                let question = if is_short { format!("{words} {}", self.topic) } else { self.topic.clone() };
                json!({ "question": shortened(&question, LONGEST_QUESTION) })
            }
            FacilitatorForm::Synthesize => {
                let mut note = json!({ "synthesis": words, "winner": self.winner });
                if !self.ideas.is_empty() {
                    self.unmerged(&mut note);
                }
                if self.is_blocked {
                    note["amended"] =
                        shortened(format!("{words} {}", self.topic).trim(), LONGEST_PROPOSAL).into();
                }
                note
            }
            FacilitatorForm::Conclude => json!({
                "action": "conclude", "winner": self.winner, "recommendation": self.winner,
                "summary": words, "reason": words,
            }),
        }
    }

    /// Adds one option per idea, and sets aside ideas beyond the limit.
    fn unmerged(&self, note: &mut Value) {
        let (kept, aside) = self.ideas.split_at(self.ideas.len().min(MOST_OPTIONS));
        let mut merge = Merge::unmerged(kept);
        for option in &mut merge.options {
            (option.title, option.description) = (shortened(&option.title, LONGEST_TITLE), None);
        }
        note["options"] = json!(merge.options);
        let reason = format!("more than {MOST_OPTIONS} options");
        let aside = aside.iter().map(|idea| json!({ "idea": idea.id, "reason": reason }));
        note["set_aside"] = aside.collect();
    }
}

fn text(most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most })
}

fn object(required: &[&str], properties: impl Into<Value>) -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": required, "properties": properties.into(),
    })
}

/// Removes null keys, except required ones.
fn without_nulls(value: &Value, required: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| without_nulls(item, required)).collect(),
        Value::Object(map) => {
            let is_required =
                |key: &str| required.as_array().is_some_and(|names| names.contains(&key.into()));
            let kept = map.iter().filter(|(key, value)| !value.is_null() || is_required(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value, required))).collect())
        }
        _ => value.clone(),
    }
}

fn items<'a>(answer: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    answer[list].as_array().into_iter().flatten()
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
