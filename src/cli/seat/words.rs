//! What is said to whoever votes by a link.

use crate::core::{ExitCode, refusal};
use crate::diagnostic::Diagnostic;
use crate::launch::error::RunError;
use crate::participants::http::link::LinkReply;
use crate::round::offer::BadOffer;

/// What a refusal of the session means for whoever votes.
pub fn refused(reply: &LinkReply) -> RunError {
    Diagnostic::new(in_words(&reply.word())).into()
}

/// The same of an answer that was sent.
pub fn answer_refused(reply: &LinkReply) -> RunError {
    let word = reply.word();
    let told = match &*word {
        refusal::ROUND_CLOSED => {
            "too late: the round is closed; your answer does not count, and may still be readable by whoever recorded it"
        }
        word => in_words(word),
    };
    Diagnostic::new(told).into()
}

/// A refusal's word in words for whoever votes.
pub fn in_words(word: &str) -> &str {
    match word {
        refusal::NO_SUCH_INVITATION => "this link is not valid, or not any more: ask for a new one",
        refusal::ALREADY_PINNED => {
            "this link was opened elsewhere before: tell whoever sent it, and ask for a new one"
        }
        refusal::ROUND_CLOSED => "too late: the round is closed",
        refusal::SEAT_EXCUSED => "you were excused from this round",
        refusal::ALREADY_SEALED => "another answer was sealed for you before; the first one counts",
        refusal::STALE => "the question has changed since",
        other => other,
    }
}

/// Why a question is not answered.
pub fn bad_offer(bad: BadOffer) -> RunError {
    match bad {
        BadOffer::Stranger | BadOffer::NotSigned => {
            damaged("the question does not come from whoever sent the link; nothing was sent")
        }
        BadOffer::Unknown => Diagnostic::new("this ballot needs a newer version of this program").into(),
    }
}

/// Something that is not what it should be: exit code 6.
pub fn damaged(what: &str) -> RunError {
    RunError { problems: vec![Diagnostic::new(what)], exit: ExitCode::Damaged }
}

/// The session gives no answer: exit code 5.
pub fn unreachable(why: &str) -> RunError {
    let problem = Diagnostic::new(format!("the session cannot be reached: {why}"));
    let hint = if why.contains("UnknownIssuer") {
        "its certificate is made by itself: give the file of it with --cert"
    } else {
        "run the same command again"
    };
    RunError { problems: vec![problem.hint(hint)], exit: ExitCode::Unreachable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sent_an_answer_too_late_is_told_who_may_read_it() {
        let reply = |word: &str| LinkReply {
            status: 410,
            signature: None,
            body: serde_json::json!({ "refused": word }).to_string().into_bytes(),
        };
        let told = |word: &str| answer_refused(&reply(word)).problems[0].to_string();
        assert!(told(refusal::ROUND_CLOSED).contains("may still be readable by whoever recorded it"));
        assert_eq!(told(refusal::SEAT_EXCUSED), "you were excused from this round");
    }
}
