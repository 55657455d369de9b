//! Notices about seats without a model and about placeholders, which decide nothing.

use crate::diagnostic::Diagnostic;
use crate::history::{SeatInfo, Session};
use crate::insight::join_list;
use crate::tally::NoDecision;
use crate::workflow::{Definition, Step};

/// That seats are asked for which no model is named.
pub fn without_model(session: &Session, file: &str) -> Option<Diagnostic> {
    let definition = session.definition.as_ref()?;
    let is_asked = |seat: &&SeatInfo| {
        definition.all_steps().any(|step| seat.sits_in(definition, step) && !seat.is_scripted(&step.id))
    };
    let names = session.roster.values().filter(|seat| seat.has_no_model()).filter(is_asked);
    let names: Vec<String> = names.map(|seat| format!("`{}`", seat.name)).collect();
    if names.is_empty() {
        return None;
    }
    let verb = if names.len() == 1 { "has" } else { "have" };
    let problem = Diagnostic::new(format!("no model: {} {verb} none", join_list(&names)));
    Some(problem.with_file(file).hint(
        "give `--model PROVIDER/MODEL`, set `model:` in config.yaml, or name a local one such as \
         `--model ollama/llama3.2`; `--rehearse` tries the definition with placeholders",
    ))
}

/// The rounds that cannot decide, since placeholders vote in them; of a rehearsal, those that ask for a
/// strength.
pub fn undecidable_rounds(session: &Session, file: &str) -> Vec<Diagnostic> {
    let Some(definition) = &session.definition else { return Vec::new() };
    let of = |step: &Step| {
        if session.rehearses() { without_strength(step) } else { of_round(session, definition, step) }
    };
    definition.all_steps().filter_map(of).map(|problem| problem.with_file(file)).collect()
}

fn without_strength(step: &Step) -> Option<Diagnostic> {
    let least = step.round()?.act_at?;
    let (id, least) = (&step.id, least.name());
    Some(Diagnostic::new(format!(
        "round `{id}`: a rehearsal has no strength, `act_at: {least}` is not applied"
    )))
}

fn of_round(session: &Session, definition: &Definition, step: &Step) -> Option<Diagnostic> {
    step.round()?;
    let seats: Vec<&SeatInfo> =
        session.roster.values().filter(|seat| seat.sits_in(definition, step)).collect();
    let picks = seats.iter().filter(|seat| seat.is_rehearsal() && !seat.is_scripted(&step.id)).count();
    if picks == 0 {
        return None;
    }
    let are = NoDecision::Placeholders { placeholders: picks as u32, seats: seats.len() };
    let problem = Diagnostic::new(format!("round `{}` cannot decide: {are}", step.id));
    Some(problem.hint("give each seat a model, or say `--rehearse` to try the definition out"))
}
