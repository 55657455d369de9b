//! Seats with their states, and the possible actions for the chosen one.
//!
//! It shows nothing of the answers before the round closes.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::ballot::Ballot;
use crate::history::{Door, RoundRun, SeatFailed, Session};
use crate::insight::movement::earlier;
use crate::insight::round_view::{SeatView, confidence, is_revealed, seat_at, seat_named, seats, side_of};
use crate::insight::wording::{format_duration, group_digits, pluralize};
use crate::participants::progress::{Progress, RequestPhase as Request};
use crate::round::answer::Outcome;
use crate::sanitize::harmless_line;
use crate::tui::frame::{cells, row_start};
use crate::tui::live::Preview;
use crate::tui::model::Model;
use crate::tui::text::{clipped, clipped_middle, clock, cut_middle, hanging, sure};
use crate::tui::theme::Theme;

const SURE: usize = 6;
const TIME: usize = 8;

pub fn pane(model: &Model, area: Rect) -> (String, Vec<Line<'static>>) {
    let count = model.seat_count();
    let order = model.seat_order();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let chosen = model.seat.min(count.saturating_sub(1));
    let row = order.iter().position(|seat| *seat == chosen).unwrap_or(0);
    // The chosen seat stays visible.
    let start = (row + 1).saturating_sub(height).min(order.len().saturating_sub(height));
    let shown = &order[start..order.len().min(start + height)];
    let part = if shown.len() < count {
        format!("{} of {} shown", group_digits(shown.len()), group_digits(count))
    } else {
        count.to_string()
    };
    if let Some(preview) = model.preview() {
        let keys = if model.is_undecided() { " · p adds, removes · m model" } else { "" };
        let name = longest(preview.opened.seats.iter(), area.width);
        let line = |at: &usize| to_ask(model, preview, *at, name, width);
        return (format!("Who is asked ({part}){keys}"), shown.iter().map(line).collect());
    }
    let Some(round) = model.shown_round() else { return (format!("Seats ({part})"), Vec::new()) };
    let all: Vec<SeatView<'_>> = seats(model.session(), round).collect();
    if !is_revealed(round) {
        let name = longest(round.seats.keys(), area.width);
        let line = |at: &usize| while_open(model, &all[*at], name, width);
        let order = if model.live().is_some() { " · what needs you first" } else { "" };
        return (format!("Seats ({part}){order}"), shown.iter().map(line).collect());
    }
    let votes = all.iter().filter_map(|seat| Some(seat.ballot()?.brief()?.width())).max();
    let beside = width.saturating_sub(3 + 2 + votes.unwrap_or(12) + SURE);
    let name = longest(round.seats.keys(), area.width.max(50)).min(beside.max(width * 9 / 20));
    let line = |at: &usize| counted(model, round, &all[*at], name, width);
    (format!("Seats ({part}) · vote, sure, ← moved"), shown.iter().map(line).collect())
}

/// Returns the width of the names; on a narrow screen at most a third of it.
fn longest<'a>(names: impl Iterator<Item = &'a String>, width: u16) -> usize {
    let most = if width < 50 { usize::from(width / 3) } else { 24 };
    names.map(|name| name.width()).max().unwrap_or(0).min(most)
}

/// Returns the width of a counted round's list with names, votes and confidences.
pub fn counted_width(round: &RoundRun) -> u16 {
    const MOST_VOTE: usize = 14;
    let name = round.seats.keys().map(|name| harmless_line(name).width()).max().unwrap_or(0).min(18);
    let options = round.opened.ballot.options.iter().map(|option| harmless_line(option).width());
    let vote = options.max().unwrap_or(12).clamp(4, MOST_VOTE);
    cells(3 + name + 2 + vote + SURE + 2 + 2)
}

