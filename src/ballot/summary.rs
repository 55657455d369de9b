//! Summaries of ballots as text, and their conversion for the voting rules.

use super::findings::count_by_severity;
use super::model::{Ballot, BallotForm, BallotKind, Finding, Stance};
use crate::sanitize::pluralize;
use crate::tally::{Decimal, IndexedBallot, UNLISTED};

impl Ballot {
    pub(super) fn key(&self) -> &'static str {
        self.kind().map_or("vote", BallotKind::key)
    }

    /// Describes the ballot as a predicate, such as "votes a"; `None` for an open answer.
    pub fn phrase(&self) -> Option<String> {
        Some(match self {
            Self::Position => return None,
            Self::Choice(option) => format!("votes {option}"),
            Self::Approval(options) if options.is_empty() => "approves of none".to_owned(),
            Self::Approval(options) => format!("approves of {}", options.join(", ")),
            Self::Ranking(places) => format!("ranks {}", joined(places, ", ")),
            Self::Scores(_) => format!("scores {}", self.brief()?),
            Self::Estimate(_) => format!("estimates {}", self.brief()?),
            Self::Consent(Stance::Support, _) => "supports".to_owned(),
            Self::Consent(Stance::StandAside, _) => "stands aside".to_owned(),
            Self::Consent(Stance::Block, None) => "block (no change stated)".to_owned(),
            Self::Consent(Stance::Block, Some(_)) => "blocks".to_owned(),
            Self::Ideas(ideas) => {
                let titles: Vec<&str> = ideas.iter().map(|idea| idea.title.as_str()).collect();
                format!("gives {}: {}", pluralize(ideas.len(), "idea"), titles.join(", "))
            }
            Self::Findings(_) => format!("reports {}", self.brief()?),
            Self::Abstain => "abstains".to_owned(),
        })
    }

    /// Describes the ballot as briefly as possible; `None` for an open answer.
    pub fn brief(&self) -> Option<String> {
        Some(match self {
            Self::Choice(option) => option.clone(),
            Self::Approval(options) if !options.is_empty() => options.join(" + "),
            Self::Ranking(places) => joined(places, " > "),
            Self::Scores(scores) => {
                listed(scores.iter().map(|(option, score)| format!("{option} {score}")), ", ")
            }
            Self::Estimate(value) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            Self::Ideas(ideas) => listed(ideas.iter().map(|idea| idea.title.clone()), " + "),
            Self::Findings(findings) => count_by_severity(findings.iter().map(|finding| finding.severity)),
            Self::Position | Self::Approval(_) | Self::Consent(..) | Self::Abstain => return self.phrase(),
        })
    }

    /// Returns one line per idea or finding; empty for other kinds.
    pub fn listing(&self) -> Vec<String> {
        match self {
            Self::Ideas(ideas) => ideas.iter().map(|idea| format!("{}: {}", idea.title, idea.text)).collect(),
            Self::Findings(findings) => findings.iter().map(Finding::line).collect(),
            Self::Position
            | Self::Choice(_)
            | Self::Approval(_)
            | Self::Ranking(_)
            | Self::Scores(_)
            | Self::Estimate(_)
            | Self::Consent(..)
            | Self::Abstain => Vec::new(),
        }
    }

    /// Returns the options that the ballot puts first; `None` for kinds without options.
    pub fn top_options(&self) -> Option<Vec<String>> {
        match self {
            Self::Choice(option) => Some(vec![option.clone()]),
            Self::Approval(options) => Some(options.clone()),
            Self::Ranking(places) => Some(places.first().cloned().unwrap_or_default()),
            Self::Scores(scores) => {
                let most = scores.values().filter_map(Decimal::from_json).max();
                let best = scores.iter().filter(|(_, score)| Decimal::from_json(score) == most);
                Some(best.map(|(option, _)| option.clone()).collect())
            }
            Self::Position
            | Self::Estimate(_)
            | Self::Consent(..)
            | Self::Ideas(_)
            | Self::Findings(_)
            | Self::Abstain => None,
        }
    }

    /// Converts options to indexes; `None` for kinds that are not counted, or if a choice or card is unknown.
    pub fn indexed(&self, form: &BallotForm) -> Option<IndexedBallot> {
        Some(match self {
            Self::Choice(option) => IndexedBallot::Choice(form.place(option)?),
            Self::Approval(options) => {
                IndexedBallot::Approval(options.iter().filter_map(|option| form.place(option)).collect())
            }
            Self::Ranking(places) => {
                let mut ranks = vec![UNLISTED; form.options.len()];
                for (rank, options) in places.iter().enumerate() {
                    for option in options.iter().filter_map(|option| form.place(option)) {
                        ranks[option] = rank as u16;
                    }
                }
                IndexedBallot::Ranking(ranks)
            }
            Self::Scores(scores) => {
                let score = |option: &String| scores.get(option).and_then(Decimal::from_json);
                IndexedBallot::Scores(form.options.iter().map(score).collect())
            }
            Self::Estimate(value) if form.cards.is_empty() => {
                IndexedBallot::Number(Decimal::from_json(value.as_number()?)?)
            }
            Self::Estimate(value) => {
                let card = value.as_str()?;
                IndexedBallot::Card(form.cards.iter().position(|known| known == card)?)
            }
            Self::Consent(Stance::Support, _) => IndexedBallot::Support,
            Self::Consent(Stance::StandAside, _) => IndexedBallot::StandAside,
            Self::Consent(Stance::Block, change) => IndexedBallot::Block(change.clone()),
            Self::Position | Self::Ideas(_) | Self::Findings(_) | Self::Abstain => return None,
        })
    }
}

fn joined(places: &[Vec<String>], sign: &str) -> String {
    listed(places.iter().map(|tied| tied.join(" = ")), sign)
}

fn listed(words: impl Iterator<Item = String>, sign: &str) -> String {
    words.collect::<Vec<_>>().join(sign)
}
