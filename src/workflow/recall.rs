//! What a round's snapshot recalls of what was before: the key `context`.

use super::definition::{Definition, Round};
use super::load::map_reader::{Fields, as_text};
use crate::diagnostic::Diagnostic;
use crate::yaml::Value;

/// What a snapshot holds of the answers of the round closed last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecalledAnswers {
    /// All of them.
    #[default]
    Full,
    /// What each answer chose or stands for, without its reasons.
    Positions,
    /// What each answer says, without its ballot and confidence.
    Reasons,
    /// None; its count alone.
    None,
}

/// Which results of steps other than rounds a snapshot holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Results {
    /// All of them.
    #[default]
    All,
    None,
    /// Those of these steps, by id or by the key of their result.
    Named(Vec<String>),
}

/// The key as it is written; what is left out is the definition's, or the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallKeys {
    pub answers: Option<RecalledAnswers>,
    pub rounds: Option<usize>,
    pub results: Option<Results>,
}

/// What a snapshot recalls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// Of the answers of the round closed last.
    pub answers: RecalledAnswers,
    /// How many closed rounds; with none, nothing of any round.
    pub rounds: usize,
    /// Of other steps.
    pub results: Results,
}

/// How many closed rounds a snapshot recalls unless the definition says otherwise.
pub const RECENT_ROUNDS: usize = 5;

impl Definition {
    /// What the snapshot of a round recalls.
    pub fn recall(&self, round: &Round) -> Recall {
        let (own, all) = (&round.recall, &self.recall);
        Recall {
            answers: own.answers.or(all.answers).unwrap_or_default(),
            rounds: own.rounds.or(all.rounds).unwrap_or(RECENT_ROUNDS),
            results: own.results.as_ref().or(all.results.as_ref()).cloned().unwrap_or_default(),
        }
    }
}

impl Results {
    /// Whether the result of a step with that id and key is recalled.
    pub fn holds(&self, id: &str, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Named(names) => names.iter().any(|name| name == id || name == key),
        }
    }
}

/// Reads the key `context` of a definition or a round.
pub fn recall(fields: &mut Fields<'_>) -> RecallKeys {
    const ANSWERS: [(&str, RecalledAnswers); 4] = [
        ("full", RecalledAnswers::Full),
        ("positions", RecalledAnswers::Positions),
        ("reasons", RecalledAnswers::Reasons),
        ("none", RecalledAnswers::None),
    ];
    let Some(node) = fields.node("context") else { return RecallKeys::default() };
    let mut own = match Fields::from_node(node, "`context`", fields.file()) {
        Ok(own) => own,
        Err(problem) => {
            let hint = "write `context: {answers: full, rounds: 5, results: all}`, or a part of it";
            fields.problems.push(problem.hint(hint));
            return RecallKeys::default();
        }
    };
    let answers = own.word("answers", &ANSWERS);
    let rounds = own.whole_number("rounds", 0).map(|rounds| usize::try_from(rounds).unwrap_or(usize::MAX));
    let results = own.node("results").map(|node| match (&node.value, as_text(node).as_deref()) {
        (_, Some("all")) => Results::All,
        (_, Some("none")) => Results::None,
        (Value::List(_), _) => Results::Named(own.texts("results")),
        _ => {
            own.refuse(node, "`results` must be all, none or a list of steps", "write `results: [plan]`");
            Results::All
        }
    });
    fields.problems.extend(own.finish(&[]));
    RecallKeys { answers, rounds, results }
}

/// What `results` names must be steps that leave a result, and no rounds.
pub fn check(definition: &Definition, file: &str, problems: &mut Vec<Diagnostic>) {
    let rounds = definition.all_steps().filter_map(|step| Some((step.place, &*step.round()?.recall)));
    for (place, keys) in std::iter::once(((1, 1), &definition.recall)).chain(rounds) {
        let Some(Results::Named(names)) = &keys.results else { continue };
        for name in names {
            let (what, hint) =
                match definition.all_steps().find(|step| step.id == *name || step.key() == name) {
                    None => {
                        let known: Vec<&str> = definition.all_steps().map(|step| step.id.as_str()).collect();
                        ("no step", crate::diagnostic::did_you_mean(name, &known))
                    }
                    Some(step) if step.round().is_some() => {
                        ("a round", "`answers` and `rounds` say what is seen of rounds".to_owned())
                    }
                    Some(_) => continue,
                };
            let problem = Diagnostic::new(format!("`results` of `context` names {what}: `{name}`"));
            problems.push(problem.hint(hint).at(file, place.0, place.1));
        }
    }
}
