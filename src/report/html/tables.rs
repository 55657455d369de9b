//! Tables: who voted what, and the options with the reasons for and against them.

use std::fmt::Write as _;

use super::markup::{badge, colour, e, stance_class};
use crate::history::RoundRun;
use crate::insight::cut;
use crate::report::model::{OptionView, Reason, Report, headings};
use crate::report::table::Cell;

/// With more seats a row is one line without its model.
const DENSE: usize = 12;
/// With more seats the first page has the bars alone.
const COUNTED: usize = 30;
const OPTIONS: usize = 10;
/// How much of one reason the first page quotes, in characters.
const REASON: usize = 170;

pub fn votes_table(report: &Report<'_>) -> String {
    if report.run.is_none() || report.voted().next().is_none() {
        return String::new();
    }
    let table = report.table();
    if table.rows.len() > COUNTED {
        return String::new();
    }
    let dense = if table.rows.len() > DENSE { " dn" } else { "" };
    let columns: String = table
        .rounds
        .iter()
        .map(|round| {
            format!(
                "<th scope=\"col\">Round {}<small>{}</small></th>",
                round.opened.number,
                e(&cut(&round.opened.round, 30))
            )
        })
        .collect::<Vec<String>>()
        .concat();
    let mut out = format!(
        "<section class=\"who\"><h2>Who voted what</h2><div class=\"sc\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Who voted what\"><table class=\"mx{dense}\"><caption class=\"vh\">Who voted what in which round</caption><thead><tr><th \
         scope=\"col\">Seat</th>{columns}</tr></thead><tbody>"
    );
    for row in &table.rows {
        let _ = write!(out, "<tr><th scope=\"row\">{}<small>{}</small></th>", e(row.seat), e(row.model));
        for one in &row.cells {
            out.push_str(&cell(one));
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></div></section>"
}

fn cell(cell: &Cell) -> String {
    let moved = if cell.moved { "<em>moved</em>" } else { "" };
    let sure = cell.sure.as_ref().map(|sure| format!("<small class=\"cf\">{} sure</small>", e(sure)));
    let (sure, text) = (sure.unwrap_or_default(), e(&cut(&cell.text, 120)));
    match cell.place.map(colour).or_else(|| stance_class(&cell.mark).map(str::to_owned)) {
        Some(class) => format!(
            "<td class=\"t-{class}\"><span class=\"op\">{}<span dir=\"auto\">{text}</span></span>{moved}{sure}</td>",
            badge(&class, &cell.mark)
        ),
        None if cell.text.is_empty() => "<td class=\"non\">–</td>".to_owned(),
        None if cell.mark.is_empty() => format!("<td dir=\"auto\">{text}{moved}{sure}</td>"),
        None => format!("<td class=\"non\"><span>{} {text}</span>{moved}{sure}</td>", cell.mark),
    }
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
    table(run, options.iter().take(OPTIONS), most, out);
    if options.len() > OPTIONS {
        let _ = write!(out, "<p class=\"more\">+ {} more options below</p>", options.len() - OPTIONS);
    }
    out.push_str("</section>");
}

fn table<'a>(run: &RoundRun, options: impl Iterator<Item = &'a OptionView>, most: usize, out: &mut String) {
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
        if let Some(text) = &option.description {
            let _ = write!(out, "<p dir=\"auto\">{}</p>", e(&cut(text, 300)));
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
    if reasons.is_empty() {
        out.push_str("<span class=\"non\">–</span>");
        return;
    }
    out.push_str("<ul>");
    for reason in reasons.iter().take(most) {
        let many = match reason.seats.len() {
            0 | 1 => String::new(),
            seats => format!("<span class=\"mul\">{seats} seats</span> "),
        };
        let _ = write!(
            out,
            "<li dir=\"auto\">{} <small>{many}{}</small></li>",
            e(&cut(&reason.text, REASON)),
            e(&reason.who(last))
        );
    }
    out.push_str("</ul>");
    if reasons.len() > most {
        let _ = write!(out, "<p class=\"more\">+ {} more below</p>", reasons.len() - most);
    }
}
