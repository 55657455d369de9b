//! Strategies: round recipes in YAML files that contain only phases.
//!
//! A project's own strategy cannot name a model, program, file or address, so it cannot run anything.

use std::collections::HashSet;
use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::diagnostic::Diagnostic;
use crate::yaml::read;

/// Name and file text of each built-in strategy, in listing order.
pub const STRATEGIES: [(&str, &str); 8] = [
    ("blind", include_str!("strategies/blind.yaml")),
    ("delphi", include_str!("strategies/delphi.yaml")),
    ("estimate", include_str!("strategies/estimate.yaml")),
    ("draft-rank", include_str!("strategies/draft-rank.yaml")),
    ("consent", include_str!("strategies/consent.yaml")),
    ("findings", include_str!("strategies/findings.yaml")),
    ("premortem", include_str!("strategies/premortem.yaml")),
    ("debate", include_str!("strategies/debate.yaml")),
];

/// Reads a project's strategy by name; `None` if the project has none of that name.
pub type ReadStrategy<'a> = &'a dyn Fn(&str) -> Result<Option<Strategy>, Diagnostic>;

static PARSED: LazyLock<Vec<Strategy>> = LazyLock::new(|| {
    let parse = |(name, text): &(&str, &str)| {
        Strategy::parse(text, name, name).expect("a test reads each built-in file")
    };
    STRATEGIES.iter().map(parse).collect()
});

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strategy {
    pub name: String,
    pub summary: String,
    #[serde(rename = "for")]
    pub good_for: String,
    pub limits: String,
    pub evidence: Vec<String>,
    /// Ballot kinds of its `main` rounds; the first is the default.
    pub accepts: Vec<String>,
    /// Voting rule by ballot kind, unless the discussion sets one.
    pub rules: IndexMap<String, Value>,
    pub phases: Vec<Phase>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: String,
    pub label: Option<String>,
    /// Question; `{{topic}}` is replaced by the discussion's topic, `{{options}}` by its options.
    pub question: String,
    pub directive: Option<String>,
    /// Lines assigned to the seats in turn, such as the sides of a debate.
    #[serde(default)]
    pub directives: Vec<String>,
    /// `main` for the discussion's ballot, otherwise a kind without options.
    pub ballot: String,
    pub context: Option<Value>,
    /// Phase whose answers become the options; no seat ranks its own.
    pub ranks: Option<String>,
    pub revises: Option<String>,
    pub feedback: Option<String>,
    /// Condition; `phase.ID` is the result of an earlier phase.
    pub skip_if: Option<String>,
    pub repeat_if: Option<String>,
    pub max_runs: Option<u32>,
    /// Question to the facilitator before the phase is repeated.
    pub amend: Option<String>,
}

/// Most phases of a strategy, and most runs of a phase.
const MOST: usize = 20;
const RESERVED: [&str; 4] = ["open", "conclude", "closed", "done"];

impl Strategy {
    /// Parses and checks a strategy. Fails if the name differs from the file's, or a phase could repeat
    /// forever.
    pub fn parse(text: &str, name: &str, file: &str) -> Result<Self, Diagnostic> {
        let refuse = |why: String| {
            Diagnostic::new(format!("strategy `{name}` cannot be used: {why}"))
                .hint("`roundtable strategies delphi` prints one as an example")
                .with_file(file)
        };
        let read: Self =
            serde_json::from_value(read(text, file)?.to_json()).map_err(|error| refuse(error.to_string()))?;
        if read.name != name {
            return Err(refuse(format!("its `name` is `{}`; it must be that of the file", read.name)));
        }
        read.check().map(|()| read).map_err(refuse)
    }

    /// Returns whether answers of an earlier phase are the options, so that a discussion must not set any.
    pub fn ranks_answers(&self) -> bool {
        self.phases.iter().any(|phase| phase.ranks.is_some())
    }

