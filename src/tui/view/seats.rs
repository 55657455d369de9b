//! The seats: who is waiting, asking, sealed, failed; not a word of what they said before the close.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use super::numbers::clock;
use super::votes;
use crate::ballot::Ballot;
use crate::history::RoundRun;
use crate::insight::movement::earlier;
use crate::insight::round_view::{SeatView, VisibleState, confidence, is_revealed, seat_at, seats};
use crate::insight::sides::side_of;
use crate::insight::wording::{format_duration, group_digits};
use crate::participants::progress::{Progress, RequestPhase as Request};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, clipped_middle, cut_middle};
use crate::tui::model::Model;
use crate::tui::update::invitation;

/// The pane's title and the lines that are seen; each is noted for the mouse.
pub fn pane(model: &Model, area: Rect, hits: &mut ClickMap) -> (String, Vec<Line<'static>>) {
    let session = model.session();
    let count = model.seat_count();
    if count == 0 {
        return ("Question".to_owned(), super::question::lines(model, area.width));
    }
    let order = model.seat_order();
    let height = usize::from(area.height);
    let chosen = model.seat.min(count.saturating_sub(1));
    let row = order.iter().position(|seat| *seat == chosen).unwrap_or(0);
    // The chosen seat is always seen.
    let start = (row + 1).saturating_sub(height).min(order.len().saturating_sub(height));
    let shown = &order[start..order.len().min(start + height)];
    for (row, index) in (area.y..area.bottom()).zip(shown) {
        hits.note(Rect { y: row, height: 1, ..area }, Target::Seat(*index));
    }
    let part = if shown.len() < count {
        format!("{} of {}", group_digits(shown.len()), group_digits(count))
    } else {
        count.to_string()
    };
    if let Some(preview) = model.preview() {
        let keys = if model.is_undecided() { " · p adds, removes · m model" } else { "" };
        let names = &preview.opened.seats;
        let longest = longest(names.iter(), area.width);
        let step = preview.opened.step.as_str();
        let line = |index: &usize| to_ask(model, step, &names[*index], *index == chosen, longest, area.width);
        return (format!(" Who is asked ({part}){keys} "), shown.iter().map(line).collect());
    }
    let Some(round) = model.shown_round() else { return (format!(" Seats ({part}) "), Vec::new()) };
    let longest = if is_revealed(round) {
        longest(round.seats.keys(), area.width.max(50)).min(usize::from(area.width) * 9 / 20)
    } else {
        longest(round.seats.keys(), area.width)
    };
    let all: Vec<SeatView<'_>> = seats(session, round).collect();
    if !is_revealed(round) {
        let line = |index: &usize| while_open(model, &all[*index], *index == chosen, longest, area.width);
        return (format!(" Seats ({part}) · what needs you first "), shown.iter().map(line).collect());
    }
    let columns = Columns::fitting(area.width, longest);
    let lines = shown.iter().map(|index| line(model, &all[*index], *index == chosen, columns)).collect();
    (columns.title(&format!("Seats ({part})"), model), lines)
}

/// How wide the list of a counted round is, with names, votes and how sure each is.
pub fn counted_width(round: &RoundRun) -> u16 {
    const MOST_VOTE: usize = 14;
    let name = round.seats.keys().map(|name| harmless_line(name).width()).max().unwrap_or(0).min(18);
    let options = round.opened.ballot.options.iter().map(|option| harmless_line(option).width());
    let vote = options.max().unwrap_or(12).clamp(4, MOST_VOTE);
    u16::try_from(3 + name + 2 + vote + SURE + 2 + 2).unwrap_or(u16::MAX)
}

/// Sign and style of a seat: once it is counted those of its option.
fn sign(model: &Model, seat: &SeatView<'_>) -> (&'static str, Style) {
    let (sign, _, style) = standing(model, seat);
    let side = model.shown_round().and_then(|round| side_of(seat, round));
    side.map_or((sign, style), |side| (model.theme.option_sign(side), model.theme.option(side)))
}

