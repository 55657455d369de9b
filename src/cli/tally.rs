//! The `tally` command: counts a file's ballots, or recounts a round.
//!
//! A session is only read: a recount is labeled as such and changes nothing.

use std::path::Path;

use super::args::TallyArgs;
use super::browse::session_or_newest;
use super::console::{Console, VerbResult};
use super::files::read_log_file;
use crate::config::read_file::read_input;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{AnswerRevealed, RoundRun, Session};
use crate::insight::counts::{
    WhatIf, order, result, rule_description, rules_for, tables, what_if, what_if_all,
};
use crate::insight::references::{Citable, references};
use crate::insight::{pluralize, round_view};
use crate::journal::fold;
use crate::report::safe_json;
use crate::round::answer::Outcome;
use crate::sanitize::harmless;
use crate::tally::{Choose, CountableKind, Rule, RuleOptions, Verdict, read_ballots};
use crate::words::alias;
use crate::workflow::unfit_threshold;

const MAX_BALLOTS: u64 = 512 << 20;

pub fn run(args: &TallyArgs, session: Option<&Path>, output: &mut Console) -> VerbResult {
    match &args.ballots {
        None if session.is_some_and(|file| file.extension().is_some_and(|ending| ending == "csv")) => {
            Err(Diagnostic::new("a table of ballots is no session").hint("give it with `--ballots`").into())
        }
        None => of_session(&session_or_newest(session, output)?, args, output),
        Some(_) if session.is_some() => {
            Err(Diagnostic::new("FILE and --ballots are mutually exclusive").hint("give one of them").into())
        }
        Some(file) => of_file(file, args, output),
    }
}

/// Returns the selected rule and its options.
fn rule_of(rules: &TallyArgs) -> Result<(Option<Rule>, RuleOptions), Diagnostic> {
    let named = |name: &String| {
        let unknown = || Diagnostic::new(format!("unknown rule `{name}`"));
        Rule::from_name(alias("name", name).unwrap_or(name))
            .ok_or_else(|| unknown().hint(did_you_mean(name, &Rule::names())))
    };
    let rule = rules.rule.as_ref().map(named).transpose()?;
    let terms = RuleOptions { threshold: rules.threshold.clone(), choose: rules.choose };
    if let Some(rule) = rule.filter(|_| !rules.all) {
        if rules.threshold.is_some() && rule.default_threshold().is_none() {
            let problem = Diagnostic::new(format!("rule `{}` takes no --threshold", rule.name()));
            return Err(problem.hint("leave --threshold out"));
        }
        if terms.choose.is_some_and(|choose| !rule.chooses(choose)) {
            let problem = Diagnostic::new(format!("rule `{}` does not choose so", rule.name()));
            return Err(problem.hint("--choose N is for approval and score, --choose half for approval"));
        }
        if let Some(what) = terms.threshold.as_ref().and_then(|share| unfit_threshold(rule, share)) {
            return Err(Diagnostic::new(what).hint("a share such as 2/3 or 0.6667"));
        }
    }
    Ok((rule, terms))
}

/// Refuses a `--choose` number that is not below the number of options.
fn leaves_a_choice(found: &WhatIf) -> Result<(), Diagnostic> {
    let options = found.verdict.scores.len();
    let Some(Choose::Number(number)) = found.terms.choose.filter(|_| options > 0) else { return Ok(()) };
    let message = format!("--choose {number} of {} leaves nothing to decide", pluralize(options, "option"));
    let refused = Diagnostic::new(message).hint("choose fewer than there are");
    if number < options { Ok(()) } else { Err(refused) }
}

fn of_file(path: &Path, rules: &TallyArgs, output: &mut Console) -> VerbResult {
    let (rule, terms) = rule_of(rules)?;
    let (name, text) = read_input(path, MAX_BALLOTS)?;
    let file = read_ballots(&text, &name)?;
    let Some(rule) = rule else { return Ok(ExitCode::Finished) };
    let found = WhatIf::count(&file.profile, file.kind, rule, &terms);
    let found = found.map_err(|message| unfit(message, Some(file.kind)))?;
    leaves_a_choice(&found)?;
    let count = file.profile.ballot_count();
    if output.json {
        let mut value = found.json();
        value["ballots"] = count.into();
        value["abstained"] = file.abstained.into();
        output.line(&safe_json(&value));
    } else {
        let over = match file.profile.options.len() {
            0 => String::new(),
            options => format!(" over {}", pluralize(options, "option")),
        };
        let (kind, ballots) = (file.kind.name(), pluralize(count as usize, "ballot"));
        say(output, &format!("{ballots} of kind {kind}{over}, {} abstained", file.abstained));
        explained(&found, output);
    }
    Ok(exit(&found.verdict))
}

