//! The findings of a round in groups: what several seats found at the same place, or a merge put together.

use super::references::Citable;
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

/// The groups of a round; none while its answers cannot be read.
pub fn grouped<'a>(session: &'a Session, round: &'a RoundRun) -> Findings<'a> {
    let mut answered = 0;
    let mut all: Vec<Member<'a>> = Vec::new();
    for seat in round.seats.values() {
        let SeatStatus::Revealed(answer, _) = &seat.status else { continue };
        let Some(Ballot::Findings(found)) = &answer.ballot else { continue };
        answered += 1;
        let id = |at: usize| format!("{}#{}", seat.name, at + 1);
        let member = |(at, finding)| Member { id: id(at), seat: seat.name.as_str(), finding };
        all.extend(found.iter().enumerate().map(member));
    }
    let citable = Citable::of_round(round);
    let merge = session.merge_of(&round.opened.round).map(|merged| &merged.merge);
    let option = |one: &Member<'_>| merge?.options.iter().find(|option| option.from.contains(&one.id));
    let aside = |one: &Member<'_>| merge?.set_aside.iter().find(|aside| aside.idea == one.id);
    let belong = |a: &Member<'_>, b: &Member<'_>| {
        option(a).is_some_and(|option| option.from.contains(&b.id)) || overlap(a.finding, b.finding)
    };
    let elsewhere = |one: &&Member<'a>| {
        let (file, lines) = (one.finding.file.as_deref()?, one.finding.lines);
        (!citable.has_place(file, lines)).then(|| (one.seat, place(file, lines)))
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
        let members: Vec<&Member<'a>> = members.iter().map(|member| &all[*member]).collect();
        let asides: Option<Vec<_>> = members.iter().map(|one| aside(one)).collect();
        groups.push(FindingGroup {
            not_in_evidence: members.iter().filter_map(elsewhere).collect(),
            title: members.iter().find_map(|one| option(one)).map(|option| option.title.as_str()),
            set_aside: asides.and_then(|asides| asides.first().map(|aside| aside.reason.as_str())),
            findings: members.iter().map(|one| (one.seat, one.finding)).collect(),
        });
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.severity(), group.seats())));
    Findings { groups, answered }
}

/// A finding with the id that a merge calls it by.
struct Member<'a> {
    id: String,
    seat: &'a str,
    finding: &'a Finding,
}

/// Tells findings of the same lines of a file. Only a person groups findings without lines.
fn overlap(a: &Finding, b: &Finding) -> bool {
    let (Some(here), Some(there)) = (a.lines, b.lines) else { return false };
    a.file == b.file && here.0 <= there.1 && there.0 <= here.1
}
