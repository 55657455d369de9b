//! The body of the Markdown report: what a reader needs who was not there, before the record.

use std::fmt::Write as _;

use super::quote::{code, first_line, inline, quote, told};
use crate::insight::{cut, labels, pluralize};
use crate::report::model::{
    Block, Dissenter, OptionView, Reason, Report, Reports, cost_lines, dissent_heading, headings,
};
use crate::report::table::Cell;

/// How many reasons an option has here; the rest stand in the record.
const REASONS: usize = 4;
/// How many seats the table of votes has; with more, the votes are counted.
const SEATS: usize = 30;
/// How many dissenting seats are quoted in full; with more each is quoted in part.
const IN_FULL: usize = 12;
/// How much of a position is quoted where there are many, in characters.
const PART: usize = 280;

pub fn body(reports: &Reports<'_>) -> String {
    let head = reports.head();
    let mut out = format!("# {}{}\n\n", head.mark(), inline(&first_line(reports.title())));
    match reports.only() {
        Some(report) => {
            verdict(report, &mut out);
            banners(report, &mut out);
            context(report, &mut out);
            out.push_str(&decision(report));
        }
        None => several(reports, &mut out),
    }
    cost(head, &mut out);
    out
}

fn several(reports: &Reports<'_>, out: &mut String) {
    let _ = writeln!(out, "> **{}**\n>", inline(&reports.made.label));
    for part in &reports.parts {
        let line = part.in_short();
        let (question, name) = (inline(&line.question), inline(&line.name));
        let _ = writeln!(out, "> - {question} **{name}** – {}", inline(&line.facts.join(" · ")));
    }
    out.push('\n');
    banners(reports.head(), out);
    let summary = reports.head().context().into_iter().filter(|text| *text != reports.title());
    for text in summary {
        let _ = writeln!(out, "{}", quote(text));
    }
    constraints(reports.head(), out);
    conclusions(reports.head(), out);
    for (at, part) in reports.parts.iter().enumerate() {
        let _ = writeln!(out, "## {}. {}\n", at + 1, inline(&first_line(part.title())));
        verdict(part, out);
        // Text of others never starts a line with a heading.
        let section = format!("\n{}", decision(part)).replace("\n## ", "\n### ");
        out.push_str(section.trim_start_matches('\n'));
    }
}

fn decision(report: &Report<'_>) -> String {
    let mut out = String::new();
    for block in report.blocks() {
        write_block(&block, &mut out);
    }
    if !report.is_one_of_many {
        conclusions(report, &mut out);
    }
    next(report, &mut out);
    options(report, &mut out);
    votes(report, &mut out);
    dissent(report, &mut out);
    for block in report.without_ballot().into_iter().chain(report.movement()) {
        write_block(&block, &mut out);
    }
    out
}

fn write_block(block: &Block, out: &mut String) {
    let _ = writeln!(out, "## {}\n", inline(&block.heading));
    if let Some(note) = &block.note {
        let _ = writeln!(out, "The facilitator's note:\n\n{}", quote(note));
    }
    for (what, text) in &block.lines {
        let _ = writeln!(out, "- **{}** {}", inline(what), inline(text));
    }
    if block.more > 0 {
        let _ = writeln!(out, "- {} more, in the record", block.more);
    }
    out.push('\n');
}

fn verdict(report: &Report<'_>, out: &mut String) {
    let made = &report.made;
    let said = [Some(&made.sentence), made.order.as_ref()];
    let said: Vec<String> =
        said.into_iter().flatten().filter(|text| !text.is_empty()).map(|text| inline(text)).collect();
    let dash = if said.is_empty() { "" } else { " – " };
    let _ = writeln!(out, "> **{}**{dash}{}\n>", inline(&made.label), said.join(" "));
    let facts = report.facts().map(|fact| {
        let note = if fact.note.is_empty() { String::new() } else { format!(" ({})", inline(&fact.note)) };
        format!("**{}** {}{note}", fact.name, inline(&fact.value.to_lowercase()))
    });
    let _ = writeln!(out, "> {}\n", facts.join(" · "));
}

