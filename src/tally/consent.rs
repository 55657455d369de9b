//! Consent: a proposal passes when nobody blocks it and somebody supports it.
//!
//! Source: the consensus process of "On Conflict and Consensus" (Butler and Rothstein, 1987):
//! agreement, standing aside, blocking. A block stands until its minimum change is made.

use indexmap::IndexMap;

use super::Verdict;

/// The stances of a consent round, in roster order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stances {
    /// How many support.
    pub support: u64,
    /// How many stand aside.
    pub stand_aside: u64,
    /// Who blocks, and the change each asks for.
    pub blocks: Vec<(String, String)>,
}

/// Counts stances; the winner of a passed proposal is `support`.
pub fn consent(stances: &Stances) -> Verdict {
    let blocks = stances.blocks.len() as u64;
    let scores: IndexMap<String, u64> =
        [("support", stances.support), ("stand-aside", stances.stand_aside), ("block", blocks)]
            .map(|(name, count)| (name.to_owned(), count))
            .into_iter()
            .collect();
    let mut steps =
        vec![format!("support {}, stand-aside {}, block {blocks}", stances.support, stances.stand_aside)];
    for (who, change) in &stances.blocks {
        steps.push(format!("{who} blocks until: {change}"));
    }
    let reason = if blocks > 0 {
        let names: Vec<&str> = stances.blocks.iter().map(|(who, _)| who.as_str()).collect();
        Some(format!("blocked by {}", names.join(", ")))
    } else if stances.support == 0 {
        Some("nobody supports it".to_owned())
    } else {
        None
    };
    let winners = if reason.is_none() { vec!["support".to_owned()] } else { Vec::new() };
    Verdict { winners, tie: false, scores, steps, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_stops_it_and_names_its_change() {
        let mut stances = Stances { support: 4, stand_aside: 1, blocks: Vec::new() };
        assert_eq!(consent(&stances).winners, ["support"]);
        stances.blocks.push(("security-champion".into(), "encrypt at rest".into()));
        let verdict = consent(&stances);
        assert!(verdict.winners.is_empty());
        assert_eq!(verdict.reason.unwrap(), "blocked by security-champion");
        assert!(verdict.steps[1].contains("encrypt at rest"));
        assert!(consent(&Stances { stand_aside: 2, ..Stances::default() }).winners.is_empty());
    }
}
