//! Phrases inside results and inputs, as files of earlier versions have them.
//!
//! These were handed on, so they stay as they are recorded; a version that words them otherwise must
//! know the older words to make the same work item again.

use std::sync::Arc;

use super::disclosure::WITHHELD;
use super::work_item_input::hash_again;
use crate::history::{Event, Session};

/// Each phrase whose words have changed, as it is now and as it was. Whoever changes one adds a row.
const REWORDED: [(&str, &str); 1] = [(WITHHELD, "withheld: it says who its author is, or names somebody")];

/// An event that is made now, in the older words that the recorded one has.
pub fn in_older_words(session: &Session, made: &Event, recorded: &Event) -> Event {
    let unchanged = || made.clone();
    let (Ok(text), Ok(recorded)) = (serde_json::to_string(made), serde_json::to_string(recorded)) else {
        return unchanged();
    };
    let older = REWORDED
        .iter()
        .filter(|(_, older)| recorded.contains(older))
        .fold(text.clone(), |text, (now, older)| text.replace(now, older));
    if older == text {
        return unchanged();
    }
    let mut event = serde_json::from_str(&older).unwrap_or_else(|_| unchanged());
    if let (Event::WorkItemOffered(item), Some(definition)) = (&mut event, &session.definition) {
        hash_again(definition, Arc::make_mut(item));
    }
    event
}
