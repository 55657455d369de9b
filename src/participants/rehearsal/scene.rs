//! The snapshot as the rehearsal sees it: options, sentences with their place, requirements.
//!
//! Reading is total: whatever is missing or of another type is left out. The number of sentences and
//! requirements is capped, so that the work grows with the text's size and no faster.

use serde_json::{Map, Value};

use super::mention::Mentions;
use super::text::{Unit, units};
use super::words::{Word, words};
use crate::round::ballot::BallotKind;

/// Sentences that are weighed at most; later ones are not read.
const MAX_STATEMENTS: usize = 2000;
/// Requirements that are kept at most.
const MAX_REQUIREMENTS: usize = 400;
/// Options that are told apart at most.
const MAX_OPTIONS: usize = 64;

/// A sentence of the snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// The sentence without the lead of a list and without its full stop.
    pub text: String,
    /// Where it stands: an artifact's id, `exploration`, …
    pub place: String,
    /// The options it is about, each with 1 or, where it is the worse side of a comparison, -0.5.
    pub about: Vec<(usize, f64)>,
    /// How far it speaks for (above 0) or against (below 0) its subject.
    pub polarity: f64,
    /// Its words.
    pub words: Vec<Word>,
    /// How many answers of earlier rounds quote it.
    pub echoes: usize,
}

/// Something that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Requirement {
    pub text: String,
    pub place: String,
    pub words: Vec<Word>,
}

/// What a snapshot holds.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub kind: Option<BallotKind>,
    pub options: Vec<String>,
    pub question: String,
    pub statements: Vec<Statement>,
    pub requirements: Vec<Requirement>,
    pub open: Vec<String>,
    /// Lowest and highest score or estimate.
    pub scale: Option<(f64, f64)>,
    /// The cards of an estimate, lowest first.
    pub cards: Vec<String>,
}

impl Scene {
    /// Reads a snapshot's text; text that is no such YAML gives an empty scene.
    pub fn read(snapshot: &str) -> Self {
        let value = crate::yaml::read(snapshot, "snapshot").map(|node| node.to_json()).unwrap_or_default();
        let context = value.get("participant_context").unwrap_or(&value);
        let mut scene = Self::default();
        let Value::Object(map) = context else { return scene };
        scene.read_form(map);
        let mentions = Mentions::new(&scene.options);
        scene.read_asked(map);
        scene.read_told(map, &mentions);
        scene.read_artifacts(map, &mentions);
        scene.read_earlier(map, &mentions);
        scene
    }

    fn read_form(&mut self, map: &Map<String, Value>) {
        self.question = text(map.get("question"));
        let Some(form) = map.get("ballot") else { return };
        let kind = form.get("kind").and_then(Value::as_str);
        self.kind = BallotKind::NAMES.iter().find(|(name, _)| Some(*name) == kind).map(|(_, kind)| *kind);
        let mut options: Vec<String> = list(form.get("options")).iter().map(|v| text(Some(v))).collect();
        options.retain(|option| !option.trim().is_empty());
        options.truncate(MAX_OPTIONS);
        self.options = options;
        self.cards = list(form.get("cards")).iter().map(|v| text(Some(v))).collect();
        let bounds = form.get("scale").unwrap_or(form);
        let bound = |key: &str| bounds.get(key).and_then(Value::as_f64).filter(|n| n.is_finite());
        self.scale = bound("min").zip(bound("max")).filter(|(min, max)| min <= max);
    }

    fn read_asked(&mut self, map: &Map<String, Value>) {
        self.require("the goal", &text(map.get("goal")));
        for constraint in list(map.get("constraints")) {
            self.require("a constraint", &text(Some(constraint)));
        }
        for key in ["open_conflicts", "open_questions"] {
            self.open
                .extend(list(map.get(key)).iter().map(|v| text(Some(v))).filter(|t| !t.is_empty()).take(20));
        }
    }

    fn read_told(&mut self, map: &Map<String, Value>, mentions: &Mentions) {
        for (key, place) in
            [("exploration", "exploration"), ("question", "question"), ("project_summary", "project summary")]
        {
            self.tell(place, &text(map.get(key)), mentions);
        }
    }

    fn read_artifacts(&mut self, map: &Map<String, Value>, mentions: &Mentions) {
        for artifact in list(map.get("artifacts_snapshot")) {
            let Value::Object(artifact) = artifact else { continue };
            let id = Some(text(artifact.get("id"))).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(|| "an artifact".to_owned());
            for (key, value) in artifact {
                match key.as_str() {
                    "acceptance" => {
                        for one in list(Some(value)) {
                            self.require(&id, &text(Some(one)));
                        }
                    }
                    "summary" => {
                        self.require(&id, &text(Some(value)));
                        self.tell(&id, &text(Some(value)), mentions);
                    }
                    "id" | "status" | "title" => {}
                    _ => self.tell(&id, &text(Some(value)), mentions),
                }
            }
        }
    }

    /// What closed rounds and earlier steps left: quotes of sentences that stand in this snapshot
    /// are counted, other text is read as what it is.
    fn read_earlier(&mut self, map: &Map<String, Value>, mentions: &Mentions) {
        for round in list(map.get("recent_rounds")) {
            let number = text(round.get("round"));
            self.tell(format!("round {number}").trim_end(), &text(round.get("synthesis")), mentions);
        }
        let mut found = Vec::new();
        collect(map.get("context").unwrap_or(&Value::Null), "", &mut found);
        for (key, said) in found {
            match key {
                "risks" => self.echo(said),
                _ if said.contains('\u{201c}') => {}
                "summary" | "synthesis" | "result" | "description" => {
                    self.tell("earlier result", said, mentions);
                }
                _ => {}
            }
        }
    }

    fn echo(&mut self, said: &str) {
        let Some((_, rest)) = said.split_once('\u{201c}') else { return };
        let quote = rest.split('\u{201d}').next().unwrap_or(rest).trim_end_matches('…');
        if !quote.is_empty()
            && let Some(known) = self.statements.iter_mut().find(|s| s.text.starts_with(quote))
        {
            known.echoes += 1;
        }
    }

    fn require(&mut self, place: &str, said: &str) {
        if self.requirements.len() < MAX_REQUIREMENTS && !said.trim().is_empty() {
            let said = said.trim().trim_end_matches('.').to_owned();
            self.requirements.push(Requirement { words: words(&said), text: said, place: place.to_owned() });
        }
    }

    fn tell(&mut self, place: &str, said: &str, mentions: &Mentions) {
        let room = MAX_STATEMENTS.saturating_sub(self.statements.len());
        for Unit { text, about, polarity, words } in units(said, mentions, room) {
            self.statements.push(Statement {
                text,
                place: place.to_owned(),
                about,
                polarity,
                words,
                echoes: 0,
            });
        }
    }
}

/// Strings below a value, each with the key it stands under.
fn collect<'a>(value: &'a Value, key: &'a str, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        _ if found.len() >= MAX_STATEMENTS => {}
        Value::String(said) => found.push((key, said)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, found)),
        Value::Object(map) => map.iter().for_each(|(key, item)| collect(item, key, found)),
        _ => {}
    }
}

/// A value as text: lists line by line, anything else that is not text as nothing.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(items)) => {
            let lines: Vec<String> =
                items.iter().filter_map(Value::as_str).map(|item| format!("- {item}")).collect();
            lines.join("\n")
        }
        Some(Value::Object(map)) => ["title", "question", "description", "summary"]
            .iter()
            .find_map(|key| map.get(*key)?.as_str())
            .unwrap_or("")
            .to_owned(),
        _ => String::new(),
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}
