//! The fields of an answer: checked, in their one order, the rest kept and flagged.
//!
//! All problems of an answer are told at once. No field is converted: what is missing stays missing.

use serde_json::{Map, Value as Json};

use super::scalar::{is_abstain, is_placeholder, is_placeholder_text, quoted, source_text};
use super::{marks, option_match};
use crate::ballot::{Answer, Ballot, BallotForm, BallotKind, Stance};
use crate::yaml::{self, Node, Value};

/// What a block without a minimum change is asked for.
pub(super) const BARE_BLOCK: &str = "a block states its `minimum_change`: what would have to change";

/// The entries of an answer, known keys in their one spelling.
pub(super) type AnswerEntries = Vec<(String, Node)>;

/// Every key of an answer, in the order in which it is kept.
const KNOWN: [&str; 15] = [
    "vote",
    "approve",
    "ranking",
    "scores",
    "estimate",
    "abstain",
    "consent",
    "minimum_change",
    "position",
    "rationale",
    "trade_offs",
    "concerns",
    "suggestions",
    "confidence",
    "references",
];

/// Keys that every kind of answer may carry.
const COMMON: [&str; 7] =
    ["position", "rationale", "trade_offs", "concerns", "suggestions", "confidence", "references"];

/// The known key that a key in other case, or with spaces or hyphens, stands for.
pub(super) fn known_key(key: &str) -> Option<&'static str> {
    if key.len() > 32 {
        return None;
    }
    KNOWN.into_iter().find(|known| is_named(key, known))
}

/// Whether a key is the name, in other case, or with spaces or hyphens for its underscores.
pub(super) fn is_named(key: &str, name: &str) -> bool {
    let plain = |byte: u8| if matches!(byte, b' ' | b'-') { b'_' } else { byte.to_ascii_lowercase() };
    let key = key.trim();
    key.len() == name.len() && key.bytes().map(plain).eq(name.bytes())
}

/// Gives known keys their one spelling; the same key twice is an error.
pub(super) fn entries(map: yaml::Map) -> Result<AnswerEntries, String> {
    let mut known = Vec::new();
    let mut others = std::collections::HashSet::new();
    let mut out = Vec::with_capacity(map.len());
    for (key, node) in map {
        let (name, is_new) = match known_key(&key.text) {
            Some(name) => {
                let is_new = !known.contains(&name);
                known.push(name);
                (name.to_owned(), is_new)
            }
            None => (key.text.clone(), others.insert(key.text)),
        };
        if !is_new {
            return Err(format!("the key {} stands twice: give each key once", quoted(&name)));
        }
        out.push((name, node));
    }
    Ok(out)
}

/// Puts content into its one order.
pub(super) fn canonical_order(content: Map<String, Json>, ballot: &Ballot) -> Map<String, Json> {
    let first: &[&str] = match ballot {
        Ballot::Position => &[],
        Ballot::Choice(_) | Ballot::Abstain => &["vote"],
        Ballot::Approval(_) => &["approve"],
        Ballot::Ranking(_) => &["ranking"],
        Ballot::Scores(_) => &["scores"],
        Ballot::Estimate(_) => &["estimate"],
        Ballot::Consent(..) => &["consent", "minimum_change"],
    };
    let place = |key: &str| first.iter().chain(&COMMON).position(|known| *known == key).unwrap_or(usize::MAX);
    if content.keys().map(|key| place(key)).is_sorted() {
        return content;
    }
    let mut entries: Vec<_> = content.into_iter().collect();
    entries.sort_by_key(|(key, _)| place(key));
    entries.into_iter().collect()
}

