//! The first page: what was asked, what was decided and how firmly, who disagrees, what it rests on.

use std::fmt::Write as _;

use super::charts;
use super::markup::{badge, colour, e, told};
use super::tables::{reasons_table, votes_table};
use crate::ballot::BallotKind;
use crate::insight::cut;
use crate::insight::headline::capital;
use crate::insight::{labels, pluralize};
use crate::report::model::{
    Block, Dissenter, Report, Reports, cost_lines, dissent_heading, remote_notes, sure,
};

/// How many dissenting seats are quoted in full.
const IN_FULL: usize = 3;
/// How long these may be together, in characters.
const FULL_LENGTH: usize = 1_200;
/// How much is quoted of each where there are more or longer ones.
const PART: usize = 280;
const QUOTED: usize = 6;

/// Whether the first page quotes all dissent in full.
fn quotes_all(found: &[Dissenter<'_>]) -> bool {
    let length: usize = found.iter().map(|one| one.said.chars().count()).sum();
    found.len() <= IN_FULL && length <= FULL_LENGTH
}

pub fn page(reports: &Reports<'_>, out: &mut String) {
    head(reports, out);
    match reports.only() {
        Some(report) => out.push_str(&decision(report)),
        None => several(reports, out),
    }
    foot(reports, out);
}

fn several(reports: &Reports<'_>, out: &mut String) {
    let _ = write!(
        out,
        "\n<section id=\"decision\" class=\"verdict list\"><div><h2>{}</h2><table class=\"mx\"><caption class=\"vh\">The \
         decisions</caption><tbody>",
        e(&reports.made.name)
    );
    for part in &reports.parts {
        let line = part.in_short();
        let _ = write!(
            out,
            "<tr><th scope=\"row\" dir=\"auto\">{}</th><td><b dir=\"auto\">{}</b></td><td>{}{}</td></tr>",
            e(&cut(&line.question, 200)),
            e(&cut(&line.name, 120)),
            gauge(part),
            e(&line.facts.join(" · "))
        );
    }
    out.push_str("</tbody></table></div></section>");
    for part in &reports.parts {
        let title = e(&cut(part.title().trim(), 600));
        // Foreign text holds no markup: these headings are the page's own.
        let inner =
            decision(part).replace(" id=\"decision\"", "").replace("<h2", "<h3").replace("</h2>", "</h3>");
        let _ = write!(
            out,
            "\n<section class=\"one\"><h2 class=\"pre\" dir=\"auto\">{title}</h2>{inner}</section>"
        );
    }
}

fn decision(report: &Report<'_>) -> String {
    let mut out = String::new();
    verdict(report, &mut out);
    for block in report.blocks() {
        write_block(&block, "said", &mut out);
    }
    dissent(report, &mut out);
    if let Some(block) = report.without_ballot() {
        write_block(&block, "bad", &mut out);
    }
    who_and_how(report, &mut out);
    reasons_table(report, &mut out);
    if report.is_one_of_many {
        next(report, &mut out);
    }
    out
}

fn write_block(block: &Block, class: &str, out: &mut String) {
    let _ = write!(out, "\n<section class=\"{class}\"><h2>{}</h2>", e(&block.heading));
    if let Some(note) = &block.note {
        let _ = write!(
            out,
            "<p class=\"ctx\">The facilitator’s note</p><blockquote class=\"pre\" dir=\"auto\">{}</blockquote>",
            e(&cut(note, 2_000))
        );
    }
    out.push_str("<ul>");
    for (what, text) in &block.lines {
        let _ = write!(out, "<li class=\"pre\" dir=\"auto\"><b>{}</b> {}</li>", e(what), e(&cut(text, 600)));
    }
    out.push_str("</ul>");
    if block.more > 0 {
        let _ = write!(out, "<p class=\"more\">+ {} more below</p>", block.more);
    }
    out.push_str("</section>");
}

fn gauge(report: &Report<'_>) -> String {
    format!("<span class=\"gauge g{}\" aria-hidden=\"true\"><i></i><i></i><i></i></span>", report.boxes())
}

fn head(reports: &Reports<'_>, out: &mut String) {
    let (session, report) = (reports.session, reports.head());
    let seats = report.run.map_or(session.roster.len(), |run| run.seats.len());
    let rounds = match session.rounds.len() {
        0 => "no round".to_owned(),
        count => pluralize(count, "blind round"),
    };
    let _ = write!(
        out,
        "<header class=\"top\"><p class=\"eb\"><span>Decision report</span><span>{}</span><span>{}, {rounds}</span>\
         <span class=\"sid\">{}</span></p><h1 class=\"pre\" dir=\"auto\">{}</h1>",
        report.date(),
        pluralize(seats, "seat"),
        e(&session.id),
        report.mark().to_owned() + &e(&cut(reports.title().trim(), 600))
    );
    let context = report.context().into_iter().filter(|text| *text != reports.title());
    let mut context: Vec<String> = context.map(|text| e(&cut(text.trim(), 400))).collect();
    if !report.constraints().is_empty() {
        let said: Vec<String> = report.constraints().iter().map(|one| e(&cut(one, 200))).collect();
        context.push(format!("<b>Must hold:</b> {}", said.join(" · ")));
    }
    for text in context {
        let _ = write!(out, "<p class=\"ctx pre\" dir=\"auto\">{text}</p>");
    }
    out.push_str("</header>");
    for label in labels(session) {
        let (word, rest) = label.split_once(':').unwrap_or(("Note", &label));
        let _ = write!(out, "<p class=\"warn\"><b>{}.</b> {}</p>", e(word), e(&capital(rest.trim())));
    }
    for said in report.missing() {
        let _ = write!(out, "<p class=\"warn\">{}</p>", told(&said));
    }
}

fn verdict(report: &Report<'_>, out: &mut String) {
    let is_decided = report.is_decided();
    let class = match report.boxes() {
        _ if !is_decided => "v-none",
        0 | 1 => "v-weak",
        _ => "v-strong",
    };
    let label = if is_decided && report.mark().is_empty() { "Decision" } else { "Outcome" };
    let winners = report.winners();
    let kind = report.run.map(|run| run.opened.ballot.kind);
    let letter =
        |winner: &&str| Some(badge(&colour(report.letters.place(winner)?), &report.letters.letter(winner)?));
    let mark = if winners.is_empty() && kind == Some(BallotKind::Consent) && is_decided {
        badge("c-yes", "✓")
    } else {
        winners.iter().filter_map(letter).collect()
    };
    let _ = write!(
        out,
        "\n<section id=\"decision\" class=\"verdict {class}\"><div class=\"vd\"><p class=\"lab\">{label}</p>\
         <h2 class=\"dec\">{mark}<span dir=\"auto\">{}</span></h2>",
        e(&cut(&report.made.name, 300))
    );
    if let Some(order) = &report.made.order {
        let _ = write!(out, "<p class=\"is\" dir=\"auto\">{}</p>", e(order));
    }
    let options = report.options();
    let chosen = options.iter().find(|option| option.is_chosen);
    if let Some(text) = chosen.and_then(|option| option.description.as_ref()) {
        let _ = write!(out, "<p class=\"is\" dir=\"auto\">{}</p>", e(&cut(text, 400)));
    }
    let _ = write!(out, "<p class=\"say\">{}</p></div><dl class=\"facts\">", told(&report.made.sentence));
    for (at, fact) in report.facts().iter().enumerate() {
        let gauge = if at == 0 { gauge(report) } else { String::new() };
        let _ = write!(
            out,
            "<div><dt>{}</dt><dd>{gauge}<strong>{}</strong><small>{}</small></dd></div>",
            fact.name,
            e(&fact.value),
            e(&cut(&fact.note, 200))
        );
    }
    out.push_str("</dl></section>");
}

fn dissent(report: &Report<'_>, out: &mut String) {
    let Some(run) = report.run else { return };
    let found = report.dissent();
    if found.is_empty() {
        if report.tally.is_some_and(|tally| tally.decided) {
            out.push_str("\n<section class=\"dis none\"><h2>Dissent: none</h2></section>");
        }
        return;
    }
    let in_full = quotes_all(&found);
    let how = if in_full { "in full" } else { "in part; in full below" };
    let _ = write!(
        out,
        "\n<section class=\"dis\"><h2>{} <small>{} of {}, {how}</small></h2><div class=\"dl\">",
        dissent_heading(run.opened.ballot.kind),
        found.len(),
        run.seats.len()
    );
    for one in found.iter().take(QUOTED) {
        let said = if in_full { one.said.clone() } else { cut(&one.said, PART) };
        dissenter(report, one, &said, out);
    }
    out.push_str("</div>");
    if found.len() > QUOTED {
        let _ = write!(out, "<p class=\"more\">+ {} more below</p>", found.len() - QUOTED);
    }
    out.push_str("</section>");
}

/// One dissenting seat: its words, then who it is and what it does.
fn dissenter(report: &Report<'_>, one: &Dissenter<'_>, said: &str, out: &mut String) {
    let sure = sure(&one.seat).map(|sure| format!(" · {sure} sure")).unwrap_or_default();
    out.push_str("<figure>");
    if said.is_empty() {
        out.push_str("<p class=\"non\">No reasons given.</p>");
    } else {
        let _ = write!(out, "<blockquote class=\"pre\" dir=\"auto\">{}</blockquote>", e(said));
    }
    if let Some(change) = &one.change {
        let _ = write!(out, "<p>It would pass with: <q dir=\"auto\">{}</q></p>", e(&cut(change, 400)));
    }
    let mark = match one.seat.ballot().and_then(crate::ballot::Ballot::top_options).as_deref() {
        Some([option]) => report
            .letters
            .place(option)
            .map(|place| badge(&colour(place), &report.letters.letter(option).unwrap_or_default())),
        _ => charts::stance_badge(&one.seat),
    };
    let _ = write!(
        out,
        "<figcaption>{}<b>{}</b> {}<span>{sure} · {}</span></figcaption></figure>",
        mark.unwrap_or_default(),
        e(one.seat.name),
        e(&one.vote),
        e(one.seat.model)
    );
}

/// Side by side: who voted what, and how it counts and moved.
fn who_and_how(report: &Report<'_>, out: &mut String) {
    let Some(run) = report.run else { return };
    let Some(tally) = report.tally else { return };
    let left = votes_table(report);
    let mut right = charts::of_round(&report.letters, run, tally, "h2");
    if let Some(block) = report.movement() {
        write_block(&block, "said moves", &mut right);
    }
    if left.is_empty() && right.is_empty() {
        return;
    }
    let class = if left.is_empty() || right.is_empty() { "two one" } else { "two" };
    let _ = write!(out, "<div class=\"{class}\">{left}<div>{right}</div></div>");
}

/// What happens next: what a person is asked or has said, else what can be done.
fn next(report: &Report<'_>, out: &mut String) {
    out.push_str("<div><h2>What happens next</h2>");
    if let Some(waiting) = report.waiting() {
        let _ = write!(out, "<p>A person has to answer: <b>{}</b></p>", e(&cut(waiting, 400)));
    } else if let Some(said) = report.approval() {
        let [answer, by] = said.said();
        let _ = write!(out, "<p><b>{}</b> {}{}</p>", e(&cut(said.question(), 400)), e(&answer), e(&by));
        if let Some(comment) = said.comment() {
            let _ =
                write!(out, "<blockquote class=\"pre\" dir=\"auto\">{}</blockquote>", e(&cut(comment, 600)));
        }
    } else {
        for text in report.next() {
            let _ = write!(out, "<p>{}</p>", told(&text));
        }
    }
    out.push_str("</div>");
}

fn foot(reports: &Reports<'_>, out: &mut String) {
    let report = reports.head();
    out.push_str("\n<section class=\"foot\"><div>");
    for (of, said) in report.conclusions() {
        let of = of.map(|id| format!(" on {}", e(id))).unwrap_or_default();
        let _ = write!(out, "<p>The facilitator's conclusion{of}: {}</p>", e(&cut(&said, 600)));
    }
    if let Some(only) = reports.only() {
        next(only, out);
    }
    out.push_str("</div><div><h2>Cost and time</h2>");
    for line in cost_lines(report.session) {
        let _ = write!(out, "<p>{}</p>", e(&line));
    }
    out.push_str("</div><div><h2>Check it yourself</h2>");
    let source = report.source;
    let _ = write!(
        out,
        "<p>Sealed until each round closed; every byte is in the record.</p><p><code>roundtable verify {}</code></p>",
        e(source.name())
    );
    for note in remote_notes(report.session) {
        let _ = write!(out, "<p>{}</p>", told(&note));
    }
    if source.entries > 0 {
        let hash: String = source.last_hash.chars().take(16).collect();
        let _ = write!(
            out,
            "<p class=\"hash\">{} entries, last hash <code>{}…</code></p>",
            source.entries,
            e(&hash)
        );
    }
    out.push_str("</div></section>");
}
