//! How seats moved between the last two rounds of one form, as ribbons.

use std::fmt::Write as _;

use super::markup::{colour, e};
use crate::ballot::{Ballot, BallotKind};
use crate::history::RoundRun;
use crate::insight::cut;
use crate::insight::movement::{earlier, movement};
use crate::insight::{SeatView, seats};
use crate::report::model::{Report, said};

/// How many moves are described in words.
const TOLD: usize = 6;
/// How much of a mover's words is quoted, in characters.
const WORDS: usize = 240;
/// With more seats a ribbon is all who went one way.
const SINGLE: usize = 40;

/// One ribbon: from one state to another, the seats in it, its number if it moved.
struct Ribbon {
    from: usize,
    to: usize,
    seats: Vec<String>,
    number: Option<usize>,
}

/// Where seats stand in a round: an option, a stance, or without a ballot.
fn state(seat: &SeatView<'_>) -> String {
    match seat.ballot() {
        Some(Ballot::Choice(option)) => option.clone(),
        Some(ballot) => ballot.brief().unwrap_or_default(),
        None => seat.outcome().map_or("no ballot", |outcome| outcome.name()).replace('_', " "),
    }
}

/// The section on movement; empty where there was no earlier round of this form.
pub fn movement_section(report: &Report<'_>, run: &RoundRun) -> String {
    let session = report.session;
    let (Some(before), Some(moved)) = (earlier(session, run), movement(session, run)) else {
        return String::new();
    };
    let all = moved.moves.len() + moved.stayed.len();
    let mut out =
        format!("<section><h2>How it moved <small>{} of {all} changed</small></h2>", moved.moves.len());
    if matches!(run.opened.ballot.kind, BallotKind::Choice | BallotKind::Consent) {
        out.push_str(&ribbons(report, before, run));
    }
    if moved.moves.is_empty() {
        out.push_str("<p>Every seat stayed where it was.</p>");
    }
    out.push_str("<ol class=\"moves\">");
    for one in moved.moves.iter().take(TOLD) {
        let with = if one.has_new_argument { "with a new argument" } else { "without a new argument" };
        let seat = seats(session, run).find(|seat| seat.name == one.seat);
        let words = seat.map(|seat| said(&seat)).unwrap_or_default();
        let words = if words.is_empty() {
            String::new()
        } else {
            format!(": <q dir=\"auto\">{}</q>", e(&cut(&words, WORDS)))
        };
        let _ = write!(
            out,
            "<li><b>{}</b> {} → {}, {with}{words}</li>",
            e(&one.seat),
            e(&cut(&one.from, 60)),
            e(&cut(&one.to, 60))
        );
    }
    out.push_str("</ol>");
    if moved.moves.len() > TOLD {
        let _ = write!(out, "<p class=\"more\">+ {} more below</p>", moved.moves.len() - TOLD);
    }
    out + "</section>"
}

/// The states of both rounds in the order with the fewest crossings.
fn ordered(report: &Report<'_>, flows: &[(String, String)]) -> Vec<String> {
    let mut states: Vec<String> = report.letters.options.clone();
    states.extend(["supports", "stands aside", "blocks", "block (no change stated)"].map(str::to_owned));
    states.retain(|state| flows.iter().any(|(from, to)| from == state || to == state));
    for (from, to) in flows {
        for state in [from, to] {
            if !states.contains(state) {
                states.push(state.clone());
            }
        }
    }
    let is_consent = report.run.is_some_and(|run| run.opened.ballot.kind == BallotKind::Consent);
    if is_consent {
        return states;
    }
    if states.len() > 6 {
        states.sort_by_key(|state| std::cmp::Reverse(flows.iter().filter(|(from, _)| from == state).count()));
        return states;
    }
    let mut ways: Vec<(usize, usize, usize)> = Vec::new();
    for (from, to) in flows {
        let place = |state: &String| states.iter().position(|known| known == state).unwrap_or_default();
        let (from, to) = (place(from), place(to));
        match ways.iter_mut().find(|(a, b, _)| (*a, *b) == (from, to)) {
            Some((.., count)) => *count += 1,
            None => ways.push((from, to, 1)),
        }
    }
    let mut best: Option<(usize, Vec<usize>)> = None;
    permutations(&mut (0..states.len()).collect(), 0, &mut |order| {
        let at = |state: usize| order.iter().position(|known| *known == state).unwrap_or_default();
        let mut crossings = 0;
        for (i, (a, b, n)) in ways.iter().enumerate() {
            for (c, d, m) in &ways[i + 1..] {
                if (at(*a) < at(*c)) != (at(*b) < at(*d)) && a != c && b != d {
                    crossings += n * m;
                }
            }
        }
        if best.as_ref().is_none_or(|(least, _)| crossings < *least) {
            best = Some((crossings, order.to_vec()));
        }
    });
    let order = best.map(|(_, order)| order).unwrap_or_default();
    order.into_iter().filter_map(|at| states.get(at).cloned()).collect()
}

