//! Independence of a round's answers: their models, makers and equal texts.
//!
//! It does not estimate a number of independent voices: all models tend to make the same errors, whoever made
//! them (sources in `docs/TALLIES.md`). People's answers, typed or scripted, are counted separately.

use indexmap::IndexMap;
use serde::Serialize;

use super::round_view::{self, SeatView};
use super::wording::{first_names, join_list, pluralize};
use crate::ballot::Ballot;
use crate::core::{is_persons, is_placeholder};
use crate::history::{RoundRun, Session};
use crate::round::answer::{Origin, Outcome};

const UNKNOWN: &str = "unknown";

/// Makers, and prefixes of the names of their models or providers.
const MAKERS: [(&str, &str); 14] = [
    ("OpenAI", "gpt chatgpt o1 o3 o4 codex openai"),
    ("Anthropic", "claude anthropic"),
    ("Google", "gemini gemma google"),
    ("Meta", "llama codellama meta"),
    ("Mistral", "mistral mixtral ministral codestral magistral devstral"),
    ("Alibaba", "qwen qwq"),
    ("DeepSeek", "deepseek"),
    ("xAI", "grok"),
    ("Microsoft", "phi"),
    ("Cohere", "command-r command-a aya"),
    ("IBM", "granite"),
    ("NVIDIA", "nemotron"),
    ("Zhipu", "glm"),
    ("Moonshot", "kimi"),
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Independence {
    /// Seats per model that answered, in roster order.
    pub models: IndexMap<String, Vec<String>>,
    /// Models per maker; `unknown` if the name does not show it.
    pub makers: IndexMap<String, Vec<String>>,
    pub people: Vec<String>,
    #[serde(skip)]
    pub scripted: usize,
    /// Groups of seats with the same or nearly the same answer.
    pub same_answers: Vec<Vec<String>>,
    /// Groups of seats that differ only in a temperature that their provider rejects.
    pub same_seats: Vec<Vec<String>>,
}

/// Returns the maker by the model's name, else by its provider's; llama.cpp serves models of all makers.
pub fn maker(model: &str) -> Option<&'static str> {
    let of = |name: &str| {
        let name = name.to_ascii_lowercase();
        let begins = |starts: &str| starts.split(' ').any(|start| name.starts_with(start));
        MAKERS.iter().find(|(_, starts)| begins(starts)).map(|(maker, _)| *maker)
    };
    model.rsplit('/').filter(|name| *name != "llamacpp").find_map(of)
}

pub fn independence(session: &Session, round: &RoundRun) -> Option<Independence> {
    let same_answers = round.tally.as_ref().map(|tally| tally.same_answers.clone()).unwrap_or_default();
    let same_seats = same_seats(session, round);
    let mut found = Independence { same_answers, same_seats, ..Independence::default() };
    for seat in round_view::seats(session, round) {
        let Some(answer) = seat.answer.filter(|answer| answer.outcome == Outcome::Answered) else {
            continue;
        };
        let name = seat.name.to_owned();
        if is_persons(answer) {
            found.people.push(name);
            found.scripted += usize::from(answer.record.origin == Origin::Script);
        } else if !is_placeholder(answer) {
            found.models.entry(answer.record.answered_by().to_owned()).or_default().push(name);
        }
    }
    for model in found.models.keys() {
        let maker = maker(model).unwrap_or(UNKNOWN).to_owned();
        found.makers.entry(maker).or_default().push(model.clone());
    }
    (!found.models.is_empty() || !found.people.is_empty()).then_some(found)
}

impl Independence {
    /// Formats "3 models, 2 makers (Meta, Google)"; unknown makers are mentioned.
    pub fn counts(&self) -> String {
        let mut parts = Vec::new();
        if !self.models.is_empty() {
            let known: Vec<&String> = self.makers.keys().filter(|maker| *maker != UNKNOWN).collect();
            let makers = match (known.len(), self.makers.get(UNKNOWN)) {
                (0, _) => "makers unknown".to_owned(),
                (count, None) => format!("{} ({})", pluralize(count, "maker"), join_list(known)),
                (count, Some(_)) => format!("{} or more ({})", pluralize(count, "maker"), join_list(known)),
            };
            parts.push(format!("{}, {makers}", pluralize(self.models.len(), "model")));
        }
        let people = self.people.len() - self.scripted;
        let said = if people == 1 { "1 person".to_owned() } else { format!("{people} people") };
        parts.extend((people > 0).then_some(said));
        parts.extend((self.scripted > 0).then(|| pluralize(self.scripted, "scripted answer")));
        parts.join("; ")
    }

