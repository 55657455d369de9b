//! Groups of a round's findings: at the same place, or merged by the facilitator.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Serialize;

use super::references::Citable;
use crate::ballot::{Ballot, Finding, Severity, place};
use crate::history::{MergedOption, RoundRun, SeatStatus, Session};

/// Findings with overlapping lines of one file, or merged by the facilitator.
#[derive(Debug, Serialize)]
pub struct FindingGroup<'a> {
    pub round: &'a str,
    pub file: Option<&'a str>,
    /// From the first to the last line that its findings name in that file.
    pub lines: Option<(u32, u32)>,
    pub place: Option<String>,
    pub severity: Severity,
    pub title: Option<&'a str>,
    pub set_aside: Option<&'a str>,
    /// Seats whose finding names a place that the snapshot does not contain, with that place.
    pub not_in_evidence: Vec<(&'a str, String)>,
    /// Number of seats with such a finding, of those that answered.
    pub seats: usize,
    pub of: usize,
    /// In roster order.
    pub findings: Vec<Claim<'a>>,
}

#[derive(Debug, Serialize)]
pub struct Claim<'a> {
    /// Id by which a merge refers to the finding.
    #[serde(skip)]
    id: String,
    pub participant: &'a str,
    pub place: Option<String>,
    #[serde(flatten)]
    pub finding: &'a Finding,
}

/// Returns the groups of a round, most severe first, then most seats first; empty before the reveal.
pub fn grouped<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<FindingGroup<'a>> {
    let mut of = 0;
    let mut all: Vec<Claim<'a>> = Vec::new();
    for seat in round.seats.values() {
        let SeatStatus::Revealed(answer, _) = &seat.status else { continue };
        let Some(Ballot::Findings(found)) = &answer.ballot else { continue };
        of += 1;
        all.extend(found.iter().enumerate().map(|(at, finding)| Claim {
            id: format!("{}#{}", seat.name, at + 1),
            participant: &seat.name,
            place: finding.place(),
            finding,
        }));
    }
    let merge = session.merge_of(&round.opened.round).map(|merged| &merged.merge);
    let options = merge.iter().flat_map(|merge| &merge.options);
    let options: HashMap<&str, &MergedOption> =
        options.flat_map(|option| option.from.iter().map(move |id| (id.as_str(), option))).collect();
    let asides = merge.iter().flat_map(|merge| &merge.set_aside);
    let asides: HashMap<&str, &str> = asides.map(|aside| (&*aside.idea, &*aside.reason)).collect();
    let citable = Citable::from_snapshot(&round.opened.snapshot);
    let mut groups: IndexMap<usize, Vec<Claim<'a>>> = IndexMap::new();
    for (group, one) in group_of_each(&all, &options).into_iter().zip(all) {
        groups.entry(group).or_default().push(one);
    }
    let group = |findings: Vec<Claim<'a>>| {
        let mut seats: Vec<&str> = findings.iter().map(|one| one.participant).collect();
        seats.dedup();
        let file = findings.iter().find_map(|one| one.finding.file.as_deref());
        let named = findings.iter().filter(|one| one.finding.file.as_deref() == file);
        let lines = named.filter_map(|one| one.finding.lines);
        let lines = lines.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)));
        let elsewhere = findings.iter().filter_map(|one| {
            let is_here = citable.has_place(one.finding.file.as_deref()?, one.finding.lines);
            Some((one.participant, one.place.clone().filter(|_| !is_here)?))
        });
        let reasons: Option<Vec<&str>> = findings.iter().map(|one| asides.get(&*one.id).copied()).collect();
        FindingGroup {
            round: &round.opened.round,
            file,
            lines,
            place: file.map(|file| place(file, lines)),
            severity: findings.iter().map(|one| one.finding.severity).max().unwrap_or(Severity::Low),
            title: findings.iter().find_map(|one| options.get(&*one.id)).map(|option| option.title.as_str()),
            set_aside: reasons.and_then(|reasons| reasons.first().copied()),
            not_in_evidence: elsewhere.collect(),
            seats: seats.len(),
            of,
            findings,
        }
    };
    let mut groups: Vec<FindingGroup<'a>> = groups.into_values().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.severity, group.seats)));
    groups
}

/// Returns each finding's group, as a number shared by its members: findings with overlapping lines of one
/// file, and findings merged by the facilitator.
fn group_of_each(all: &[Claim<'_>], options: &HashMap<&str, &MergedOption>) -> Vec<usize> {
    let span = |at: usize| (&all[at].finding.file, all[at].finding.lines.unwrap_or_default());
    let mut placed: Vec<usize> = (0..all.len()).filter(|at| all[*at].finding.lines.is_some()).collect();
    placed.sort_by_key(|at| span(*at));
    let (mut groups, mut end): (Vec<usize>, u32) = ((0..all.len()).collect(), 0);
    for pair in placed.windows(2) {
        let ((file, (_, to)), (other, (from, _))) = (span(pair[0]), span(pair[1]));
        end = if file == other { end.max(to) } else { 0 };
        if file == other && from <= end {
            groups[pair[1]] = groups[pair[0]];
        }
    }
    let mut first_of: HashMap<&str, usize> = HashMap::new();
    for (at, one) in all.iter().enumerate() {
        let Some(option) = options.get(&*one.id) else { continue };
        let (known, own) = (groups[*first_of.entry(&option.id).or_insert(at)], groups[at]);
        if known != own {
            groups.iter_mut().filter(|group| **group == own).for_each(|group| *group = known);
        }
    }
    groups
}
