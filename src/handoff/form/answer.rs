//! Answers in a form: checked against the log, as later steps see them, and placeholders.

use serde_json::{Map, Value, json};

use super::schema::{LONGEST_PROPOSAL, LONGEST_QUESTION, LONGEST_TITLE, SHORTEST_QUESTION};
use super::{FormFacts, LEAST_OPTIONS, MOST_OPTIONS};
use crate::history::{CollectedIdea, Merge, MergedOption, option_id};
use crate::workflow::{FacilitatorForm, Recorded};

const PLACEHOLDER: &str = "Placeholder: no model was asked.";

impl FormFacts {
    /// Checks an answer: its form, and that it agrees with the log.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        let answer = &self.without_nulls(answer);
        self.output_schema()?.check(answer)?;
        let mut texts = Vec::new();
        texts_of(answer, &mut texts);
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
        Self::shown_merge(answer)?.check(&self.shown_ideas())
    }

    /// A name in the manner of the pseudonyms that no seat has.
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

    fn shown_ideas(&self) -> Vec<CollectedIdea> {
        self.ideas.iter().map(|(idea, _)| idea.clone()).collect()
    }

    fn shown_merge(answer: &Value) -> Result<Merge, String> {
        let merge = json!({ "options": answer["options"], "set_aside": items(answer, "set_aside").collect::<Vec<_>>() });
        serde_json::from_value(merge).map_err(|error| error.to_string())
    }

    pub fn merges(&self) -> bool {
        !self.ideas.is_empty()
    }

    /// The merge that a valid answer proposes, by the ideas' own ids; `None` if there is nothing to merge.
    pub fn merge(&self, answer: &Value) -> Option<Merge> {
        let mut merge = Self::shown_merge(answer).ok().filter(|_| !self.ideas.is_empty())?;
        let own = |id: &mut String| {
            if let Some((_, own)) = self.ideas.iter().find(|(idea, _)| idea.id == *id) {
                own.clone_into(id);
            }
        };
        merge.options.iter_mut().flat_map(|option| &mut option.from).for_each(own);
        merge.set_aside.iter_mut().map(|aside| &mut aside.idea).for_each(own);
        Some(merge)
    }

    /// An accepted answer as later steps see it. Of a note every list is there, and its options are those
    /// of the merge.
    pub fn accepted(&self, answer: &Value, merge: Option<&Merge>) -> Map<String, Value> {
        let mut data = self.without_nulls(answer).as_object().cloned().unwrap_or_default();
        data.shift_remove("set_aside");
        if self.form == FacilitatorForm::Synthesize {
            for (list, _) in Recorded::WORDS {
                data.entry(list).or_insert_with(|| json!([]));
            }
        }
        if let Some(merge) = merge {
            data.insert("options".to_owned(), merge.options_json());
        }
        data
    }

    /// An answer that says nothing and fits but for its empty texts: what a person begins with where a
    /// model gave none.
    pub fn blank(&self) -> Value {
        self.answer("")
    }

    pub fn placeholder(&self) -> Value {
        self.answer(PLACEHOLDER)
    }

    fn answer(&self, words: &str) -> Value {
        match self.form {
            FacilitatorForm::Open => {
                let is_short = self.topic.chars().count() < SHORTEST_QUESTION;
                let question = if is_short { format!("{words} {}", self.topic) } else { self.topic.clone() };
                json!({ "question": shortened(&question, LONGEST_QUESTION) })
            }
            FacilitatorForm::Synthesize => {
                let mut note = json!({ "synthesis": words, "winner": self.winner });
                if !self.ideas.is_empty() {
                    self.options_by_title(&mut note);
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

    /// One option for each title that ideas have; ideas with further titles are set aside.
    fn options_by_title(&self, note: &mut Value) {
        let mut merge = Merge::default();
        let mut aside = Vec::new();
        for (idea, _) in &self.ideas {
            let title = option_id(&idea.title);
            if let Some(option) = merge.options.iter_mut().find(|option| option_id(&option.title) == title) {
                option.from.push(idea.id.clone());
            } else if merge.options.len() < MOST_OPTIONS {
                let (id, title) = (merge.free_id(&idea.title), shortened(&idea.title, LONGEST_TITLE));
                let from = vec![idea.id.clone()];
                merge.options.push(MergedOption { id, title, description: None, from });
            } else {
                aside.push(json!({ "idea": idea.id, "reason": format!("more than {MOST_OPTIONS} options") }));
            }
        }
        if merge.options.len() < LEAST_OPTIONS {
            merge = Merge::unmerged(&self.shown_ideas());
        }
        note["options"] = json!(merge.options);
        if !aside.is_empty() {
            note["set_aside"] = aside.into();
        }
    }
}

fn items<'a>(answer: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    answer[list].as_array().into_iter().flatten()
}

fn texts_of<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(map) => map.values().for_each(|item| texts_of(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
