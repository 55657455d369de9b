//! The ballot file as a table: a header, then one ballot a line.
//!
//! Columns are `count`, `weight`, `voter`, and the answer: one of `vote`, `approve` (`a; b`), `ranking`
//! (`a > b = c`), `scores` (`a=4; b=2`), `consent` with `minimum_change`, `estimate`. The options are
//! those that the ballots name, in the order in which they are named first.

use super::ballot_file::{ANSWERS, BallotFile, BallotFileBuilder, BallotMeta, count_of};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::tally::decimal::Decimal;
use crate::tally::profile::{CountableKind, IndexedBallot};

const COLUMNS: [&str; 10] = [
    "count",
    "weight",
    "voter",
    "vote",
    "approve",
    "ranking",
    "scores",
    "consent",
    "minimum_change",
    "estimate",
];

type CsvRow = (u64, Vec<String>);

pub fn read(text: &str, file: &str) -> Result<BallotFile, Vec<Diagnostic>> {
    let rows = rows(text, file).map_err(|problem| vec![problem])?;
    let mut rows = rows.into_iter();
    let mut reader = BallotFileBuilder::new(file);
    let Some((line, header)) = rows.next() else {
        let problem = Diagnostic::new("the file is empty").hint("its first line names the columns");
        return Err(vec![problem.with_file(file)]);
    };
    let header: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
    let Some(answer) = columns(&mut reader, &header, line) else { return Err(reader.problems) };
    for (number, (line, cells)) in rows.enumerate() {
        if reader.is_full() {
            break;
        }
        if cells.len() != header.len() {
            let message = format!("{} cells where the header has {}", cells.len(), header.len());
            reader.refuse((line, 1), message, "put a cell that holds a comma in double quotes");
            continue;
        }
        row(&mut reader, &header, answer, line, number + 1, &cells);
    }
    reader.finish()
}

fn columns(reader: &mut BallotFileBuilder<'_>, header: &[String], line: u64) -> Option<CountableKind> {
    let mut kinds = Vec::new();
    for (at, name) in header.iter().enumerate() {
        if header[..at].contains(name) {
            reader.refuse((line, 1), format!("column `{name}` stands twice"), "give each column once");
        } else if let Some((_, kind)) = ANSWERS.iter().find(|(known, _)| known == name) {
            kinds.push(*kind);
        } else if !COLUMNS.contains(&name.as_str()) {
            reader.refuse((line, 1), format!("unknown column `{name}`"), did_you_mean(name, &COLUMNS));
        }
    }
    if reader.problems.is_empty() && kinds.len() != 1 {
        let hint = "one of vote, approve, ranking, scores, consent, estimate";
        reader.refuse((line, 1), "the columns hold no answer, or several", hint);
    }
    kinds.first().copied().filter(|_| reader.problems.is_empty())
}

fn row(
    reader: &mut BallotFileBuilder<'_>,
    header: &[String],
    kind: CountableKind,
    line: u64,
    number: usize,
    cells: &[String],
) {
    let cell = |name: &str| {
        let at = header.iter().position(|known| known == name)?;
        Some(cells[at].trim()).filter(|cell| !cell.is_empty())
    };
    let at = (line, 1);
    let count = cell("count").map_or(Some(1), count_of);
    let weight =
        cell("weight").map_or(Some(Decimal::ONE), Decimal::parse).filter(|weight| *weight >= Decimal::ZERO);
    let (Some(count), Some(weight)) = (count, weight) else {
        return reader.refuse(at, "count or weight is no such number", "write 3 or 0.5");
    };
    let voter = cell("voter").map_or_else(|| format!("ballot {number}"), str::to_owned);
    let head = BallotMeta { line, column: 1, voter, count, weight };
    let name = ANSWERS.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name);
    let answer = cell(name);
    if answer == Some("abstain") {
        reader.abstained = reader.abstained.saturating_add(count);
        return;
    }
    let mark = mark(reader, kind, answer, cell("minimum_change"), at);
    if let Some(mark) = mark {
        reader.cast(head, kind, mark);
    }
}

