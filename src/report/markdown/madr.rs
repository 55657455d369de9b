//! An architecture decision record: the decision, its options, the arguments of all rounds, and dissent.
//!
//! The sections and their order are those of MADR 4.0 (Markdown Architectural Decision Records,
//! <https://adr.github.io/madr/>). Nothing is made up: reasons are the participants' own words, and every
//! number is counted from the record.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::quote::{code, first_line, inline, quote, told};
use crate::ballot::Ballot;
use crate::history::{RoundRun, Session};
use crate::insight::wording::absent;
use crate::insight::{estimates, headline, is_revealed, join_list, labels, rule_description, seats, tally};
use crate::report::model::{
    Approval, OptionView, Reason, Report, Reports, Source, dissent_heading, plain_texts, said,
};
use crate::tally::Tier;

/// The decision record of one question.
pub fn madr(report: &Report<'_>) -> String {
    let session = report.session;
    let options = report.options();
    let mut out = String::new();
    head(report, &mut out);
    for label in labels(session).into_iter().chain(report.missing()) {
        let _ = writeln!(out, "**{}**\n", told(&label));
    }
    problem(report, &mut out);
    drivers(report, &mut out);
    considered(&options, &mut out);
    outcome(report, &options, &mut out);
    consequences(report, &options, &mut out);
    confirmation(report, &mut out);
    pros_and_cons(report, &options, &mut out);
    more(report, &mut out);
    out
}

/// A value of the front matter: a JSON string is one of YAML too.
fn yaml_text(text: &str) -> String {
    Value::from(crate::sanitize::harmless_line(text)).to_string()
}

/// The status of a decision, and who adopted or rejected it; of a rehearsal nobody.
fn status<'a>(report: &Report<'a>) -> (&'static str, Option<Approval<'a>>) {
    let said = report.approval().filter(|_| report.mark().is_empty());
    (said.as_ref().map_or("proposed", Approval::status), said)
}

/// The decisions of a session, a row each; all values are texts or null.
pub fn decision_rows(session: &Session) -> Vec<Value> {
    let source = Source::default();
    let reports = Reports::new(session, &source);
    let row = |report: &Report<'_>| {
        let (status, said) = status(report);
        json!({
            "date": date(session),
            "question": report.title(),
            "outcome": report.made.label,
            "strength": report.tally.and_then(|tally| tally.tier).map(Tier::name),
            "status": status,
            "because": said.as_ref().and_then(|said| said.because),
            "adopted_by": said.filter(|said| said.asked.given.approved).map(|said| said.by),
            "supersedes": supersedes(session),
            "session": session.id,
        })
    };
    reports.parts.iter().filter(|part| part.decision.is_some()).map(row).collect()
}

fn supersedes(session: &Session) -> Option<&str> {
    session.definition.as_ref()?.supersedes.as_deref()
}

fn date(session: &Session) -> String {
    session.last_at.to_string().chars().take(10).collect()
}

fn head(report: &Report<'_>, out: &mut String) {
    let session = report.session;
    let (status, said) = status(report);
    let because = said.as_ref().and_then(|said| said.because);
    let by = said.map_or_else(|| "nobody yet".to_owned(), |said| format!("{} at {}", said.by, said.asked.at));
    let status = match supersedes(session) {
        Some(other) => yaml_text(&format!("{status}, supersedes {other}")),
        None => status.to_owned(),
    };
    let date = date(session);
    let consulted = report
        .run
        .map(|run| join_list(seats(session, run).map(|seat| format!("{} ({})", seat.name, seat.model))));
    let _ = write!(
        out,
        "---\nstatus: {status}\ndate: {date}\ndecision-makers: {}\nconsulted: {}\ninformed: \"\"\n---\n\n",
        yaml_text(&by),
        yaml_text(&consulted.unwrap_or_default())
    );
    let title = title(report);
    let (title, mark) = (inline(title.trim_end_matches(['.', ':'])), report.mark());
    let name = report.made.name.strip_prefix(mark).unwrap_or(&report.made.name);
    let _ = writeln!(out, "# {mark}{title}: {}\n", inline(name));
    if let Some(why) = because {
        let _ = writeln!(out, "**Proposed: {why}.**\n");
    }
}

fn title(report: &Report<'_>) -> String {
    let goal = report.session.definition.as_deref().and_then(|definition| definition.goal.as_deref());
    first_line(goal.filter(|_| !report.is_one_of_many).unwrap_or_else(|| report.title()))
}

/// Returns the title as part of a file name: lower-case words with hyphens, at most 60 characters.
pub fn file_title(report: &Report<'_>) -> String {
    let title = title(report).to_lowercase();
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.chars().count() + word.chars().count() >= 60 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    if name.is_empty() { "decision".to_owned() } else { name }
}

fn problem(report: &Report<'_>, out: &mut String) {
    let _ = writeln!(out, "## Context and Problem Statement\n");
    let goal = report.session.definition.as_deref().and_then(|definition| definition.goal.as_deref());
    let said = report.context().into_iter().filter(|text| Some(*text) != goal || text.contains('\n'));
    let title = Some(report.title()).filter(|title| Some(*title) != goal);
    for text in said.chain(title) {
        if text.trim().contains('\n') {
            let _ = writeln!(out, "{}", quote(text));
        } else {
            let _ = writeln!(out, "{}\n", inline(text));
        }
    }
}

