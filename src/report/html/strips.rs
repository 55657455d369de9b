//! Scores and estimates as strips with a dot a seat.
//!
//! Pictures only: places are rounded, the numbers beside them are the count's own.

use std::fmt::Write as _;

use super::charts::{Chart, MARKS};
use super::markup::{colour, e};
use crate::ballot::Ballot;
use crate::insight::SeatView;
use crate::insight::cut;
use crate::tally::Quartiles;

/// "TL" of technical-lead.
fn initials(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter_map(|part| part.chars().next());
    parts.take(2).flat_map(char::to_uppercase).collect()
}

fn legend<'a>(names: impl Iterator<Item = &'a str>, before: &str) -> String {
    let all: Vec<String> =
        names.take(20).map(|name| format!("<b>{}</b> {}", e(&initials(name)), e(name))).collect();
    format!("<p class=\"cap\">{before} {}</p>", all.join(", "))
}

/// Dots at their places, those too near each other above one another.
#[derive(Default)]
struct Stacks {
    places: Vec<(f64, usize)>,
    highest: usize,
}

impl Stacks {
    /// The level of a dot, from 0.
    fn level(&mut self, x: f64, near: f64) -> usize {
        let level = if let Some((_, count)) = self.places.iter_mut().find(|(at, _)| (at - x).abs() < near) {
            *count += 1;
            *count - 1
        } else {
            self.places.push((x, 1));
            0
        };
        self.highest = self.highest.max(level);
        level
    }
}

/// The places of estimates: cards in equal steps, numbers on a linear scale or, far apart, a logarithmic one.
struct Scale<'a> {
    cards: &'a [String],
    low: f64,
    high: f64,
    is_log: bool,
}

impl<'a> Scale<'a> {
    fn new(cards: &'a [String], values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(f64::MIN, f64::max);
        Self { cards, low, high, is_log: cards.is_empty() && low > 0.0 && high / low > 50.0 }
    }

    fn share(&self, value: &str) -> Option<f64> {
        if self.cards.is_empty() {
            let of = |value: f64| if self.is_log { value.log10() } else { value };
            let (low, high) = (of(self.low), of(self.high));
            return Some(if high > low { (of(value.parse().ok()?) - low) / (high - low) } else { 0.5 });
        }
        let card = |value: &str| self.cards.iter().position(|card| card == value).map(|at| at as f64);
        // A median between two cards is named by both.
        let at = card(value).or_else(|| {
            let (low, high) = value.split_once('–')?;
            Some(f64::midpoint(card(low)?, card(high)?))
        })?;
        Some(if self.cards.len() > 1 { at / (self.cards.len() - 1) as f64 } else { 0.5 })
    }

    fn x(&self, value: &str) -> Option<f64> {
        Some(26.0 + self.share(value)? * 368.0)
    }

    fn name(&self) -> &'static str {
        match (self.cards.is_empty(), self.is_log) {
            (true, true) => "Logarithmic scale.",
            (true, false) => "Linear scale.",
            (false, _) => "Cards in equal steps.",
        }
    }
}

type Given<'a> = (SeatView<'a>, &'a indexmap::IndexMap<String, serde_json::Number>);

