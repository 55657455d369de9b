//! Answers to a ballot over options: one of them, a set, an order, a score for each.
//!
//! An option's score is the sum of the weights of what is said about it. Equal scores are put in the
//! order of SHA-256(seed, persona's name, option), and that is said in the rationale.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::draft::{Draft, doubt};
use super::scene::Scene;
use super::voice::{Voice, and_list, capital, cite, quote, remedies};
use super::weigh::{Weighed, heaviest, themes};
use crate::persona::Persona;
use crate::round::ballot::BallotKind;

/// Scores closer than this are equal.
const EQUAL: f64 = 1e-9;

/// An option with what is said about it.
#[derive(Debug)]
struct Standing<'a> {
    name: &'a str,
    score: f64,
    /// What is said about it, its share in the score as value.
    said: Vec<Weighed<'a>>,
    /// Orders it among equals.
    lot: [u8; 32],
}

impl<'a> Standing<'a> {
    fn pros(&self) -> Vec<&Weighed<'a>> {
        heaviest(self.said.iter().filter(|w| w.value > 0.0))
    }

    fn cons(&self) -> Vec<&Weighed<'a>> {
        heaviest(self.said.iter().filter(|w| w.value < 0.0))
    }
}

/// The answer to a ballot over the scene's options.
pub(super) fn answer(
    scene: &Scene,
    weighed: &[Weighed],
    persona: &Persona,
    seed: Option<u64>,
    kind: BallotKind,
) -> Draft {
    let ranked = rank(scene, weighed, persona, seed);
    let (Some(first), true) = (ranked.first(), ranked.iter().any(|one| !one.said.is_empty())) else {
        return Draft::abstain("Nothing in the snapshot says anything for or against any of the options.");
    };
    let second = ranked.get(1);
    let mut draft = argue(scene, first, &ranked[1..], &Voice::of(persona));
    draft.ballot = ballot(kind, &ranked, scene.scale);
    draft.confidence = Some(doubt(confidence(&ranked), scene));
    if second.is_some_and(|second| (first.score - second.score).abs() < EQUAL) {
        let name = second.map_or("", |second| second.name);
        draft.rationale.push(format!(
            "{} and {name} weigh the same for me; the lot of the seed put them in this order.",
            capital(first.name)
        ));
    }
    draft.mind_open(scene);
    draft
}

/// The options, best first.
fn rank<'a>(
    scene: &'a Scene,
    weighed: &[Weighed<'a>],
    persona: &Persona,
    seed: Option<u64>,
) -> Vec<Standing<'a>> {
    let mut ranked: Vec<Standing> = scene
        .options
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let said: Vec<Weighed> = weighed.iter().filter_map(|one| share(one, at)).collect();
            let score = said.iter().map(|one| one.value).sum();
            Standing { name, score, said, lot: lot(seed, &persona.name, name) }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    for equals in ranked.chunk_by_mut(|a, b| (a.score - b.score).abs() < EQUAL) {
        equals.sort_by_key(|one| one.lot);
    }
    ranked
}

/// A sentence as it bears on one option.
fn share<'a>(weighed: &Weighed<'a>, option: usize) -> Option<Weighed<'a>> {
    let (_, side) = weighed.statement.about.iter().find(|(about, _)| *about == option)?;
    Some(Weighed { value: weighed.value * side, ..weighed.clone() })
}

fn lot(seed: Option<u64>, persona: &str, option: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(seed.unwrap_or(0).to_be_bytes());
    hash.update(persona.as_bytes());
    hash.update(option.as_bytes());
    hash.finalize().into()
}

fn confidence(ranked: &[Standing]) -> f64 {
    let first = ranked.first().map_or(0.0, |one| one.score);
    let second = ranked.get(1).map_or(0.0, |one| one.score);
    let margin = (first - second) / (first.abs() + second.abs()).max(1.0);
    let touching = ranked.iter().flat_map(|one| &one.said).filter(|w| !w.themes.is_empty()).count();
    let touching = f64::from(u32::try_from(touching).unwrap_or(u32::MAX));
    let belief = if first > 0.0 { 0.35 } else { 0.15 };
    0.2 + belief * margin.min(1.0) + 0.4 * touching / (touching + 4.0)
}

fn ballot(kind: BallotKind, ranked: &[Standing], scale: Option<(f64, f64)>) -> Vec<(&'static str, Value)> {
    let names = |from: &[Standing]| from.iter().map(|one| Value::from(one.name)).collect::<Vec<_>>();
    match kind {
        BallotKind::Approval => {
            let good = ranked.iter().take_while(|one| one.score > 0.0).count().max(1);
            vec![("approve", names(&ranked[..good]).into())]
        }
        BallotKind::Ranking => vec![("ranking", names(ranked).into())],
        BallotKind::Score => vec![("scores", scores(ranked, scale.unwrap_or((0.0, 5.0))))],
        _ => vec![("vote", ranked.first().map_or(Value::Null, |one| one.name.into()))],
    }
}