    /// Returns the number of makers; `None` if one is unknown.
    pub fn count_makers(&self) -> Option<usize> {
        (!self.makers.contains_key(UNKNOWN)).then_some(self.makers.len())
    }

    /// Returns notes on seats that may not be independent: same model, same answer or same settings.
    pub fn notes(&self) -> Vec<String> {
        let note = |what: &str, seats: &Vec<String>| format!("{what}: {}", first_names(seats, 6));
        let shared = self.models.iter().filter(|(_, seats)| seats.len() > 1);
        let shared = shared.map(|(model, seats)| note(&format!("one model, {model}"), seats));
        let same = self.same_answers.iter().map(|seats| note("the same answer", seats));
        let twice = "the same seat, since its service takes no other temperature";
        shared.chain(same).chain(self.same_seats.iter().map(|seats| note(twice, seats))).collect()
    }
}

/// Returns the groups of seats that differ only in a temperature that their provider rejects. Each group is
/// in effect one seat asked several times.
pub fn same_seats(session: &Session, round: &RoundRun) -> Vec<Vec<String>> {
    let mut groups: IndexMap<String, (Vec<String>, bool)> = IndexMap::new();
    for seat in round_view::seats(session, round).filter(|seat| seat.origin != Origin::Script) {
        let (Some(info), Some(answer)) = (seat.info, seat.answer) else { continue };
        let is_dropped = |parameter: &str| answer.record.dropped.iter().any(|dropped| dropped == parameter);
        let seed = info.seed.filter(|_| !is_dropped("seed"));
        let key = format!("{:?}", (seat.model, &info.persona, seed, info.effort, info.max_output_tokens));
        let (names, any) = groups.entry(key).or_default();
        names.push(seat.name.to_owned());
        *any |= is_dropped("temperature");
    }
    groups.into_values().filter(|(names, any)| *any && names.len() > 1).map(|(names, _)| names).collect()
}

/// Lists the parameters that a seat's requests omitted: `without temperature, seed`.
pub fn left_out(seat: &SeatView<'_>) -> Option<String> {
    let answer = seat.answer.filter(|answer| !answer.record.dropped.is_empty())?;
    Some(format!("without {}", answer.record.dropped.join(", ")))
}

/// Votes for the option shown first, if seats saw different orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FirstShownVotes {
    pub votes: usize,
    pub first: usize,
}

/// Counts the votes for the option shown first; `None` if all seats saw one order.
pub fn first_shown_votes(session: &Session, round: &RoundRun) -> Option<FirstShownVotes> {
    if round.opened.ballot.order.is_same() {
        return None;
    }
    let mut found = FirstShownVotes { votes: 0, first: 0 };
    for seat in round_view::seats(session, round) {
        let top = seat.ballot().and_then(Ballot::top_options);
        let shown = session.option_order(&round.opened, seat.name);
        if let (Some([top]), Some(shown)) = (top.as_deref(), shown) {
            found.votes += 1;
            found.first += usize::from(shown.first() == Some(top));
        }
    }
    (found.votes > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::maker;

    #[test]
    fn a_maker_is_found_by_the_models_name_then_the_providers() {
        let is = |model: &str, wanted: Option<&str>| assert_eq!(maker(model), wanted, "{model}");
        is("openai/gpt-5-mini", Some("OpenAI"));
        is("openai/llama-3.3-70b", Some("Meta"));
        is("openrouter/meta-llama/llama-4", Some("Meta"));
        is("openai/internal-7", Some("OpenAI"));
        is("ollama/qwen3:8b", Some("Alibaba"));
        is("anthropic/claude-sonnet-5", Some("Anthropic"));
        is("mine/model-a", None);
        is("llamacpp/model-a", None);
    }
}
