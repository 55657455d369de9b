//! One line a seat, for spreadsheets: RFC 4180, every cell quoted, none that could be a formula.

use serde_json::Value;

use crate::ballot::Ballot;
use crate::history::Session;
use crate::sanitize::harmless_line;
use crate::tally::Tier;

use crate::insight::references::Citable;
use crate::insight::{SeatView, confidence, dissents, places, seats, tally, winners};

const COLUMNS: &str = "session round number question participant persona model weight outcome vote confidence reason \
                       tries latency_ms tokens_in tokens_out decided strength order dissents position rationale \
                       concerns minimum_change tokens_thinking dropped references unresolved_references usd rehearsal";

/// Every seat of every round, in order. A seat that gave no valid answer and may block has its reply as
/// its position.
pub fn csv(session: &Session) -> String {
    let mut out = String::new();
    row(COLUMNS.split(' ').map(str::to_owned), &mut out);
    for run in &session.rounds {
        let winners = winners(session, run);
        let decided = winners.join(" ");
        let tier = tally(run).and_then(|tally| tally.tier).map_or("", Tier::name);
        let order = tally(run).map(|tally| places(&tally.verdict.order, usize::MAX)).unwrap_or_default();
        let rehearsal = if tally(run).is_some_and(|tally| tally.rehearsal) { "yes" } else { "" };
        let citable = Citable::of_round(run);
        for seat in seats(session, run) {
            let info = session.seat_info(seat.name);
            let answer = seat.answer();
            let tokens = answer.and_then(|answer| answer.record.tokens);
            let cells = [
                session.id.clone(),
                run.opened.round.clone(),
                run.opened.number.to_string(),
                run.opened.question.clone(),
                seat.name.to_owned(),
                info.map(|info| info.persona.clone()).unwrap_or_default(),
                seat.model.to_owned(),
                info.map(|info| info.weight.to_string()).unwrap_or_default(),
                seat.outcome().map(|outcome| outcome.name().to_owned()).unwrap_or_default(),
                seat.ballot().and_then(Ballot::phrase).unwrap_or_default(),
                answer.and_then(confidence).unwrap_or_default(),
                seat.reason().unwrap_or_default().to_owned(),
                answer.map(|answer| answer.record.tries.to_string()).unwrap_or_default(),
                answer.map(|answer| answer.record.latency_ms.to_string()).unwrap_or_default(),
                tokens.map(|tokens| tokens.input.to_string()).unwrap_or_default(),
                tokens.map(|tokens| tokens.output.to_string()).unwrap_or_default(),
                decided.clone(),
                tier.to_owned(),
                order.clone(),
                if dissents(&seat, &winners) { "yes".to_owned() } else { String::new() },
                position(&seat),
                text(&seat, "rationale"),
                text(&seat, "concerns"),
                text(&seat, "minimum_change"),
                tokens.map(|tokens| tokens.thinking.to_string()).unwrap_or_default(),
                answer.map(|answer| answer.record.dropped.join(" ")).unwrap_or_default(),
                text(&seat, "references"),
                answer.map(|answer| citable.unresolved(answer).join("\n")).unwrap_or_default(),
                seat.spent
                    .filter(|spent| !spent.is_unknown)
                    .map(|spent| format!("{:.6}", spent.dollars))
                    .unwrap_or_default(),
                rehearsal.to_owned(),
            ];
            row(cells.into_iter(), &mut out);
        }
    }
    not_held_rows(session, &mut out);
    out
}

fn not_held_rows(session: &Session, out: &mut String) {
    for (step, not_held) in &session.not_held {
        let definition = session.definition.as_ref();
        let round = definition.and_then(|definition| definition.step(step)?.round());
        let cell = |column: &str| match column {
            "session" => session.id.clone(),
            "round" => step.clone(),
            "question" => round.map(|round| round.question.clone()).unwrap_or_default(),
            "outcome" => "not held".to_owned(),
            "reason" => not_held.why.clone(),
            _ => String::new(),
        };
        row(COLUMNS.split(' ').map(cell), out);
    }
}

fn position(seat: &SeatView<'_>) -> String {
    match seat.answer().filter(|answer| answer.may_block).and_then(|answer| answer.record.replies.last()) {
        Some(reply) => reply.text.clone(),
        None => match seat.ballot().map(Ballot::listing) {
            Some(texts) if !texts.is_empty() => texts.join("\n"),
            _ => text(seat, "position"),
        },
    }
}

fn text(seat: &SeatView<'_>, key: &str) -> String {
    let lines = |items: &Vec<Value>| items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    match seat.answer().and_then(|answer| answer.answer.get(key)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => lines(items),
        _ => String::new(),
    }
}

fn row(cells: impl Iterator<Item = String>, out: &mut String) {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    out.push_str(&cells.join(","));
    out.push_str("\r\n");
}

/// A cell in quotes. One that a spreadsheet could take for a formula begins with an apostrophe.
fn quoted(cell: &str) -> String {
    let cell = harmless_line(cell);
    // Some readers drop spaces before it, and some take the wide forms for the same.
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