/// Whole numbers on the scale: its middle for a balanced option, its ends for the heaviest balance.
fn scores(ranked: &[Standing], (low, high): (f64, f64)) -> Value {
    let most = ranked.iter().map(|one| one.score.abs()).fold(1.0, f64::max);
    let score = |one: &Standing| {
        let place = f64::midpoint(one.score / most, 1.0);
        (low + (high - low) * place).round().clamp(low, high)
    };
    let map: Map<String, Value> =
        ranked.iter().map(|one| (one.name.to_owned(), number(score(one)))).collect();
    Value::Object(map)
}

fn number(score: f64) -> Value {
    score.to_string().parse::<i64>().map_or_else(|_| score.into(), Value::from)
}

fn argue(scene: &Scene, first: &Standing, others: &[Standing], voice: &Voice) -> Draft {
    let (pros, costs) = (first.pros(), first.cons());
    let against: Vec<Weighed> = others.iter().flat_map(Standing::cons).cloned().collect();
    let against = heaviest(against.iter());
    let forgone = others.iter().find_map(|one| one.pros().into_iter().next().map(|pro| (one.name, pro)));
    let reasons: Vec<&Weighed> = heaviest(pros.iter().chain(&against).copied());
    let held = themes(&reasons, 3);
    let mut draft = Draft { position: position(first, voice, &held), ..Draft::default() };
    draft.optimizing_for =
        if held.is_empty() { "what the text itself favours".to_owned() } else { and_list(&held) };
    draft.accepting_as_cost = costs
        .first()
        .map_or_else(|| format!("nothing the snapshot holds against {}", first.name), |cost| quote(cost));
    draft.rationale = rationale(scene, first, others);
    draft.risks = costs.iter().take(3).map(|cost| quote(cost)).collect();
    draft.concerns =
        costs.iter().take(2).map(|cost| format!("{} stays true of {}.", quote(cost), first.name)).collect();
    if let Some((name, pro)) = forgone {
        draft.concerns.push(format!("We give up the best word for {name}: {}.", quote(pro)));
    }
    draft.suggestions = remedies(&costs, voice, 2);
    draft.refer(scene, reasons.iter().take(4).chain(costs.iter().take(2)).copied());
    draft
}

/// Two or three sentences: the vote, what decides it, what it costs.
fn position(first: &Standing, voice: &Voice, held: &[&str]) -> String {
    let name = first.name;
    let held = and_list(held);
    let opening = match (held.is_empty(), voice.pick(0, &["a", "b", "c", "d"])) {
        (true, _) => format!("I lean to {name}, though little here touches what I am asked to weigh."),
        (_, "a") => format!("Weighing {held} first, I come out for {name}."),
        (_, "b") => format!("I vote for {name}; what decides it for me is {held}."),
        (_, "c") => format!("For me this turns on {held}, and {name} serves that best."),
        _ => format!("{} is what I would defend, on {held}.", capital(name)),
    };
    let reason = match first.pros().first() {
        Some(pro) => match voice.pick(1, &["a", "b", "c"]) {
            "a" => format!("Its strongest point is {}.", quote(pro)),
            "b" => format!("I lean on {}.", quote(pro)),
            _ => format!("What carries it is {}.", quote(pro)),
        },
        None => "No sentence speaks for it outright; the others have more against them.".to_owned(),
    };
    let cost = match first.cons().first() {
        Some(cost) => match voice.pick(2, &["a", "b", "c"]) {
            "a" => format!("The price is {}, and I would pay it.", quote(cost)),
            "b" => format!("I accept {} as its cost.", quote(cost)),
            _ => format!("Against it stands {}; that does not outweigh the rest.", quote(cost)),
        },
        None => format!("I find nothing written against {name}, which is itself a reason to look again."),
    };
    format!("{opening} {reason} {cost}")
}

fn rationale(scene: &Scene, first: &Standing, others: &[Standing]) -> Vec<String> {
    let line = |one: &Weighed, name: &str| {
        let way = if one.value > 0.0 { "for" } else { "against" };
        let on =
            if one.themes.is_empty() { String::new() } else { format!(", on {}", and_list(&one.themes)) };
        format!("{} speaks {way} {name}{on}.", cite(one, scene))
    };
    let mut lines: Vec<String> = first.pros().iter().take(2).map(|one| line(one, first.name)).collect();
    lines.extend(first.cons().iter().take(1).map(|one| line(one, first.name)));
    for other in others.iter().take(2) {
        let said = if first.score > 0.0 || !other.cons().is_empty() { other.cons() } else { other.pros() };
        lines.extend(said.iter().take(1).map(|one| line(one, other.name)));
    }
    lines
}
