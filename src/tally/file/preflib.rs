//! PrefLib's order files: `.soc` and `.soi` without ties, `.toc` and `.toi` with them.
//!
//! Source: the format description of preflib.org, with `#` lines of metadata (since 2022), and the older
//! one with the number of alternatives first. In `.soc` and `.toc` every alternative is ranked.

use super::ballot_file::{BallotFile, BallotFileBuilder, BallotMeta, count_of};
use crate::diagnostic::Diagnostic;
use crate::tally::decimal::Decimal;
use crate::tally::profile::{CountableKind, IndexedBallot};

pub fn read(text: &str, file: &str, ending: &str) -> Result<BallotFile, Vec<Diagnostic>> {
    let mut reader = BallotFileBuilder::new(file);
    let mut lines = text.lines().enumerate().map(|(at, line)| (at as u64 + 1, line.trim()));
    let mut voters = None;
    let is_new = text.trim_start().starts_with('#');
    if !is_new {
        voters = old_head(&mut reader, &mut lines);
    }
    for (line, body) in lines {
        if reader.is_full() {
            break;
        }
        if let Some(note) = body.strip_prefix('#') {
            metadata(&mut reader, note.trim(), line, &mut voters);
        } else if !body.is_empty() {
            order(&mut reader, body, line, ending, is_new);
        }
    }
    let found: u64 = reader.ballots.iter().map(|ballot| ballot.count).fold(0, u64::saturating_add);
    if let Some((line, said)) = voters.filter(|(_, said)| *said != found && reader.problems.is_empty()) {
        let message = format!("the head says {said} voters, the orders add up to {found}");
        reader.refuse((line, 1), message, "the file may be cut off: fetch it again");
    }
    reader.finish()
}

/// The head of the older format; gives the number of voters and its line.
fn old_head<'t>(
    reader: &mut BallotFileBuilder<'_>,
    lines: &mut impl Iterator<Item = (u64, &'t str)>,
) -> Option<(u64, u64)> {
    let (line, first) = lines.next()?;
    let Some(count) = count_of(first).filter(|count| *count > 0) else {
        reader.refuse(
            (line, 1),
            "the first line is neither `#` metadata nor a number of alternatives",
            "give a file from preflib.org",
        );
        return None;
    };
    for number in 1..=count {
        let Some((line, body)) = lines.next() else {
            reader.refuse(
                (line, 1),
                format!("the file names fewer than {count} alternatives"),
                "it may be cut off",
            );
            return None;
        };
        match body.split_once(',') {
            Some((own, name)) if count_of(own) == Some(number) => alternative(reader, name, line),
            _ => reader.refuse((line, 1), format!("alternative {number} is expected here"), "write `1,Name`"),
        }
        if reader.is_full() {
            return None;
        }
    }
    let (line, sums) = lines.next()?;
    let voters = sums.split(',').next().and_then(count_of);
    if voters.is_none() {
        reader.refuse((line, 1), "the number of voters is expected here", "write `voters,sum,unique orders`");
    }
    voters.map(|voters| (line, voters))
}

/// Adds an alternative; a name that stands already gets its number.
fn alternative(reader: &mut BallotFileBuilder<'_>, name: &str, line: u64) {
    let name = name.trim();
    let number = reader.options.len() + 1;
    let name = match name {
        "" => format!("alternative {number}"),
        name if reader.places.contains_key(name) => format!("{name} ({number})"),
        name => name.to_owned(),
    };
    reader.list(&name, (line, 1));
}

fn metadata(reader: &mut BallotFileBuilder<'_>, note: &str, line: u64, voters: &mut Option<(u64, u64)>) {
    let Some((key, value)) = note.split_once(':') else { return };
    if let Some(number) = key.strip_prefix("ALTERNATIVE NAME ") {
        if count_of(number) == Some(reader.options.len() as u64 + 1) {
            alternative(reader, value, line);
        } else {
            reader.refuse(
                (line, 1),
                "the alternatives are not numbered one after another",
                "number them from 1",
            );
        }
    } else if key.trim() == "NUMBER VOTERS" {
        *voters = count_of(value).map(|voters| (line, voters));
    }
}

/// One order: `3: 1,{2,3},4`, in the older format `3,1,{2,3},4`.
fn order(reader: &mut BallotFileBuilder<'_>, body: &str, line: u64, ending: &str, is_new: bool) {
    let at = (line, 1);
    let split = if is_new { body.split_once(':') } else { body.split_once(',').or(Some((body, ""))) };
    let Some((count, rest)) = split.and_then(|(count, rest)| Some((count_of(count)?, rest))) else {
        return reader.refuse(
            at,
            "a number of voters and their order are expected here",
            "write `3: 1,2,{3,4}`",
        );
    };
    let Some(places) = places(reader, rest, at) else { return };
    let ranked: usize = places.iter().map(Vec::len).sum();
    if ending.starts_with('s') && places.iter().any(|place| place.len() > 1) {
        return reader.refuse(
            at,
            format!("an order of a `.{ending}` file has no ties"),
            "give the file the ending `.toc` or `.toi`",
        );
    }
    if ending.ends_with('c') && ranked != reader.options.len() {
        let message = format!("an order of a `.{ending}` file ranks every alternative, this one {ranked}");
        return reader.refuse(at, message, "give the file the ending `.soi` or `.toi`");
    }
    let Some(ranks) = reader.ranks(&places, at) else { return };
    let voter = format!("order {}", reader.ballots.len() + 1);
    let head = BallotMeta { line, column: 1, voter, count, weight: Decimal::ONE, confidence: None };
    reader.cast(head, CountableKind::Ranking, IndexedBallot::Ranking(ranks));
}

/// The alternatives of each place.
fn places(reader: &mut BallotFileBuilder<'_>, text: &str, at: (u64, u64)) -> Option<Vec<Vec<usize>>> {
    let mut places: Vec<Vec<usize>> = Vec::new();
    let mut open = false;
    let mut number = String::new();
    for c in text.chars().chain([',']) {
        match c {
            '0'..='9' => number.push(c),
            ' ' | '\t' => {}
            '{' if !open && number.is_empty() => {
                open = true;
                places.push(Vec::new());
            }
            ',' | '}' if c == ',' || open => {
                if !number.is_empty() {
                    let own = number.parse::<usize>().ok().and_then(|own| own.checked_sub(1));
                    let Some(own) = own.filter(|own| *own < reader.options.len()) else {
                        let message = format!("there is no alternative {number}");
                        reader.refuse(
                            at,
                            message,
                            format!("they are numbered from 1 to {}", reader.options.len()),
                        );
                        return None;
                    };
                    number.clear();
                    match places.last_mut().filter(|_| open) {
                        Some(place) => place.push(own),
                        None => places.push(vec![own]),
                    }
                }
                open &= c != '}';
            }
            other => {
                reader.refuse(
                    at,
                    format!("`{other}` is no part of an order"),
                    "write numbers, commas and braces",
                );
                return None;
            }
        }
    }
    if open {
        reader.refuse(at, "a brace is never closed", "write `{2,3}`");
        return None;
    }
    places.retain(|place| !place.is_empty());
    Some(places)
}
