//! Commands that list personas, strategies, sessions and decisions.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::console::{Console, VerbResult, aligned};
use crate::config::dirs::Dirs;
use crate::config::persona_library::PersonaLibrary;
use crate::core::{Deciding, ExitCode, deciding, questions};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::insight::cut;
use crate::journal::{Disk, fold, read_log};
use crate::report::{self, Document, Source};
use crate::sanitize::{harmless, harmless_line};
use crate::workflow::{Definition, STRATEGIES, Strategy, strategies};

const KEYS: [&str; 8] =
    ["date", "question", "outcome", "strength", "status", "adopted_by", "supersedes", "session"];

/// Maximum characters of a cell in lists; JSON is not shortened.
const LONGEST_CELL: usize = 200;

fn folders(output: &Console) -> Result<Dirs, Diagnostic> {
    let folders = Dirs::find(false)?;
    for notice in &folders.notices {
        output.warn(notice);
    }
    Ok(folders)
}

pub fn personas(name: Option<&str>, output: &mut Console) -> VerbResult {
    let library = PersonaLibrary::new(&folders(output)?);
    if let Some(name) = name {
        let found = library.find(name)?;
        let persona = &found.persona;
        output.line(&format!("{} ({})", harmless_line(&persona.name), harmless_line(&found.from)));
        output.line(&harmless_line(&persona.description));
        if !persona.tags.is_empty() {
            output.line(&format!("tags: {}", harmless_line(&persona.tags.join(", "))));
        }
        output.line(&format!("\n{}", harmless(persona.text.trim_end())));
        return Ok(ExitCode::Finished);
    }
    let (all, problems) = library.all();
    for problem in &problems {
        output.warn(problem);
    }
    let mut rows = Vec::new();
    for found in &all {
        let from = if found.from == "built-in" { String::new() } else { format!("  [{}]", found.from) };
        rows.push((&found.persona.name, format!("{}{from}", found.persona.description)));
    }
    aligned(&rows).for_each(|row| output.line(&row));
    Ok(ExitCode::Finished)
}

pub fn strategy(name: Option<&str>, output: &mut Console) -> VerbResult {
    let folders = folders(output)?;
    let own = folders.strategy_names();
    let Some(name) = name else {
        let said = |known: &Strategy| format!("{} Good for {}.", known.summary, known.good_for);
        let mut rows: Vec<(String, String)> =
            strategies().iter().map(|known| (known.name.clone(), said(known))).collect();
        for name in own {
            let summary = match folders.strategy(&name) {
                Ok(own) => own.as_ref().map(said).unwrap_or_default(),
                Err(problem) => problem.to_string(),
            };
            rows.push((name, format!("{summary}  [.s2s/strategies]")));
        }
        aligned(&rows).for_each(|row| output.line(&row));
        return Ok(ExitCode::Finished);
    };
    let built_in = STRATEGIES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    let text = match built_in {
        Some(text) => Some(text),
        None => folders.strategy_text(name)?,
    };
    let Some(text) = text else {
        let names: Vec<&str> =
            STRATEGIES.iter().map(|(known, _)| *known).chain(own.iter().map(String::as_str)).collect();
        let problem = Diagnostic::new(format!("there is no strategy `{name}`"));
        return Err(problem.hint(did_you_mean(name, &names)).into());
    };
    output.line(harmless(text.trim_end()).as_ref());
    Ok(ExitCode::Finished)
}

pub fn sessions(output: &mut Console) -> VerbResult {
    let folders = folders(output)?;
    let paths = saved(&folders);
    if paths.is_empty() {
        output.note(&format!("no sessions in {}", folders.sessions().display()));
    }
    for path in paths {
        let what = session_in(&path).map_or_else(|why| why, |session| summary(&session));
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        output.line(&harmless_line(&format!("{name}  {}", cut(&what, LONGEST_CELL))));
    }
    Ok(ExitCode::Finished)
}

pub fn session_in(path: &Path) -> Result<Session, String> {
    let bytes = Disk::default().read(path, 1 << 30).map_err(|_| "cannot be read")?;
    let log = read_log(&bytes).map_err(|damage| format!("damaged: {}", damage.what))?;
    if log.lines.is_empty() { Err("nothing recorded".to_owned()) } else { Ok(fold(&log)) }
}