/// Labels of answers that no model gave, and what the report cannot show.
fn banners(report: &Report<'_>, out: &mut String) {
    for label in labels(report.session).into_iter().chain(report.missing()) {
        let _ = writeln!(out, "**{}**\n", told(&label));
    }
}

fn context(report: &Report<'_>, out: &mut String) {
    if first_line(report.title()) != report.title().trim() {
        let _ = writeln!(out, "{}", quote(report.title()));
    }
    for text in report.context() {
        if text.trim().contains('\n') {
            let _ = writeln!(out, "{}", quote(text));
        } else {
            let _ = writeln!(out, "{}\n", inline(text));
        }
    }
    constraints(report, out);
}

fn constraints(report: &Report<'_>, out: &mut String) {
    if !report.constraints().is_empty() {
        let said = report.constraints().iter().map(|constraint| inline(constraint));
        let _ = writeln!(out, "**Must hold:** {}\n", said.collect::<Vec<_>>().join(" · "));
    }
}

/// What models that lead made of it; the count decides.
fn conclusions(report: &Report<'_>, out: &mut String) {
    for (of, said) in report.conclusions() {
        let of = of.map(|id| format!(" on {}", code(id))).unwrap_or_default();
        let _ = writeln!(out, "**The facilitator's conclusion{of}.** {}\n", inline(&said));
    }
}

fn next(report: &Report<'_>, out: &mut String) {
    if let Some(waiting) = report.waiting() {
        let _ = writeln!(out, "**What happens next.** A person has to answer: {}\n", inline(waiting));
        return;
    }
    if let Some(said) = report.approval() {
        let comment = said.comment().map(|comment| format!(" “{}”", inline(comment))).unwrap_or_default();
        let [answer, by] = said.said().map(|part| inline(&part));
        let _ =
            writeln!(out, "**What happens next.** {} **{answer}**{by}{comment}\n", inline(said.question()));
        return;
    }
    let said = report.next().iter().map(|text| told(text)).collect::<Vec<_>>().join(" ");
    let _ = writeln!(out, "**What happens next.** {said}\n");
}

fn options(report: &Report<'_>, out: &mut String) {
    let options = report.options();
    let Some(run) = report.run.filter(|_| !options.is_empty()) else { return };
    let is_proposal = options.iter().all(|option| option.place.is_none());
    let _ = writeln!(out, "## {}\n", if is_proposal { "The proposal" } else { "Options" });
    let [pro, con] = headings(run.opened.ballot.kind);
    for option in &options {
        option_lines(option, run.opened.number, [pro, con], out);
    }
    out.push('\n');
}

fn option_lines(option: &OptionView, last: u32, headings: [&str; 2], out: &mut String) {
    let description = option.description.as_ref().map(|text| inline(text));
    if option.place.is_none() {
        let _ = writeln!(out, "- {}", description.unwrap_or_default());
    } else {
        let description = description.map(|text| format!(": {text}")).unwrap_or_default();
        let mut facts = Vec::new();
        if !option.result.is_empty() {
            facts.push(inline(&option.result));
        }
        if option.is_chosen {
            facts.push("chosen".to_owned());
        }
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        let _ = writeln!(out, "- **{} {}**{facts}{description}", option.letter, inline(&option.name));
    }
    for (heading, reasons) in headings.into_iter().zip([&option.reasons.pro, &option.reasons.con]) {
        if reasons.is_empty() {
            continue;
        }
        let said = reasons.iter().take(REASONS).map(|reason| merged(reason, last));
        let mut said = said.collect::<Vec<_>>().join("; ");
        if reasons.len() > REASONS {
            let _ = write!(said, "; {} more in the record", reasons.len() - REASONS);
        }
        let _ = writeln!(out, "  - {heading}: {said}");
    }
}

