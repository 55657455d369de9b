//! What the home screen shows: saved sessions, definitions in this folder, examples.

use std::path::{Path, PathBuf};

use crate::cli::browse::{saved, summary};
use crate::config::findings::Findings;
use crate::config::path_policy::PathPolicy;
use crate::config::persona_library::PersonaLibrary;
use crate::config::programs::found;
use crate::config::read_file::read_regular;
use crate::journal::{Disk, fold_to_show, read_log};
use crate::launch::environment::Environment;
use crate::tui::{Home, HomeRow, HomeSection, OpenTarget};
use crate::workflow::{Source, default_id, load};

/// So many saved sessions are shown, the newest first.
const MOST_SESSIONS: usize = 100;
/// A session larger than this is not read for a line about it, in bytes.
const MOST_READ: u64 = 4 * 1024 * 1024;
/// A file larger than this is taken for no definition, in bytes.
const MOST_DEFINITION: u64 = 256 * 1024;

/// The examples that come with the program.
const EXAMPLES: [(&str, &str); 4] = [
    ("context-passing.yaml", include_str!("../../../sessions/context-passing.yaml")),
    ("risk-review.yaml", include_str!("../../../sessions/risk-review.yaml")),
    ("release-consent.yaml", include_str!("../../../sessions/release-consent.yaml")),
    ("issue-handoff.yaml", include_str!("../../../sessions/issue-handoff.yaml")),
];

/// Reads it all.
pub fn home(set_up: &Environment) -> Home {
    let paths = saved(&set_up.folders);
    let mut rows: Vec<HomeRow> = paths.iter().take(MOST_SESSIONS).map(|path| session(path)).collect();
    rows.push(start("New question…", "question, participants, voting rule", OpenTarget::NewQuestion));
    rows.extend(definitions(&set_up.folders.path_policy(None)).into_iter().filter_map(|path| {
        let text = read_regular(&path, MOST_DEFINITION).ok()?;
        let about = about(&text, &path.display().to_string())?;
        Some(start(&path.display().to_string(), &about, OpenTarget::File(path)))
    }));
    for (name, text) in EXAMPLES {
        let about = about(text, name).unwrap_or_default();
        let opening = OpenTarget::Text { name: name.to_owned(), text: text.to_owned() };
        rows.push(start(default_id(name), &format!("example: {about}"), opening));
    }
    let (all, _) = PersonaLibrary::new(&set_up.folders).all();
    let personas = all.into_iter().map(|found| (found.persona.name, found.persona.description)).collect();
    let model = set_up.config.model.value.clone().unwrap_or_else(|| "rehearsal".to_owned());
    Home {
        project: project(&set_up.folders.project),
        ready: format!("default model: {model}{}", programs(set_up)),
        rows,
        personas,
        notices: set_up.notices().map(ToString::to_string).collect(),
        ..Home::default()
    }
}

/// The programs that can take a seat, with their versions, and whether they were measured.
fn programs(set_up: &Environment) -> String {
    let (catalog, findings) = (set_up.catalog(), Findings::of(&set_up.folders));
    let told = |provider: &str| {
        let found = catalog.seat_program(provider)?;
        let path = catalog.runnable(&found).ok()?;
        let known = findings.of_program(&found, &path, "").ok()?;
        let state = if findings.is_measured(&found, &known.version) { "measured" } else { "not measured" };
        let version = known.version.split(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        Some(format!(" · {provider} {}, {state}", version.unwrap_or(&known.version)))
    };
    found(&set_up.config).into_iter().filter_map(told).collect()
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
    let (part, sign) = (HomeSection::New, ("+", "+"));
    HomeRow { part, sign, name: name.to_owned(), about: about.to_owned(), verb: "start", opening }
}

/// A saved session: a sign for its state, and what it came to.
fn session(path: &Path) -> HomeRow {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
    let read = if size <= MOST_READ { Disk::default().read(path, MOST_READ).ok() } else { None };
    let (sign, about, verb) = match read.map(|bytes| read_log(&bytes)) {
        None => (("?", "?"), format!("{} MB", size / (1024 * 1024)), "replay"),
        Some(Err(damage)) => (("!", "!"), format!("damaged: {}", damage.what), "replay"),
        Some(Ok(log)) if log.lines.is_empty() => (("!", "!"), "nothing recorded".to_owned(), "replay"),
        Some(Ok(log)) => {
            let session = fold_to_show(log);
            let (sign, verb) = match &session.closed {
                None => (("●", "o"), "resume"),
                Some(closed) if closed.exit_code == 0 => (("✓", "v"), "replay"),
                Some(_) => (("✗", "x"), "replay"),
            };
            (sign, summary(&session), verb)
        }
    };
    // What the facilitator calls it comes first; the date stands in its name.
    let opening = OpenTarget::Replay(path.to_owned());
    HomeRow { part: HomeSection::Sessions, sign, name: stem, about, verb, opening }
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
    let question = || loaded.steps.iter().find_map(|step| Some(step.round()?.question.clone()));
    loaded.description.clone().or_else(|| loaded.goal.clone()).or_else(question)
}
