//! Ballots from a file: a JSON or YAML map, or a CSV table.
//!
//! Table rows become the same maps. Unlisted options, mixed ballot kinds and unknown keys are errors with their
//! place.

use std::borrow::Cow;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::decimal::Decimal;
use super::profile::{CountableKind, IndexedBallot, Profile, UNLISTED, WeightedBallot};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::yaml::{self, Map, Node, Value};

/// Answer keys, each with its kind and form.
const ANSWERS: [(&str, CountableKind, &str); 6] = [
    ("vote", CountableKind::Choice, "an option: `a`"),
    ("approve", CountableKind::Approval, "a list of options: `[a, b]`"),
    ("ranking", CountableKind::Ranking, "a list of options, ties in lists of their own: `[a, [b, c]]`"),
    ("scores", CountableKind::Score, "a map of options and scores: `{a: 4, b: 2}`"),
    ("consent", CountableKind::Consent, "support, stand-aside or block"),
    ("estimate", CountableKind::Estimate, "a number: `5`"),
];

/// Other keys of a ballot and columns of a table.
const OTHER_KEYS: [&str; 5] = ["count", "weight", "voter", "abstain", "minimum_change"];

pub const MOST_OPTIONS: usize = 1_000;

/// Most votes in a file, by count and by weight.
const MOST_VOTES: u64 = 1_000_000_000_000;

/// Most errors reported per file.
const MOST_PROBLEMS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BallotFile {
    pub kind: CountableKind,
    pub profile: Profile,
    pub abstained: u64,
}

/// Reads a ballot file in the format of its file extension.
pub fn read_ballots(text: &str, file: &str) -> Result<BallotFile, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let keys = ANSWERS.iter().map(|(name, ..)| *name).chain(OTHER_KEYS).collect();
    let mut reader = BallotReader { file, keys, ..BallotReader::default() };
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let head = text.lines().next().unwrap_or_default();
    let read = match ending.as_str() {
        "csv" => reader.table(text),
        // A CSV header has no colon; the first line of a map does.
        "" if head.starts_with(|c: char| c.is_alphanumeric() || c == '"') && !head.contains(':') => {
            reader.table(text)
        }
        "json" | "yaml" | "yml" | "" => reader.map(text),
        _ => Err(reader.file_error(
            format!("a ballot file does not end in `.{ending}`"),
            "use `.json`, `.yaml` or `.csv`",
        )),
    };
    read.map_err(|problem| vec![problem])?;
    reader.finish()
}

#[derive(Default)]
struct BallotReader<'a> {
    file: &'a str,
    keys: Vec<&'static str>,
    /// The listed options; in a table, the options that its ballots name.
    options: IndexSet<String>,
    is_table: bool,
    kind: Option<CountableKind>,
    ballots: Vec<WeightedBallot>,
    abstained: u64,
    problems: Vec<Diagnostic>,
}

