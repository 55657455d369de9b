//! The findings of a round in groups: what several seats found at the same place, or a merge put together.

use super::references::Citable;
use super::wording::{join_list, pluralize};
use crate::ballot::{Ballot, Finding, Severity, place};
use crate::history::{RoundRun, SeatStatus, Session};

pub struct Findings<'a> {
    /// The gravest first, then those that most seats have.
    pub groups: Vec<FindingGroup<'a>>,
    pub answered: usize,
}

/// Findings of the same file with overlapping lines, or that the facilitator put together.
pub struct FindingGroup<'a> {
    /// Each with its seat, in the order of the roster.
    pub findings: Vec<(&'a str, &'a Finding)>,
    pub title: Option<&'a str>,
    pub set_aside: Option<&'a str>,
    /// The seats whose finding names a place that the snapshot does not have, with that place.
    pub not_in_evidence: Vec<(&'a str, String)>,
}

impl FindingGroup<'_> {
    pub fn seats(&self) -> usize {
        let mut seats: Vec<&str> = self.findings.iter().map(|(seat, _)| *seat).collect();
        seats.dedup();
        seats.len()
    }

    pub fn severity(&self) -> Severity {
        self.findings.iter().map(|(_, finding)| finding.severity).max().unwrap_or(Severity::Low)
    }

    pub fn file(&self) -> Option<&str> {
        self.findings.iter().find_map(|(_, finding)| finding.file.as_deref())
    }

    /// From the first to the last line that its findings name in that file.
    pub fn lines(&self) -> Option<(u32, u32)> {
        let named = self.findings.iter().filter(|(_, finding)| finding.file.as_deref() == self.file());
        let lines: Vec<(u32, u32)> = named.filter_map(|(_, finding)| finding.lines).collect();
        Some((lines.iter().map(|(from, _)| *from).min()?, lines.iter().map(|(_, to)| *to).max()?))
    }

    pub fn place(&self) -> Option<String> {
        Some(place(self.file()?, self.lines()))
    }
}

impl Findings<'_> {
    /// "3 findings: 1 critical, 2 low".
    pub fn counts(&self) -> String {
        let count = |severity: Severity| {
            let count = self.groups.iter().filter(|group| group.severity() == severity).count();
            (count > 0).then(|| format!("{count} {}", severity.name()))
        };
        let counts = join_list(Severity::WORDS.iter().rev().filter_map(|(_, severity)| count(*severity)));
        match self.groups.len() {
            0 => "No findings".to_owned(),
            all => format!("{}: {counts}", pluralize(all, "finding")),
        }
    }
}

/// The groups of a round; none while its answers cannot be read.
pub fn grouped<'a>(session: &'a Session, round: &'a RoundRun) -> Findings<'a> {
    let mut answered = 0;
    let mut all: Vec<(String, &str, &Finding)> = Vec::new();
    for seat in round.seats.values() {
        let SeatStatus::Revealed(answer, _) = &seat.status else { continue };
        let Some(Ballot::Findings(found)) = &answer.ballot else { continue };
        answered += 1;
        let id = |at: usize| format!("{}#{}", seat.name, at + 1);
        all.extend(found.iter().enumerate().map(|(at, finding)| (id(at), seat.name.as_str(), finding)));
    }
    let citable = Citable::of_round(round);
    let merge = session.merge_of(&round.opened.round).map(|merged| &merged.merge);
    let option = |id: &String| merge?.options.iter().find(|option| option.from.contains(id));
    let aside = |id: &String| merge?.set_aside.iter().find(|aside| aside.idea == *id);
    let belong = |a: &(String, &str, &Finding), b: &(String, &str, &Finding)| {
        let merged = option(&a.0).is_some_and(|option| option.from.contains(&b.0));
        merged || overlap(a.2, b.2)
    };
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut groups = Vec::new();
    while !left.is_empty() {
        let mut members = vec![left.remove(0)];
        // Whatever belongs to a member belongs to the group.
        let mut at = 0;
        while let Some(member) = members.get(at).copied() {
            let (near, far) = left.iter().partition(|other| belong(&all[member], &all[**other]));
            members.extend::<Vec<usize>>(near);
            left = far;
            at += 1;
        }
        members.sort_unstable();
        let reasons: Option<Vec<_>> = members.iter().map(|member| aside(&all[*member].0)).collect();
        let findings: Vec<_> = members.iter().map(|member| (all[*member].1, all[*member].2)).collect();
        let is_elsewhere = |finding: &Finding| {
            let file = finding.file.as_deref()?;
            (!citable.has_place(file, finding.lines)).then(|| place(file, finding.lines))
        };
        let elsewhere = findings.iter().filter_map(|(seat, finding)| Some((*seat, is_elsewhere(finding)?)));
        groups.push(FindingGroup {
            not_in_evidence: elsewhere.collect(),
            title: members
                .iter()
                .find_map(|member| option(&all[*member].0))
                .map(|option| option.title.as_str()),
            set_aside: reasons.and_then(|reasons| reasons.first().map(|aside| aside.reason.as_str())),
            findings,
        });
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.severity(), group.seats())));
    Findings { groups, answered }
}

/// Tells findings of the same lines of a file. Only a person groups findings without lines.
fn overlap(a: &Finding, b: &Finding) -> bool {
    let (Some(here), Some(there)) = (a.lines, b.lines) else { return false };
    a.file == b.file && here.0 <= there.1 && there.0 <= here.1
}
