//! The headline of a whole session: its decision, or how it stands without one.

use super::headline::{Headline, headline, rehearsal_mark};
use super::round_view;
use super::wording::{as_sentence, capital, cut, pluralize, resume_verb};
use crate::core::{AskedQuestion, Deciding, deciding, questions};
use crate::history::{AnsweredQuestion, RoundRun, Session, Status};

/// The headline of a session, for the head of a report; there is always one.
pub fn session_headline(session: &Session) -> Headline {
    let (mut made, mark) = (unmarked(session), rehearsal_mark(session));
    if !made.label.starts_with(mark) {
        made.label.insert_str(0, mark);
        made.name.insert_str(0, mark);
    }
    made
}

fn unmarked(session: &Session) -> Headline {
    if let Some(ended) = ended(session) {
        return ended;
    }
    let Some(made) = deciding(session) else { return without_round(session) };
    if matches!(made, Deciding::Round(_) | Deciding::Person(..))
        && let Some(several) = several(session)
    {
        return several;
    }
    match made {
        Deciding::Round(round) => round_headline(session, round),
        other => of_deciding(session, other).unwrap_or_else(|| without_round(session)),
    }
}

/// The headline of one question, with the word REHEARSAL where it is one.
pub fn question_headline(
    session: &Session,
    round: &RoundRun,
    by_person: Option<&AnsweredQuestion>,
) -> Headline {
    match by_person {
        Some(decided) => by_facilitator(session, round, decided),
        None => round_headline(session, round),
    }
}

/// "2 of 3 questions decided": the head of a session with several decisions.
fn several(session: &Session) -> Option<Headline> {
    let asked = questions(session);
    if asked.len() < 2 {
        return None;
    }
    let is_made = |one: &&AskedQuestion<'_>| {
        one.by_person(session).is_some() || round_view::tally(one.decides).is_some_and(|tally| tally.decided)
    };
    let (made, all) = (asked.iter().filter(is_made).count(), asked.len());
    let name =
        if made == all { format!("{all} decisions") } else { format!("{made} of {all} questions decided") };
    let line = |one: &AskedQuestion<'_>| {
        let question = one.decides.opened.question.lines().next().unwrap_or_default();
        let made = question_headline(session, one.decides, one.by_person(session));
        format!("{} {}", as_sentence(&cut(question, 80)), as_sentence(&made.name))
    };
    Some(of_words(&name, &asked.iter().map(line).collect::<Vec<_>>().join(" ")))
}

/// "Rejected by the facilitator: too dear": how a session ended that did not finish.
fn ended(session: &Session) -> Option<Headline> {
    let closed = session.closed.as_ref()?;
    let word = match closed.status {
        Status::Rejected => "Rejected by the facilitator",
        Status::Failed => "Failed",
        Status::Stopped => "Stopped",
        Status::Finished | Status::Paused => return None,
    };
    let name = match closed.reason.as_deref() {
        // The reason says it itself.
        Some(reason) if session.stopped_at.is_some() => capital(reason),
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    };
    let before = deciding(session).and_then(|made| of_deciding(session, made));
    Some(of_words(&name, &before.map(|made| format!("Before that: {}", made.line())).unwrap_or_default()))
}

fn of_words(name: &str, sentence: &str) -> Headline {
    Headline {
        label: name.to_owned(),
        name: name.to_owned(),
        detail: sentence.to_owned(),
        sentence: sentence.to_owned(),
        order: None,
    }
}

fn counted(session: &Session, round: &RoundRun) -> Option<Headline> {
    round_view::tally(round).map(|tally| headline(session, round, tally))
}

fn round_headline(session: &Session, round: &RoundRun) -> Headline {
    if let Some(made) = counted(session, round) {
        return made;
    }
    let state = if round.closed.is_some() { "is closed and not counted" } else { "is open" };
    let (sealed, asked, id) = (round.sealed(), round.seats.len(), &round.opened.round);
    let mut stand = format!("Round “{id}” {state}; {sealed} of {} sealed.", pluralize(asked, "seat"));
    let (failed, lost) = (round.failed_seats().count(), round.lost_seats().len());
    let why = if session.closed.is_some() {
        "No decision: the round was not counted".to_owned()
    } else if lost > 0 {
        let verb = resume_verb(session);
        stand += &format!(" To ask these seats again: roundtable {verb} --ask-again.");
        format!("Not finished: the key of {} is lost", pluralize(lost, "answer"))
    } else if session.below_quorum().is_some() && failed > 0 {
        format!("Not finished: {} failed", pluralize(failed, "seat"))
    } else if session.paused.is_some() {
        "Not finished: the session is paused".to_owned()
    } else {
        "Not finished: the round is open".to_owned()
    };
    of_words(&why, &stand)
}

/// The headline of what decides a session; none for a round that is not counted.
fn of_deciding(session: &Session, deciding: Deciding<'_>) -> Option<Headline> {
    Some(match deciding {
        Deciding::Round(round) => return counted(session, round),
        Deciding::Person(round, decided) => by_facilitator(session, round, decided),
        Deciding::NotHeld(step, not_held) => {
            let before = session.rounds.iter().rev().find_map(|round| {
                let tally = round_view::tally(round).filter(|tally| tally.decided)?;
                let made = headline(session, round, tally);
                Some(format!("Before that, round `{}`: {}", tally.round, made.line()))
            });
            let name = format!("No decision: round `{step}` was not held: {}", not_held.why);
            of_words(&name, &before.unwrap_or_default())
        }
        Deciding::NoneHeld => of_words("No decision: no round with a rule was held", ""),
    })
}

/// The facilitator's own decision, with its reason and what the round itself came to.
fn by_facilitator(session: &Session, round: &RoundRun, decided: &AnsweredQuestion) -> Headline {
    let option = decided.decides().unwrap_or_default();
    let reason = decided.given.comment.as_deref();
    let reason = reason.map(|why| format!("Reason: {}", as_sentence(why)));
    let own = counted(session, round).map(|made| format!("The round itself: {}", made.line()));
    let sentence = reason.into_iter().chain(own).collect::<Vec<_>>().join(" ");
    Headline { label: format!("Decided by the facilitator: {option}"), ..of_words(option, &sentence) }
}

/// The state of a workflow in which no round was opened.
fn without_round(session: &Session) -> Headline {
    let has_rounds = session.definition.iter().any(|d| d.all_steps().any(|step| step.round().is_some()));
    let steps = pluralize(session.iterations as usize, "step");
    if session.closed.is_none() {
        of_words("Not finished", &format!("{steps} so far."))
    } else if has_rounds {
        of_words("No decision: no round was opened", &format!("{steps} ran."))
    } else {
        of_words(&format!("Finished after {steps}"), "There was no round, and nothing to be decided.")
    }
}
