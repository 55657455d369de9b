//! What happens to an agent's work item: offered as the results give it, claimed in turn, returned
//! by its holder, its data what the replies say.

use super::Verifier;
use crate::core::{Command, decide};
use crate::history::{
    AgentWork, Event, ItemStatus, LogEntry, WorkItemClaimed, WorkItemOffered, WorkItemReturned,
};
use crate::workflow::read_answer;

impl Verifier {
    pub(super) fn item_offered(&mut self, line: &LogEntry, item: &WorkItemOffered, task: &AgentWork) {
        let command = Command::Offer { step: item.step.clone() };
        let events = decide(&self.session, command, line.stamped.at).unwrap_or_default();
        let mut offers = events.into_iter().filter_map(|event| match event {
            Event::WorkItemOffered(offered) => Some((*offered).clone()),
            _ => None,
        });
        let Some(mut due) = offers.next() else {
            return self
                .find(line, format!("`{}` is handed a work item its step does not give", item.participant));
        };
        // How the form of an answer was worded before the wording had a number is not known here.
        if let Some(due) = due.task.as_mut().filter(|_| task.wording.is_none()) {
            due.rules.clone_from(&task.rules);
        }
        if due == *item {
            return;
        }
        let is_input = due.task.as_ref().is_some_and(|due| due.input == task.input);
        let what = if is_input { "the work item" } else { "the input" };
        self.find(line, format!("{what} of `{}` is not what the results before it give", item.participant));
    }

    pub(super) fn item_claimed(&mut self, line: &LogEntry, claim: &WorkItemClaimed) {
        let (item, participant, holder) =
            (claim.item.clone(), claim.participant.clone(), claim.holder.clone());
        let is_renewed = self
            .session
            .items
            .get(&item)
            .and_then(|known| known.claim.as_ref())
            .is_some_and(|before| before.holder == holder && line.stamped.at < before.until);
        self.check_recomputed(
            line,
            if is_renewed {
                Command::Renew { item, participant, holder }
            } else {
                Command::Claim { item, participant, holder }
            },
        );
    }

    pub(super) fn item_returned(&mut self, line: &LogEntry, back: &WorkItemReturned) {
        let holder = self.session.items.get(&back.item).and_then(|item| item.claim.as_ref());
        let holder = holder.and_then(|claim| claim.holder.clone());
        self.check_recomputed(line, Command::Return { back: Box::new(back.clone()), holder });
        let last = back.replies.last().filter(|_| back.status == ItemStatus::Completed);
        let format = self.session.format();
        if last.is_some_and(|reply| read_answer(&reply.text, format).ok().as_ref() != Some(&back.data)) {
            self.find(line, format!("the data of `{}` is not what its reply says", back.participant));
        }
    }
}