/// A seat of an open round: its state with the reason, how long it took, and who answers for it.
fn while_open(
    model: &Model,
    seat: &SeatView<'_>,
    is_chosen: bool,
    longest: usize,
    width: u16,
) -> Line<'static> {
    let (sign, word, style) = standing(model, seat);
    let width = usize::from(width);
    let time = if width < 44 { 0 } else { 8 };
    let model_room = if width < 60 { 0 } else { (width / 4).min(24) };
    let room = width.saturating_sub(3 + longest + 2 + time + model_room + usize::from(model_room > 0) * 2);
    let faint = model.theme.faint();
    let mut spans = vec![
        Span::raw(if is_chosen { model.theme.sign("▸", ">") } else { " " }),
        Span::styled(format!("{sign} "), style),
        Span::styled(
            format!("{}  ", clipped_middle(&harmless_line(seat.name), longest)),
            if is_chosen { model.theme.strong() } else { Style::new() },
        ),
        Span::styled(clipped(&reason(model, seat).unwrap_or(word), room), style),
    ];
    if time > 0 {
        let taken = progress(model, seat).map(|progress| progress.for_ms);
        let taken = taken.or_else(|| own_time(model, seat)).or_else(|| replayed_ms(model, seat));
        let taken = taken.map(format_duration).unwrap_or_default();
        spans.push(Span::styled(format!("{taken:>time$}"), faint));
    }
    if model_room > 0 {
        let text = cut_middle(&harmless_line(seat.model), model_room);
        spans.push(Span::styled(format!("  {text}"), faint));
    }
    Line::from(spans)
}

/// Why a seat needs somebody, on its row.
fn reason(model: &Model, seat: &SeatView<'_>) -> Option<String> {
    if let VisibleState::Failed(failed) = &seat.standing {
        let tries = if failed.tries > 1 { format!("{} attempts: ", failed.tries) } else { String::new() };
        let first = failed.reason.lines().next().unwrap_or_default();
        return Some(format!("{tries}{}", harmless_line(first)));
    }
    if model.pending_human().is_some_and(|(name, _)| name == seat.name) {
        return Some("your turn: Enter".to_owned());
    }
    if matches!(seat.standing, VisibleState::Unread("asking"))
        && let Some(state) = invitation(model.session(), seat.name)
    {
        return Some(if state == "joined" { state.to_owned() } else { format!("{state}: i") });
    }
    let progress = progress(model, seat)?;
    let trouble = progress.trouble.as_deref().map(harmless_line);
    match (progress.standing, progress.left_ms) {
        (Request::Waiting, Some(left)) => {
            let why = trouble.map(|why| format!(" · {why}")).unwrap_or_default();
            Some(format!("again in {}{why}", clock(left.div_ceil(1000))))
        }
        (Request::Stalled, _) => Some("silent".to_owned()),
        (standing, _) if progress.tries > 1 => {
            Some(format!("{}, attempt {}", standing.word(), progress.tries))
        }
        _ => None,
    }
}

/// How long the last request of a seat took, in milliseconds: one that was asked again counts from then.
fn own_time(model: &Model, seat: &SeatView<'_>) -> Option<u64> {
    let round = model.session().rounds.last()?;
    let again = round.seat(seat.name)?.retried_at;
    let before = again.map_or(0, |at| at.since(round.opened_at));
    Some(seat.elapsed_ms?.saturating_sub(before))
}

/// How wide the names are; on a narrow screen they give way to what is said of the seats.
fn longest<'a>(names: impl Iterator<Item = &'a String>, width: u16) -> usize {
    let most = if width < 50 { usize::from(width / 3) } else { 24 };
    names.map(|name| name.width()).max().unwrap_or(0).min(most)
}

/// A list narrower than this has names alone once the answers are there.
const NAMES_ALONE: u16 = 28;

