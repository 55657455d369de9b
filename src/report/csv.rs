//! CSV report (RFC 4180), one line per seat, safe for spreadsheets.

use super::model::{Document, RoundNotHeld, RoundRecord, SeatRecord};
use crate::handoff::plain_texts;
use crate::insight::places;
use crate::round::answer::Outcome;
use crate::sanitize::harmless_line;
use crate::tally::Tier;

const COLUMNS: &str = "session round number question participant persona model weight outcome vote confidence reason \
                       tries latency_ms tokens_in tokens_out decided strength order dissents position rationale \
                       concerns minimum_change tokens_thinking dropped references unresolved_references usd rehearsal \
                       optimizing_for accepting_as_cost risks suggestions changed_by served";

/// Writes every seat of every round, in order.
pub fn csv(document: &Document<'_>) -> String {
    let mut out = String::new();
    row(COLUMNS.split(' ').map(str::to_owned), &mut out);
    for round in &document.rounds {
        for seat in &round.seats {
            row(COLUMNS.split(' ').map(|column| cell(document, round, seat, column)), &mut out);
        }
    }
    for round in &document.not_held {
        row(COLUMNS.split(' ').map(|column| not_held(document, round, column)), &mut out);
    }
    out
}

fn cell(document: &Document<'_>, round: &RoundRecord<'_>, seat: &SeatRecord<'_>, column: &str) -> String {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let yes = |is: bool| if is { "yes".to_owned() } else { String::new() };
    let answer = seat.answer;
    let said = |key: &str| answer.and_then(|said| said.get(key).or_else(|| said.get("trade_offs")?.get(key)));
    match column {
        "session" => document.session.to_owned(),
        "round" => round.id.to_owned(),
        "number" => round.number.to_string(),
        "question" => round.question.to_owned(),
        "participant" => seat.participant.to_owned(),
        "persona" => text(seat.persona),
        "model" => seat.model.to_owned(),
        "served" => text(seat.served),
        "weight" => text(seat.weight),
        "outcome" => text(seat.outcome.map(Outcome::name)),
        "vote" => text(seat.vote.as_ref()),
        "confidence" => text(said("confidence").and_then(|said| said.as_number())),
        "reason" => text(seat.reason),
        "tries" => text(seat.tries),
        "latency_ms" => text(seat.latency_ms),
        "tokens_in" => text(seat.tokens.map(|tokens| tokens.input)),
        "tokens_out" => text(seat.tokens.map(|tokens| tokens.output)),
        "tokens_thinking" => text(seat.tokens.map(|tokens| tokens.thinking)),
        "decided" => round.winners.join(" "),
        "strength" => text(round.count.and_then(|tally| tally.tier).map(Tier::name)),
        "order" => text(round.count.map(|tally| places(&tally.verdict.order))),
        "dissents" => yes(seat.dissents),
        // A reply that may be a block is shown in full.
        "position" if seat.dissents && seat.ballot.is_none() => text(seat.reply),
        "position" if !seat.listing.is_empty() => seat.listing.join("\n"),
        "dropped" => seat.dropped.join(" "),
        "unresolved_references" => seat.unresolved_references.join("\n"),
        "usd" => {
            text(seat.spent.filter(|spent| !spent.is_unknown).map(|spent| format!("{:.6}", spent.dollars)))
        }
        "rehearsal" => yes(round.count.is_some_and(|tally| tally.rehearsal)),
        key => plain_texts(said(key)).join("\n"),
    }
}

fn not_held(document: &Document<'_>, round: &RoundNotHeld<'_>, column: &str) -> String {
    let cell = match column {
        "session" => document.session,
        "round" => round.step,
        "question" => round.question.unwrap_or_default(),
        "outcome" => "not held",
        "reason" => round.reason,
        _ => "",
    };
    cell.to_owned()
}

fn row(cells: impl Iterator<Item = String>, out: &mut String) {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    out.push_str(&cells.join(","));
    out.push_str("\r\n");
}

/// Quotes a cell. A cell that could be a formula gets an apostrophe first.
fn quoted(cell: &str) -> String {
    let cell = harmless_line(cell);
    // Some readers ignore leading spaces or accept the full-width forms of these signs.
    let starts = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    let is_formula = cell.trim_start().starts_with(starts) && cell.parse::<f64>().is_err();
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn no_cell_is_a_formula_or_breaks_its_row() {
        assert_eq!(quoted("=HYPERLINK(\"http://e\")"), "\"'=HYPERLINK(\"\"http://e\"\")\"");
        assert_eq!(quoted("@x"), "\"'@x\"");
        assert_eq!(quoted("\t=1"), "\"'    =1\"");
        assert_eq!(quoted("\u{ff1d}1"), "\"'\u{ff1d}1\"");
        assert_eq!(quoted("-0.5"), "\"-0.5\"");
        assert_eq!(quoted("a\r\nb,c"), "\"a⏎b,c\"");
    }
}
