//! From a file on the command line to a session that can open.

use std::path::Path;

use super::console::Console;
use crate::config::dirs::{Dirs, read_text};
use crate::config::need::{Need, What};
use crate::config::participant_factory::ParticipantFactory;
use crate::config::path_policy::PathPolicy;
use crate::config::persona_library::PersonaLibrary;
use crate::config::settings::Config;
use crate::config::tasks::TaskFile;
use crate::config::trust::Trust;
use crate::diagnostic::Diagnostic;
use crate::history::{LinkedSession, PseudonymMap, Session, SessionOpened};
use crate::identity::RULES;
use crate::journal::{FORMAT, PARTS};
use crate::launch::linked_sessions::linked_sessions;
use crate::launch::roster::{ModelFlags, Roster, RosterInputs, UnknownAgentPolicy, resolve};
use crate::launch::scripted_answers::Answers;
use crate::launch::seating::needs;
use crate::round::record::REPLY_RULES;
use crate::round::snapshot::{hex, sha256_hex};
use crate::workflow::{
    Definition, LeakAction, MAX_DEFINITION, STANDARD_INPUT, Source, TASKS_FILE, Tasks, default_id, depth,
    load, unknown_tasks, with_written_names,
};

/// The program's name and version, as sessions record it.
pub const PROGRAM: &str = concat!("roundtable ", env!("CARGO_PKG_VERSION"));

/// Folders, configuration, and what of it the user has agreed to.
pub struct Environment {
    /// Where things lie.
    pub folders: Dirs,
    /// The settings in effect.
    pub config: Config,
    /// What of the project's counts that can run or redirect.
    pub trust: Trust,
}

impl Environment {
    /// Finds them; with `trusts`, whatever the project names counts in this run.
    pub fn find(trusts: bool) -> Result<Self, Vec<Diagnostic>> {
        let folders = Dirs::find(trusts).map_err(|problem| vec![problem])?;
        let config = Config::load(&folders)?;
        let trust = Trust::of(&folders, trusts);
        Ok(Self { folders, config, trust })
    }

    /// As [`Environment::find`]; what is to be said of the project is printed.
    pub fn find_and_tell(trusts: bool, output: &Console) -> Result<Self, Vec<Diagnostic>> {
        let set_up = Self::find(trusts)?;
        for notice in set_up.notices() {
            output.warn(notice);
        }
        Ok(set_up)
    }

    /// What is to be said of the project's folder and configuration.
    pub fn notices(&self) -> impl Iterator<Item = &Diagnostic> {
        self.folders.notices.iter().chain(&self.config.notices)
    }

    /// Who answers for a model or a program, as far as the user has agreed.
    pub fn catalog(&self) -> ParticipantFactory<'_> {
        ParticipantFactory::new(&self.config, &self.trust)
    }
}

/// A definition, ready to be opened.
pub struct PreparedSession {
    pub definition: Definition,
    pub text: String,
    /// Its file's name, for messages.
    pub file: String,
    pub flags: ModelFlags,
    pub answers: Answers,
    /// The text of the project's own tasks, if it has some.
    pub tasks_file: Option<String>,
    /// What of all tasks could not be read.
    pub unread: Vec<Diagnostic>,
    /// Whether it is the user's own, and no project's.
    pub is_own: bool,
}

/// Reads and loads a definition, and says its warnings; `-` is standard input.
pub fn load_plan(path: &Path, folders: &Dirs, output: &Console) -> Result<PreparedSession, Vec<Diagnostic>> {
    let (plan, warnings) = read_plan(path, folders)?;
    for warning in &warnings {
        output.warn(warning);
    }
    Ok(plan)
}

/// Reads and loads a definition; its warnings come with it.
pub fn read_plan(path: &Path, folders: &Dirs) -> Result<(PreparedSession, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (file, text) = definition_text(path)?;
    let (plan, warnings) = plan_of(text, file, folders)?;
    Ok((PreparedSession { is_own: folders.is_own(path), ..plan }, warnings))
}

/// A definition from its text; its warnings come with it.
pub fn plan_of(
    text: String,
    file: String,
    folders: &Dirs,
) -> Result<(PreparedSession, Vec<Diagnostic>), Vec<Diagnostic>> {
    let loaded = load(Source { text: &text, file: &file, id: default_id(&file) })?;
    let (flags, answers) = (ModelFlags::default(), Answers::default());
    let (tasks, tasks_file) = with_tasks(loaded.definition, &file, folders);
    if !tasks.problems.is_empty() {
        return Err(tasks.problems);
    }
    let (definition, unread) = (tasks.definition, tasks.doubts);
    let mut warnings = loaded.warnings;
    warnings.extend(unread.iter().filter(|problem| !warnings.contains(problem)).cloned().collect::<Vec<_>>());
    warnings.extend(unknown_tasks(&definition, &file));
    let is_own = false;
    Ok((PreparedSession { definition, text, file, flags, answers, tasks_file, unread, is_own }, warnings))
}