    fn check(&self) -> Result<(), String> {
        if self.accepts.is_empty() {
            return Err("`accepts` names no ballot".to_owned());
        }
        if self.phases.last().is_none_or(|phase| phase.ballot != "main") || self.phases.len() > MOST {
            return Err(format!("it needs 1 to {MOST} phases, the last with `ballot: main`"));
        }
        let mut earlier: HashSet<&str> = HashSet::new();
        for phase in &self.phases {
            if !earlier.insert(&phase.id) {
                return Err(format!("two phases have the id `{}`", phase.id));
            }
            phase.check().map_err(|why| format!("phase `{}`: {why}", phase.id))?;
            if let Some(id) = phase.referenced_phases().find(|id| !earlier.contains(id)) {
                return Err(format!("phase `{}` names no phase so far: `{id}`", phase.id));
            }
        }
        Ok(())
    }
}

impl Phase {
    /// Returns the phase that collects options for a discussion without any.
    pub fn ideas() -> Self {
        Self {
            id: "ideas".to_owned(),
            label: Some("Options".to_owned()),
            question: "{{topic}}".to_owned(),
            directive: Some("Propose options. Do not judge them.".to_owned()),
            ballot: "ideas".to_owned(),
            context: Some(json!({"answers": "none", "results": "none", "rounds": 0})),
            ..Self::default()
        }
    }

    /// Returns the phases that this one refers to.
    fn referenced_phases(&self) -> impl Iterator<Item = &str> {
        let conditions = [&self.skip_if, &self.repeat_if].into_iter().flatten();
        let read = conditions.flat_map(|condition| condition.split("phase.").skip(1));
        let read = read.filter_map(|rest| rest.split('.').next());
        [&self.revises, &self.ranks].into_iter().flatten().map(String::as_str).chain(read)
    }

    /// Checks the id and the limits of repetition. Rounds and conditions are checked later, as steps.
    fn check(&self) -> Result<(), &'static str> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.id.is_empty() || !self.id.chars().all(is_plain) || RESERVED.contains(&&*self.id) {
            return Err("its id must be small letters, digits and `-`, and no reserved word");
        }
        if self.ranks.is_some() && self.ballot != "main" {
            return Err("only a `main` ballot can rank");
        }
        let is_fit = |runs: u32| (1..=MOST as u32).contains(&runs);
        if !self.max_runs.map_or(self.repeat_if.is_none(), is_fit) {
            return Err("`max_runs` is 1 to 20, and a phase with `repeat_if` needs it");
        }
        Ok(())
    }
}

pub fn strategy_names() -> Vec<&'static str> {
    STRATEGIES.iter().map(|(name, _)| *name).collect()
}

pub fn strategies() -> &'static [Strategy] {
    &PARSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_strategy_parses_under_its_name() {
        for ((name, _), strategy) in STRATEGIES.iter().zip(strategies()) {
            assert_eq!(*name, strategy.name);
        }
    }

    #[test]
    fn invalid_or_endless_strategies_are_rejected() {
        let head = "name: own\nsummary: s\nfor: f\nlimits: l\nevidence: []\n";
        let of = |phases: &str| format!("{head}accepts: [choice]\nrules: {{}}\nphases: [{phases}]\n");
        let vote = "{id: vote, question: q, ballot: main}";
        assert!(Strategy::parse(&of(vote), "own", "own.yaml").is_ok());
        let cases = [
            (of("{id: vote, question: q, ballot: main, command: [sh]}"), "unknown field `command`"),
            (
                of("{id: vote, question: q, ballot: main, repeat_if: \"phase.vote.outcome === 'tie'\"}"),
                "`max_runs`",
            ),
            (
                of("{id: vote, question: q, ballot: main, skip_if: \"phase.x.outcome === 'tie'\"}"),
                "so far: `x`",
            ),
            (of(&format!("{{id: a, question: q, ballot: main, revises: vote}}, {vote}")), "so far: `vote`"),
            (of(vote).replace("[choice]", "[]"), "names no ballot"),
            (of("{id: open, question: q, ballot: main}"), "no reserved word"),
            (of(&format!("{vote}, {vote}")), "two phases have the id `vote`"),
            (of("{id: vote, question: q, ballot: position}"), "the last with `ballot: main`"),
            (of(""), "1 to 20 phases"),
            (of(vote).replace("name: own", "name: other"), "its `name` is `other`"),
        ];
        for (text, wanted) in cases {
            let problem = Strategy::parse(&text, "own", "own.yaml").expect_err(wanted).to_string();
            assert!(problem.contains(wanted), "{wanted}: {problem}");
        }
    }
}