/// The answer that the entries hold, or everything that is wrong with them.
pub(super) fn answer(
    form: &BallotForm,
    own: &str,
    entries: &AnswerEntries,
    source: &str,
) -> Result<Answer, String> {
    let mut reader =
        AnswerParser { entries, source, content: Map::new(), flags: Vec::new(), problems: Vec::new() };
    let ballot = reader.ballot(form, own);
    for key in COMMON {
        reader.common(key);
    }
    reader.others(form.kind);
    match ballot {
        Some(ballot) if reader.problems.is_empty() => {
            let content = canonical_order(reader.content, &ballot);
            Ok(Answer { ballot, content, flags: reader.flags })
        }
        Some(Ballot::Consent(Stance::Block, None)) => {
            reader.problems.push(BARE_BLOCK.to_owned());
            Err(reader.problems.join("; "))
        }
        _ => Err(reader.problems.join("; ")),
    }
}

/// An answer on its way: what is kept so far, what to flag, what is wrong.
pub(super) struct AnswerParser<'a> {
    entries: &'a AnswerEntries,
    source: &'a str,
    content: Map<String, Json>,
    pub flags: Vec<String>,
    pub problems: Vec<String>,
}

impl<'a> AnswerParser<'a> {
    fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    fn keep(&mut self, key: &str, value: impl Into<Json>) {
        self.content.insert(key.to_owned(), value.into());
    }

    /// The value, or `None` with its problem noted.
    fn noted<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn ballot(&mut self, form: &BallotForm, own: &str) -> Option<Ballot> {
        if matches!(
            form.kind,
            BallotKind::Approval | BallotKind::Ranking | BallotKind::Score | BallotKind::Estimate
        ) {
            return self.marked(form, own);
        }
        let said = self.own_word(form, own);
        let said = self.noted(said)?;
        let abstains = self.abstains(own, said.as_deref());
        let abstains = self.noted(abstains)?;
        let vote = said.filter(|word| !is_abstain(word));
        match (abstains, vote) {
            (true, None) => {
                self.keep("vote", "abstain");
                self.change(None);
                Some(Ballot::Abstain)
            }
            (true, Some(vote)) => {
                self.problems.push(format!(
                    "the reply abstains and gives {} as its `{own}`: these are two ballots, give one",
                    quoted(&vote)
                ));
                None
            }
            (false, None) => {
                self.problems.push(format!("`{own}` is empty"));
                None
            }
            (false, Some(vote)) => self.of_kind(form, &vote),
        }
    }

    /// A ballot that is more than one word.
    fn marked(&mut self, form: &BallotForm, own: &str) -> Option<Ballot> {
        let given = self.get(own).filter(|node| match &node.value {
            Value::Null => false,
            Value::Text(text) => !text.trim().is_empty() && !is_placeholder(text),
            _ => true,
        });
        let word = given
            .and_then(|node| if let Value::Text(text) = &node.value { Some(text.as_str()) } else { None });
        let says_abstain = word.is_some_and(is_abstain);
        let abstains = self.abstains(own, word);
        let abstains = self.noted(abstains)?;
        match (abstains, given) {
            (true, Some(_)) if !says_abstain => {
                self.problems
                    .push(format!("the reply abstains and gives `{own}`: these are two ballots, give one"));
                None
            }
            (true, _) => {
                self.keep("vote", "abstain");
                Some(Ballot::Abstain)
            }
            (false, None) => {
                self.problems.push(format!("`{own}` is empty"));
                None
            }
            (false, Some(node)) => {
                let read = marks::parse_ballot_value(form, node, self.source);
                let marked = self.noted(read)?;
                self.flags.extend(marked.flags);
                self.keep(own, marked.kept);
                Some(marked.ballot)
            }
        }
    }

    fn of_kind(&mut self, form: &BallotForm, vote: &str) -> Option<Ballot> {
        match form.kind {
            BallotKind::Choice => {
                let read = option_match::option(&form.options, vote);
                let (option, flag) = self.noted(read)?;
                self.flags.extend(flag);
                self.keep("vote", option.as_str());
                Some(Ballot::Choice(option))
            }
            BallotKind::Consent => {
                let stance = option_match::stance(vote);
                let stance = self.noted(stance)?;
                self.keep("consent", stance_name(stance));
                let change = self.change(Some(stance));
                Some(Ballot::Consent(stance, change))
            }
            _ => Some(Ballot::Position),
        }
    }

