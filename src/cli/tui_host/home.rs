//! Contents of the home screen: saved sessions, definitions in this folder, examples.

use std::path::{Path, PathBuf};

use crate::cli::browse::saved;
use crate::config::own_strategies::own_strategy_names;
use crate::config::path_policy::PathPolicy;
use crate::config::persona_library::PersonaLibrary;
use crate::config::read_file::read_text;
use crate::history::Session;
use crate::journal::{Disk, fold, read_log};
use crate::launch::environment::Environment;
use crate::persona::Persona;
use crate::report;
use crate::tui::{Home, HomeRow, OpenTarget, without_tools};
use crate::workflow::{Definition, Source, default_id, load};

/// So many saved sessions are shown, the newest first.
const MOST_SESSIONS: usize = 100;
/// A session larger than this is not read for a line about it, in bytes.
const MOST_READ: u64 = 4 * 1024 * 1024;
/// A file larger than this is taken for no definition, in bytes.
const MOST_DEFINITION: u64 = 256 * 1024;

const EXAMPLES: [(&str, &str); 4] = [
    ("context-passing.yaml", include_str!("../../../sessions/context-passing.yaml")),
    ("risk-review.yaml", include_str!("../../../sessions/risk-review.yaml")),
    ("release-consent.yaml", include_str!("../../../sessions/release-consent.yaml")),
    ("issue-handoff.yaml", include_str!("../../../sessions/issue-handoff.yaml")),
];

pub fn home(set_up: &Environment) -> Home {
    let paths = saved(&set_up.folders);
    let mut rows: Vec<HomeRow> = paths.iter().take(MOST_SESSIONS).map(|path| session(path)).collect();
    rows.push(start("a question of your own", "two fields are enough", OpenTarget::NewQuestion));
    rows.extend(definitions(&set_up.folders.path_policy(None)).into_iter().filter_map(|path| {
        let text = read_text(&path, MOST_DEFINITION).ok()?;
        let about = about(&text, &path.display().to_string())?;
        Some(start(&path.display().to_string(), &about, OpenTarget::File(path)))
    }));
    for (name, text) in EXAMPLES {
        let about = about(text, name).unwrap_or_default();
        let opening = OpenTarget::Text { name: name.to_owned(), text: text.to_owned() };
        rows.push(start(default_id(name), &format!("example: {about}"), opening));
    }
    let (all, _) = PersonaLibrary::new(&set_up.folders).all();
    let personas = all.into_iter().map(|found| entry(found.persona)).collect();
    Home {
        project: project(&set_up.folders.project),
        model: set_up.config.model.as_ref().map(|model| model.value.clone()),
        rows,
        personas,
        strategies: own_strategy_names(&set_up.folders),
        notices: set_up.notices().map(ToString::to_string).collect(),
        ..Home::default()
    }
}

/// A persona as a roster's entry, with a line about it. One that lists tools takes a seat without them.
fn entry(persona: Persona) -> (String, String) {
    if persona.tools.is_empty() {
        return (persona.name, persona.description);
    }
    (without_tools(&persona.name), format!("{} · lists {}", persona.description, persona.tools.join(", ")))
}

/// The project's folder, the person's own home as `~`.
fn project(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.parent().is_some());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

fn start(name: &str, about: &str, opening: OpenTarget) -> HomeRow {
    HomeRow { sign: "+", name: name.to_owned(), about: about.to_owned(), age: String::new(), opening }
}

/// A saved session: what was asked, a sign for its state, and its outcome.
fn session(path: &Path) -> HomeRow {
    let mut name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let meta = std::fs::metadata(path).ok();
    let size = meta.as_ref().map_or(0, std::fs::Metadata::len);
    let read = if size <= MOST_READ { Disk::default().read(path, MOST_READ).ok() } else { None };
    let (sign, about) = match read.map(|bytes| read_log(&bytes)) {
        None => ("?", format!("{} MB", size / (1024 * 1024))),
        Some(Err(damage)) => ("!", format!("damaged: {}", damage.what)),
        Some(Ok(log)) if log.lines.is_empty() => ("!", "nothing recorded".to_owned()),
        Some(Ok(log)) => {
            let session = fold(&log);
            let sign = match &session.closed {
                None => "●",
                Some(closed) if closed.exit_code == 0 => "✓",
                Some(_) => "✗",
            };
            name = question(&session).unwrap_or(name);
            (sign, state(&session))
        }
    };
    let touched = meta.and_then(|meta| meta.modified().ok()).and_then(|at| at.elapsed().ok());
    let age = touched.map(|since| age(since.as_secs())).unwrap_or_default();
    let opening = OpenTarget::Replay(path.to_owned());
    HomeRow { sign, name, about, age, opening }
}

fn question(session: &Session) -> Option<String> {
    let asked = session.rounds.last().map(|round| round.opened.question.clone());
    let definition = session.definition.as_ref()?;
    let text = asked.or_else(|| definition.goal.clone()).or_else(|| first_question(definition))?;
    text.lines().next().map(str::to_owned).filter(|line| !line.trim().is_empty())
}

fn state(session: &Session) -> String {
    if session.closed.is_none()
        && let Some(round) = session.open_round()
    {
        return format!("round {} open, {} of {}", round.opened.number, round.sealed(), round.seats.len());
    }
    let word = || session.closed.as_ref().map_or("unfinished", |closed| closed.status.name()).to_owned();
    report::outcome_headline(session).map_or_else(word, |outcome| outcome.name)
}

fn age(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        86_400..172_800 => "yesterday".to_owned(),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Files in this folder that may be definitions; what leads out of the project is none of them.
fn definitions(bounds: &PathPolicy) -> Vec<PathBuf> {
    let is_wanted = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        matches!(extension, "yaml" | "yml" | "json")
            && bounds.check(path).is_ok()
            && std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_DEFINITION)
    };
    let entries = std::fs::read_dir(".").into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())))
        .filter(is_wanted)
        .take(500)
        .collect();
    paths.sort();
    paths.truncate(50);
    paths
}

/// A line about a definition; none for what is no definition.
fn about(text: &str, file: &str) -> Option<String> {
    let loaded = load(Source { text, file, id: default_id(file) }).ok()?.definition;
    loaded.description.clone().or_else(|| loaded.goal.clone()).or_else(|| first_question(&loaded))
}

/// The question of the first round, unless it is a template, which says little before it is rendered.
fn first_question(definition: &Definition) -> Option<String> {
    let question = definition.steps.iter().find_map(|step| Some(step.round()?.question.clone()));
    question.filter(|text| !text.contains("{{"))
}