fn permutations(order: &mut Vec<usize>, from: usize, see: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        return see(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        permutations(order, from + 1, see);
        order.swap(from, at);
    }
}

fn class_of(report: &Report<'_>, state: &str) -> String {
    match state {
        "support" | "supports" => "f-c-yes".to_owned(),
        "stand-aside" | "stands aside" => "f-c-aside".to_owned(),
        "block" | "blocks" | "block (no change stated)" => "f-c-no".to_owned(),
        state => report
            .letters
            .place(state)
            .map_or_else(|| "hollowf".to_owned(), |place| format!("f-{}", colour(place))),
    }
}

fn ribbons(report: &Report<'_>, before: &RoundRun, now: &RoundRun) -> String {
    let session = report.session;
    let was: indexmap::IndexMap<&str, String> =
        seats(session, before).map(|seat| (seat.name, state(&seat))).collect();
    let pairs: Vec<(String, String, String)> = seats(session, now)
        .filter_map(|seat| Some((seat.name.to_owned(), was.get(seat.name)?.clone(), state(&seat))))
        .collect();
    let flows: Vec<(String, String)> = pairs.iter().map(|(_, from, to)| (from.clone(), to.clone())).collect();
    let states = ordered(report, &flows);
    let place = |state: &str| states.iter().position(|known| known == state).unwrap_or_default();
    let mut ribbons: Vec<Ribbon> = Vec::new();
    let mut number = 0;
    for (seat, from, to) in &pairs {
        let (from, to) = (place(from), place(to));
        let known =
            ribbons.iter_mut().find(|ribbon| pairs.len() > SINGLE && (ribbon.from, ribbon.to) == (from, to));
        if let Some(ribbon) = known {
            ribbon.seats.push(seat.clone());
            continue;
        }
        number += usize::from(from != to);
        let number = (from != to && pairs.len() <= SINGLE).then_some(number);
        ribbons.push(Ribbon { from, to, seats: vec![seat.clone()], number });
    }
    let count = pairs.len().max(1);
    let unit =
        if count > 12 { (300.0 / count as f64).max(if count > SINGLE { 0.02 } else { 5.0 }) } else { 24.0 };
    let gap = if count > SINGLE { 0.0 } else { (unit / 6.0).min(4.0) };
    draw(report, &states, &ribbons, (unit, gap), [before.opened.number, now.opened.number], &pairs)
}

/// Where the bars of a side begin, and where it ends.
fn tops(ribbons: &[Ribbon], states: usize, unit: f64, side: fn(&Ribbon) -> usize) -> (Vec<f64>, f64) {
    let mut y = 26.0;
    let place = |at: usize| {
        let top = y;
        let count = total(ribbons, side, at);
        if count > 0 {
            y += count as f64 * unit + 16.0;
        }
        top
    };
    let tops = (0..states).map(place).collect();
    (tops, y)
}

/// How many seats are in a state on one side.
fn total(ribbons: &[Ribbon], side: fn(&Ribbon) -> usize, at: usize) -> usize {
    ribbons.iter().filter(|ribbon| side(ribbon) == at).map(|ribbon| ribbon.seats.len()).sum()
}

fn from(ribbon: &Ribbon) -> usize {
    ribbon.from
}

fn to(ribbon: &Ribbon) -> usize {
    ribbon.to
}

/// Where each ribbon leaves and arrives: in the order of the other side.
fn ends(ribbons: &[Ribbon], lefts: &[f64], rights: &[f64], unit: f64) -> Vec<(f64, f64)> {
    let mut ends = vec![(0.0, 0.0); ribbons.len()];
    let (mut leaving, mut arriving) = (lefts.to_vec(), rights.to_vec());
    let mut order: Vec<usize> = (0..ribbons.len()).collect();
    order.sort_by_key(|at| (ribbons[*at].from, ribbons[*at].to));
    for at in &order {
        ends[*at].0 = leaving[ribbons[*at].from];
        leaving[ribbons[*at].from] += ribbons[*at].seats.len() as f64 * unit;
    }
    order.sort_by_key(|at| (ribbons[*at].to, ribbons[*at].from));
    for at in order {
        ends[at].1 = arriving[ribbons[at].to];
        arriving[ribbons[at].to] += ribbons[at].seats.len() as f64 * unit;
    }
    ends
}