impl<'a> Chart<'a> {
    /// A strip for each option, a dot a seat, the rule's number as a dashed line.
    pub(super) fn scores(&self) -> String {
        let form = &self.run.opened.ballot;
        let bound = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(serde_json::Number::as_f64);
        let given: Vec<Given<'a>> = self
            .seats()
            .filter_map(|seat| {
                let Some(Ballot::Scores(scores)) = seat.ballot() else { return None };
                Some((seat, scores))
            })
            .collect();
        let all = given.iter().flat_map(|(_, scores)| scores.values());
        let all: Vec<f64> = all.filter_map(serde_json::Number::as_f64).collect();
        if all.is_empty() || given.len() > MARKS || self.letters.options.len() > 12 {
            return String::new();
        }
        let low = bound(&form.min).unwrap_or_else(|| all.iter().copied().fold(f64::MAX, f64::min));
        let high = bound(&form.max).unwrap_or_else(|| all.iter().copied().fold(f64::MIN, f64::max));
        let what = self.tally.rule.map_or("count", |rule| rule.name().trim_start_matches("score-"));
        let scores = &self.tally.verdict.scores;
        let options = self.letters.options.iter();
        let told: Vec<String> =
            options.filter_map(|option| Some(format!("{option}: {what} {}", scores.get(option)?))).collect();
        let (mut body, mut y) = (String::new(), 0.0);
        for place in 0..self.letters.options.len() {
            self.strip(place, &given, (low, high), what, &mut y, &mut body);
        }
        let _ = write!(
            body,
            "<text class=\"tk\" x=\"104\" y=\"{0:.0}\" text-anchor=\"middle\">{low}</text><text class=\"tk\" x=\"398\" \
             y=\"{0:.0}\" text-anchor=\"middle\">{high}</text>",
            y + 12.0
        );
        format!(
            "<svg class=\"ch\" viewBox=\"0 0 420 {:.0}\" role=\"img\" aria-label=\"Scores. {}\">{body}</svg>{}",
            y + 18.0,
            e(&told.join("; ")),
            legend(
                given.iter().map(|(seat, _)| seat.name),
                "From lowest to highest score; dashed: what the rule found."
            )
        )
    }