    /// What stands under the kind's own key, as the reply spells it.
    fn own_word(&self, form: &BallotForm, own: &str) -> Result<Option<String>, String> {
        let Some(node) = self.get(own) else { return Ok(None) };
        let node = match &node.value {
            Value::List(items) if items.len() == 1 => &items[0],
            Value::List(items) if items.len() > 1 => {
                return Err(format!("`{own}` is a list of {}: give exactly one", items.len()));
            }
            _ => node,
        };
        match source_text(node, self.source) {
            // An option may be named `null`.
            Some(text) if node.value == Value::Null && !option_match::is_exact(&form.options, &text) => {
                Ok(None)
            }
            Some(text) if text.trim().is_empty() || (own != "vote" && is_placeholder(&text)) => Ok(None),
            Some(text) => Ok(Some(text)),
            None => Err(format!("`{own}` is {}, one word or text is expected", node.kind())),
        }
    }

    fn abstains(&self, own: &str, said: Option<&str>) -> Result<bool, String> {
        let stated = match self.get("abstain").map(|node| &node.value) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(Value::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "yes" | "true" | "abstain" => true,
                "no" | "false" | "" => false,
                _ => return Err(format!("`abstain` is {}, it is either true or left out", quoted(text))),
            },
            Some(_) => return Err("`abstain` is either true or left out".to_owned()),
        };
        let vote = self.get("vote").filter(|_| own != "vote");
        let by_vote = matches!(vote.map(|node| &node.value), Some(Value::Text(text)) if is_abstain(text));
        Ok(stated || by_vote || said.is_some_and(is_abstain))
    }

    /// The minimum change: asked for by a block, kept and flagged beside anything else.
    fn change(&mut self, stance: Option<Stance>) -> Option<String> {
        let problems = self.problems.len();
        let text = self.get("minimum_change").and_then(|node| self.text("minimum_change", node));
        if self.problems.len() > problems {
            return None;
        }
        let text = text.filter(|text| !is_placeholder_text(text));
        match (stance, text) {
            (Some(Stance::Block), Some(text)) => {
                self.keep("minimum_change", text.as_str());
                Some(text)
            }
            (_, Some(text)) => {
                self.flags.push("`minimum_change` stands beside no block: kept, not counted".to_owned());
                self.keep("minimum_change", text);
                None
            }
            // Of a block this is told when it is asked again: a block it is all the same.
            (_, None) => None,
        }
    }

    fn common(&mut self, key: &str) {
        let Some(node) = self.get(key) else { return };
        let value = match key {
            "position"
                if self.content.get("vote").is_some_and(|vote| vote == "abstain")
                    && is_abstain_node(node) =>
            {
                None
            }
            "position" => self.text(key, node).map(Json::from),
            "trade_offs" => self.trade_offs(node),
            "confidence" => self.confidence(node).map(Json::from),
            _ => self.texts(key, node),
        };
        if let Some(value) = value {
            self.keep(key, value);
        }
    }

    /// Keys that are not asked for: kept after the known ones and flagged.
    fn others(&mut self, kind: BallotKind) {
        for (key, node) in self.entries {
            let asked = COMMON.contains(&key.as_str())
                || key == "abstain"
                || match kind {
                    BallotKind::Choice => key == "vote",
                    BallotKind::Consent => key == "consent" || key == "minimum_change",
                    kind => key == super::own_key(kind),
                };
            let abstention = key == "vote" && self.content.contains_key("vote");
            if !asked && !abstention {
                self.flags.push(not_asked(key));
                self.content.insert(key.clone(), node.to_json());
            }
        }
    }
}

pub(super) fn not_asked(key: &str) -> String {
    format!("{} is not asked for: kept, not obeyed", quoted(key))
}

fn is_abstain_node(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if is_abstain(text))
}

/// The word of a stance.
fn stance_name(stance: Stance) -> &'static str {
    match stance {
        Stance::Support => "support",
        Stance::StandAside => "stand-aside",
        Stance::Block => "block",
    }
}
