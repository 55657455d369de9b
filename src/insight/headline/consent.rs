//! Consent: who supports, stands aside or blocks, and what would lift a block.

use std::fmt::Write as _;

use super::{Count, all_seats, named};
use crate::ballot::{Ballot, Stance};
use crate::insight::movement::earlier;
use crate::insight::round_view::{SeatView, seats};
use crate::insight::wording::pluralize;

impl Count<'_> {
    fn stance(&self, stance: Stance) -> Vec<SeatView<'_>> {
        let is = |seat: &SeatView<'_>| matches!(seat.ballot(), Some(Ballot::Consent(is, _)) if *is == stance);
        self.ballots().filter(is).collect()
    }

    /// "2 of 5 support it, 2 stand aside, 1 blocks, 1 abstained".
    pub(super) fn stances(&self) -> String {
        let count = |stance| self.stance(stance).len();
        let (support, aside, block) =
            (count(Stance::Support), count(Stance::StandAside), count(Stance::Block));
        let word = if support == 1 { "supports" } else { "support" };
        let mut said = if support == self.asked() {
            format!("{} {word} it", all_seats(support))
        } else {
            format!("{support} of {} {word} it", pluralize(self.asked(), "seat"))
        };
        for (count, one, more) in [(aside, "stands aside", "stand aside"), (block, "blocks", "block")] {
            if count > 0 {
                let _ = write!(said, ", {count} {}", if count == 1 { one } else { more });
            }
        }
        for absent in self.absent() {
            let _ = write!(said, ", {absent}");
        }
        said
    }

    pub(super) fn consent(&self) -> (String, String) {
        let mut sentence = self.stances() + ".";
        let blocks = self.stance(Stance::Block);
        let names = |seats: &[SeatView<'_>]| {
            named(&seats.iter().map(|seat| seat.name.to_owned()).collect::<Vec<String>>())
        };
        if self.tally.decided {
            if let Some(lifted) = self.lifted() {
                let _ = write!(sentence, " {lifted}");
            }
            if self.stance(Stance::Support).is_empty() {
                sentence.push_str(" Adopted without a single supporter.");
            }
            return ("Adopted: nobody blocks".to_owned(), sentence);
        }
        let silent: Vec<SeatView<'_>> = blocks
            .iter()
            .copied()
            .filter(|seat| seat.ballot().is_some_and(|ballot| ballot.minimum_change().is_none()))
            .collect();
        if !silent.is_empty() {
            let verb = if silent.len() == 1 { "blocks" } else { "block" };
            let why = format!("{} {verb} without saying what would have to change", names(&silent));
            return (format!("No decision: {why}"), sentence);
        }
        if !blocks.is_empty() {
            let changes: Vec<String> = blocks
                .iter()
                .filter_map(|seat| seat.ballot()?.minimum_change())
                .map(|change| format!("“{}”", change.trim().trim_end_matches('.')))
                .collect();
            let these = if changes.len() == 1 { "this change" } else { "these changes" };
            let _ = write!(sentence, " It would pass with {these}: {}.", changes.join("; "));
            return (format!("Blocked by {}", names(&blocks)), sentence);
        }
        if self.tally.is_too_weak() {
            return self.too_weak("support");
        }
        (format!("No decision: {}", self.why()), sentence)
    }

    /// Who blocked in an earlier round of the same form and does so no more.
    fn lifted(&self) -> Option<String> {
        let before = earlier(self.session, self.round)?;
        let blocked = |seat: &SeatView<'_>| matches!(seat.ballot(), Some(Ballot::Consent(Stance::Block, _)));
        let names: Vec<String> =
            seats(self.session, before).filter(blocked).map(|seat| seat.name.to_owned()).collect();
        let (block, were) = if names.len() == 1 { ("block", "was") } else { ("blocks", "were") };
        (!names.is_empty())
            .then(|| format!("The {block} of {} in an earlier round {were} lifted.", named(&names)))
    }
}
