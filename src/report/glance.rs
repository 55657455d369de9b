//! Result of a session on one screen: at most 25 terminal lines.
//!
//! Omitted items are counted. A round contributes nothing before its answers are revealed.

use unicode_width::UnicodeWidthStr as _;

use super::model::{Block, Dissenter, Document, Fact, Facts, Page, RoundRecord, SeatRecord, people_money};
use super::quote::first_line;
use crate::insight::round_view::{Bar, Supporter, bar_cells};
use crate::insight::{first_names, pluralize, uncapital};
use crate::sanitize::{harmless_line, wrapped};

/// Most lines. The rest of a usual terminal is for the closing hash and the prompt.
const LINES: usize = 22;
/// Most lines of one section.
const OF_SECTION: usize = 6;
/// Widths in cells of an option's bar and its name.
const BAR: usize = 20;
const NAME: usize = 24;
/// Column of a fact's text.
const FACT: usize = 14;

/// Terminal, and how it names the session's file.
#[derive(Debug)]
pub struct Look<'a> {
    pub columns: usize,
    pub has_color: bool,
    pub is_ascii: bool,
    /// Path of the session's file, ready to paste.
    pub path: &'a str,
    /// Session's id, or the path if no id leads to the file; for commands.
    pub name: &'a str,
}

type Items = Vec<Vec<String>>;

/// Returns the result of a session for a terminal, each line with a line feed.
pub fn glance(document: &Document<'_>, look: &Look<'_>) -> String {
    let glance = Glance { document, look };
    let (mut lines, foot) = (glance.head(), glance.foot());
    // The path is not wrapped, so that it can be pasted.
    let most_lines = LINES.saturating_sub((look.path.width() + "Saved ".len() - 1) / look.columns);
    let mut sections = match document.only() {
        None => vec![("decision", glance.decisions())],
        Some(page) => {
            let run = document.round(page);
            let (blocks, dissent) = (glance.blocks(&page.blocks), glance.dissent(page));
            let is_alone = dissent.is_empty() && blocks.is_empty();
            vec![
                ("option", glance.counts(page, run)),
                ("line", blocks),
                (if page.dissent_heading == "The extremes" { "extreme" } else { "dissent" }, dissent),
                ("answer", if is_alone { glance.reasons(run) } else { Vec::new() }),
                ("reason", glance.blocks(&page.not_counted)),
            ]
        }
    };
    sections.retain(|(_, items)| !items.is_empty());
    let (mut after, most) = (2 * sections.len(), if sections.len() == 1 { most_lines } else { OF_SECTION });
    for (noun, items) in sections {
        // Each later section gets at least two lines.
        after -= 2;
        let room = most_lines.saturating_sub(lines.len() + foot.len() + after + 2).clamp(1, most);
        lines.push(String::new());
        show(items, noun, room, &mut lines);
    }
    lines.push(String::new());
    lines.extend(foot);
    lines.join("\n") + "\n"
}

/// Shows as many items as fit into `room` lines, and the number of omitted ones.
fn show(items: Items, noun: &str, mut room: usize, lines: &mut Vec<String>) {
    let (is_whole, count) = (items.iter().map(Vec::len).sum::<usize>() <= room, items.len());
    for (at, item) in items.into_iter().enumerate() {
        if !is_whole && item.len() >= room {
            return lines.push(format!("  + {}: --full", pluralize(count - at, noun)));
        }
        room -= item.len();
        lines.extend(item);
    }
}

struct Glance<'a> {
    document: &'a Document<'a>,
    look: &'a Look<'a>,
}

