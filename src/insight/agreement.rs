//! How far the ballots of a round agree, and whether they came closer since the last one of its form.
//!
//! Measures for reading, not for deciding: the share of the leading option, Kendall's W for rankings, the
//! interquartile range for estimates. Every ballot counts once in W, whatever it weighs.

use serde_json::{Value, json};

use super::movement::rounds_of_form;
use super::round_view;
use super::wording::whole_of_share;
use crate::core::profile;
use crate::history::{RoundRun, Session};
use crate::tally::{self, CountableKind, IndexedBallot, Profile, Rule, RuleOptions, Score};

#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// The option with most first places or approvals, and its share of what all ballots weigh.
    pub leading: Option<(String, f64)>,
    pub of_whom: String,
    /// The share of the seats asked that gave a ballot.
    pub turnout: f64,
    /// Kendall's coefficient of concordance, from 0 to 1.
    pub kendall_w: Option<f64>,
    pub iqr: Option<Score>,
}

/// The agreement of a revealed round; none for open questions and where nobody voted.
pub fn agreement(session: &Session, round: &RoundRun) -> Option<Agreement> {
    if !round_view::is_revealed(round) {
        return None;
    }
    let kind = round.opened.ballot.kind.spec().countable()?;
    let profile = profile(session, round);
    if profile.ballots.is_empty() {
        return None;
    }
    let tally = round_view::tally(round)?;
    let leading = leading(&profile, kind);
    let votes = leading.as_ref().map_or(0.0, |(_, share)| share * tally.answered as f64);
    let of_whom = if profile.weights_step().is_some() && kind != CountableKind::Consent {
        let share = leading.as_ref().map_or(0.0, |(_, share)| share * 100.0);
        format!("{share:.0} % of the weight of {}", whole_of_share(tally))
    } else {
        format!("{} of {}", (votes * 100.0).round() / 100.0, whole_of_share(tally))
    };
    let found = Agreement {
        leading,
        of_whom,
        turnout: tally.answered as f64 / tally.asked.max(1) as f64,
        kendall_w: kendall_w(&profile),
        iqr: iqr(&profile, kind),
    };
    (found.leading.is_some() || found.kendall_w.is_some() || found.iqr.is_some()).then_some(found)
}

/// How far the rankings of a round agree, from 0 to 1; none below two of them.
pub(super) fn kendall(session: &Session, round: &RoundRun) -> Option<f64> {
    kendall_w(&profile(session, round))
}

fn leading(profile: &Profile, kind: CountableKind) -> Option<(String, f64)> {
    let rule = match kind {
        CountableKind::Choice | CountableKind::Ranking => Rule::Plurality,
        CountableKind::Approval => Rule::Approval,
        CountableKind::Consent => Rule::Consent,
        CountableKind::Score | CountableKind::Estimate => return None,
    };
    let verdict = tally::count(profile, rule, &RuleOptions::default());
    let all = if rule == Rule::Consent {
        profile.ballot_count() as f64
    } else {
        Score::from(profile.total_weight()).as_f64()
    };
    let most = verdict.scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let (name, _) = verdict.scores.iter().find(|(_, score)| score.as_f64() >= most && most > 0.0)?;
    (all > 0.0).then(|| (name.clone(), most / all))
}

/// Kendall's W with its correction for ties (Kendall and Babington Smith, "The Problem of m Rankings",
/// 1939); options left out share the last places. None below two rankings, two options or any difference.
fn kendall_w(profile: &Profile) -> Option<f64> {
    let rankings: Vec<&Vec<u16>> = profile
        .ballots
        .iter()
        .filter_map(
            |ballot| if let IndexedBallot::Ranking(ranks) = &ballot.mark { Some(ranks) } else { None },
        )
        .collect();
    let (m, n) = (rankings.len() as f64, profile.options.len() as f64);
    if m < 2.0 || n < 2.0 {
        return None;
    }
    let mut sums = vec![0.0; profile.options.len()];
    let mut ties = 0.0;
    for ranks in rankings {
        for (option, sum) in sums.iter_mut().enumerate() {
            let before = ranks.iter().filter(|other| **other < ranks[option]).count() as f64;
            let same = ranks.iter().filter(|other| **other == ranks[option]).count() as f64;
            *sum += before + f64::midpoint(same, 1.0);
            // Summed over the options of a tie of t this gives t³ − t.
            ties += same * same - 1.0;
        }
    }
    let mean = sums.iter().sum::<f64>() / n;
    let spread: f64 = sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum();
    let most = m * m * (n * n * n - n) - m * ties;
    (most > 0.0).then(|| (12.0 * spread / most).clamp(0.0, 1.0))
}