/// The columns of a confidence and of the sign of a change.
const SURE: usize = 6;

#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    word: usize,
    /// How sure it is, to the right; without room nothing.
    sure: usize,
    /// The time, to the right; without room there is none.
    time: usize,
}

impl Columns {
    /// The time gives way to a vote on a narrow screen.
    fn fitting(width: u16, name: usize) -> Self {
        let whole = usize::from(width);
        // Beside an answer there may be room for names alone: signs and colors say the rest.
        if width < NAMES_ALONE {
            return Self { name: whole.saturating_sub(3), word: 0, sure: 0, time: 0 };
        }
        let time = if width < 52 { 0 } else { 8 };
        let word = whole.saturating_sub(3 + name + 2 + SURE + time).min(24);
        Self { name, word, sure: SURE, time }
    }

    /// The title, with the names of the columns over them.
    fn title(self, title: &str, model: &Model) -> String {
        if self.sure == 0 {
            return title.to_owned();
        }
        let rule = |from: usize, to: usize| model.theme.sign("─", "-").repeat(to.saturating_sub(from));
        // The title begins one column before the seats' signs.
        let vote = format!("{title} {} vote", rule(title.width() + 2, self.name + 4));
        let sure = format!("{vote} {} sure", rule(vote.width() + 2, self.name + self.word + 4));
        if self.time == 0 { sure } else { format!("{sure} {} time", rule(0, self.time - 4)) }
    }
}

/// A seat that is to be asked, with its model and whether that could answer.
fn to_ask(
    model: &Model,
    step: &str,
    name: &str,
    is_chosen: bool,
    longest: usize,
    width: u16,
) -> Line<'static> {
    let info = model.session().seat_info(name);
    let asked = info.map(|info| info.label(step).to_owned()).unwrap_or_default();
    let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
    let name_style = if is_chosen { model.theme.strong() } else { Style::new() };
    let problem = model.live().and_then(|live| live.problems.iter().find(|(seat, _)| seat == name));
    let (sign, word, style) = match problem {
        Some((_, why)) => (model.theme.sign("✗", "x"), why.as_str(), model.theme.bad()),
        None => match invitation(model.session(), name) {
            Some(state) => (" ", state, model.theme.active()),
            None => (" ", "", Style::new()),
        },
    };
    let room = usize::from(width).saturating_sub(longest + 5);
    let of_model = if word.is_empty() { room } else { room / 2 };
    let asked = clipped(&cut_middle(&harmless_line(&asked), of_model), of_model.min(28));
    let left = room.saturating_sub(of_model.min(28) + 2);
    Line::from(vec![
        Span::raw(pointer),
        Span::styled(format!("{sign} "), style),
        Span::styled(format!("{}  ", clipped_middle(&harmless_line(name), longest)), name_style),
        Span::styled(format!("{asked}  "), model.theme.faint()),
        Span::styled(clipped(&harmless_line(word), left), style),
    ])
}