impl Glance<'_> {
    /// Colors text if the terminal supports it.
    fn painted(&self, code: &str, text: &str) -> String {
        if self.look.has_color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Returns at most `most` indented lines; a cut text ends with `…`.
    fn lines(&self, text: &str, indent: usize, most: usize) -> Vec<String> {
        let width = self.look.columns.saturating_sub(indent).max(10);
        let mut lines = wrapped(&harmless_line(text), width, most + 1);
        if lines.len() > most {
            lines.truncate(most);
            let last = lines.last_mut().map(std::mem::take).unwrap_or_default();
            let cut = wrapped(&last, width - 1, 1).concat();
            lines[most - 1] = cut + "…";
        }
        lines.into_iter().map(|line| format!("{:indent$}{line}", "")).collect()
    }

    fn head(&self) -> Vec<String> {
        let Document { verdict, task, labels, missing, .. } = self.document;
        let made = &verdict.made;
        let color = if verdict.decided { "1;32" } else { "1;33" };
        let mut lines: Vec<String> =
            self.lines(&made.label, 0, 2).iter().map(|line| self.painted(color, line)).collect();
        let is_one = self.document.only().is_some();
        lines.extend(self.lines(if is_one { &made.sentence } else { "" }, 0, 2));
        lines.extend(made.order.iter().flat_map(|order| self.lines(order, 0, 1)));
        lines.extend(self.lines(task.title, 0, 1).iter().map(|line| self.painted("2", line)));
        let said = labels.iter().map(ToString::to_string).chain(missing.iter().cloned());
        lines.extend(said.take(2).flat_map(|label| self.lines(&label, 0, 1)));
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// Returns the decisions of the session, three lines each.
    fn decisions(&self) -> Items {
        let item = |page: &Page<'_>| {
            let made = &page.verdict.made;
            let (color, name) =
                if page.verdict.decided { ("1;32", &made.name) } else { ("1;33", &made.label) };
            let name = self.lines(name, 2, 1).iter().map(|name| self.painted(color, name)).collect();
            [self.lines(&first_line(page.question), 0, 1), name, self.lines(&page.short.join(" · "), 2, 1)]
                .concat()
        };
        self.document.decisions.iter().map(item).collect()
    }

    /// Returns the lines of blocks: opinions, findings, estimates by round, seats that did not count.
    fn blocks<'a>(&self, blocks: impl IntoIterator<Item = &'a Block>) -> Items {
        let of_block = |block: &Block| {
            let note =
                block.note.iter().map(|note| self.lines(&format!("Note: {note}"), 2, 2)).collect::<Items>();
            let line = |(what, text): &(String, String)| {
                let colon = if text.is_empty() { "" } else { ": " };
                self.lines(&format!("{what}{colon}{}", sentence(text)), 2, 2)
            };
            let lines: Items = block.lines.iter().map(line).collect();
            [vec![self.lines(&block.heading, 0, 1)], note, lines].concat()
        };
        blocks.into_iter().flat_map(of_block).collect()
    }

    /// Returns a bar for each option, with the seats that support it.
    fn counts(&self, page: &Page<'_>, run: Option<&RoundRecord<'_>>) -> Items {
        let chart = run.and_then(|run| run.chart.as_ref());
        let bars = chart.iter().flat_map(|chart| &chart.bars);
        let mut bars: Vec<&Bar<'_>> = bars.map(|bar| &bar.bar).collect();
        bars.sort_by(|a, b| b.share.total_cmp(&a.share));
        let width = bars.iter().map(|bar| harmless_line(bar.name).width()).max().unwrap_or(0);
        let width = width.clamp(1, NAME.min(self.look.columns / 3));
        let line = |bar: &Bar<'_>| {
            let own = page.options.iter().find(|option| option.name == bar.name);
            let votes = own.filter(|option| option.votes.is_some());
            let result = votes.map_or_else(|| bar.score.rounded(), |option| option.result.clone());
            self.bar(bar, &result, own.is_some_and(|option| option.is_chosen), width)
        };
        bars.into_iter().map(line).collect()
    }

    fn bar(&self, side: &Bar<'_>, result: &str, is_chosen: bool, width: usize) -> Vec<String> {
        let room = BAR.min(self.look.columns / 4);
        let full = bar_cells(side.share, room);
        let [on, off] = if self.look.is_ascii { ["#", "."] } else { ["█", "░"] };
        let bar = format!("{}{}", on.repeat(full), off.repeat(room - full));
        let bar = if is_chosen { self.painted("32", &bar) } else { bar };
        let seat = |one: &Supporter<'_>| match one.sure {
            Some(sure) => format!("{} ({:.0} %)", one.seat, sure * 100.0),
            None => one.seat.to_owned(),
        };
        let seats: Vec<String> = side.seats.iter().map(seat).collect();
        let colon = if seats.is_empty() { "" } else { ": " };
        let before = width + room + 6;
        let mut lines = self.lines(&format!("{result}{colon}{}", first_names(&seats, 4)), before, 2);
        let name = wrapped(&harmless_line(side.name), width, 1).concat();
        let pad = " ".repeat(width - name.width().min(width));
        lines[0].replace_range(..before, &format!("  {name}{pad}  {bar}  "));
        lines
    }

    /// Returns one sentence per seat, for a result without dissent.
    fn reasons(&self, run: Option<&RoundRecord<'_>>) -> Items {
        let seats = run.iter().flat_map(|run| &run.seats).filter(|seat| !seat.said.is_empty());
        let line = |seat: &SeatRecord<'_>| format!("{}: {}", seat.participant, sentence(&seat.said));
        seats.map(|seat| self.lines(&line(seat), 2, 2)).collect()
    }

    fn dissent(&self, page: &Page<'_>) -> Items {
        let heading = page.dissent_heading;
        let item = |one: &Dissenter<'_>| {
            let change = one.minimum_change.map(|change| format!(" until: {change}")).unwrap_or_default();
            let words = sentence(&one.said);
            let words = if words.is_empty() { String::new() } else { format!(": “{words}”") };
            let text = format!("{heading}: {} {}{change}{words}", one.participant, one.vote);
            self.lines(&text, 2, 2).iter().map(|line| self.painted("33", line)).collect()
        };
        page.dissent.iter().map(item).collect()
    }

    /// Returns strength, independence, approval, cost, the file's path and the next two commands.
    fn foot(&self) -> Vec<String> {
        let document = self.document;
        let mut facts: Vec<(&str, String)> = Vec::new();
        if let Some(page) = document.only()
            && let Some(Facts { strength, independence, approval, .. }) = &page.verdict.facts
        {
            let text = |fact: &Fact| format!("{} ({})", uncapital(&fact.value), fact.note);
            facts.extend([("Strength", text(strength)), ("Independence", text(independence))]);
            let is_asked = page.approval.is_some() || document.waiting.is_some();
            facts.extend(is_asked.then(|| ("Approval", text(approval))));
        }
        if document.spent.has_usage() || document.spent.is_unknown {
            facts.push(("Cost", people_money(&document.spent)));
        }
        let mut lines = Vec::new();
        for (name, text) in facts {
            let mut of_fact = self.lines(&text, FACT, 2);
            of_fact[0].replace_range(..FACT, &self.painted("2", &format!("{name:FACT$}")));
            lines.extend(of_fact);
        }
        let Look { path, name, .. } = self.look;
        lines.push(format!("{} {}", self.painted("2", "Saved"), harmless_line(path)));
        let verb = document.resume_verb.unwrap_or("verify");
        for command in [format!("{verb} {name}"), format!("report {name} --full")] {
            let command = harmless_line(&format!("roundtable {command}"));
            lines.push(format!("  {}", self.painted("36", &command)));
        }
        lines
    }
}

fn sentence(text: &str) -> &str {
    let text = text.trim().lines().next().unwrap_or_default();
    let mut ends = text.match_indices(['.', '!', '?']).map(|(at, _)| &text[..=at]);
    // "Redis." adds nothing to the vote.
    ends.find(|said| said.contains(' ') && text[said.len()..].starts_with(' ')).unwrap_or(text)
}
