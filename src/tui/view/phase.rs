//! The phase of a discussion in the state line.

use crate::insight::phase::phase_of;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped_middle, cut_middle};
use crate::tui::model::Model;
use unicode_width::UnicodeWidthStr as _;

/// The narrowest screen that shows all states of a round beside the phase of a discussion.
pub const ALL_STATES: u16 = 100;
const NARROW: u16 = 60;

/// The step that is looked at: of the draft, the one that runs, the last round's, or a replay's first.
pub fn current_step(model: &Model) -> Option<&str> {
    let session = model.session();
    let running = || session.step.as_ref().map(|run| run.id.as_str());
    let last = || session.rounds.last().map(|round| round.opened.step.as_str());
    let coming = || model.replay.coming().map(|opened| opened.step.as_str());
    model.preview().map(|preview| preview.opened.step.as_str()).or_else(running).or_else(last).or_else(coming)
}

/// Where a discussion stands and what follows, as far as the width allows; none outside discussions.
pub fn phase_words(model: &Model, step: Option<&str>, width: u16) -> Option<String> {
    let session = model.session();
    let phase = phase_of(session.definition.as_ref()?, step?)?;
    let label = clipped_middle(&harmless_line(&phase.label), phase.label.width().min(20));
    let next = phase.next.filter(|_| session.closed.is_none()).map(|next| harmless_line(&next));
    let (number, count) = (phase.number, phase.count);
    if width < NARROW {
        return Some(format!(" p{number}/{count} "));
    }
    let next = next.map(|next| {
        let sure = if phase.is_next_optional { " if needed" } else { "" };
        if width < ALL_STATES {
            format!(" → {}", cut_middle(&next, 16))
        } else {
            format!(", then {next}{sure}")
        }
    });
    Some(format!(" · phase {number}/{count} {label}{}", next.unwrap_or_default()))
}
