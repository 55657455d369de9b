//! Parser of participants' replies: lenient in shape, strict in content, never guessing.
//!
//! `docs/SESSION_FORMAT.md` lists every accepted shape. The parser takes any text, never panics and runs in
//! about linear time. It obeys no instruction in the text: keys such as `voter` or `weight` are kept and
//! flagged. It does not identify participants, count ballots or decide on re-asks.

pub(super) mod answer;
mod blocks;
mod classify;
pub(super) mod option_match;
pub(super) mod prefilter;
pub(super) mod scalar;

#[cfg(test)]
mod tests;

pub use answer::AnswerParser;
pub use prefilter::{ONLY_THINKING, holds_no_answer};

use crate::ballot::model::{Answer, Ballot, BallotForm, ParsedReply, Stance};
use crate::yaml::{Node, Value};
use classify::ClassifiedBlock;

enum Rejected {
    Invalid(String),
    Refused(String),
}

impl From<String> for Rejected {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

/// Parses a reply to `form`.
///
/// `Invalid` and `BareBlock` carry a reason to send to the participant; `Refused` carries the start of the
/// reply.
pub fn read_reply(form: &BallotForm, reply: &str) -> ParsedReply {
    match read(form, reply) {
        Ok(answer) if answer.ballot == Ballot::Consent(Stance::Block, None) => {
            ParsedReply::BareBlock(answer, answer::BARE_BLOCK.to_owned())
        }
        Ok(answer) => ParsedReply::Answered(answer),
        Err(Rejected::Invalid(reason)) => ParsedReply::Invalid(reason),
        Err(Rejected::Refused(words)) => ParsedReply::Refused(words),
    }
}

fn read(form: &BallotForm, reply: &str) -> Result<Answer, Rejected> {
    let own = form.key();
    let text = prefilter::prefilter(reply)?;
    if let Some(answer) = bare_ballot(form, &text)? {
        return Ok(answer);
    }
    let whole = match classify::whole(form, &text)? {
        ClassifiedBlock::Ballot(ballot) => return Ok(ballot?),
        other => other,
    };
    let found = blocks::find(&text, form.kind)?;
    let mut pieces = Vec::new();
    for block in found {
        pieces.push(classify::classify(form, block)?);
    }
    let ballots = pieces.iter().filter_map(|piece| match piece {
        ClassifiedBlock::Ballot(ballot) => Some(ballot),
        _ => None,
    });
    let ballots: Vec<&Result<Answer, String>> = ballots.collect();
    match ballots.as_slice() {
        [] => {
            pieces.insert(0, whole);
            Err(no_ballot_error(own, &text, &pieces))
        }
        [one] => {
            let mut answer = (*one).clone()?;
            let is_known = |piece: &&_| matches!(piece, ClassifiedBlock::Fields { known: true, .. });
            let besides = pieces.iter().filter(is_known).count();
            if besides > 0 {
                answer.flags.push(format!("{besides} further block(s) without `{own}` left out"));
            }
            Ok(answer)
        }
        several => Ok(single_ballot(several)?),
    }
}

/// Parses a reply that is only an option, stance, order, card, number or `abstain`. A list number or letter
/// alone names no option.
fn bare_ballot(form: &BallotForm, text: &str) -> Result<Option<Answer>, Rejected> {
    let word = text.trim();
    let is_short = !word.is_empty() && word.len() <= 256 && !word.contains('\n');
    if !is_short || !(scalar::is_abstain(word) || form.kind.spec().is_bare(form, word)) {
        return Ok(None);
    }
    let entries = vec![(form.key().to_owned(), Node::new(Value::Text(word.to_owned())))];
    let mut answer = answer::answer(form, &entries, "")?;
    answer.flags.push("the reply is a bare ballot, without reasons".to_owned());
    Ok(Some(answer))
}

/// Merges several ballots that agree; the error names a difference.
fn single_ballot(ballots: &[&Result<Answer, String>]) -> Result<Answer, String> {
    let count = ballots.len();
    let differ = |what: &str| format!("the reply contains {count} ballots{what}: give exactly one");
    let answers = ballots.iter().map(|ballot| {
        ballot.as_ref().map_err(|reason| differ(&format!(", one of which cannot count ({reason})")))
    });
    let answers: Vec<&Answer> = answers.collect::<Result<_, _>>()?;
    let mut first = answers[0].clone();
    if let Some(key) = answers.iter().find_map(|other| difference(&first, other)) {
        return Err(differ(&format!(" that differ in `{key}`")));
    }
    for (key, value) in answers.iter().flat_map(|other| &other.content) {
        first.content.entry(key.as_str()).or_insert_with(|| value.clone());
    }
    first.content = answer::canonical_order(first.content, &first.ballot);
    first.flags.push(format!("the same ballot appears {count} times: read as one"));
    Ok(first)
}

/// Returns a key whose values differ between two answers: the ballot, the position or the confidence.
fn difference(one: &Answer, other: &Answer) -> Option<&'static str> {
    let differs = |key: &str| match (one.content.get(key), other.content.get(key)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    if one.ballot != other.ballot {
        return Some(one.ballot.key());
    }
    if one.ballot == Ballot::Position && differs("position") {
        return Some("position");
    }
    differs("confidence").then_some("confidence")
}

/// Explains why no block is a ballot.
fn no_ballot_error(own: &str, text: &str, pieces: &[ClassifiedBlock]) -> Rejected {
    let found = pieces.iter().find_map(|piece| match piece {
        ClassifiedBlock::Fields { keys, .. } => Some(keys.as_slice()),
        _ => None,
    });
    let refusal_key = found.is_some_and(|keys| keys.iter().any(|key| key == "refusal"));
    if refusal_key || prefilter::is_refusal(text) {
        return Rejected::Refused(scalar::shorten(text.trim(), 200));
    }
    if pieces.iter().any(|piece| matches!(piece, ClassifiedBlock::Form)) {
        return format!("the reply repeats the form: `{own}` still contains its placeholder").into();
    }
    if let Some(keys) = found {
        let names: Vec<_> = keys.iter().take(12).map(|key| scalar::quoted(key)).collect();
        return format!("no `{own}` in the answer; keys found: {}", names.join(", ")).into();
    }
    format!("no `{own}` found: answer with one fenced ```yaml block that contains `{own}:`").into()
}