/// A definition with the tasks of its file, else of the project's, and their text if there are some.
/// `problems` are those of the definition's own file of tasks; `doubts`, such as an unreadable file of the
/// project's, do not stop a session.
pub fn with_tasks(definition: Definition, file: &str, folders: &Dirs) -> (Tasks, Option<String>) {
    if let Some(tracker) = definition.tracker.clone() {
        return match TaskFile::of(folders, &tracker.file).read() {
            Ok(text) => (definition.with_tasks(&text), Some(text)),
            Err(problem) => {
                let problems = vec![problem.at(file, tracker.place.0, tracker.place.1)];
                (Tasks { definition, problems, doubts: Vec::new() }, None)
            }
        };
    }
    let of_own = definition.tasks.iter().filter_map(|task| Some(task.doubt.clone()?.with_file(file)));
    let mut doubts: Vec<Diagnostic> = of_own.collect();
    let (definition, text) = match folders.tasks() {
        Ok(None) => (definition, None),
        Ok(Some(text)) => {
            let read = definition.with_tasks(&text);
            doubts.extend(read.problems.into_iter().chain(read.doubts));
            (read.definition, Some(text))
        }
        Err(problem) => {
            doubts.push(problem.with_file(TASKS_FILE));
            (definition, None)
        }
    };
    (Tasks { definition, problems: Vec::new(), doubts }, text)
}

/// What a definition's file is called in messages, and its text; `-` is standard input.
pub fn definition_text(path: &Path) -> Result<(String, String), Vec<Diagnostic>> {
    let is_stdin = path == Path::new("-");
    let file = if is_stdin { STANDARD_INPUT.to_owned() } else { path.display().to_string() };
    let text = if is_stdin {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_DEFINITION as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| vec![Diagnostic::new(format!("cannot be read: {error}")).with_file(&file)])?;
        String::from_utf8(bytes).map_err(|_| vec![Diagnostic::new("is not UTF-8 text").with_file(&file)])?
    } else {
        let limit = (MAX_DEFINITION as u64) * 8;
        read_text(path, limit).map_err(|problem| vec![problem])?
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok((file, text))
}

impl PreparedSession {
    /// Finds every participant's persona and model.
    pub fn roster(&self, set_up: &Environment) -> Result<Roster, Vec<Diagnostic>> {
        let (roster, problems) = self.resolve(set_up, UnknownAgentPolicy::Refused);
        if problems.is_empty() { Ok(roster) } else { Err(problems) }
    }

    /// As [`PreparedSession::roster`], before it is known whose answers will be scripted.
    pub fn roster_before_answers(&self, set_up: &Environment) -> (Roster, Vec<Diagnostic>) {
        self.resolve(set_up, UnknownAgentPolicy::Noticed)
    }

    fn resolve(&self, set_up: &Environment, nobody: UnknownAgentPolicy) -> (Roster, Vec<Diagnostic>) {
        let library = PersonaLibrary::new(&set_up.folders);
        let catalog = set_up.catalog();
        resolve(RosterInputs {
            definition: &self.definition,
            file: &self.file,
            library: &library,
            catalog: &catalog,
            bounds: &PathPolicy::for_project(&set_up.folders, Some(&self.file)),
            config: &set_up.config,
            flags: &self.flags,
            answers: &self.answers,
            nobody,
        })
    }

    /// The saved sessions its links name, and what could not be read of them.
    pub fn linked_sessions(&self, folders: &Dirs) -> (Vec<LinkedSession>, Vec<Diagnostic>) {
        linked_sessions(&self.definition, &self.file, &PathPolicy::for_project(folders, Some(&self.file)))
    }

    /// What a session of this plan needs. The user's own definition asks nothing for its programs.
    pub fn needs(&self, session: &Session, set_up: &Environment) -> Result<Vec<Need>, Vec<Diagnostic>> {
        let mut needs = needs(session, &set_up.catalog(), &self.answers)?;
        let (programs, _): (Vec<Need>, Vec<Need>) =
            needs.iter().cloned().partition(|need| matches!(need.what, What::Program { .. }));
        if self.is_own {
            set_up.trust.agree(&programs);
            for need in needs.iter_mut().filter(|need| programs.contains(need)) {
                need.named_by = None;
            }
        }
        Ok(needs)
    }

