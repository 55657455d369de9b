//! What the tools say of sessions on disk, and what there is to choose from.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value;

use super::arguments::{EarlierRound, Listed, Outcome, Personas, Recount, SeatAnswer, Strategies, Verified};
use crate::cli::browse::saved;
use crate::cli::verify::as_json;
use crate::config::dirs::Dirs;
use crate::config::own_strategies::{own_strategy, own_strategy_names};
use crate::config::persona_library::PersonaLibrary;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::insight::what_if;
use crate::journal::{EventLog, fold, verify as check};
use crate::launch::error::RunError;
use crate::launch::session_file::{bytes_of, damage_problem, is_no_session, read_session};
use crate::report;
use crate::tally::{Rule, RuleOptions};
use crate::workflow::strategies;

/// Finds the file of a saved session by its id.
///
/// # Errors
/// That there is none.
pub fn file_of(folders: &Dirs, id: &str) -> Result<PathBuf, Diagnostic> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == id);
    saved(folders).into_iter().find(is_it).ok_or_else(|| {
        Diagnostic::new(format!("no session `{id}`")).hint("`convene` gives the id of a new one")
    })
}

/// A session that is over, and its log's last hash.
///
/// # Errors
/// While it is not over.
fn closed(path: &Path) -> Result<(Session, String), RunError> {
    let log: EventLog = read_session(path)?;
    let hash = log.lines.last().map(|line| line.hash.clone()).unwrap_or_default();
    let session = fold(&log);
    if session.closed.is_some() {
        return Ok((session, hash));
    }
    Err(not_over().into())
}

/// Refuses to show what is not over.
pub fn not_over() -> Diagnostic {
    let problem = Diagnostic::new("the session is not over: nothing can be shown before it closes");
    problem.hint("ask `status` until its state is `closed`")
}

/// The result of a session that is over.
///
/// # Errors
/// While it is not over, and when its file cannot be read.
pub fn outcome(path: &Path) -> Result<Outcome, RunError> {
    let (session, last_hash) = closed(path)?;
    let file = path.display().to_string();
    let line = report::result(&session, 0, &file, &last_hash);
    let whole = report::json(&session);
    let rounds = items(&whole["rounds"]);
    let (round, before) =
        rounds.split_last().map_or((&Value::Null, &[][..]), |(last, before)| (last, before));
    let is_minority = |seat: &&Value| {
        let mut said = items(&whole["dissent"]).iter().filter(|said| said["round"] == round["id"]);
        said.any(|said| said["participant"] == seat["participant"])
    };
    let (minority, others): (Vec<&Value>, Vec<&Value>) = items(&round["seats"]).iter().partition(is_minority);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let answers = |seats: Vec<&Value>| seats.into_iter().map(answer).collect();
    let earlier = |round: &Value| EarlierRound {
        round: text(&round["id"]).unwrap_or_default(),
        question: text(&round["question"]).unwrap_or_default(),
        answers: items(&round["seats"]).iter().map(answer).collect(),
    };
    Ok(Outcome {
        session: session.id.clone(),
        decided: line["decided"] == true,
        winners: items(&whole["decision"]["winners"]).iter().filter_map(text).collect(),
        headline: text(&line["headline"]),
        reason: text(&line["reason"]),
        tally: round["tally"].as_object().cloned(),
        minority: answers(minority),
        others: answers(others),
        earlier: before.iter().map(earlier).collect(),
        pseudonyms: whole["pseudonyms"].as_object().cloned().unwrap_or_default(),
        rehearsal: session.has_rehearsal(),
        usd: line["usd"].as_f64(),
        file,
        last_hash,
    })
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn answer(seat: &Value) -> SeatAnswer {
    let text = |key: &str| seat[key].as_str().map(str::to_owned);
    SeatAnswer {
        participant: text("participant").unwrap_or_default(),
        model: text("model"),
        outcome: text("outcome"),
        reason: text("reason"),
        answer: seat["answer"].as_object().cloned(),
    }
}

/// What a session file proves: one of this project, or a saved session by its id.
///
/// # Errors
/// When it is outside the project, cannot be read, or is no session.
pub fn verify(folders: &Dirs, given: &str) -> Result<Verified, RunError> {
    let path = if let Ok(path) = file_of(folders, given) {
        path
    } else {
        let path = folders.project.join(given);
        folders.path_policy(None).check(&path)?;
        path
    };
    let found = check(&bytes_of(&path)?, None);
    if let Some(damage) = found.damage.as_ref().filter(|damage| is_no_session(damage)) {
        return Err(damage_problem(damage, given).into());
    }
    Verified::deserialize(as_json(&found)).map_err(|error| Diagnostic::new(error.to_string()).into())
}

/// What another rule finds on the ballots of the last round.
///
/// # Errors
/// While the session is not over, and when the rule does not count its ballots.
pub fn recount(path: &Path, rule: &str) -> Result<Recount, RunError> {
    let (session, _) = closed(path)?;
    let Some(rule) = Rule::from_name(rule) else {
        let names: Vec<&str> = Rule::all().map(Rule::name).collect();
        return Err(Diagnostic::new(format!("there is no rule `{rule}`"))
            .hint(did_you_mean(rule, &names))
            .into());
    };
    let Some(round) = session.rounds.last() else {
        return Err(Diagnostic::new("the session held no round").into());
    };
    let found = what_if::what_if(&session, round, rule, &RuleOptions::default());
    let found = found.map_err(|why| Diagnostic::new(why).hint("try another rule, such as plurality"))?;
    Recount::deserialize(found.json()).map_err(|error| Diagnostic::new(error.to_string()).into())
}

/// The personas that can take a seat.
pub fn personas(folders: &Dirs) -> Personas {
    let (found, _) = PersonaLibrary::new(folders).all();
    let listed =
        |name: &str, description: &str| Listed { name: name.to_owned(), description: description.to_owned() };
    Personas {
        personas: found.iter().map(|found| listed(&found.persona.name, &found.persona.description)).collect(),
    }
}

/// The strategies of discussions, the project's own among them.
pub fn all_strategies(folders: &Dirs) -> Strategies {
    let own = own_strategy_names(folders).into_iter().filter_map(|name| own_strategy(&name, folders).ok()?);
    let all = strategies().iter().cloned().chain(own).map(|known| {
        let description =
            format!("{} Good for {}. Ballots: {}.", known.summary, known.good_for, known.accepts.join(", "));
        Listed { name: known.name, description }
    });
    Strategies { strategies: all.collect() }
}