fn iqr(profile: &Profile, kind: CountableKind) -> Option<Score> {
    if kind != CountableKind::Estimate {
        return None;
    }
    let verdict = tally::count(profile, Rule::Median, &RuleOptions::default());
    verdict.trace.and_then(|trace| trace.spread).map(|spread| spread.iqr)
}

impl Agreement {
    /// "redis 3 of 5 ballots; Kendall's W 0.44".
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if let Some((option, _)) = &self.leading {
            parts.push(format!("{option} {}", self.of_whom));
        }
        if let Some(w) = self.kendall_w {
            parts.push(format!("Kendall's W {w:.2}"));
        }
        if let Some(iqr) = &self.iqr {
            parts.push(format!("interquartile range {iqr}"));
        }
        parts.join("; ")
    }

    pub fn json(&self) -> Value {
        let rounded = |number: f64| (number * 1e6).round() / 1e6;
        json!({
            "leading": self.leading.as_ref().map(|(option, _)| option),
            "share": self.leading.as_ref().map(|(_, share)| rounded(*share)),
            "share_of_asked": self.leading.as_ref().map(|(_, share)| rounded(share * self.turnout)),
            "kendall_w": self.kendall_w.map(rounded),
            "iqr": self.iqr,
        })
    }

    /// One number from 0 to 1 for a chart, 1 the most agreement of all seats asked; none for estimates,
    /// which have no end.
    fn height(&self) -> Option<f64> {
        let leading = self.leading.as_ref().map(|(_, share)| *share);
        self.kendall_w.or(leading).map(|height| height * self.turnout)
    }
}

/// The rounds of one form up to this one, each with its agreement, as lines with a small bar.
pub fn chart(session: &Session, round: &RoundRun) -> Vec<String> {
    const WIDTH: usize = 20;
    let found: Vec<(&RoundRun, Agreement)> = rounds_of_form(session, round)
        .into_iter()
        .filter_map(|round| Some((round, agreement(session, round)?)))
        .collect();
    let line = |(round, agreement): &(&RoundRun, Agreement)| {
        let height = agreement.height().map(|height| (height * WIDTH as f64).round() as usize);
        let bar = height.map_or_else(String::new, |filled| {
            format!("{}{}  ", "█".repeat(filled.min(WIDTH)), "·".repeat(WIDTH - filled.min(WIDTH)))
        });
        format!("{bar}round {}: {}", round.opened.number, agreement.line())
    };
    let mut lines: Vec<String> = found.iter().map(line).collect();
    if let [.., (_, before), (_, now)] = found.as_slice()
        && let (Some(was), Some(is)) = (&before.iqr, &now.iqr)
    {
        let word = match is.as_f64().total_cmp(&was.as_f64()) {
            std::cmp::Ordering::Less => "estimates converged",
            std::cmp::Ordering::Equal => "the estimates are as far apart as before",
            std::cmp::Ordering::Greater => "estimates diverged",
        };
        lines.push(word.to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{UNLISTED, WeightedBallot};

    fn rankings(lines: &[&[u16]]) -> Profile {
        let options = (0..lines[0].len()).map(|option| option.to_string()).collect();
        let ballots = lines
            .iter()
            .map(|ranks| WeightedBallot::one("v", IndexedBallot::Ranking(ranks.to_vec())))
            .collect();
        Profile { options, ballots, ..Profile::default() }
    }

    #[test]
    fn kendall_s_w_goes_from_nothing_to_one() {
        assert_eq!(kendall_w(&rankings(&[&[0, 1, 2], &[0, 1, 2]])), Some(1.0));
        assert_eq!(kendall_w(&rankings(&[&[0, 1, 2], &[2, 1, 0]])), Some(0.0));
        // Kendall and Babington Smith's 28 objects are too many; Siegel's six by three give 0.16.
        let w = kendall_w(&rankings(&[&[0, 5, 2, 1, 4, 3], &[0, 4, 5, 3, 1, 2], &[5, 2, 1, 4, 3, 0]]));
        assert!((w.unwrap() - 0.161_9).abs() < 0.001, "{w:?}");
        assert_eq!(
            kendall_w(&rankings(&[&[0, 0, UNLISTED], &[0, 0, 1]])),
            Some(1.0),
            "ties are corrected for"
        );
        assert_eq!(kendall_w(&rankings(&[&[0, 1]])), None);
        assert_eq!(kendall_w(&rankings(&[&[0, 0], &[0, 0]])), None);
    }
}
