//! The answer to a consent question: support, stand aside, or block.
//!
//! A block hinges on one sentence: it speaks against the proposal, touches one of the persona's
//! heaviest priorities, goes with a stated requirement, and nothing said on that priority makes up for
//! it. Without such a sentence the balance of everything decides between support and standing aside.

use super::draft::{Draft, doubt};
use super::scene::Scene;
use super::voice::{Voice, and_list, cite, clip, quote, remedies};
use super::weigh::{Weighed, heaviest, themes};
use crate::persona::Persona;

/// A block needs a priority of at least this share of the persona's heaviest one.
const HEAVY: f64 = 0.8;

/// The answer to a question that asks for consent.
pub(super) fn answer(scene: &Scene, weighed: &[Weighed], persona: &Persona) -> Draft {
    if weighed.is_empty() {
        return Draft::abstain("Nothing in the snapshot speaks for the proposal or against it.");
    }
    let voice = Voice::of(persona);
    let pros = heaviest(weighed.iter().filter(|w| w.value > 0.0));
    let cons = heaviest(weighed.iter().filter(|w| w.value < 0.0));
    let balance: f64 = weighed.iter().map(|w| w.value).sum();
    let breach = breach(weighed, persona);
    let mut draft = common(scene, &pros, &cons, breach, &voice);
    match breach {
        Some(breach) => block(&mut draft, scene, breach, &voice),
        None if balance > 0.0 => support(&mut draft, &pros, &cons, &voice),
        None => stand_aside(&mut draft, &cons, &voice),
    }
    draft.confidence = Some(doubt(confidence(weighed, balance, breach), scene));
    draft.mind_open(scene);
    draft
}

/// The sentence a block hinges on.
fn breach<'w, 'a>(weighed: &'w [Weighed<'a>], persona: &Persona) -> Option<&'w Weighed<'a>> {
    let heaviest_priority = persona.priorities.values().copied().fold(0.0, f64::max);
    let hinges = |w: &&Weighed| {
        w.statement.polarity <= -1.0
            && w.backing.is_some()
            && w.top > 0.0
            && w.top >= HEAVY * heaviest_priority
            && w.themes.first().is_some_and(|theme| on(weighed, theme) < 0.0)
    };
    heaviest(weighed.iter().filter(hinges)).into_iter().next()
}

/// The balance of all that is said on one priority.
fn on(weighed: &[Weighed], theme: &str) -> f64 {
    weighed.iter().filter(|w| w.themes.contains(&theme)).map(|w| w.value).sum()
}

fn confidence(weighed: &[Weighed], balance: f64, breach: Option<&Weighed>) -> f64 {
    let all: f64 = weighed.iter().map(Weighed::size).sum();
    let touching = weighed.iter().filter(|w| !w.themes.is_empty()).count();
    let touching = f64::from(u32::try_from(touching).unwrap_or(u32::MAX));
    let clear = match breach {
        Some(breach) => 0.5 + breach.size() / all / 2.0,
        None => balance.abs() / all.max(1.0),
    };
    0.2 + 0.35 * clear + 0.4 * touching / (touching + 3.0)
}

fn common(
    scene: &Scene,
    pros: &[&Weighed],
    cons: &[&Weighed],
    breach: Option<&Weighed>,
    voice: &Voice,
) -> Draft {
    let mut draft = Draft::default();
    let mut all = heaviest(pros.iter().chain(cons).copied());
    let hinge = |w: &Weighed| breach.is_some_and(|breach| std::ptr::eq(breach.statement, w.statement));
    all.sort_by_key(|w| !hinge(w));
    let held = themes(&all, 3);
    draft.optimizing_for =
        if held.is_empty() { "a proposal that holds together".to_owned() } else { and_list(&held) };
    draft.rationale = all.iter().take(4).map(|w| line(w, scene)).collect();
    draft.risks = cons.iter().take(3).map(|w| quote(w)).collect();
    draft.concerns = cons.iter().take(3).map(|w| concern(w)).collect();
    draft.suggestions = remedies(cons, voice, 2);
    draft.refer(scene, all.iter().take(4).copied());
    draft
}

fn line(w: &Weighed, scene: &Scene) -> String {
    let way = if w.value > 0.0 { "for" } else { "against" };
    let on = if w.themes.is_empty() { String::new() } else { format!(", on {}", and_list(&w.themes)) };
    format!("{} speaks {way} the proposal{on}.", cite(w, scene))
}

fn concern(w: &Weighed) -> String {
    match w.themes.first() {
        Some(theme) => format!("{} bears on {theme}.", quote(w)),
        None => format!("{} is not answered in the text.", quote(w)),
    }
}

fn block(draft: &mut Draft, scene: &Scene, breach: &Weighed, voice: &Voice) {
    let held = and_list(&breach.themes[..breach.themes.len().min(2)]);
    let measure = breach.backing.map(|at| &scene.requirements[at]).map_or_else(String::new, |r| {
        format!(" It is measured by \u{201c}{}\u{201d} ({}).", clip(&r.text), r.place)
    });
    let opening = match voice.pick(0, &["a", "b"]) {
        "a" => format!("I block this as it stands, over {held}, until the minimum change is made."),
        _ => format!("I cannot consent to this before the minimum change is made; it fails on {held}."),
    };
    draft.position = format!("{opening} It hinges on {}.{measure}", quote(breach));
    "a later date for the rest of the proposal".clone_into(&mut draft.accepting_as_cost);
    let change =
        format!("Change the proposal so that this is no longer true of it: {}.{measure}", quote(breach));
    draft.ballot = vec![("consent", "block".into()), ("minimum_change", change.into())];
}

fn support(draft: &mut Draft, pros: &[&Weighed], cons: &[&Weighed], voice: &Voice) {
    let reason = pros.first().map_or_else(String::new, |pro| match voice.pick(0, &["a", "b", "c"]) {
        "a" => format!(" What convinces me is {}.", quote(pro)),
        "b" => format!(" I rely on {}.", quote(pro)),
        _ => format!(" It rests on {}.", quote(pro)),
    });
    let doubt = cons.first().map_or_else(String::new, |con| match voice.pick(1, &["a", "b"]) {
        "a" => format!(" One thing I would still watch is {}.", quote(con)),
        _ => format!(" I support it knowing {}.", quote(con)),
    });
    draft.position = format!("I support this.{reason}{doubt}");
    draft.accepting_as_cost =
        cons.first().map_or_else(|| "nothing the snapshot names".to_owned(), |con| quote(con));
    draft.ballot = vec![("consent", "support".into())];
}

fn stand_aside(draft: &mut Draft, cons: &[&Weighed], voice: &Voice) {
    let doubts = match (cons, voice.pick(0, &["a", "b"])) {
        ([], _) => "The text gives me no reason to support it and none to stop it.".to_owned(),
        ([one], "a") => format!("My doubt is {}; it is not mine to stop this over it.", quote(one)),
        ([one], _) => {
            format!("I am not at ease with {}, and it does not weigh enough to stop this.", quote(one))
        }
        ([one, two, ..], "a") => {
            format!(
                "My doubts are {} and {}. Neither is reason enough for me to stop it.",
                quote(one),
                quote(two)
            )
        }
        ([one, two, ..], _) => {
            format!(
                "I am not at ease with {}, nor with {}. Neither weighs enough to stop this.",
                quote(one),
                quote(two)
            )
        }
    };
    draft.position = format!("I stand aside. {doubts}");
    "a decision I would not have made myself".clone_into(&mut draft.accepting_as_cost);
    draft.ballot = vec![("consent", "stand-aside".into())];
}