fn to_ask(model: &Model, preview: &Preview, at: usize, longest: usize, width: usize) -> Line<'static> {
    let name = &preview.opened.seats[at];
    let info = model.session().seat_info(name);
    let asked = info.map(|info| info.label(&preview.opened.step).to_owned()).unwrap_or_default();
    let problem = model.live().and_then(|live| live.problems().iter().find(|(seat, _)| seat == name));
    let (sign, word, style) = match (problem, invitation(model.session(), name)) {
        (Some((_, why)), _) => ("✗", why.as_str(), model.theme.bad()),
        (None, Some(state)) => (" ", state, model.theme.active()),
        (None, None) => (" ", "", Style::new()),
    };
    let room = width.saturating_sub(longest + 5);
    let of_model = if word.is_empty() { room } else { (room / 2).min(28) };
    let is_chosen = at == model.seat.min(preview.opened.seats.len() - 1);
    let mut line = row_start(model.theme, is_chosen, Span::styled(sign, style), name, longest);
    line.push_span(Span::styled(clipped_middle(&harmless_line(&asked), of_model), model.theme.faint()));
    let word = clipped(&format!("  {}", harmless_line(word)), room - of_model);
    line.push_span(Span::styled(word, style));
    line
}

fn while_open(model: &Model, seat: &SeatView<'_>, longest: usize, width: usize) -> Line<'static> {
    let (sign, word, style) = seat_status(model, seat);
    let time = if width < 44 { 0 } else { TIME };
    let of_model = if width < 60 { 0 } else { (width / 4).min(24) };
    let room = width.saturating_sub(3 + longest + 2 + time + of_model + usize::from(of_model > 0) * 2);
    let faint = model.theme.faint();
    let is_chosen = model.seat_name() == Some(seat.name);
    let mut line = row_start(model.theme, is_chosen, Span::styled(sign, style), seat.name, longest);
    line.push_span(Span::styled(clipped(&reason(model, seat).unwrap_or(word), room), style));
    if time > 0 {
        let taken = elapsed_ms(model, seat).map(format_duration).unwrap_or_default();
        line.push_span(Span::styled(format!("{taken:>time$}"), faint));
    }
    if of_model > 0 {
        let text = cut_middle(&harmless_line(seat.model), of_model);
        line.push_span(Span::styled(format!("  {text}"), faint));
    }
    line
}

/// Returns a seat's row in a counted round: its vote, its confidence, and whether it moved.
fn counted(model: &Model, round: &RoundRun, seat: &SeatView<'_>, name: usize, width: usize) -> Line<'static> {
    const MOST_VOTE: usize = 24;
    let (sign, word, style) = seat_status(model, seat);
    let side = side_of(seat, round);
    let (sign, style) =
        side.map_or((sign, style), |side| (Theme::option_sign(side), model.theme.option(side)));
    // A short form of the ballot is enough here.
    let word = seat.ballot().and_then(Ballot::brief).map_or(word, |brief| harmless_line(&brief));
    let is_chosen = model.seat_name() == Some(seat.name);
    let mut line = row_start(model.theme, is_chosen, Span::styled(sign, style), seat.name, name);
    let room = width.saturating_sub(3 + name + 2 + SURE).min(MOST_VOTE);
    line.push_span(Span::styled(clipped_middle(&word, room), style));
    let sure = seat.answer.and_then(confidence).map(|text| sure(&text)).unwrap_or_default();
    let moved = if has_moved(model, round, seat) { "←" } else { "" };
    line.push_span(format!("{sure:>4} {moved}"));
    line
}

fn has_moved(model: &Model, round: &RoundRun, seat: &SeatView<'_>) -> bool {
    let before = earlier(model.session(), round);
    let was = before.and_then(|before| seat_named(model.session(), before, seat.name));
    let was = was.as_ref().and_then(SeatView::ballot).zip(seat.ballot());
    was.is_some_and(|(was, now)| was.brief() != now.brief())
}

fn reason(model: &Model, seat: &SeatView<'_>) -> Option<String> {
    if let Some(failed) = seat.failed {
        return Some(failure(failed));
    }
    if is_turn(model, seat) {
        return Some("your turn: Enter".to_owned());
    }
    if seat.state == "asking"
        && let Some(state) = invitation(model.session(), seat.name)
    {
        return Some(if state == "joined" { state.to_owned() } else { format!("{state}: i") });
    }
    let progress = progress(model, seat)?;
    let why = progress.trouble.as_ref().map(|why| format!(" · {}", harmless_line(why))).unwrap_or_default();
    match (progress.phase, progress.left_ms) {
        (Request::Waiting, Some(left)) => Some(format!("again in {}{why}", clock(left.div_ceil(1000)))),
        (Request::Queued, _) => Some(format!("{}{why}", Request::Queued.word())),
        (Request::Stalled, _) => Some("silent".to_owned()),
        (standing, _) if progress.tries > 1 => {
            Some(format!("{}, attempt {}", standing.word(), progress.tries))
        }
        _ => None,
    }
}

fn failure(failed: &SeatFailed) -> String {
    let tries = if failed.tries > 1 { format!("{} attempts: ", failed.tries) } else { String::new() };
    tries + &harmless_line(&failed.reason)
}

fn is_turn(model: &Model, seat: &SeatView<'_>) -> bool {
    model.pending_human().is_some_and(|name| name == seat.name)
}

fn progress<'a>(model: &'a Model, seat: &SeatView<'_>) -> Option<&'a Progress> {
    model.progress.get(seat.name).filter(|_| seat.state == "asking")
}

/// Returns the time since a seat was asked, or of its last request, in milliseconds.
fn elapsed_ms(model: &Model, seat: &SeatView<'_>) -> Option<u64> {
    let session = model.session();
    if let Some(progress) = progress(model, seat) {
        return Some(progress.for_ms);
    }
    if let Some(elapsed) = seat.elapsed_ms {
        // The time of a retried seat counts from its retry.
        let round = session.rounds.last()?;
        let again = round.seat(seat.name)?.retried_at;
        return Some(elapsed.saturating_sub(again.map_or(0, |at| at.since(round.opened_at))));
    }
    let round = session.open_round().filter(|_| seat.state == "asking" && model.live().is_none())?;
    Some(session.round_ran_ms(round, model.replay.moment()))
}

/// Returns the sign, word and style of a seat's state; they differ for each state.
fn seat_status(model: &Model, seat: &SeatView<'_>) -> (&'static str, String, Style) {
    let theme = model.theme;
    if let Some(answer) = seat.answer {
        let said = seat.ballot().and_then(Ballot::phrase);
        let said = harmless_line(&said.unwrap_or_else(|| answer.outcome.name().to_owned()));
        return match seat.ballot() {
            Some(Ballot::Abstain) => ("○", said, theme.faint()),
            Some(_) => ("●", said, theme.good()),
            None => ("✗", said, theme.bad()),
        };
    }
    let (sign, word, style) = match seat.state {
        "sealed" => ("■", "sealed", theme.good()),
        "asking" => {
            let at = progress(model, seat).map_or(Request::Asked, |progress| progress.phase);
            match at {
                Request::Waiting | Request::Stalled => ("!", at.word(), theme.bad()),
                Request::Queued => ("◌", at.word(), theme.faint()),
                Request::Asked | Request::Answering => ("◧", at.word(), Style::new()),
            }
        }
        word => match seat.outcome {
            None => ("◌", word, theme.faint()),
            Some(Outcome::Excused) => ("–", word, theme.faint()),
            Some(Outcome::Missing) => ("?", word, theme.bad()),
            Some(_) if seat.failed.is_none() => ("!", word, theme.bad()),
            Some(_) => ("✗", word, theme.bad()),
        },
    };
    (sign, word.to_owned(), style)
}

pub fn card_title(model: &Model) -> String {
    let name = model.seat_name().map(harmless_line).unwrap_or_default();
    if model.live().is_some() { format!("What you can do for {name}") } else { name }
}

pub fn card(model: &Model, round: &RoundRun, width: usize) -> Vec<Line<'static>> {
    let chosen = model.seat.min(round.seats.len().saturating_sub(1));
    let seat = seat_at(model.session(), round, chosen);
    let mut parts = seat.map(|seat| state(model, round, &seat)).unwrap_or_default();
    // A replay is read-only.
    if model.live().is_some() && model.session().round_on_hold().is_some() {
        let held = match round.failed_seats().count() {
            0 => "All seats are settled; this round closes only when you say so.".to_owned(),
            failed => format!("The round stays open while a failed seat can be saved ({failed} failed)."),
        };
        parts.push((held, false));
    }
    let sealed = "Sealed until the close, for you too: no text, length, tokens or cost.";
    parts.push((sealed.to_owned(), false));
    let style = |is_strong: bool| if is_strong { model.theme.bad() } else { Style::new() };
    parts.iter().flat_map(|(text, is_strong)| hanging(" ", text, width, 6, style(*is_strong))).collect()
}

/// Returns the state of the chosen seat, and the keys that help it.
fn state(model: &Model, round: &RoundRun, seat: &SeatView<'_>) -> Vec<(String, bool)> {
    let without = pluralize(round.seats.len() - 1, "seat");
    let excuse = format!("x  continues with the other {without} ({})", quorum(round));
    let retry = format!("r  asks it again: {}, a model that is there, or another", harmless_line(seat.model));
    let (mut parts, mut keys) = (Vec::new(), vec![(retry, false), (excuse, false)]);
    match (seat.outcome, seat.failed) {
        (_, Some(failed)) => parts.push((failure(failed), true)),
        (None, _) if seat.state == "sealed" => {
            return vec![("Its answer is sealed and stays.".to_owned(), false)];
        }
        (None, _) if is_turn(model, seat) => {
            return vec![("Your turn: Enter opens the question and your ballot.".to_owned(), true)];
        }
        (None, _) => {
            let trouble = progress(model, seat).and_then(|progress| progress.trouble.as_deref());
            parts.extend(trouble.map(|trouble| (harmless_line(trouble), true)));
        }
        (Some(Outcome::Excused), _) => {
            parts.push((format!("excused: {}", harmless_line(seat.reason.unwrap_or_default())), false));
            keys.truncate(usize::from(model.seat_to_help().as_deref() == Some(seat.name)));
        }
        (Some(_), _) => keys.clear(),
    }
    parts.extend(keys.into_iter().filter(|_| model.live().is_some()));
    parts
}

pub fn quorum(round: &RoundRun) -> String {
    let (sealed, needed) = (round.sealed(), round.opened.quorum);
    let may_seal = sealed + round.open_seats().count();
    let outlook = match needed.saturating_sub(sealed) {
        0 => "met".to_owned(),
        more if may_seal >= needed => format!("{} more", group_digits(more)),
        _ if may_seal + round.failed_seats().count() >= needed => "needs a failed seat".to_owned(),
        _ => "out of reach".to_owned(),
    };
    format!("quorum {}: {outlook}", group_digits(needed))
}

/// Returns whether a seat is invited: a person by a link, a polling agent by a token.
fn is_invited(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| remote.door != Door::Nats)
}

pub fn is_agent(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| remote.door == Door::Inbox)
}

pub fn access_word(session: &Session, seat: &str) -> &'static str {
    if is_agent(session, seat) { "access token" } else { "link" }
}

/// Returns the state of an invited seat while nothing of it is sealed.
pub fn invitation(session: &Session, seat: &str) -> Option<&'static str> {
    is_invited(session, seat).then(|| match session.invitations.get(seat) {
        None => "not invited",
        Some(invitation) if invitation.key.is_none() => "invited",
        Some(_) => "joined",
    })
}

/// Returns the chosen seat if it is invited, else the first invited one.
pub fn seat_to_invite(model: &Model) -> Option<String> {
    let session = model.session();
    let chosen = model.seat_name().filter(|seat| is_invited(session, seat)).map(str::to_owned);
    chosen.or_else(|| session.roster.keys().find(|seat| is_invited(session, seat)).cloned())
}
