//! The ballot file as a table: a header, then one ballot a line.
//!
//! Columns are `count`, `weight`, `confidence`, `voter`, and the answer: one of `vote`, `approve`
//! (`a; b`), `ranking` (`a > b = c`), `scores` (`a=4; b=2`), `consent` with `minimum_change`,
//! `estimate`; or one column an option, `rank:a` or `score:a`. Options are those of the columns, else
//! those that the ballots name, in the order in which they are named first.

use super::ballot_file::{ANSWERS, BallotFile, BallotFileBuilder, BallotMeta, count_of};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::tally::decimal::Decimal;
use crate::tally::profile::{CountableKind, IndexedBallot, UNLISTED};

const COLUMNS: [&str; 11] = [
    "count",
    "weight",
    "confidence",
    "voter",
    "vote",
    "approve",
    "ranking",
    "scores",
    "consent",
    "minimum_change",
    "estimate",
];

/// A line of the table, and its number.
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

/// Checks the header and says what the ballots are.
fn columns(reader: &mut BallotFileBuilder<'_>, header: &[String], line: u64) -> Option<CountableKind> {
    let mut kinds = Vec::new();
    for (at, name) in header.iter().enumerate() {
        if header[..at].contains(name) {
            reader.refuse((line, 1), format!("column `{name}` stands twice"), "give each column once");
        } else if let Some(option) = name.strip_prefix("rank:") {
            reader.list(option.trim(), (line, 1));
            kinds.push(CountableKind::Ranking);
        } else if let Some(option) = name.strip_prefix("score:") {
            reader.list(option.trim(), (line, 1));
            kinds.push(CountableKind::Score);
        } else if let Some((_, kind)) = ANSWERS.iter().find(|(known, _)| known == name) {
            kinds.push(*kind);
        } else if !COLUMNS.contains(&name.as_str()) {
            reader.refuse((line, 1), format!("unknown column `{name}`"), did_you_mean(name, &COLUMNS));
        }
    }
    let wide = reader.options.len();
    let is_one = kinds.first().is_some_and(|first| kinds.iter().all(|kind| kind == first));
    if reader.problems.is_empty() && (!is_one || kinds.len() != wide.max(1)) {
        reader.refuse(
            (line, 1),
            "the columns hold no answer, or several",
            "one of vote, approve, ranking, scores, consent, estimate, or a column `rank:a` an option",
        );
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
    let confidence = cell("confidence").map(Decimal::parse);
    let in_range = |confidence: &Decimal| (Decimal::ZERO..=Decimal::ONE).contains(confidence);
    let (Some(count), Some(weight), true) =
        (count, weight, confidence.is_none_or(|given| given.as_ref().is_some_and(in_range)))
    else {
        return reader.refuse(at, "count, weight or confidence is no such number", "write 3, 0.5, and 0.8");
    };
    let voter = cell("voter").map_or_else(|| format!("ballot {number}"), str::to_owned);
    let head = BallotMeta { line, column: 1, voter, count, weight, confidence: confidence.flatten() };
    let name = ANSWERS.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name);
    let answer = cell(name);
    if answer == Some("abstain") {
        reader.abstained = reader.abstained.saturating_add(count);
        return;
    }
    let is_wide = answer.is_none() && reader.are_listed;
    let mark = if is_wide && kind == CountableKind::Ranking {
        wide_ranks(reader, header, cells, at)
    } else if is_wide && kind == CountableKind::Score {
        wide_scores(reader, header, cells, at)
    } else {
        narrow(reader, kind, answer, cell("minimum_change"), at)
    };
    if let Some(mark) = mark {
        reader.cast(head, kind, mark);
    }
}

fn narrow(
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

/// Ranks from columns `rank:option`: 1 is best, equal numbers are a tie, an empty cell is left out.
fn wide_ranks(
    reader: &mut BallotFileBuilder<'_>,
    header: &[String],
    cells: &[String],
    at: (u64, u64),
) -> Option<IndexedBallot> {
    let mut ranks = Vec::new();
    for (name, cell) in header.iter().zip(cells).filter(|(name, _)| name.starts_with("rank:")) {
        let rank = match cell.trim() {
            "" => Some(UNLISTED),
            text => text.parse::<u16>().ok().filter(|rank| (1..UNLISTED).contains(rank)),
        };
        let Some(rank) = rank else {
            reader.refuse(
                at,
                format!("`{cell}` in column `{name}` is no rank"),
                "write 1, 2, 3, or leave it empty",
            );
            return None;
        };
        ranks.push(rank);
    }
    Some(IndexedBallot::Ranking(ranks))
}

fn wide_scores(
    reader: &mut BallotFileBuilder<'_>,
    header: &[String],
    cells: &[String],
    at: (u64, u64),
) -> Option<IndexedBallot> {
    let mut scores = Vec::new();
    for (_, cell) in header.iter().zip(cells).filter(|(name, _)| name.starts_with("score:")) {
        scores.push(if cell.trim().is_empty() { None } else { Some(number(reader, cell, at)?) });
    }
    Some(IndexedBallot::Scores(scores))
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
