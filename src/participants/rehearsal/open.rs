//! The answer to an open question: the risks, what already helps, what to do.
//!
//! A question for mitigations is told from one for risks by its words; everything else is read as
//! asking for both sides.

use super::draft::{Draft, doubt};
use super::scene::Scene;
use super::voice::{Voice, and_list, cite, quote, remedies, remedy_for_it};
use super::weigh::{Weighed, heaviest, themes};
use super::words::{stem, words};
use crate::persona::Persona;

/// Words of a question that asks what to do, not what is wrong.
const REMEDY_WORDS: &str = "mitigate mitigation prevent reduce remedy fix counter address improve";

/// The answer to an open question.
pub(super) fn answer(scene: &Scene, weighed: &[Weighed], persona: &Persona) -> Draft {
    let own: Vec<Weighed> = weighed.iter().filter(|w| !w.themes.is_empty()).cloned().collect();
    let read = if own.is_empty() { weighed } else { &own };
    if read.is_empty() {
        // Under an open question a position beside the abstention would be a second answer.
        let abstention =
            Draft::abstain("The snapshot holds no sentence that speaks for or against anything.");
        return Draft { position: String::new(), ..abstention };
    }
    let cons = heaviest(read.iter().filter(|w| w.value < 0.0));
    let pros = heaviest(read.iter().filter(|w| w.value > 0.0));
    let voice = Voice::of(persona);
    let forward = asks_for_remedies(&scene.question);
    let mut draft = if forward { mitigate(&pros, &cons, &voice) } else { assess(&pros, &cons, &voice) };
    let held = themes(&heaviest(read.iter()), 3);
    draft.optimizing_for =
        if held.is_empty() { "what the text itself stresses".to_owned() } else { and_list(&held) };
    draft.accepting_as_cost = cost(&cons, forward, &voice);
    draft.rationale = reasons(&pros, &cons, forward).iter().map(|w| line(w, scene)).collect();
    draft.risks = cons.iter().take(4).map(|w| quote(w)).collect();
    draft.suggestions = remedies(&cons, &voice, 3);
    draft.refer(scene, cons.iter().take(4).chain(pros.iter().take(2)).copied());
    draft.confidence = Some(doubt(confidence(&own, weighed), scene));
    draft.mind_open(scene);
    draft
}

fn asks_for_remedies(question: &str) -> bool {
    let asked: Vec<String> = REMEDY_WORDS.split_whitespace().map(stem).collect();
    words(question).iter().any(|word| asked.contains(&word.stem))
}

fn confidence(own: &[Weighed], all: &[Weighed]) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let (own, all) = (count(own.len()), count(all.len()));
    0.25 + 0.25 * own / all.max(1.0) + 0.45 * own / (own + 4.0)
}

fn reasons<'w, 'a>(
    pros: &[&'w Weighed<'a>],
    cons: &[&'w Weighed<'a>],
    forward: bool,
) -> Vec<&'w Weighed<'a>> {
    let (most_cons, most_pros) = if forward { (2, 2) } else { (3, 1) };
    cons.iter().take(most_cons).chain(pros.iter().take(most_pros)).copied().collect()
}

fn line(w: &Weighed, scene: &Scene) -> String {
    let on = if w.themes.is_empty() { String::new() } else { format!(" on {}", and_list(&w.themes)) };
    let way = if w.value > 0.0 { "helps" } else { "is a risk" };
    let echo = match w.statement.echoes {
        0 => String::new(),
        1 => " One earlier answer named it.".to_owned(),
        n => format!(" {n} earlier answers named it."),
    };
    format!("{} {way}{on}.{echo}", cite(w, scene))
}

fn cost(cons: &[&Weighed], forward: bool, voice: &Voice) -> String {
    match (forward, cons.get(3)) {
        (_, None) if cons.is_empty() => "nothing the snapshot names".to_owned(),
        (true, Some(left)) => format!("leaving {} for later", quote(left)),
        (true, None) => "the time the mitigations take".to_owned(),
        (false, _) => voice
            .pick(
                4,
                &[
                    "a later start, until the first of these is answered",
                    "some speed, to have these answered first",
                    "work that no user will see at once",
                ],
            )
            .to_owned(),
    }
}

fn assess(pros: &[&Weighed], cons: &[&Weighed], voice: &Voice) -> Draft {
    let Some(first) = cons.first() else {
        let sound = pros.first().map_or_else(String::new, |pro| format!(" I rely on {}.", quote(pro)));
        let position = format!("I see no risk in the text that touches what I look after.{sound}");
        return Draft { position, ..Draft::default() };
    };
    let opening = match voice.pick(0, &["a", "b", "c", "d"]) {
        "a" => format!("The risk I would name first is {}.", quote(first)),
        "b" => format!("What worries me most is {}.", quote(first)),
        "c" => format!("I stopped reading at {}.", quote(first)),
        _ => format!("My first concern is {}.", quote(first)),
    };
    let second = cons.get(1).map_or_else(String::new, |w| match voice.pick(1, &["a", "b", "c"]) {
        "a" => format!(" Close behind it comes {}.", quote(w)),
        "b" => format!(" I would not let {} pass either.", quote(w)),
        _ => format!(" Then there is {}.", quote(w)),
    });
    let sound = pros.first().map_or_else(String::new, |w| match voice.pick(2, &["a", "b"]) {
        "a" => format!(" On the good side, {} holds.", quote(w)),
        _ => format!(" What I would keep is {}.", quote(w)),
    });
    let concerns = cons.iter().take(3).map(|w| concern(w)).collect();
    Draft { position: format!("{opening}{second}{sound}"), concerns, ..Draft::default() }
}

fn mitigate(pros: &[&Weighed], cons: &[&Weighed], voice: &Voice) -> Draft {
    let Some(first) = cons.first() else {
        let position = "Nothing in the text that touches what I look after asks for a mitigation.".to_owned();
        return Draft { position, ..Draft::default() };
    };
    let opening = match voice.pick(3, &["a", "b", "c"]) {
        "a" => format!("I would deal with {} first.", quote(first)),
        "b" => format!("Before all else, {} needs an answer.", quote(first)),
        _ => format!("The first effort should go to {}.", quote(first)),
    };
    let step = remedy_for_it(first, voice);
    let next = cons.get(1).map_or_else(String::new, |w| format!(" After that comes {}.", quote(w)));
    let sound = pros.first().map_or_else(String::new, |w| format!(" We can build on {}.", quote(w)));
    let last = if next.is_empty() { sound } else { next };
    let concerns = cons.iter().skip(1).take(2).map(|w| concern(w)).collect();
    Draft { position: format!("{opening} {step}{last}"), concerns, ..Draft::default() }
}

fn concern(w: &Weighed) -> String {
    match w.themes.first() {
        Some(theme) => format!("{} puts {theme} in doubt.", quote(w)),
        None => format!("{} is not answered in the text.", quote(w)),
    }
}