/// "2 of 6 seats moved: ann from red to blue".
fn told(pairs: &[(String, String, String)]) -> String {
    let moved: Vec<&(String, String, String)> = pairs.iter().filter(|(_, from, to)| from != to).collect();
    let said: Vec<String> =
        moved.iter().take(12).map(|(seat, from, to)| format!("{seat} from {from} to {to}")).collect();
    let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
    format!("{} of {} seats moved{said}", moved.len(), pairs.len())
}

/// Draws ribbons, then the bars they lead between with their names.
fn draw(
    report: &Report<'_>,
    states: &[String],
    ribbons: &[Ribbon],
    (unit, gap): (f64, f64),
    rounds: [u32; 2],
    pairs: &[(String, String, String)],
) -> String {
    let (lefts, low) = tops(ribbons, states.len(), unit, from);
    let (rights, high) = tops(ribbons, states.len(), unit, to);
    let mut out = format!(
        "<svg class=\"ch\" viewBox=\"0 0 420 {:.0}\" role=\"img\" aria-label=\"{}\">",
        low.max(high),
        e(&told(pairs))
    );
    for (ribbon, (y, to)) in ribbons.iter().zip(ends(ribbons, &lefts, &rights, unit)) {
        let high = (ribbon.seats.len() as f64 * unit - gap).max(0.5);
        let (y, to) = (y + gap / 2.0, to + gap / 2.0);
        let (bottom, to_bottom) = (y + high, to + high);
        let stays = if ribbon.from == ribbon.to { "st" } else { "mv" };
        let title = format!("{}: {} → {}", ribbon.seats.join(", "), states[ribbon.from], states[ribbon.to]);
        let _ = write!(
            out,
            "<path class=\"{} {stays}\" d=\"M120 {y:.1}C206 {y:.1} 206 {to:.1} 292 {to:.1}V{to_bottom:.1}C206 {to_bottom:.1} \
             206 {bottom:.1} 120 {bottom:.1}Z\"><title>{}</title></path>",
            class_of(report, &states[ribbon.from]),
            e(&cut(&title, 300))
        );
        if let Some(number) = ribbon.number.filter(|_| high >= 10.0) {
            let middle = y + high / 2.0 + 4.0;
            let _ = write!(out, "<text class=\"rib\" x=\"129\" y=\"{middle:.1}\">{number}</text>");
        }
    }
    for (at, state) in states.iter().enumerate() {
        let (was, is) = (total(ribbons, from, at), total(ribbons, to, at));
        bar(report, state, was, 0, (lefts[at], 112, 102, "end"), unit, gap, &mut out);
        bar(report, state, is, is.saturating_sub(was), (rights[at], 292, 310, "start"), unit, gap, &mut out);
    }
    let _ = write!(
        out,
        "<text class=\"hd\" text-anchor=\"end\" x=\"120\" y=\"14\">Round {}</text>\
         <text class=\"hd\" x=\"292\" y=\"14\">Round {}</text></svg>",
        rounds[0], rounds[1]
    );
    out
}

/// The bar of one state on one side, with its name, how many are in it, and how many more than before.
#[expect(clippy::too_many_arguments, reason = "what is drawn, and where")]
fn bar(
    report: &Report<'_>,
    state: &str,
    own: usize,
    more: usize,
    (top, x, text, anchor): (f64, u32, u32, &str),
    unit: f64,
    gap: f64,
    out: &mut String,
) {
    if own == 0 {
        return;
    }
    let high = (own as f64 * unit - gap / 2.0).max(2.0);
    let middle = top + high / 2.0 + 4.0;
    let letter = report.letters.letter(state).map(|letter| letter + " ").unwrap_or_default();
    let _ = write!(
        out,
        "<rect class=\"{}\" x=\"{x}\" y=\"{top:.1}\" width=\"8\" height=\"{high:.1}\" rx=\"2\"/>\
         <text class=\"lb\" text-anchor=\"{anchor}\" x=\"{text}\" y=\"{middle:.1}\">{}{} \
         <tspan class=\"nb\">{own}</tspan></text>",
        class_of(report, state),
        e(&letter),
        e(&cut(state, if letter.is_empty() { 13 } else { 10 }))
    );
    if more > 0 {
        let _ = write!(out, "<text class=\"dl\" x=\"{text}\" y=\"{:.1}\">+{more}</text>", middle + 14.0);
    }
}