/// Lists the decisions of all saved sessions except rehearsals.
pub fn decisions(json: bool, markdown: bool, output: &mut Console) -> VerbResult {
    let read = |path: PathBuf| {
        session_in(&path).map_err(|why| output.note(&format!("left out: {}: {why}", path.display()))).ok()
    };
    let mut sessions: Vec<Session> = saved(&folders(output)?).into_iter().filter_map(read).collect();
    sessions.retain(|session| !session.is_rehearsal());
    output.note("left out: rehearsals, and session files that were saved elsewhere with --save");
    if markdown {
        let line = KEYS.map(|_| "---").join(" | ");
        output.line(&format!("| {} |\n| {line} |", KEYS.join(" | ")));
    } else if !json {
        output.line(&KEYS.join(" · ").replace('_', " "));
    }
    let rows = |session| report::decision_rows(&Document::new(session, Source::default()));
    for row in sessions.iter().flat_map(rows) {
        if json {
            output.line(&report::safe_json(&row));
            continue;
        }
        let mut cells =
            KEYS.map(|key| cut(&harmless_line(row[key].as_str().unwrap_or_default()), LONGEST_CELL));
        if let Some(why) = row["because"].as_str() {
            cells[4] = format!("{}: {why}", cells[4]);
        }
        output.line(&if markdown {
            format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
        } else {
            cells.map(|cell| if cell.is_empty() { "–".to_owned() } else { cell }).join(" · ")
        });
    }
    Ok(ExitCode::Finished)
}

pub fn state_in_words(session: &Session) -> String {
    match (&session.closed, session.open_round()) {
        (Some(closed), _) => closed.status.name().to_owned(),
        (None, Some(round)) => {
            format!("round {} open, {} of {} sealed", round.opened.number, round.sealed(), round.seats.len())
        }
        (None, None) => "unfinished".to_owned(),
    }
}

fn summary(session: &Session) -> String {
    let outcome = report::outcome(session).map(|outcome| format!(" · {outcome}"));
    let asked = question(session).unwrap_or_default();
    format!("{}{} · {asked}", state_in_words(session), outcome.unwrap_or_default())
}

/// Returns the first line of a session's open or deciding question, or of its goal if it makes several
/// decisions.
pub fn question(session: &Session) -> Option<String> {
    let (open, last) = (session.open_round(), session.rounds.last());
    let decides = if let Some(Deciding::Round(round)) = deciding(session) { Some(round) } else { last };
    let asked = open.or(decides).map(|round| round.opened.question.clone());
    let definition = session.definition();
    let goal = definition.goal.clone().filter(|_| open.is_none() && questions(session).len() > 1);
    let text = goal.or(asked).or_else(|| definition.goal.clone()).or_else(|| first_question(definition))?;
    text.lines().next().map(str::to_owned).filter(|line| !line.trim().is_empty())
}

/// Returns the first round's question, unless it is a template.
pub fn first_question(definition: &Definition) -> Option<String> {
    let question = definition.steps.iter().find_map(|step| Some(step.round()?.question.clone()));
    question.filter(|text| !text.contains("{{"))
}

pub fn saved(folders: &Dirs) -> Vec<PathBuf> {
    let bounds = folders.path_policy(None);
    let of_project = folders.s2s().map(|s2s| s2s.join("sessions")).filter(|dir| bounds.check(dir).is_ok());
    let mut dirs: Vec<PathBuf> = of_project.into_iter().chain([folders.state.join("sessions")]).collect();
    dirs.dedup();
    let mut paths: Vec<PathBuf> = dirs
        .iter()
        .filter_map(|dir| std::fs::read_dir(dir).ok())
        .flatten()
        .filter_map(Result::ok)
        // No links, which may point anywhere, and no pipes, which never end.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "s2s"))
        .collect();
    // File names begin with the start time in seconds; within a second, the last write decides.
    paths.sort_by_cached_key(|path| {
        let second: Vec<char> = path.file_name().map_or_else(Vec::new, |name| {
            name.to_string_lossy().chars().take("20261127-120000".len()).collect()
        });
        let written = std::fs::metadata(path).and_then(|file| file.modified()).ok();
        Reverse((second, written))
    });
    paths
}

pub fn newest_session(output: &Console) -> Result<PathBuf, Diagnostic> {
    let Some(newest) = saved(&Dirs::find(false)?).into_iter().next() else {
        let problem = Diagnostic::new("no session is saved yet");
        return Err(problem.hint("`roundtable ask` and `roundtable run FILE` save one"));
    };
    output.note(&format!("newest session: {}", newest.display()));
    Ok(newest)
}

pub fn session_or_newest(given: Option<&Path>, output: &Console) -> Result<PathBuf, Diagnostic> {
    given.map_or_else(|| newest_session(output), |given| Ok(session_file(given)))
}

/// Returns the file at this path, else the saved session with this id.
pub fn session_file(given: &Path) -> PathBuf {
    if given.exists() || given.components().count() != 1 {
        return given.to_owned();
    }
    let is = |name: Option<&OsStr>| name == Some(given.as_os_str());
    let by_id = |path: &PathBuf| is(path.file_stem()) || is(path.file_name());
    let found = Dirs::find(false).ok().and_then(|folders| saved(&folders).into_iter().find(by_id));
    found.unwrap_or_else(|| given.to_owned())
}

/// Returns the session's id if it identifies its file, else the path.
pub fn session_name(path: &Path) -> String {
    let id = path.file_stem().map(PathBuf::from).unwrap_or_default();
    let is_found = std::fs::canonicalize(session_file(&id)).ok() == std::fs::canonicalize(path).ok();
    let name = if is_found { &id } else { path };
    quoted(&name.display().to_string())
}

/// Quotes a word for the shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%~".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