fn line(model: &Model, seat: &SeatView<'_>, is_chosen: bool, columns: Columns) -> Line<'static> {
    let (_, word, _) = standing(model, seat);
    let (sign, style) = sign(model, seat);
    let name = clipped_middle(&harmless_line(seat.name), columns.name);
    let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
    let name_style = if is_chosen { model.theme.strong() } else { Style::new() };
    // Of a vote what it is for says it.
    let brief = seat.ballot().and_then(Ballot::brief).map(|brief| harmless_line(&brief));
    let word = brief.filter(|_| columns.sure > 0).unwrap_or(word);
    let mut spans = vec![
        Span::raw(pointer),
        Span::styled(format!("{sign} "), style),
        Span::styled(format!("{name}  "), name_style),
        Span::styled(clipped(&cut_middle(&word, columns.word), columns.word), style),
    ];
    if columns.sure > 0 {
        let sure = seat.answer().and_then(confidence).map(|text| votes::sure(&text)).unwrap_or_default();
        let moved = if has_moved(model, seat) { model.theme.sign("←", "<") } else { " " };
        spans.push(Span::raw(format!("{sure:>4} {moved}")));
    }
    if columns.time > 0 {
        let taken = seat.elapsed_ms.map(format_duration).unwrap_or_default();
        let taken = format!("{taken:>width$}", width = columns.time);
        spans.push(Span::styled(taken, model.theme.faint()));
    }
    Line::from(spans)
}

/// Whether a seat's vote is another than in the round before.
fn has_moved(model: &Model, seat: &SeatView<'_>) -> bool {
    let Some(round) = model.shown_round() else { return false };
    let before = earlier(model.session(), round);
    let was =
        before.and_then(|before| seat_at(model.session(), before, before.seats.get_index_of(seat.name)?));
    let (was, now) = (was.as_ref().and_then(SeatView::ballot), seat.ballot());
    was.is_some_and(|was| now.is_some_and(|now| was.brief() != now.brief()))
}

/// How long a seat that is asked has been asked, at the moment of a replay.
fn replayed_ms(model: &Model, seat: &SeatView<'_>) -> Option<u64> {
    let is_asked = matches!(seat.standing, VisibleState::Unread("asking"));
    let round = model.session().open_round().filter(|_| is_asked && model.live().is_none())?;
    Some(model.session().round_ran_ms(round, model.replay.moment()))
}

/// How the request of a seat that is asked stands.
pub fn progress<'a>(model: &'a Model, seat: &SeatView<'_>) -> Option<&'a Progress> {
    model.progress.get(seat.name).filter(|_| matches!(seat.standing, VisibleState::Unread("asking")))
}

fn waits(progress: Option<&Progress>) -> String {
    match progress.and_then(|progress| progress.left_ms) {
        Some(left) => format!("waits {} more", format_duration(left)),
        None => Request::Waiting.word().to_owned(),
    }
}

/// Sign, word and style of where a seat stands: each state has its own sign and word.
fn standing(model: &Model, seat: &SeatView<'_>) -> (&'static str, String, Style) {
    let theme = model.theme;
    match &seat.standing {
        VisibleState::Unread("sealed") => (theme.sign("■", "#"), "sealed".to_owned(), theme.good()),
        VisibleState::Unread("asking") => match progress(model, seat).map(|progress| progress.standing) {
            Some(Request::Waiting) => ("!", waits(progress(model, seat)), theme.bad()),
            Some(Request::Queued) => (theme.sign("◌", "."), Request::Queued.word().to_owned(), theme.faint()),
            Some(at @ Request::Stalled) => ("!", at.word().to_owned(), theme.bad()),
            Some(at) => (theme.sign("◧", "o"), at.word().to_owned(), Style::new()),
            None => (theme.sign("◧", "o"), Request::Asked.word().to_owned(), Style::new()),
        },
        VisibleState::Unread(word) => (theme.sign("◌", "."), (*word).to_owned(), theme.faint()),
        VisibleState::Lost => ("!", "key lost".to_owned(), theme.bad()),
        VisibleState::Failed(failed) => {
            let word = if failed.timed_out { "timed out" } else { "failed" };
            (theme.sign("✗", "x"), word.to_owned(), theme.bad())
        }
        VisibleState::Excused(_) => (theme.sign("–", "-"), "excused".to_owned(), theme.faint()),
        VisibleState::Missing => ("?", "missing".to_owned(), theme.bad()),
        VisibleState::Revealed(answer) => {
            let said =
                seat.ballot().and_then(Ballot::phrase).unwrap_or_else(|| answer.outcome.name().to_owned());
            let (sign, style) = match seat.ballot() {
                Some(Ballot::Abstain) => (theme.sign("○", "_"), theme.faint()),
                Some(_) => (theme.sign("●", "*"), theme.good()),
                None => (theme.sign("✗", "x"), theme.bad()),
            };
            (sign, harmless_line(&said), style)
        }
    }
}