    /// The strip of one option; `y` is moved below it.
    fn strip(
        &self,
        place: usize,
        given: &[Given<'a>],
        ends: (f64, f64),
        what: &str,
        y: &mut f64,
        body: &mut String,
    ) {
        let (low, high) = ends;
        let option = &self.letters.options[place];
        let class = colour(place);
        let x = |score: f64| 104.0 + if high > low { (score - low) / (high - low) } else { 0.5 } * 294.0;
        let (mut stacks, mut dots) = (Stacks::default(), String::new());
        for (seat, scores) in given {
            let Some(score) = scores.get(option) else { continue };
            let cx = x(score.as_f64().unwrap_or_default());
            let level = stacks.level(cx, 15.0);
            let _ = write!(
                dots,
                "<g transform=\"translate({cx:.1} {})\"><circle class=\"f-{class}\" r=\"10.5\"><title>{}: {}</title></circle>\
                 <text class=\"bt sm\" y=\"3.5\">{}</text></g>",
                -22.0 * level as f64,
                e(seat.name),
                e(&score.to_string()),
                e(&initials(seat.name))
            );
        }
        *y += 26.0 + 22.0 * stacks.highest as f64;
        let _ = write!(
            body,
            "<g transform=\"translate(0 {y})\"><line class=\"ax\" x1=\"92\" x2=\"410\" y1=\"0\" y2=\"0\"/><rect \
             class=\"f-{class}\" x=\"0\" y=\"-11\" width=\"20\" height=\"20\" rx=\"4\"/><text class=\"bt\" x=\"10\" \
             y=\"4\">{}</text><text class=\"lb\" x=\"26\" y=\"4\">{}</text>",
            e(&self.letters.letter(option).unwrap_or_default()),
            e(&cut(option, 9))
        );
        if let Some(score) = self.tally.verdict.scores.get(option) {
            let at = x(score.as_f64().clamp(low, high));
            let _ = write!(
                body,
                "<line class=\"md\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"-20\" y2=\"13\"/><text class=\"nb\" \
                 text-anchor=\"middle\" x=\"{:.1}\" y=\"27\">{what} {}</text>",
                at.clamp(150.0, 370.0),
                e(&score.to_string())
            );
        }
        let _ = write!(body, "{dots}</g>");
        *y += 34.0;
    }

    /// Cards in equal steps or numbers on a scale, a dot a seat, the middle half shaded.
    pub(super) fn estimates(&self) -> String {
        let Some(spread) = self.tally.verdict.trace.as_ref().and_then(|trace| trace.spread.as_ref()) else {
            return String::new();
        };
        let given: Vec<(&'a str, String)> = self
            .seats()
            .filter_map(|seat| {
                let ballot = seat.ballot().filter(|ballot| matches!(ballot, Ballot::Estimate(_)))?;
                Some((seat.name, ballot.brief()?))
            })
            .collect();
        if given.len() > MARKS {
            return String::new();
        }
        let numbers: Vec<f64> = given.iter().filter_map(|(_, value)| value.parse().ok()).collect();
        let scale = Scale::new(&self.run.opened.ballot.cards, &numbers);
        let (mut stacks, mut dots) = (Stacks::default(), Vec::new());
        for (name, value) in &given {
            if let Some(cx) = scale.x(value) {
                dots.push((*name, value, cx, stacks.level(cx, 18.0)));
            }
        }
        let base = 56.0 + 26.0 * stacks.highest as f64;
        let mut body = axis(&scale, spread, base);
        for (name, value, cx, level) in &dots {
            let cy = base - 15.0 - 26.0 * *level as f64;
            let _ = write!(
                body,
                "<circle class=\"f-acc\" cx=\"{cx:.1}\" cy=\"{cy:.0}\" r=\"12\"><title>{}: {}</title></circle>\
                 <text class=\"bt sm\" x=\"{cx:.1}\" y=\"{:.0}\">{}</text>",
                e(name),
                e(value),
                cy + 4.0,
                e(&initials(name))
            );
        }
        let told: Vec<String> = given.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let shaded = format!(
            "{} Shaded: the middle half of the seats ({} to {}).",
            scale.name(),
            e(&spread.first_quartile),
            e(&spread.third_quartile)
        );
        format!(
            "<svg class=\"ch\" viewBox=\"0 0 420 {:.0}\" role=\"img\" aria-label=\"Estimates, median {}: {}\">{body}</svg>{}",
            base + 48.0,
            e(&spread.median),
            e(&told.join(", ")),
            legend(given.iter().map(|(name, _)| *name), &shaded)
        )
    }
}

/// The middle half, the axis with its names, and the median.
fn axis(scale: &Scale<'_>, spread: &Quartiles, base: f64) -> String {
    let mut body = String::new();
    if let (Some(first), Some(third)) = (scale.x(&spread.first_quartile), scale.x(&spread.third_quartile)) {
        let _ = write!(
            body,
            "<rect class=\"iqr\" x=\"{:.1}\" y=\"8\" width=\"{:.1}\" height=\"{:.0}\" rx=\"8\"/>",
            first - 22.0,
            third - first + 44.0,
            base - 10.0
        );
    }
    let median = scale.x(&spread.median).unwrap_or(210.0);
    let _ = write!(
        body,
        "<line class=\"ax\" x1=\"10\" x2=\"410\" y1=\"{base}\" y2=\"{base}\"/><line class=\"md\" x1=\"{median:.1}\" \
         x2=\"{median:.1}\" y1=\"2\" y2=\"{:.0}\"/>",
        base + 6.0
    );
    let has_cards = !scale.cards.is_empty();
    let ticks: Vec<&String> =
        if has_cards { scale.cards.iter().collect() } else { spread.values.keys().collect() };
    let mut last = f64::MIN;
    for tick in ticks {
        let Some(at) = scale.x(tick).filter(|at| at - last > 22.0 || has_cards) else { continue };
        last = at;
        let on = if *tick == spread.median { " on" } else { "" };
        let _ = write!(
            body,
            "<text class=\"tk{on}\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.0}\">{}</text>",
            base + 22.0,
            e(&cut(tick, 8))
        );
    }
    let _ = write!(
        body,
        "<text class=\"nb\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.0}\">median {}</text>",
        median.clamp(50.0, 370.0),
        base + 42.0,
        e(&spread.median)
    );
    body
}
