//! A result in one look: at most 25 lines of a terminal, from what the whole report shows.
//!
//! What has no room is counted. Nothing of a round is in it before the round is revealed.

use unicode_width::UnicodeWidthStr as _;

use super::model::{Block, Dissenter, Fact, Report, Reports, dissent_heading, people_money, said};
use crate::ballot::Ballot;
use crate::insight::sides::{Bar, Supporter, bar_cells, bars_with_seats};
use crate::insight::wording::resume_verb;
use crate::insight::{SeatView, first_names, labels, pluralize, seats, uncapital};
use crate::sanitize::{harmless_line, wrapped};

/// The most lines it has; two of a usual terminal are left, for the closing hash and the prompt.
const LINES: usize = 22;
/// The most lines of one section.
const OF_SECTION: usize = 6;
/// How many cells the bar of an option has, and how many its name.
const BAR: usize = 20;
const NAME: usize = 24;
/// Where the text of a fact begins.
const FACT: usize = 14;

/// The terminal that it is shown on, and how the session's file is named there.
#[derive(Debug)]
pub struct Look<'a> {
    pub columns: usize,
    pub has_color: bool,
    pub is_ascii: bool,
    /// The session's file, as it can be pasted.
    pub path: &'a str,
    /// What commands call it.
    pub name: &'a str,
}

type Items = Vec<Vec<String>>;

/// The result of a session for a terminal, each line ended.
pub fn glance(reports: &Reports<'_>, look: &Look<'_>) -> String {
    let page = Page { reports, report: reports.head(), look };
    let (mut lines, foot) = (page.head(), page.foot());
    // The path is not wrapped, so that it can be pasted.
    let most_lines = LINES - (look.path.width() + "Saved ".len()).saturating_sub(1) / look.columns.max(1);
    let mut sections = if reports.only().is_none() {
        vec![("decision", page.decisions())]
    } else {
        let (blocks, absent) = (page.blocks(page.report.blocks()), page.blocks(page.report.without_ballot()));
        let dissent = page.dissent();
        let reasons = if dissent.is_empty() && blocks.is_empty() { page.reasons() } else { Vec::new() };
        vec![
            ("option", page.counts()),
            ("line", blocks),
            ("dissent", dissent),
            ("answer", reasons),
            ("reason", absent),
        ]
    };
    sections.retain(|(_, items)| !items.is_empty());
    let (mut after, most) = (2 * sections.len(), if sections.len() == 1 { most_lines } else { OF_SECTION });
    for (noun, items) in sections {
        // Each section that follows has two lines at least.
        after -= 2;
        let room = most_lines.saturating_sub(lines.len() + foot.len() + after + 2).clamp(1, most);
        lines.push(String::new());
        show(items, noun, room, &mut lines);
    }
    lines.push(String::new());
    lines.extend(foot);
    lines.join("\n") + "\n"
}

/// Shows as many items as `room` lines hold, and how many there are besides.
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

struct Page<'a> {
    reports: &'a Reports<'a>,
    report: &'a Report<'a>,
    look: &'a Look<'a>,
}