fn of_session(path: &Path, args: &TallyArgs, output: &mut Console) -> VerbResult {
    let log = read_log_file(path, output)?;
    let session = fold(&log);
    let round = round_of(&session, args.round.as_deref())?;
    let kind = round.opened.ballot.kind.info().countable;
    let (mut rule, mut terms) = rule_of(args)?;
    let all_answered = ballots(round).count();
    let supported;
    let round = if args.supported {
        if let (None, Some(own)) = (rule, round.opened.rule) {
            (rule, terms) = (Some(own), round.opened.terms.clone());
        }
        supported = with_supported_only(round);
        &supported
    } else {
        round
    };
    let found = if args.all {
        what_if_all(&session, round, &terms)
    } else {
        let Some(rule) = rule else { return Ok(ExitCode::Finished) };
        let found = what_if(&session, round, rule, &terms);
        let found = found.map_err(|message| unfit(message, kind))?;
        leaves_a_choice(&found)?;
        vec![found]
    };
    if found.is_empty() {
        return Err(unfit("no rule counts the answers of this round".to_owned(), kind).into());
    }
    if output.json {
        for one in &found {
            output.line(&safe_json(&session_json(round, one)));
        }
    } else {
        for line in crate::insight::what_if_lines(&session, round, &found) {
            say(output, &line);
        }
        if args.supported {
            let counted = ballots(round).count();
            say(output, &format!("Ballots that cite the snapshot: {counted} of {all_answered}"));
        }
        if let [one] = found.as_slice() {
            explained(one, output);
        }
    }
    match found.as_slice() {
        [one] if !args.all => Ok(exit(&one.verdict)),
        _ => Ok(ExitCode::Finished),
    }
}

/// Returns the countable answers of a round.
fn ballots(round: &RoundRun) -> impl Iterator<Item = &AnswerRevealed> {
    round.answers().map(|answer| &**answer).filter(|answer| answer.outcome == Outcome::Answered)
}

/// Returns the round without the ballots of seats that cite nothing in its snapshot.
fn with_supported_only(round: &RoundRun) -> RoundRun {
    let citable = Citable::from_snapshot(&round.opened.snapshot);
    let mut round = round.clone();
    let may_count = |answer: &AnswerRevealed| {
        answer.outcome != Outcome::Answered || references(answer).any(|one| citable.resolve(one).is_some())
    };
    round.seats.retain(|_, seat| seat.answer().is_none_or(|answer| may_count(answer)));
    round
}

fn session_json(round: &RoundRun, found: &WhatIf) -> serde_json::Value {
    let mut value = found.json();
    value["round"] = round.opened.round.as_str().into();
    let tally = round_view::tally(round);
    value["recorded"] = serde_json::json!({
        "rule": round.opened.rule.map(Rule::name),
        "decided": tally.is_some_and(|tally| tally.decided),
        "winners": tally.map_or(&[][..], |tally| &tally.verdict.winners),
    });
    value
}

/// Returns the round with that id, or the only one with ballots to count.
fn round_of<'a>(session: &'a Session, id: Option<&str>) -> Result<&'a RoundRun, Diagnostic> {
    let names: Vec<&str> = session.rounds.iter().map(|round| round.opened.round.as_str()).collect();
    if let Some(open) = id.and_then(|id| session.round(id)).filter(|round| !round_view::is_revealed(round)) {
        let problem = Diagnostic::new(format!("round `{}` is not revealed yet", open.opened.round));
        return Err(problem.hint("its ballots are sealed until it is closed"));
    }
    if let Some(id) = id {
        return session.round(id).ok_or_else(|| {
            let problem = Diagnostic::new(format!("the session has no round `{id}`"));
            problem.hint(did_you_mean(id, &names))
        });
    }
    let counts = |round: &&RoundRun| {
        round_view::is_revealed(round) && round.opened.ballot.kind.info().countable.is_some()
    };
    let counted: Vec<&RoundRun> = session.rounds.iter().filter(counts).collect();
    match counted.as_slice() {
        [one] => Ok(one),
        [] => {
            let problem = Diagnostic::new("the session has no round with ballots to count");
            Err(problem.hint("open questions have no tally; other rounds are counted after they close"))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|round| round.opened.round.as_str()).collect();
            let problem = Diagnostic::new("the session has several rounds with ballots");
            Err(problem.hint(format!("add --round: one of {}", names.join(", "))))
        }
    }
}

fn unfit(message: String, kind: Option<CountableKind>) -> Diagnostic {
    let problem = Diagnostic::new(message);
    let Some(kind) = kind else {
        return problem.hint("give a round with a ballot such as `choice` or `ranking`");
    };
    let rules: Vec<&str> = rules_for(kind).map(Rule::name).collect();
    problem.hint(format!("`{}` ballots are counted by {}", kind.name(), rules.join(", ")))
}

/// Prints the result, every step of the count, and its tables.
fn explained(found: &WhatIf, output: &mut Console) {
    let verdict = &found.verdict;
    say(output, &format!("rule: {}", rule_description(found.rule, &found.terms)));
    say(output, &result(verdict));
    if let Some(order) = order(verdict) {
        say(output, &order);
    }
    for (at, step) in verdict.steps.iter().enumerate() {
        say(output, &format!("{:>3}. {step}", at + 1));
    }
    for line in tables(verdict) {
        say(output, &line);
    }
}

fn say(output: &mut Console, line: &str) {
    output.line(&harmless(line));
}

fn exit(verdict: &Verdict) -> ExitCode {
    if !verdict.winners.is_empty() && !verdict.tie { ExitCode::Finished } else { ExitCode::Undecided }
}
