//! Tables: who voted what, and the options with the reasons for and against them.

use std::fmt::Write as _;

use super::charts::{BOXES, boxes};
use super::markup::{badge, colour, e};
use crate::ballot::{Ballot, BallotKind};
use crate::history::RoundRun;
use crate::insight::cut;
use crate::insight::seats;
use crate::report::model::{OptionView, Reason, Report, asked, headings, needed_votes, said};
use crate::report::table::{Cell, Mark};

/// With more seats a row is one line without its model.
const DENSE: usize = 12;
/// With more seats the first page has counts alone.
const COUNTED: usize = 30;
const OPTIONS: usize = 10;
/// How much of one reason the first page quotes, in characters.
const REASON: usize = 170;

/// Who voted what; for one round of a ranking or of scores seat by place or option, for estimates with
/// the reason. In the record also where the first page has counts.
pub fn votes_table(report: &Report<'_>, in_record: bool) -> String {
    let Some(run) = report.run else { return String::new() };
    if report.voted.is_empty() {
        return String::new();
    }
    let table = report.table();
    if table.rows.len() > COUNTED && !in_record {
        return counts(report);
    }
    let dense = if table.rows.len() > DENSE { " dn" } else { "" };
    let is_one = report.voted.len() == 1;
    let (title, inner) = match run.opened.ballot.kind {
        BallotKind::Ranking if is_one => ("Who ranked what", ranks(report, run, dense)),
        BallotKind::Score if is_one => ("Who gave what", scores(report, run, dense)),
        BallotKind::Estimate if is_one => ("What makes it large or small", estimates(report, run, dense)),
        BallotKind::Position
        | BallotKind::Choice
        | BallotKind::Approval
        | BallotKind::Ranking
        | BallotKind::Score
        | BallotKind::Consent
        | BallotKind::Estimate
        | BallotKind::Ideas
        | BallotKind::Findings => ("Who voted what", matrix(report, dense)),
    };
    let scroll =
        format!("<div class=\"sc\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">{inner}</div>");
    format!("<section class=\"who\"><h2>{title}</h2>{scroll}</section>")
}

/// How many did what in each round, with boxes.
fn counts(report: &Report<'_>) -> String {
    let table = report.table();
    let mut out =
        "<section class=\"who\"><h2>Who voted what <small>counted; by seat in the record</small></h2>"
            .to_owned();
    for (at, round) in table.rounds.iter().enumerate().rev().take(3) {
        let all = round.seats.len();
        let _ = write!(out, "<p class=\"lab\">Round {}</p><ul class=\"cnt\">", round.opened.number);
        for (what, count) in table.counts(at).into_iter().take(8) {
            let place = report.letters.place(&what);
            let class = place.map_or_else(|| "o7".to_owned(), colour);
            let share = count as f64 * 100.0 / all.max(1) as f64;
            let _ = write!(
                out,
                "<li><span>{}{}</span><span class=\"bar\"><b class=\"{class}\" style=\"width:{share:.1}%\"></b></span>\
                 <span class=\"n\">{count} of {all}</span></li>",
                place
                    .map(|place| badge(&colour(place), &report.letters.letter(&what).unwrap_or_default())
                        + " ")
                    .unwrap_or_default(),
                e(&cut(&what, 60))
            );
        }
        out.push_str("</ul>");
    }
    out + "</section>"
}

fn head(columns: impl Iterator<Item = String>, caption: &str, class: &str) -> String {
    let columns: String = columns.collect();
    format!(
        "<table class=\"mx{class}\"><caption class=\"vh\">{caption}</caption><thead><tr><th scope=\"col\">Seat</th>\
         {columns}</tr></thead><tbody>"
    )
}

fn row_head(seat: &str, model: &str) -> String {
    format!("<tr><th scope=\"row\">{}<small>{}</small></th>", e(seat), e(model))
}

fn matrix(report: &Report<'_>, dense: &str) -> String {
    let table = report.table();
    let columns = table.rounds.iter().map(|round| {
        format!(
            "<th scope=\"col\">Round {}<small>{}</small></th>",
            round.opened.number,
            e(&cut(&round.opened.round, 30))
        )
    });
    let mut out = head(columns, "Who voted what in which round", dense);
    for row in &table.rows {
        out.push_str(&row_head(row.seat, row.model));
        for one in &row.cells {
            out.push_str(&cell(report, one));
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table>"
}

fn cell(report: &Report<'_>, cell: &Cell) -> String {
    let moved = if cell.moved { "<em>moved</em>" } else { "" };
    let sure = cell.sure.as_ref().map(|sure| format!("<small class=\"cf\">{} sure</small>", e(sure)));
    let sure = sure.unwrap_or_default();
    let place = cell.option.as_ref().and_then(|option| report.letters.place(option));
    match (&cell.mark, place) {
        (Mark::Letter(letter), Some(place)) => {
            let class = colour(place);
            let mark = badge(&class, letter);
            let name = e(&cut(&cell.text, 60));
            format!(
                "<td class=\"t-{class}\"><span class=\"op\">{mark}<span dir=\"auto\">{name}</span></span>{moved}{sure}</td>"
            )
        }
        (Mark::Sign(sign), _) => {
            let class = match *sign {
                "✓" => "c-yes",
                "–" => "c-aside",
                "✕" => "c-no",
                _ => {
                    return format!(
                        "<td class=\"non\"><span>{sign} {}</span>{moved}{sure}</td>",
                        e(&cell.text)
                    );
                }
            };
            let mark = badge(class, sign);
            format!(
                "<td class=\"t-{class}\"><span class=\"op\">{mark}<span>{}</span></span>{moved}{sure}</td>",
                e(&cell.text)
            )
        }
        (Mark::Letter(_) | Mark::None, _) if cell.text.is_empty() => "<td class=\"non\">–</td>".to_owned(),
        (Mark::Letter(_) | Mark::None, _) => {
            format!("<td dir=\"auto\">{}{moved}{sure}</td>", e(&cut(&cell.text, 120)))
        }
    }
}

fn no_ballot(seat: &crate::insight::SeatView<'_>, columns: usize) -> String {
    let outcome = seat.outcome().map_or("", |outcome| outcome.name()).replace('_', " ");
    let sign = if outcome == "abstained" { "○" } else { "!" };
    format!("<td class=\"non\" colspan=\"{columns}\">{sign} {}</td></tr>", e(&outcome))
}

/// Seat by place, a badge each.
fn ranks(report: &Report<'_>, run: &RoundRun, dense: &str) -> String {
    let places = report.letters.options.len();
    let columns = (1..=places).map(|place| format!("<th scope=\"col\">{place}</th>"));
    let mut out = head(columns, "Who ranked what in which place", &format!(" ranks{dense}"));
    for seat in seats(report.session, run) {
        out.push_str(&row_head(seat.name, seat.model));
        let Some(Ballot::Ranking(levels)) = seat.ballot() else {
            out.push_str(&no_ballot(&seat, places));
            continue;
        };
        let mut used = 0;
        for level in levels {
            let width = level.len();
            let _ = write!(out, "<td colspan=\"{width}\">");
            for option in level {
                let place = report.letters.place(option).unwrap_or_default();
                let letter = report.letters.letter(option).unwrap_or_default();
                let _ =
                    write!(out, "{}<span class=\"vh\">{}</span>", badge(&colour(place), &letter), e(option));
            }
            out.push_str("</td>");
            used += width;
        }
        if used < places {
            let _ = write!(out, "<td class=\"non\" colspan=\"{}\">–</td>", places - used);
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table>"
}

/// Seat by option, the score each.
fn scores(report: &Report<'_>, run: &RoundRun, dense: &str) -> String {
    let options = &report.letters.options;
    let columns = options.iter().enumerate().map(|(place, option)| {
        let mark = badge(&colour(place), &report.letters.letter(option).unwrap_or_default());
        format!(
            "<th scope=\"col\" class=\"n\"><span class=\"op\">{mark}<span>{}</span></span></th>",
            e(&cut(option, 40))
        )
    });
    let mut out = head(columns, "Who gave which score", dense);
    for seat in seats(report.session, run) {
        out.push_str(&row_head(seat.name, seat.model));
        let Some(ballot @ Ballot::Scores(given)) = seat.ballot() else {
            out.push_str(&no_ballot(&seat, options.len()));
            continue;
        };
        let top = ballot.top_options().unwrap_or_default();
        for option in options {
            let score = given.get(option).map_or_else(|| "–".to_owned(), ToString::to_string);
            let score = if top.contains(option) { format!("<b>{}</b>", e(&score)) } else { e(&score) };
            let _ = write!(out, "<td class=\"n\">{score}</td>");
        }
        out.push_str("</tr>");
    }
    if let Some(tally) = report.tally {
        let rule = tally.rule.map_or("count", crate::tally::Rule::name);
        let _ = write!(out, "<tr class=\"sum\"><th scope=\"row\">{rule}</th>");
        for option in options {
            let score = tally.verdict.scores.get(option).map(ToString::to_string).unwrap_or_default();
            let _ = write!(out, "<td class=\"n\"><b>{}</b></td>", e(&score));
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table>"
}

/// Seat, estimate, and why.
fn estimates(report: &Report<'_>, run: &RoundRun, dense: &str) -> String {
    let columns = ["Says", "Because"].map(|name| format!("<th scope=\"col\">{name}</th>"));
    let mut out = head(columns.into_iter(), "Who estimated what and why", dense);
    for seat in seats(report.session, run) {
        out.push_str(&row_head(seat.name, seat.model));
        match seat.ballot().and_then(Ballot::brief) {
            Some(value) => {
                let why = e(&cut(&said(&seat), 200));
                let _ =
                    write!(out, "<td class=\"n\"><b>{}</b></td><td dir=\"auto\">{why}</td></tr>", e(&value));
            }
            None => out.push_str(&no_ballot(&seat, 2)),
        }
    }
    out + "</tbody></table>"
}

/// The options with what they got and the strongest reasons.
pub fn reasons_table(report: &Report<'_>, out: &mut String) {
    let options = report.options();
    let Some(run) = report.run.filter(|_| !options.is_empty()) else { return };
    let most = match options.len() {
        ..=2 => 3,
        3..=5 => 2,
        _ => 1,
    };
    let dense = if options.len() > 5 { " dense" } else { "" };
    let _ = write!(
        out,
        "\n<section class=\"opts{dense}\"><h2>{} <small>merged over all seats and rounds, what most models said \
         first</small></h2>",
        if options.iter().all(|option| option.place.is_none()) {
            "The proposal, and the strongest reasons"
        } else {
            "The options, and the strongest reasons"
        }
    );
    table(report, run, options.iter().take(OPTIONS), most, out);
    if options.len() > OPTIONS {
        let _ = write!(out, "<p class=\"more\">+ {} more options below</p>", options.len() - OPTIONS);
    }
    if let Some(tally) = report.tally.filter(|_| options.iter().any(|option| option.votes.is_some())) {
        let line = match needed_votes(tally) {
            Some(needed) => format!("; the line marks the {needed} votes needed"),
            None => String::new(),
        };
        let asked = asked(tally);
        if asked <= BOXES {
            let _ = write!(out, "<p class=\"cap\">One box is one of the {asked} seats asked{line}.</p>");
        } else {
            let _ = write!(out, "<p class=\"cap\">A full bar is all {asked} seats asked{line}.</p>");
        }
    }
    out.push_str("</section>");
}

pub fn all_reasons(report: &Report<'_>, out: &mut String) {
    let options = report.options();
    let Some(run) = report.run else { return };
    out.push_str("<div class=\"opts\">");
    table(report, run, options.iter(), usize::MAX, out);
    out.push_str("</div>");
}

fn table<'a>(
    report: &Report<'_>,
    run: &RoundRun,
    options: impl Iterator<Item = &'a OptionView>,
    most: usize,
    out: &mut String,
) {
    let [pro, con] = headings(run.opened.ballot.kind);
    let _ = write!(
        out,
        "<table><thead><tr><th scope=\"col\">Option</th><th scope=\"col\">{pro}</th><th scope=\"col\">{con}</th></tr>\
         </thead><tbody>"
    );
    for option in options {
        let mark = option.place.map(|place| badge(&colour(place), &option.letter)).unwrap_or_default();
        let chosen = if option.is_chosen { "<span class=\"won\">chosen</span>" } else { "" };
        let name = e(&cut(&option.name, 120));
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><span class=\"op\">{mark}<span dir=\"auto\">{name}</span></span>{chosen} \
             <span class=\"res\">{}</span>",
            e(&option.result)
        );
        if let (Some(votes), Some(tally), Some(place)) = (option.votes, report.tally, option.place) {
            out.push_str(&boxes(votes, asked(tally), needed_votes(tally), &colour(place)));
        }
        if let Some(text) = &option.description {
            let room = if most == usize::MAX { 4_000 } else { 300 };
            let _ = write!(out, "<p dir=\"auto\">{}</p>", e(&cut(text, room)));
        }
        out.push_str("</th>");
        for (label, reasons) in [("For", &option.reasons.pro), ("Against", &option.reasons.con)] {
            let _ = write!(out, "<td data-h=\"{label}\">");
            side(reasons, most, run.opened.number, out);
            out.push_str("</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
}

fn side(reasons: &[Reason], most: usize, last: u32, out: &mut String) {
    /// How many reasons of one side stand in the record.
    const ALL: usize = 200;
    if reasons.is_empty() {
        out.push_str("<span class=\"non\">–</span>");
        return;
    }
    let room = if most == usize::MAX { 4_000 } else { REASON };
    let most = most.min(ALL);
    out.push_str("<ul>");
    for reason in reasons.iter().take(most) {
        let many = match reason.seats.len() {
            0 | 1 => String::new(),
            seats => format!("<span class=\"mul\">{seats} seats</span> "),
        };
        let _ = write!(
            out,
            "<li dir=\"auto\">{} <small>{many}{}</small></li>",
            e(&cut(&reason.text, room)),
            e(&reason.who(last))
        );
    }
    out.push_str("</ul>");
    if reasons.len() > most {
        let _ = write!(out, "<p class=\"more\">+ {} more below</p>", reasons.len() - most);
    }
}