impl Page<'_> {
    /// Text in a color where the terminal wants that.
    fn painted(&self, code: &str, text: &str) -> String {
        if self.look.has_color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// At most so many indented lines; what is left out ends in a sign.
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
        let made = &self.reports.made;
        let color = if self.reports.is_decided() { "1;32" } else { "1;33" };
        let mut lines: Vec<String> =
            self.lines(&made.label, 0, 2).iter().map(|line| self.painted(color, line)).collect();
        let is_one = self.reports.only().is_some();
        lines.extend(self.lines(if is_one { &made.sentence } else { "" }, 0, 2));
        lines.extend(made.order.iter().flat_map(|order| self.lines(order, 0, 1)));
        lines.extend(self.lines(self.reports.title(), 0, 1).iter().map(|line| self.painted("2", line)));
        let said = labels(self.report.session)
            .into_iter()
            .map(|label| label.to_string())
            .chain(self.report.missing());
        lines.extend(said.take(2).flat_map(|label| self.lines(&label, 0, 1)));
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// The decisions of the session, three lines each.
    fn decisions(&self) -> Items {
        let item = |part: &Report<'_>| {
            let line = part.in_short();
            let color = if line.is_made { "1;32" } else { "1;33" };
            let name = self.lines(&line.name, 2, 1).iter().map(|name| self.painted(color, name)).collect();
            [self.lines(&line.question, 0, 1), name, self.lines(&line.facts.join(" · "), 2, 1)].concat()
        };
        self.reports.parts.iter().map(item).collect()
    }

    /// The lines of a block: opinions, findings, the estimates of each round, seats that did not count.
    fn blocks(&self, blocks: impl IntoIterator<Item = Block>) -> Items {
        let of_block = |block: Block| {
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

    /// A bar for each option, with the seats behind it.
    fn counts(&self) -> Items {
        let mut found =
            self.report.run.map(|run| bars_with_seats(self.report.session, run)).unwrap_or_default();
        found.sort_by(|a, b| b.share.total_cmp(&a.share));
        let width = found.iter().map(|side| harmless_line(side.name).width()).max().unwrap_or(0);
        let width = width.clamp(1, NAME.min(self.look.columns / 3));
        let options = self.report.options();
        let line = |side: &Bar<'_>| {
            let own = options.iter().find(|option| option.name == side.name && option.votes.is_some());
            let result = own.map_or_else(|| side.score.to_string(), |option| option.result.clone());
            self.bar(side, &result, width)
        };
        found.iter().map(line).collect()
    }

    fn bar(&self, side: &Bar<'_>, result: &str, width: usize) -> Vec<String> {
        let room = BAR.min(self.look.columns / 4);
        let full = bar_cells(side.share, room);
        let [on, off] = if self.look.is_ascii { ["#", "."] } else { ["█", "░"] };
        let bar = format!("{}{}", on.repeat(full), off.repeat(room - full));
        let bar = if self.report.winners().contains(&side.name) { self.painted("32", &bar) } else { bar };
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

    /// What each seat said, a sentence each, where nobody disagrees with a result.
    fn reasons(&self) -> Items {
        let found = self.report.run.into_iter().flat_map(|run| seats(self.report.session, run));
        let line = |seat: SeatView<'_>| {
            let text = Some(said(&seat)).filter(|text| !text.is_empty());
            let text = text.or_else(|| seat.ballot().and_then(Ballot::brief))?;
            Some(self.lines(&format!("{}: {}", seat.name, sentence(&text)), 2, 2))
        };
        found.filter_map(line).collect()
    }

    fn dissent(&self) -> Items {
        let kind = self.report.run.map(|run| run.opened.ballot.kind).unwrap_or_default();
        let heading = dissent_heading(kind);
        let item = |one: &Dissenter<'_>| {
            let change =
                one.minimum_change.as_ref().map(|change| format!(" until: {change}")).unwrap_or_default();
            let words = sentence(&one.said);
            let words = if words.is_empty() { String::new() } else { format!(": “{words}”") };
            let text = format!("{heading}: {} {}{change}{words}", one.participant, one.vote);
            self.lines(&text, 2, 2).iter().map(|line| self.painted("33", line)).collect()
        };
        self.report.dissent().iter().map(item).collect()
    }

    /// Strength, independence, approval, cost, where it is saved, and the two commands that come next.
    fn foot(&self) -> Vec<String> {
        let session = self.report.session;
        let spent = session.spent(&|model| session.price(model));
        let is_asked = self.report.approval().is_some() || self.report.waiting().is_some();
        let text = |fact: Fact| (fact.name, format!("{} ({})", uncapital(&fact.value), fact.note));
        let cost = (spent.is_told() || spent.is_unknown).then(|| ("Cost", people_money(&spent)));
        let mut lines = Vec::new();
        let facts = self.reports.only().map(|only| only.facts().map(text)).into_iter().flatten();
        for (name, text) in facts.chain(cost) {
            if name == "Quorum" || name == "Approval" && !is_asked {
                continue;
            }
            let mut of_fact = self.lines(&text, FACT, if name == "Independence" { 2 } else { 1 });
            of_fact[0].replace_range(..FACT, &self.painted("2", &format!("{name:FACT$}")));
            lines.extend(of_fact);
        }
        let Look { path, name, .. } = self.look;
        lines.push(format!("{} {}", self.painted("2", "Saved"), harmless_line(path)));
        let verb = session.closed.as_ref().map_or_else(|| resume_verb(session), |_| "verify");
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
    // "Redis." says no more than the vote.
    ends.find(|said| said.contains(' ') && text[said.len()..].starts_with(' ')).unwrap_or(text)
}