/// Constraints, artifacts that matter, and what was said in open rounds before the vote.
fn drivers(report: &Report<'_>, out: &mut String) {
    let session = report.session;
    let mut found = String::new();
    for constraint in report.constraints() {
        let _ = writeln!(found, "* {}", inline(constraint));
    }
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    for artifact in artifacts {
        let _ = writeln!(found, "* {} {}", code(&artifact.id), inline(&artifact.summary));
    }
    let last = report.run.map_or(0, |run| run.opened.number);
    let before = report.own_rounds().filter(|round| round.opened.number < last && is_revealed(round));
    for round in before.filter(|round| round.opened.ballot.kind.spec().countable().is_none()) {
        let question = inline(&first_line(&round.opened.question));
        for seat in seats(session, round) {
            for text in said(&seat).lines().filter(|line| !line.trim().is_empty()).take(1) {
                let _ = writeln!(
                    found,
                    "* Said beforehand ({question}): {} ({})",
                    inline(text),
                    inline(seat.name)
                );
            }
        }
    }
    if !found.is_empty() {
        let _ = writeln!(out, "## Decision Drivers\n\n{found}");
    }
}

fn considered(options: &[OptionView], out: &mut String) {
    if options.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Considered Options\n");
    for option in options {
        let _ = writeln!(out, "* {}{}", inline(&option.name), described(option));
    }
    out.push('\n');
}

fn described(option: &OptionView) -> String {
    option.description.as_ref().map(|text| format!(": {}", inline(text))).unwrap_or_default()
}

fn outcome(report: &Report<'_>, options: &[OptionView], out: &mut String) {
    let made = &report.made;
    let _ = writeln!(out, "## Decision Outcome\n");
    let chosen: Vec<&OptionView> = options.iter().filter(|option| option.is_chosen).collect();
    for option in &chosen {
        let reasons = option.reasons.pro.iter().filter(|reason| !reason.left).take(2);
        let reasons: Vec<String> = reasons.map(|reason| inline(reason.text.trim_end_matches('.'))).collect();
        let because =
            if reasons.is_empty() { String::new() } else { format!(", because {}", reasons.join("; ")) };
        let _ = writeln!(out, "Chosen option: \"{}\"{because}.\n", inline(&option.name));
    }
    if !matches!(chosen.as_slice(), [only] if only.name == made.name) {
        let _ = writeln!(out, "{}.\n", inline(made.label.trim_end_matches('.')));
    }
    if !made.sentence.is_empty() {
        let _ = writeln!(out, "{}\n", inline(&made.sentence));
    }
    if let Some(order) = &made.order {
        let _ = writeln!(out, "{}\n", inline(order));
    }
    let [strength, ..] = report.facts();
    let _ = writeln!(
        out,
        "{}: {} ({}).\n",
        strength.name,
        inline(&strength.value.to_lowercase()),
        inline(&strength.note)
    );
    if let Some(note) = report.run.and_then(|run| run.synthesis.as_ref()) {
        let _ = writeln!(out, "The facilitator's note:\n\n{}\n", quote(note).trim_end());
    }
}

fn lines(word: &str, reasons: &[Reason], last: u32, out: &mut String) {
    for reason in reasons {
        let _ = writeln!(out, "* {word}, because {} ({})", inline(&reason.text), inline(&reason.who(last)));
    }
}

/// The reasons for and against what won, of all rounds, and the costs that its voters accept.
fn consequences(report: &Report<'_>, options: &[OptionView], out: &mut String) {
    let is_adopted = report.is_decided() && options.iter().all(|option| option.place.is_none());
    let chosen: Vec<&OptionView> = options.iter().filter(|option| option.is_chosen || is_adopted).collect();
    let Some(run) = report.run.filter(|_| !chosen.is_empty()) else { return };
    let mut found = String::new();
    for option in &chosen {
        lines("Good", &option.reasons.pro, run.opened.number, &mut found);
        lines("Bad", &option.reasons.con, run.opened.number, &mut found);
    }
    for seat in seats(report.session, run) {
        let top = seat.ballot().and_then(Ballot::top_options).unwrap_or_default();
        let is_for = chosen.iter().any(|option| top.contains(&option.name));
        let costs = seat.answer().and_then(|answer| answer.answer.get("trade_offs"));
        for cost in
            plain_texts(costs.and_then(|costs| costs.get("accepting_as_cost"))).iter().filter(|_| is_for)
        {
            let _ = writeln!(
                found,
                "* Neutral, because it accepts as its cost: {} ({})",
                inline(cost),
                inline(seat.name)
            );
        }
    }
    if !found.is_empty() {
        let _ = writeln!(out, "### Consequences\n\n{found}");
    }
}