impl BallotReader<'_> {
    fn refused<T>(
        &self,
        at: &Node,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Result<T, Diagnostic> {
        Err(at.problem(self.file, message).hint(hint))
    }

    fn file_error(&self, message: impl Into<String>, hint: &str) -> Diagnostic {
        Diagnostic::new(message).hint(hint).with_file(self.file)
    }

    /// Reads `{options: [a, b], ballots: [{count: 3, ranking: [a, [b, c]]}]}`; JSON may contain comments.
    fn map(&mut self, text: &str) -> Result<(), Diagnostic> {
        let is_json = text.trim_start().starts_with(['{', '/']);
        let text = if is_json { Cow::Owned(yaml::relaxed_json(text)) } else { Cow::Borrowed(text) };
        let node = yaml::read_large(&text, self.file)?;
        let ballots = node.get("ballots").map(|ballots| &ballots.value);
        let (Value::Map(map), Some(Value::List(ballots))) = (&node.value, ballots) else {
            let hint = "write `{options: [a, b], ballots: [{vote: a}]}`";
            return self.refused(&node, "a ballot file is a map with a list of `ballots`", hint);
        };
        self.known_keys(map, &["options", "ballots"])?;
        if let Some(list) = node.get("options") {
            let Value::List(items) = &list.value else {
                return self.refused(list, "`options` must be a list", "write `options: [a, b]`");
            };
            for item in items {
                let option = self.name(item)?;
                if self.options.contains(&option) {
                    let message = format!("option `{option}` is given twice");
                    return self.refused(item, message, "give each option once");
                }
                self.add(option, item)?;
            }
        }
        for ballot in ballots {
            self.add_ballot(ballot);
        }
        Ok(())
    }

    /// Reads a header with column names, then one ballot per row.
    fn table(&mut self, text: &str) -> Result<(), Diagnostic> {
        self.is_table = true;
        let mut rows = self.rows(text)?.into_iter();
        let Some(header) = rows.next() else {
            return Err(self.file_error("the file is empty", "its first line names the columns"));
        };
        let columns: Map = header.iter().map(|(name, at)| (yaml::key_at(name, at), at.clone())).collect();
        let is_answer = |name: &str| name == "abstain" || ANSWERS.iter().any(|(answer, ..)| *answer == name);
        if !header.iter().any(|(name, _)| is_answer(&name.to_lowercase())) {
            let message = "no column contains an answer";
            let hint = "name one vote, approve, ranking, scores, consent or estimate, as in the head \
                        `voter,ranking` with rows such as `Ana,red > blue = green`; options have no columns";
            return self.refused(&header[0].1, message, hint);
        }
        self.known_keys(&columns, &self.keys)?;
        for row in rows {
            let at = &row[0].1;
            if row.len() != header.len() {
                let message = format!("{} cells where the header has {}", row.len(), header.len());
                let hint = "put a cell that contains a separator in double quotes";
                self.problems.push(at.problem(self.file, message).hint(hint));
                continue;
            }
            let cells = header.iter().zip(&row).filter_map(|((column, _), (text, at))| {
                Some((yaml::key_at(column, at), cell_value(column, text, at)?))
            });
            self.add_ballot(&at.with(Value::Map(cells.collect())));
        }
        Ok(())
    }

    /// Splits a table into its non-blank rows, with quotes and line ends as in RFC 4180. The separator is the
    /// first of comma, semicolon and tab that the header contains.
    fn rows(&self, text: &str) -> Result<Vec<Vec<TableCell>>, Diagnostic> {
        let at_line = |line: u64| {
            let mut at = Node::new(Value::Null);
            (at.line, at.column) = (line, 1);
            at
        };
        let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let separator = [',', ';', '\t'].into_iter().find(|sign| header.contains(*sign)).unwrap_or(',');
        let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
        let (mut line, mut begun, mut quoted) = (1, 1, false);
        let mut chars = text.trim_end().chars().chain(['\n']).peekable();
        while let Some(c) = chars.next() {
            line += u64::from(c == '\n');
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
                '"' if quoted => quoted = false,
                '"' if cell.trim().is_empty() => {
                    cell.clear();
                    quoted = true;
                }
                '\r' if !quoted => {}
                _ if !quoted && (c == separator || c == '\n') => {
                    row.push((std::mem::take(&mut cell).trim().to_owned(), at_line(begun)));
                    begun = line;
                    if c == '\n' {
                        rows.push(std::mem::take(&mut row));
                    }
                }
                _ => cell.push(c),
            }
        }
        if quoted {
            return self.refused(&at_line(begun), "a quoted cell is never closed", "close it with \"");
        }
        rows.retain(|row| row.iter().any(|(text, _)| !text.is_empty()));
        Ok(rows)
    }

    fn known_keys(&self, map: &Map, known: &[&str]) -> Result<(), Diagnostic> {
        for (at, (key, _)) in map.iter().enumerate() {
            let refused = |message: String| Diagnostic::new(message).at(self.file, key.line, key.column);
            if !known.contains(&key.text.as_str()) {
                let hint = did_you_mean(&key.text, known);
                return Err(refused(format!("`{}` is not known here", key.text)).hint(hint));
            }
            if map[..at].iter().any(|(other, _)| other.text == key.text) {
                return Err(refused(format!("`{}` appears twice", key.text)).hint("give it once"));
            }
        }
        Ok(())
    }

    fn add_ballot(&mut self, node: &Node) {
        if self.problems.len() < MOST_PROBLEMS
            && let Err(problem) = self.ballot(node)
        {
            self.problems.push(problem);
        }
    }

    fn ballot(&mut self, node: &Node) -> Result<(), Diagnostic> {
        let Value::Map(map) = &node.value else {
            let message = format!("a ballot is a map, found {}", node.kind());
            return self.refused(node, message, "write `{vote: a}` or `{count: 3, ranking: [a, b]}`");
        };
        self.known_keys(map, &self.keys)?;
        let count = node.get("count").map_or(Some(1), |count| count.to_json().as_u64());
        let Some(count) = count.filter(|count| *count <= MOST_VOTES) else {
            let at = node.get("count").unwrap_or(node);
            return self.refused(at, "`count` must be a whole number", "write it like 3");
        };
        let weight = node.get("weight").map_or(Ok(Decimal::ONE), |weight| self.amount(weight))?;
        if weight < Decimal::ZERO {
            return self.refused(node, "a weight is below 0", "write it like 2 or 0.5");
        }
        let mut answers = ANSWERS.iter().filter_map(|(name, kind, _)| Some((*kind, node.get(name)?)));
        let stated = node.get("abstain").map(|stated| stated.to_json().to_string().to_lowercase());
        let abstains = match stated.as_deref().map(|word| word.trim_matches('"')) {
            None | Some("null" | "false" | "no") => false,
            Some("true" | "yes" | "abstain") => true,
            Some(_) => {
                return self.refused(node, "`abstain` is neither yes nor no", "write yes, or leave it out");
            }
        };
        let is_abstention = |(kind, node): (CountableKind, &Node)| match &node.value {
            Value::Text(word) if kind == CountableKind::Estimate && matches!(&**word, "?" | "☕") => true,
            Value::Text(word) => word == "abstain",
            _ => false,
        };
        let answer = match (answers.next(), answers.next()) {
            (None, _) if abstains => None,
            (Some(answer), None) if is_abstention(answer) => None,
            (Some(answer), None) if !abstains => Some(answer),
            (None, _) => {
                let hint =
                    "write one of vote, approve, ranking, scores, consent, estimate, or `abstain` there";
                return self.refused(node, "a ballot has no answer", hint);
            }
            _ => return self.refused(node, "a ballot has more than one answer", "a ballot says one thing"),
        };
        let Some((kind, answer)) = answer else {
            self.abstained = self.abstained.saturating_add(count);
            return Ok(());
        };
        let known = *self.kind.get_or_insert(kind);
        if known != kind {
            let message = format!("a `{}` ballot among `{}` ballots", kind.name(), known.name());
            return self.refused(node, message, "a file contains ballots of one kind");
        }
        let mark = self.mark(kind, answer, node.get("minimum_change"))?;
        let voter = node.get("voter").map(|voter| self.name(voter)).transpose()?;
        let voter = voter.unwrap_or_else(|| format!("ballot {}", self.ballots.len() + 1));
        self.ballots.push(WeightedBallot { voter, count, weight, own: None, mark });
        Ok(())
    }

    fn mark(
        &mut self,
        kind: CountableKind,
        node: &Node,
        change: Option<&Node>,
    ) -> Result<IndexedBallot, Diagnostic> {
        Ok(match (kind, &node.value) {
            (CountableKind::Choice, _) => IndexedBallot::Choice(self.option(node)?),
            (CountableKind::Estimate, _) => IndexedBallot::Number(self.amount(node)?),
            (CountableKind::Approval, Value::List(items)) => {
                let approved = items.iter().map(|item| self.option(item));
                let mut approved: Vec<usize> = approved.collect::<Result<_, _>>()?;
                approved.sort_unstable();
                approved.dedup();
                IndexedBallot::Approval(approved)
            }
            (CountableKind::Ranking, Value::List(places)) => {
                let mut ranks = Vec::new();
                let places = places.iter().filter(|place| place.value != Value::List(Vec::new()));
                for (rank, place) in places.enumerate() {
                    let tied = match &place.value {
                        Value::List(tied) => tied.as_slice(),
                        _ => std::slice::from_ref(place),
                    };
                    for item in tied {
                        self.set_once(&mut ranks, &UNLISTED, item, rank as u16)?;
                    }
                }
                IndexedBallot::Ranking(ranks)
            }
            (CountableKind::Score, Value::Map(entries)) => {
                let mut scores = Vec::new();
                for (key, score) in entries {
                    let amount = self.amount(score)?;
                    self.set_once(
                        &mut scores,
                        &None,
                        &score.with(Value::Text(key.text.clone())),
                        Some(amount),
                    )?;
                }
                IndexedBallot::Scores(scores)
            }
            (CountableKind::Consent, Value::Text(word)) if word == "support" => IndexedBallot::Support,
            (CountableKind::Consent, Value::Text(word)) if word == "stand-aside" => IndexedBallot::StandAside,
            (CountableKind::Consent, Value::Text(word)) if word == "block" => {
                IndexedBallot::Block(change.map(|change| self.name(change)).transpose()?)
            }
            _ => {
                let hint = ANSWERS.iter().find(|(_, known, _)| *known == kind).map_or("", |(.., how)| how);
                return self.refused(node, format!("this is no `{}` ballot", kind.name()), hint);
            }
        })
    }

    /// Sets an option's rank or score; setting it again is an error.
    fn set_once<T: Clone + PartialEq>(
        &mut self,
        places: &mut Vec<T>,
        none: &T,
        option: &Node,
        given: T,
    ) -> Result<(), Diagnostic> {
        let at = self.option(option)?;
        places.resize(self.options.len().max(places.len()), none.clone());
        if places[at] != *none {
            let message = format!("`{}` appears twice in one ballot", self.options[at]);
            return self.refused(option, message, "give each option once");
        }
        places[at] = given;
        Ok(())
    }

    /// Returns a text, or a number as text.
    fn name(&self, node: &Node) -> Result<String, Diagnostic> {
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => self.refused(node, format!("{} where a name is expected", node.kind()), "write it as text"),
        }
    }

    fn option(&mut self, node: &Node) -> Result<usize, Diagnostic> {
        let name = self.name(node)?;
        if let Some(place) = self.options.get_index_of(&name) {
            return Ok(place);
        }
        if !self.is_table && self.options.is_empty() {
            return self.refused(node, "the file does not list its `options`", "write `options: [a, b]`");
        }
        if !self.is_table {
            let known: Vec<&str> = self.options.iter().take(30).map(String::as_str).collect();
            let message = format!("`{name}` is not among the options");
            return self.refused(node, message, did_you_mean(&name, &known));
        }
        if self.kind == Some(CountableKind::Ranking) && name.contains([';', ',', '\t']) {
            let hint = "write `a > b = c`: `>` between places, `=` between equals";
            return self.refused(node, format!("`{name}` is no place of a ranking"), hint);
        }
        let folded = |name: &str| name.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let name_folded = folded(&name);
        if let Some(other) = self.options.iter().find(|other| folded(other) == name_folded) {
            let message = format!("`{name}` and `{other}` differ by case or blanks alone");
            return self.refused(node, message, "spell each option in one way");
        }
        self.add(name, node)
    }

    fn add(&mut self, name: String, at: &Node) -> Result<usize, Diagnostic> {
        if self.options.len() == MOST_OPTIONS {
            let message = format!("there are more than {MOST_OPTIONS} options");
            return self.refused(at, message, "count fewer at a time");
        }
        Ok(self.options.insert_full(name).0)
    }

    fn amount(&self, node: &Node) -> Result<Decimal, Diagnostic> {
        let amount = if let Value::Number(number) = &node.value { Decimal::from_json(number) } else { None };
        let problem = || node.problem(self.file, "no number of at most six decimal places");
        amount.ok_or_else(|| problem().hint("write it like 4 or 2.5"))
    }

    fn finish(mut self) -> Result<BallotFile, Vec<Diagnostic>> {
        for ballot in &mut self.ballots {
            match &mut ballot.mark {
                IndexedBallot::Ranking(ranks) => ranks.resize(self.options.len(), UNLISTED),
                IndexedBallot::Scores(scores) => scores.resize(self.options.len(), None),
                _ => {}
            }
        }
        let (options, ballots) = (self.options.iter().cloned().collect(), std::mem::take(&mut self.ballots));
        let profile = Profile { options, ballots, ..Profile::default() };
        let cast =
            profile.ballots.iter().fold(self.abstained, |sum, ballot| sum.saturating_add(ballot.count));
        let wrong = if cast > MOST_VOTES || profile.total_weight() > Decimal::whole(MOST_VOTES) {
            let message = "the ballots count for more than a million million votes";
            Some((message, "count fewer, or lower the weights"))
        } else if self.abstained == 0 && profile.ballots.is_empty() && self.problems.is_empty() {
            Some(("the file contains no ballots", "add one"))
        } else {
            None
        };
        self.problems.truncate(MOST_PROBLEMS);
        if let Some((message, hint)) = wrong {
            self.problems.push(self.file_error(message, hint));
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let kind = self.kind.unwrap_or(CountableKind::Choice);
        Ok(BallotFile { kind, profile, abstained: self.abstained })
    }
}

