//! Contents of the home screen, and completion of paths.

use std::path::Path;

use crate::cli::browse::{first_question, question, saved, session_in, state_in_words};
use crate::cli::doctor;
use crate::config::doctor::{Checkup, CheckupStatus, ProbeLevel};
use crate::config::persona_library::PersonaLibrary;
use crate::config::prices::TABLE;
use crate::config::providers::KNOWN;
use crate::history::Session;
use crate::launch::environment::Environment;
use crate::persona::Persona;
use crate::report;
use crate::sanitize::harmless;
use crate::tui::{Home, HomeRow, ModelSource, OpenTarget, without_tools};
use crate::workflow::{Source, default_id, load};

/// Maximum number of saved sessions to show, the newest first.
const MOST_SESSIONS: usize = 100;
/// Larger sessions are listed without being read, in bytes.
const MOST_READ: u64 = 4 * 1024 * 1024;

/// Maximum entries of a folder to read for path completion.
const MOST_PATHS: usize = 10_000;

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
    for (name, text) in EXAMPLES {
        let about = about(text, name).unwrap_or_default();
        let opening = OpenTarget::Text { name: name.to_owned(), text: text.to_owned() };
        rows.push(start(default_id(name), &format!("example: {about}"), opening));
    }
    let (all, _) = PersonaLibrary::new(&set_up.folders).all();
    let personas = all.into_iter().map(|found| entry(found.persona)).collect();
    Home {
        project: set_up.folders.project.display().to_string(),
        model: set_up.config.model.as_ref().map(|model| model.value.clone()),
        rows,
        personas,
        strategies: set_up.folders.strategy_names(),
        notices: set_up.notices().map(ToString::to_string).collect(),
        ..Home::default()
    }
}

/// Returns a persona as a roster entry, with its description; its tools are excluded.
fn entry(persona: Persona) -> (String, String) {
    if persona.tools.is_empty() {
        return (persona.name, persona.description);
    }
    (without_tools(&persona.name), format!("{} · lists {}", persona.description, persona.tools.join(", ")))
}

fn start(name: &str, about: &str, opening: OpenTarget) -> HomeRow {
    HomeRow { sign: "+", name: name.to_owned(), about: about.to_owned(), age: String::new(), opening }
}

/// Returns the row of a saved session: its question, a sign for its state, and its outcome.
fn session(path: &Path) -> HomeRow {
    let mut name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let meta = std::fs::metadata(path).ok();
    let size = meta.as_ref().map_or(0, std::fs::Metadata::len);
    let read = (size <= MOST_READ).then(|| session_in(path));
    let (sign, about) = match read {
        None => ("?", format!("{} MB", size / (1024 * 1024))),
        Some(Err(why)) => ("!", why),
        Some(Ok(session)) => {
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

fn state(session: &Session) -> String {
    let is_held = session.closed.is_none() && session.open_round().is_some();
    let outcome = if is_held { None } else { report::outcome_headline(session) };
    outcome.map_or_else(|| state_in_words(session), |outcome| outcome.name)
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

/// Returns the description of a definition, or `None` if the text is no definition.
fn about(text: &str, file: &str) -> Option<String> {
    let loaded = load(Source { text, file, id: default_id(file) }).ok()?;
    loaded.description.clone().or_else(|| loaded.goal.clone()).or_else(|| first_question(&loaded))
}

/// Checks local servers, which takes as long as the slowest, and finds services by their keys.
/// A service with a key is not contacted if it has built-in prices; these list its models.
pub fn sources(set_up: &Environment) -> Vec<ModelSource> {
    let catalog = set_up.catalog();
    let (mut found, mut asked) = (Vec::new(), Vec::new());
    for provider in catalog.providers() {
        let service = catalog.service(provider).ok().filter(|service| !service.wanted_keys.is_empty());
        match service.map(|service| service.has_key()) {
            Some(false) => found.push(source(provider, false, Vec::new())),
            Some(true) if !priced(provider).is_empty() => {
                found.push(source(provider, true, priced(provider)));
            }
            _ => asked.push(provider.to_owned()),
        }
    }
    let checked = doctor::checked(set_up, &asked, ProbeLevel::Listing).ok();
    let mut all: Vec<ModelSource> = checked.unwrap_or_default().iter().filter_map(of_checkup).collect();
    all.extend(found);
    all.sort_by_key(|source| !source.is_ready);
    all
}

/// Returns the models of a provider with built-in prices, the cheapest first.
fn priced(provider: &str) -> Vec<String> {
    let table = TABLE.iter().find(|source| source.provider == provider);
    let mut prices: Vec<_> = table.map(|source| source.prices.to_vec()).unwrap_or_default();
    prices.sort_by(|a, b| a.3.total_cmp(&b.3));
    prices.into_iter().map(|price| format!("{provider}/{}", price.0)).collect()
}

fn source(provider: &str, is_ready: bool, models: Vec<String>) -> ModelSource {
    ModelSource { provider: provider.to_owned(), is_ready, models }
}

/// Returns the source of a checkup, or `None` for a server that is neither running nor configured.
fn of_checkup(checkup: &Checkup) -> Option<ModelSource> {
    let provider = checkup.provider.as_str();
    match &checkup.state {
        CheckupStatus::Answers(models) | CheckupStatus::Probed(models, ..) => {
            let models = models.iter().map(|model| format!("{provider}/{model}")).collect();
            Some(source(provider, true, models))
        }
        CheckupStatus::Program { .. } => Some(source(provider, true, vec![format!("{provider}/")])),
        CheckupStatus::Silent(_) | CheckupStatus::NotSetUp(_) | CheckupStatus::NoKey => {
            let is_usual = KNOWN.iter().any(|known| known.name == provider);
            (!is_usual).then(|| source(provider, false, Vec::new()))
        }
    }
}

/// Returns the files and folders that start with `typed`, sorted; folders end with `/`.
/// Hidden ones are included only if the dot was typed.
pub fn paths_beginning_with(project: &Path, typed: &str) -> Vec<String> {
    let (folder, start) = typed.rsplit_once('/').map_or(("", typed), |(folder, start)| (folder, start));
    let shown = &typed[..typed.len() - start.len()];
    let folder = if shown == "/" { Path::new("/").to_owned() } else { project.join(folder) };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_PATHS);
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !start.starts_with('.');
            // A name with escaped characters could not be typed.
            if is_hidden || !name.starts_with(start) || harmless(&name) != name {
                return None;
            }
            let is_folder = entry.path().is_dir();
            Some(format!("{shown}{name}{}", if is_folder { "/" } else { "" }))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_folder_are_found_by_how_they_begin() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("src/cache")).expect("folders");
        for name in ["src/cache.rs", "src/caches.rs", "src/main.rs", ".env", "a\tb"] {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }
        let found = |typed: &str| paths_beginning_with(dir.path(), typed);
        assert_eq!(found("s"), ["src/"]);
        assert_eq!(found("src/ca"), ["src/cache.rs", "src/cache/", "src/caches.rs"]);
        assert_eq!(found("src/m"), ["src/main.rs"]);
        assert_eq!(found("."), [".env"]);
        assert!(found("a").is_empty() && found("none/x").is_empty() && found("src/main.rs:1").is_empty());
    }
}