fn merged(reason: &Reason, last: u32) -> String {
    format!("{} ({})", inline(&cut(&reason.text, PART)), inline(&reason.who(last)))
}

fn votes(report: &Report<'_>, out: &mut String) {
    let table = report.table();
    if table.rounds.is_empty() {
        return;
    }
    out.push_str("## Who voted what\n\n");
    if table.rows.len() > SEATS {
        let _ = writeln!(out, "{}: the record has each.\n", pluralize(table.rows.len(), "seat"));
        return;
    }
    let heads = table
        .rounds
        .iter()
        .map(|round| format!("round {} {}", round.opened.number, tag(&round.opened.round)));
    let heads: Vec<String> = heads.collect();
    let _ = writeln!(out, "| seat | model | {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|---|{}", "---|".repeat(heads.len()));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        let _ = writeln!(out, "| {} | {} | {} |", barred(row.seat), barred(row.model), cells.join(" | "));
    }
    out.push('\n');
}

fn tag(round: &str) -> String {
    if round.contains('|') { barred(round) } else { code(round) }
}

fn barred(text: &str) -> String {
    // A pipe ends a cell, whatever stands before it.
    const PIPE: &str = "\u{e000}";
    inline(&text.replace('|', PIPE)).replace(PIPE, "&#124;")
}

fn cell(cell: &Cell) -> String {
    let space = if cell.mark.is_empty() { "" } else { " " };
    let what = format!("{}{space}{}", cell.mark, barred(&cell.text));
    let what = if cell.moved { format!("**→ {what}**") } else { what };
    let sure = cell.sure.as_ref().map(|sure| format!(" ({sure})")).unwrap_or_default();
    what + &sure
}

fn dissent(report: &Report<'_>, out: &mut String) {
    let Some(run) = report.run else { return };
    let found = report.dissent();
    if found.is_empty() {
        if report.tally.is_some_and(|tally| tally.decided) {
            out.push_str("## Dissent\n\nNo dissent among the counted ballots.\n\n");
        }
        return;
    }
    let _ = writeln!(out, "## {}\n", dissent_heading(run.opened.ballot.kind));
    let is_short = found.len() > IN_FULL;
    for one in found.iter().take(if is_short { SEATS } else { found.len() }) {
        dissenter(one, is_short, out);
    }
    if found.len() > SEATS {
        let _ = writeln!(out, "- {} more, in the record", found.len() - SEATS);
    }
    out.push('\n');
}

fn dissenter(one: &Dissenter<'_>, is_short: bool, out: &mut String) {
    let change =
        one.change.as_ref().map(|change| format!(", until “{}”", inline(change))).unwrap_or_default();
    let head = format!("- **{}** {}{change}", inline(one.seat.name), inline(&one.vote));
    let _ = match one.said.as_str() {
        "" => writeln!(out, "{head}; no reasons given"),
        said if is_short => writeln!(out, "{head}: “{}”", inline(&cut(said, PART))),
        said if said.contains('\n') => writeln!(out, "{head}:\n\n{}", indented(&quote(said))),
        said => writeln!(out, "{head}: “{}”", inline(said)),
    };
}

pub fn indented(block: &str) -> String {
    block.lines().fold(String::new(), |text, line| text + "  " + line + "\n")
}

fn cost(report: &Report<'_>, out: &mut String) {
    let mut parts = cost_lines(report.session);
    let source = report.source;
    let record = if source.entries > 0 {
        let hash: String = source.last_hash.chars().take(16).collect();
        format!("{} entries, last hash {}", source.entries, code(&format!("{hash}…")))
    } else {
        "the whole record is in the session's `.s2s` file".to_owned()
    };
    parts.push(format!("{}: {record}", code(&format!("roundtable verify {}", source.name()))));
    let _ = writeln!(out, "## Cost and check\n\n{}.\n", parts.join(". "));
}