fn confirmation(report: &Report<'_>, out: &mut String) {
    let mut found = String::new();
    if let Some(said) = report.approval() {
        let comment = said.comment().map(|comment| format!(": {}", inline(comment))).unwrap_or_default();
        let (asked, answer, by) = (inline(said.question()), inline(&said.answer), inline(&said.by));
        let _ = writeln!(found, "* {asked} {answer}, by {by}{comment}");
    }
    for round in report.own_rounds().filter(|round| is_revealed(round)) {
        for seat in seats(report.session, round) {
            let given = seat.answer().and_then(|answer| answer.answer.get("suggestions"));
            for text in plain_texts(given) {
                let _ = writeln!(found, "* To do, suggested by {}: {}", inline(seat.name), inline(&text));
            }
        }
    }
    if !found.is_empty() {
        let _ = writeln!(out, "### Confirmation\n\n{found}");
    }
}

fn pros_and_cons(report: &Report<'_>, options: &[OptionView], out: &mut String) {
    let others: Vec<&OptionView> =
        options.iter().filter(|option| option.place.is_some() && !option.is_chosen).collect();
    let Some(run) = report.run.filter(|_| !others.is_empty() && report.tally.is_some()) else { return };
    let _ = writeln!(out, "## Pros and Cons of the Options\n");
    for option in others {
        let _ = writeln!(out, "### {}\n", inline(&option.name));
        lines("Good", &option.reasons.pro, run.opened.number, out);
        lines("Bad", &option.reasons.con, run.opened.number, out);
        let is_counted = option.votes.is_some();
        let votes = votes_by_round(report, run, &option.name);
        if is_counted && votes.iter().all(|(_, votes)| *votes == 0) {
            let _ = writeln!(out, "* Nobody voted for it.");
        } else if is_counted && option.votes == Some(0) {
            let said = votes.iter().filter(|(_, votes)| *votes > 0);
            let said = join_list(said.map(|(number, votes)| format!("{votes} in round {number}")));
            let _ = writeln!(out, "* No votes in the last round; before it {said}.");
        }
        out.push('\n');
    }
}

/// How many seats were for an option in each round of the same form.
fn votes_by_round(report: &Report<'_>, run: &RoundRun, option: &str) -> Vec<(u32, usize)> {
    let rounds = report.rounds.iter();
    rounds
        .filter(|round| is_revealed(round) && round.opened.ballot.is_like(&run.opened.ballot))
        .map(|round| (round.opened.number, report.votes(round, option)))
        .collect()
}

fn more(report: &Report<'_>, out: &mut String) {
    let session = report.session;
    let _ = writeln!(out, "## More Information\n");
    for round in report.voted() {
        let Some(tally) = tally(round) else { continue };
        let rule =
            tally.rule.map_or_else(|| "no rule".to_owned(), |rule| rule_description(rule, &tally.terms));
        let mut parts: Vec<String> =
            tally.verdict.scores.iter().map(|(name, score)| format!("{name} {score}")).collect();
        parts.extend(absent(tally).into_iter().map(|(count, word)| format!("{count} {word}")));
        let made = headline(session, round, tally);
        let counted = if parts.is_empty() { String::new() } else { format!("{}; ", join_list(parts)) };
        let said = format!("{counted}{} ({rule})", made.label);
        let _ = writeln!(out, "* Round {}: {}", round.opened.number, inline(&said));
    }
    for line in report.run.map(|run| estimates(session, run)).unwrap_or_default() {
        let _ = writeln!(out, "* {}", inline(&line));
    }
    for one in report.moves() {
        let said = format!("Moved in round {}: {}, {} → {}.", one.round, one.seat, one.from, one.to);
        let _ = writeln!(out, "* {}", inline(&said));
    }
    let [_, quorum, independence, _] = report.facts();
    for fact in [quorum, independence] {
        let _ =
            writeln!(out, "* {}: {} ({})", fact.name, inline(&fact.value.to_lowercase()), inline(&fact.note));
    }
    if let Some(run) = report.run {
        let hash = code(&run.opened.snapshot_sha256);
        let _ = writeln!(out, "* Every participant was handed the same snapshot, SHA-256 {hash}.");
    }
    let source = report.source;
    let record = if source.entries > 0 {
        format!("{} entries, last hash {}; ", source.entries, code(&source.last_hash))
    } else {
        String::new()
    };
    let verify = code(&format!("roundtable verify {}", source.name()));
    let _ = writeln!(out, "* Record: session {}, {record}{verify} checks it.", code(&session.id));
    dissent(report, out);
}

fn dissent(report: &Report<'_>, out: &mut String) {
    let found = report.dissent();
    let Some(run) = report.run.filter(|_| !found.is_empty()) else { return };
    let _ = writeln!(out, "\n### {}\n", dissent_heading(run.opened.ballot.kind));
    for one in found {
        let (name, vote) = (inline(one.seat.name), inline(&one.vote));
        let _ = writeln!(out, "**{name}** {vote} (round {})\n", one.run.opened.number);
        if let Some(change) = &one.change {
            let _ = writeln!(out, "Its minimum change:\n\n{}", quote(change));
        }
        if one.said.is_empty() {
            out.push_str("No reasons given.\n\n");
        } else {
            let _ = writeln!(out, "{}", quote(&one.said));
        }
    }
}