fn mark(
    reader: &mut BallotFileBuilder<'_>,
    kind: CountableKind,
    answer: Option<&str>,
    change: Option<&str>,
    at: (u64, u64),
) -> Option<IndexedBallot> {
    let parts = |text: &str, signs: &[char]| -> Vec<String> {
        text.split(signs).map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    };
    match kind {
        CountableKind::Approval => {
            let names = parts(answer.unwrap_or_default(), &[';', '|']);
            let mut approved: Vec<usize> =
                names.iter().map(|name| reader.place(name, at)).collect::<Option<_>>()?;
            approved.sort_unstable();
            approved.dedup();
            return Some(IndexedBallot::Approval(approved));
        }
        CountableKind::Ranking => {
            let mut places = Vec::new();
            for group in parts(answer.unwrap_or_default(), &['>']) {
                let names = parts(&group, &['=']);
                places.push(names.iter().map(|name| reader.place(name, at)).collect::<Option<Vec<_>>>()?);
            }
            return reader.ranks(&places, at).map(IndexedBallot::Ranking);
        }
        CountableKind::Score => {
            let mut scores = vec![None; reader.options.len()];
            for part in parts(answer.unwrap_or_default(), &[';', '|']) {
                let (name, score) = part.rsplit_once('=').unwrap_or((part.as_str(), ""));
                let option = reader.place(name.trim(), at)?;
                scores.resize(reader.options.len(), None);
                scores[option] = Some(number(reader, score, at)?);
            }
            return Some(IndexedBallot::Scores(scores));
        }
        CountableKind::Choice | CountableKind::Consent | CountableKind::Estimate => {}
    }
    let Some(word) = answer else {
        reader.refuse(at, "the ballot is empty", "write `abstain`, or leave the line out");
        return None;
    };
    if kind == CountableKind::Choice {
        return reader.place(word, at).map(IndexedBallot::Choice);
    }
    if kind == CountableKind::Estimate {
        return number(reader, word, at).map(IndexedBallot::Number);
    }
    match word {
        "support" => Some(IndexedBallot::Support),
        "stand-aside" => Some(IndexedBallot::StandAside),
        "block" => Some(IndexedBallot::Block(change.map(str::to_owned))),
        _ => {
            let message = format!("`{word}` is none of support, stand-aside, block");
            reader.refuse(at, message, "write one of them");
            None
        }
    }
}

fn number(reader: &mut BallotFileBuilder<'_>, text: &str, at: (u64, u64)) -> Option<Decimal> {
    let number = Decimal::parse(text);
    if number.is_none() {
        reader.refuse(
            at,
            format!("`{text}` is no number of at most six decimal places"),
            "write it like 4 or 2.5",
        );
    }
    number
}

/// The rows of a table that are not blank, quotes and line ends as in RFC 4180; cells are separated
/// by the first of comma, semicolon and tab that the header holds.
fn rows(text: &str, file: &str) -> Result<Vec<CsvRow>, Diagnostic> {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let comma = [',', ';', '\t'].into_iter().find(|sign| header.contains(*sign)).unwrap_or(',');
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut first, mut quoted) = (1, 1, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push((first, std::mem::take(&mut row)));
                line += 1;
                first = line;
            }
            '\r' if !quoted => {}
            _ if c == comma && !quoted => row.push(std::mem::take(&mut cell)),
            _ => {
                line += u64::from(c == '\n');
                cell.push(c);
            }
        }
    }
    if quoted {
        return Err(Diagnostic::new("a quoted cell is never closed")
            .hint("close it with \"")
            .at(file, first, 1));
    }
    row.push(cell);
    rows.push((first, row));
    rows.retain(|(_, cells)| cells.iter().any(|cell| !cell.trim().is_empty()));
    Ok(rows)
}