    /// The pseudonyms of a roster, where the definition asks for them: by its seed, else the run's, else
    /// one from the operating system.
    fn pseudonyms(
        &self,
        roster: &Roster,
        seed: Option<u64>,
    ) -> Result<Option<PseudonymMap>, Vec<Diagnostic>> {
        let Some(asked) = self.definition.pseudonyms else { return Ok(None) };
        let mut random = [0; 6];
        getrandom::fill(&mut random).map_err(|error| {
            vec![Diagnostic::new(format!("the operating system gives no random numbers: {error}"))]
        })?;
        let drawn = random.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let seed = asked.seed.or(seed).unwrap_or(drawn);
        Ok(Some(PseudonymMap::draw(seed, roster.seats.iter().map(|seat| seat.name.as_str()))))
    }

    /// The header a session of this plan opens with.
    pub fn header(
        &self,
        mut roster: Roster,
        id: &str,
        (input, seed): (Option<&str>, Option<u64>),
        folders: &Dirs,
    ) -> Result<SessionOpened, Vec<Diagnostic>> {
        for seat in &mut roster.seats {
            seat.seed = seat.seed.or(seed);
        }
        let leak_rules = (self.definition.leaks != Some(LeakAction::Off)
            || self.definition.pseudonyms.is_some())
        .then_some(RULES);
        let (linked_sessions, unlinked) = self.linked_sessions(folders);
        let name = Path::new(&self.file).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(SessionOpened {
            session: id.to_owned(),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            definition_file: name
                .filter(|_| self.file != STANDARD_INPUT)
                .unwrap_or_else(|| "stdin".to_owned()),
            definition_sha256: sha256_hex(&self.text),
            definition: self.text.clone(),
            leak_rules,
            reply_rules: Some(REPLY_RULES),
            parts: Some(PARTS),
            adopts_unsupported: true,
            pseudonyms: self.pseudonyms(&roster, seed)?,
            input: with_written_names(
                input.map_or_else(|| Ok(self.definition.input()), parse_input)?,
                FORMAT,
            ),
            seed,
            participants: roster.seats,
            personas: roster.personas,
            tasks_file: self.tasks_file.clone(),
            unread: self.unread.iter().chain(&unlinked).map(told).collect(),
            linked_sessions,
            prices: roster.prices,
        })
    }
}

/// That a session writes nothing to the file of its tasks, though the definition names one.
pub fn rehearsed_tasks(session: &Session) -> Option<Diagnostic> {
    let file = session.tasks_file().filter(|_| session.has_rehearsal())?;
    let problem =
        Diagnostic::new(format!("this session has rehearsed answers: nothing is written to `{file}`"));
    Some(problem.hint("seat a model with `--model NAME=provider/model`, or script the answers (--answers)"))
}

/// A problem as a session records it: its place by the file's name alone.
fn told(problem: &Diagnostic) -> String {
    let file = problem.place.as_ref().map_or("", |place| place.file.as_str());
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    name.map_or_else(|| problem.message.clone(), |name| problem.clone().with_file(&name).to_string())
}

/// A warning when an input begins like JSON and is none.
pub fn warn_json_like_input(text: &str) -> Option<Diagnostic> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let error = serde_json::from_str::<serde_json::Value>(text).err().filter(|_| is_json)?;
    let problem =
        Diagnostic::new(format!("--input begins like JSON and is not, so it is taken as text: {error}"));
    Some(problem.hint("check its quotes and brackets"))
}

fn parse_input(text: &str) -> Result<serde_json::Value, Vec<Diagnostic>> {
    // A session file holds no deeper values than this.
    const DEEPEST: usize = 36;
    let is_json = text.trim_start().starts_with(['{', '[']);
    let parsed = if is_json { serde_json::from_str(text).ok() } else { None };
    let input = parsed.unwrap_or_else(|| serde_json::Value::String(text.to_owned()));
    if depth(&input) > DEEPEST {
        let problem = Diagnostic::new(format!("the input is nested deeper than {DEEPEST} levels"));
        return Err(vec![problem.hint("give it flatter, or as a text")]);
    }
    Ok(input)
}

/// `YYYYMMDD-HHMMSS-<id>-<4 hex>`.
pub fn session_id(id: &str) -> String {
    let slug: String =
        id.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(48).collect();
    let slug = slug.trim_matches('-');
    let now = crate::clock::now().to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    let mut random = [0; 2];
    // Without randomness the id is still unique by the second; `create` refuses a clash.
    let _ = getrandom::fill(&mut random);
    let slug = if slug.is_empty() { "session" } else { slug };
    format!("{date}-{time}-{slug}-{}", hex(&random))
}