/// Text and place of a cell.
type TableCell = (String, Node);

/// Parses a cell by its column: `a; b` is a list, `a > b = c` a ranking, `a=4; b=2` scores. In these three
/// columns an empty cell is an empty list; in others it returns `None`.
fn cell_value(column: &str, text: &str, at: &Node) -> Option<Node> {
    let parts = |text: &str, sign: char| -> Vec<Json> {
        text.split(sign).map(str::trim).filter(|part| !part.is_empty()).map(Json::from).collect()
    };
    let number = |text: &str| text.trim().parse().map_or(Json::from(text), Json::Number);
    let score = |part: &str| {
        let (option, score) = part.rsplit_once('=').unwrap_or((part, ""));
        (yaml::key_at(option.trim(), at), yaml::placed(number(score), at))
    };
    let value = match column {
        _ if text == "abstain" => Json::from("abstain"),
        "approve" => parts(text, ';').into(),
        "ranking" => {
            let places = text.split('>').map(|place| parts(place, '='));
            places.filter(|place| !place.is_empty()).map(Json::from).collect()
        }
        "scores" => {
            let scores = text.split(';').filter(|part| !part.trim().is_empty()).map(score);
            return Some(at.with(Value::Map(scores.collect())));
        }
        _ if text.is_empty() => return None,
        "count" | "weight" | "estimate" => number(text),
        _ => Json::from(text),
    };
    Some(yaml::placed(value, at))
}

#[cfg(test)]
mod tests;
