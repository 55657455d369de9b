//! What happens to an agent's work item: offered as the results give it, claimed in turn, returned
//! by its holder, its data what the replies say.

use super::Verifier;
use super::called::warnings;
use crate::core::{Command, decide, is_asked_once, is_free};
use crate::history::{
    AgentWork, Event, ItemStatus, LogEntry, Session, WorkItemClaimed, WorkItemOffered, WorkItemReturned,
};
use crate::workflow::read_answer;

impl Verifier {
    pub(super) fn item_offered(&mut self, line: &LogEntry, item: &WorkItemOffered, task: &AgentWork) {
        let command = Command::Offer { step: item.step.clone() };
        let events = decide(&self.session, command, line.stamped.at).unwrap_or_default();
        if warnings(&events).count() > self.warned {
            self.find(line, "a warning about a work item is missing before its offer");
        }
        let mut offers = events.into_iter().filter_map(|event| {
            if let Event::WorkItemOffered(offered) = event { Some(offered) } else { None }
        });
        let Some(due) = offers.next() else {
            return self
                .find(line, format!("`{}` is handed a work item its step does not give", item.participant));
        };
        if *due == *item {
            return;
        }
        let is_input = due.task.as_ref().is_some_and(|due| due.input == task.input);
        let what = if is_input { "the work item" } else { "the input" };
        self.find(line, format!("{what} of `{}` is not what the results before it give", item.participant));
    }

    pub(super) fn item_claimed(&mut self, line: &LogEntry, claim: &WorkItemClaimed) {
        let (item, participant, holder) =
            (claim.item.clone(), claim.participant.clone(), claim.holder.clone());
        let at = line.stamped.at;
        let is_renewed = self
            .session
            .items
            .get(&item)
            .and_then(|known| known.claim.as_ref())
            .is_some_and(|before| before.holder == holder && at < before.until);
        if !is_renewed {
            self.begun.insert(item.clone(), at);
        }
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
        if let Some(what) = unlike_a_return(&self.session, back) {
            self.find(line, format!("{what} of `{}`", back.participant));
        }
        self.time_of(line, back);
    }
}

/// What of a return does not fit the rest of it, if anything does not.
fn unlike_a_return(session: &Session, back: &WorkItemReturned) -> Option<&'static str> {
    let item = session.items.get(&back.item)?;
    let is_done = back.status == ItemStatus::Completed;
    let replies = u32::try_from(back.replies.len()).unwrap_or(u32::MAX);
    let data = back.replies.last().and_then(|reply| read_answer(&reply.text).ok());
    if is_done && data.as_ref() != Some(&back.data) {
        return Some("the data is not what the reply says, in the return");
    }
    let least = replies.max(1).saturating_add(back.declined);
    let most = match is_asked_once(&item.offered.model) {
        true if is_done => least,
        true => replies.saturating_add(1),
        false => u32::MAX,
    };
    // One without room for an answer is asked for once more.
    let without_room = back.replies.iter().any(|reply| reply.limit.is_some());
    if replies > 2 + u32::from(without_room) || !(least..=most).contains(&back.tries) {
        return Some("the tries are not those of the replies, in the return");
    }
    let printed = [&back.exit_status, &back.stderr, &back.stdout];
    let model = &item.offered.model;
    // Which other models are programs, the configuration said.
    let may_be_program = !is_free(model) && (back.exit_status.is_some() || !is_done);
    if !model.starts_with("command/") && !may_be_program {
        return printed.iter().any(|text| text.is_some()).then_some("no program ended: the return");
    }
    (is_done && !ended_as_done(session, back))
        .then_some("the program did not end with an answer, in the return")
}

/// Whether a program ended with success, or with an exit code that is an answer.
fn ended_as_done(session: &Session, back: &WorkItemReturned) -> bool {
    let definition = session.definition.as_deref();
    let specs = definition.map(|definition| &definition.participants[..]).unwrap_or_default();
    let program =
        specs.iter().find(|spec| spec.name == back.participant).and_then(|spec| spec.command.as_ref());
    let code = back.exit_status.as_deref().and_then(|status| status.rsplit(' ').next()?.parse::<i64>().ok());
    back.stdout.is_none()
        && match code {
            Some(0) => true,
            Some(code) => {
                program.is_some_and(|program| program.ok_exit.contains(&code)) && back.data["exit"] == code
            }
            None => false,
        }
}
