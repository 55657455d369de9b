//! From a definition's file to a session that can open: loaded, its roster resolved, its needs known.

use std::path::Path;

use serde_json::{Map, Value};

use super::environment::Environment;
use super::error::no_problems;
use super::evidence::unreadable_evidence;
use super::linked_sessions::linked_sessions;
use super::model_choice::ModelFlags;
use super::needs::needs;
use super::placeholders::{undecidable_rounds, without_model};
use super::roster::{Roster, RosterInputs, UnknownAgentPolicy, resolve};
use super::scripted_answers::Answers;
use super::tasks::{TaskTexts, rehearsed_tasks, with_tasks};
use crate::config::PathPolicy;
use crate::config::dirs::Dirs;
use crate::config::need::{Need, What};
use crate::config::own_strategies::own_strategy;
use crate::config::persona_library::PersonaLibrary;
use crate::config::read_file::{read_input, read_text};
use crate::config::remote::WorkersConfig;
use crate::diagnostic::Diagnostic;
use crate::history::{
    Door, Event, LinkedSession, RemoteSeat, SeatInfo, Session, SessionOpened, TimedEvent, Timestamp,
};
use crate::workflow::{
    ChosenParticipant, Definition, Examined, LINK, MAX_DEFINITION, OtherFiles, Source, default_id, examine,
    needs_screen, recheck, unknown_tasks,
};

/// Options of a run, the same for every front end.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    pub is_headless: bool,
    pub flags: ModelFlags,
    /// The participants to use, in this order; the definition's, if none are named.
    pub participants: Vec<String>,
    /// Seats that are given to people behind links, whoever else would have them.
    pub invited: Vec<String>,
    pub input: Option<String>,
    pub seed: Option<u64>,
    pub max_usd: Option<f64>,
    pub answers: Answers,
    pub rehearse: bool,
    /// Nothing will be asked, so seats need no model.
    pub only_looks: bool,
    /// Evidence beside the definition's, as a snapshot shows it.
    pub evidence: Vec<Map<String, Value>>,
}

impl LaunchOptions {
    /// The run itself names who answers, so the definition's answers of seats are not used.
    fn names_others(&self) -> bool {
        let names_model = self.flags.all.is_some() || !self.flags.named.is_empty();
        self.rehearse || names_model || !self.participants.is_empty() || !self.invited.is_empty()
    }

    /// The scripted answers of a session that opened: those of the file, and of its definition for the steps
    /// that it opened with as scripted.
    pub fn answers_of(&self, session: &Session) -> Answers {
        let Some(definition) = &session.definition else { return self.answers.clone() };
        let opened_so = |step: &str| session.roster.values().any(|seat| seat.is_scripted(step));
        self.answers.clone().with_written(definition, opened_so)
    }
}

pub struct PreparedSession {
    pub definition: Definition,
    pub text: String,
    pub file: String,
    pub flags: ModelFlags,
    pub answers: Answers,
    pub rehearse: bool,
    /// The text of the project's own tasks, if it has some.
    pub tasks: TaskTexts,
    pub unread: Vec<Diagnostic>,
    pub linked: Vec<LinkedSession>,
    pub unlinked: Vec<Diagnostic>,
    /// The file is the user's own, not a project's.
    pub is_own: bool,
}

pub struct Opening {
    pub header: SessionOpened,
    pub session: Session,
    pub needs: Vec<Need>,
}

pub struct ExaminedFile {
    /// The readable part of the definition, with errors or without.
    pub plan: Option<PreparedSession>,
    pub problems: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
}

impl ExaminedFile {
    fn of(text: String, file: String, folders: &Dirs) -> Self {
        let Examined { definition, mut problems, mut warnings, expanded } = examine(
            Source { text: &text, file: &file, id: default_id(&file) },
            OtherFiles {
                definition: &|from, path| used_definition(from, path, &folders.path_policy(Some(&file))),
                strategy: &|name| own_strategy(name, folders),
            },
        );
        let Some(definition) = definition else { return Self { plan: None, problems, warnings } };
        let (tasks, texts) = with_tasks(definition, &file, folders);
        let is_new = |problem: &&Diagnostic| !warnings.contains(problem);
        let doubts: Vec<Diagnostic> = tasks.doubts.iter().filter(is_new).cloned().collect();
        warnings.extend(doubts);
        if tasks.problems.is_empty() {
            warnings.extend(unknown_tasks(&tasks.definition, &file));
        }
        problems.extend(tasks.problems);
        let definition = tasks.definition;
        let (linked, unlinked) = linked_sessions(&definition, &file, &folders.path_policy(Some(&file)));
        let plan = PreparedSession {
            answers: Answers::written(&definition, &file),
            definition,
            text: expanded.unwrap_or(text),
            file,
            flags: ModelFlags::default(),
            rehearse: false,
            tasks: texts,
            unread: tasks.doubts,
            linked,
            unlinked,
            is_own: false,
        };
        Self { plan: Some(plan), problems, warnings }
    }

    fn valid(self) -> Result<LoadedFile, Vec<Diagnostic>> {
        match self.plan {
            Some(plan) if self.problems.is_empty() => Ok((plan, self.warnings)),
            _ => Err(self.problems),
        }
    }
}

/// A definition without errors, and its warnings.
type LoadedFile = (PreparedSession, Vec<Diagnostic>);

/// Reads a definition as far as it can be read, for further checks; `-` is standard input.
pub fn examine_file(path: &Path, folders: &Dirs) -> Result<ExaminedFile, Vec<Diagnostic>> {
    let (file, text) = definition_text(path)?;
    let mut found = ExaminedFile::of(text, file, folders);
    if let Some(plan) = &mut found.plan {
        plan.is_own = folders.is_own(path);
    }
    Ok(found)
}

/// Reads and loads a definition; its warnings come with it.
pub fn read_definition(path: &Path, folders: &Dirs) -> Result<LoadedFile, Vec<Diagnostic>> {
    examine_file(path, folders)?.valid()
}

pub fn load_definition(text: String, file: String, folders: &Dirs) -> Result<LoadedFile, Vec<Diagnostic>> {
    ExaminedFile::of(text, file, folders).valid()
}

fn unasked(invited: &[String], header: &SessionOpened) -> Vec<Diagnostic> {
    let is_unasked = |name: &&String| header.participants.iter().all(|seat| seat.name != **name);
    let say = |name: &String| {
        Diagnostic::new(format!("no step asks `{name}`, whom --invite names"))
            .hint("add the name to the `participants` of a round, or leave it out")
    };
    invited.iter().filter(is_unasked).map(say).collect()
}

/// Prepares a session of a definition; `tell` receives each warning. Nothing is run or sent.
pub fn prepare(
    mut plan: PreparedSession,
    options: &LaunchOptions,
    set_up: &Environment,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<Opening, Vec<Diagnostic>> {
    plan.flags = options.flags.clone();
    plan.rehearse = options.rehearse;
    if !options.participants.is_empty() {
        let entries = options.participants.iter();
        let chosen = entries.map(|entry| ChosenParticipant::read(entry)).collect::<Result<Vec<_>, _>>()?;
        plan.definition = plan.definition.with_participants(&chosen);
        no_problems(recheck(&plan.definition, &plan.file))?;
    }
    if !options.invited.is_empty() {
        plan.definition = plan.definition.with_invited(&options.invited)?;
        plan.flags.named.extend(options.invited.iter().map(|name| (name.clone(), LINK.to_owned())));
        no_problems(recheck(&plan.definition, &plan.file))?;
    }
    check_answers(options, &plan.definition, &plan.file, tell)?;
    let names_others = options.names_others();
    plan.answers = options.answers.clone().with_written(&plan.definition, |_| !names_others);
    no_problems(unreadable_evidence(&plan.definition, &plan.file, &set_up.looking_reader(&plan.definition)))?;
    let (roster, problems) = plan.roster(set_up, UnknownAgentPolicy::Refused);
    no_problems(problems)?;
    roster.notices.iter().chain(&plan.unlinked).for_each(&mut *tell);
    let id = plan.new_id();
    let mut header = plan.header(roster, &id, options.input.as_deref(), options.seed)?;
    no_problems(unasked(&options.invited, &header))?;
    no_problems(pin_workers(&mut header, &set_up.config.workers, &plan.file))?;
    let session = opened(&header, crate::clock::now());
    no_problems(misplaced_seats(&session, &plan.file))?;
    if options.is_headless {
        // On a screen the draft says this.
        if !options.only_looks {
            no_problems(without_model(&session, &plan.file).into_iter().collect())?;
        }
        undecidable_rounds(&session, &plan.file).iter().for_each(&mut *tell);
    }
    rehearsed_tasks(&session).iter().for_each(&mut *tell);
    let needs = plan.needs(&session, set_up)?;
    Ok(Opening { header, session, needs })
}

/// Writes the keys of workers into their seats; a worker that the configuration does not know is a problem.
fn pin_workers(header: &mut SessionOpened, known: &WorkersConfig, file: &str) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for seat in &mut header.participants {
        let Some(remote) = &mut seat.remote else { continue };
        let Some(worker) = &remote.worker else { continue };
        remote.key = known.keys.get(worker).cloned();
        let (missing, hint) = if remote.key.is_none() {
            let hint = format!(
                "write `remote: {{workers: {{{worker}: {{key: \"ed25519:…\"}}}}}}`; \
                                `roundtable worker keygen`, where it runs, prints the key"
            );
            (format!("seat `{}`: unknown worker `{worker}`", seat.name), hint)
        } else if known.nats.url.is_none() {
            let hint = "write `remote: {nats: {url: \"tls://HOST:4222\"}}` into config.yaml".to_owned();
            (format!("`{}` is answered for by a worker, and no NATS server is named", seat.name), hint)
        } else {
            continue;
        };
        problems.push(Diagnostic::new(missing).with_file(file).hint(hint));
    }
    problems
}

/// Remote seats that are asked something they cannot answer, or are scripted.
fn misplaced_seats(session: &Session, file: &str) -> Vec<Diagnostic> {
    let steps = || session.definition.iter().flat_map(|definition| definition.all_steps());
    let of_model = |seat: &SeatInfo| RemoteSeat::of_model(&seat.model).map(|remote| remote.door);
    let remote = session.roster.values().filter_map(|seat| Some((seat, of_model(seat)?)));
    let problem = |(seat, door): (&SeatInfo, Door)| {
        let name = &seat.name;
        if !seat.scripted.is_empty() {
            let what = format!("the answers file answers for `{name}`, which is a remote seat");
            return Some(Diagnostic::new(what).hint("leave its answers out, or give it another model"));
        }
        if door == Door::Inbox {
            return None;
        }
        let definition = session.definition.as_ref()?;
        let asked = steps().find(|step| step.round().is_none() && seat.sits_in(definition, step))?;
        let what =
            format!("`{name}` is a remote seat, and step `{}` asks it for more than a ballot", asked.id);
        Some(
            Diagnostic::new(what)
                .with_file(file)
                .hint("only `remote/inbox` answers elsewhere than in rounds"),
        )
    };
    remote.filter_map(problem).collect()
}

pub fn opened(header: &SessionOpened, at: Timestamp) -> Session {
    let mut session = Session::default();
    session.apply(&TimedEvent { at, event: Event::SessionOpened(Box::new(header.clone())) });
    session
}

/// Refuses what a run with these options cannot do: a round that only a person can close, an answer that
/// its step cannot use.
pub(super) fn check_answers(
    options: &LaunchOptions,
    definition: &Definition,
    file: &str,
    tell: &mut dyn FnMut(&Diagnostic),
) -> Result<(), Vec<Diagnostic>> {
    if options.is_headless {
        no_problems(needs_screen(definition, file))?;
    }
    let written = Answers::written(definition, file).check(definition)?;
    let unused = written.iter().filter(|_| !options.names_others());
    unused.chain(&options.answers.check(definition)?).for_each(tell);
    Ok(())
}

/// The definition that the file `from` uses as `path`, with its name for messages.
fn used_definition(from: &str, path: &str, bounds: &PathPolicy) -> Result<(String, String), Diagnostic> {
    bounds.check_named(Path::new(path))?;
    let path = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
    bounds.check(&path)?;
    Ok((path.display().to_string(), read_text(&path, MAX_DEFINITION as u64)?))
}

/// Returns a definition's name in messages and its text; `-` is standard input.
fn definition_text(path: &Path) -> Result<(String, String), Diagnostic> {
    let (file, text) = read_input(path, MAX_DEFINITION as u64 * 8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok((file, text))
}

impl PreparedSession {
    /// Finds every participant's persona and model; with them comes what is wrong with them.
    pub fn roster(&self, set_up: &Environment, nobody: UnknownAgentPolicy) -> (Roster, Vec<Diagnostic>) {
        let library = PersonaLibrary::new(&set_up.folders);
        let catalog = set_up.catalog();
        resolve(RosterInputs {
            definition: &self.definition,
            file: &self.file,
            library: &library,
            catalog: &catalog,
            bounds: &set_up.folders.path_policy(Some(&self.file)),
            config: &set_up.config,
            flags: &self.flags,
            answers: &self.answers,
            rehearse: self.rehearse,
            nobody,
        })
    }

    /// Returns the consents that a session needs; the user's own definition needs none for programs and
    /// secrets.
    pub fn needs(&self, session: &Session, set_up: &Environment) -> Result<Vec<Need>, Vec<Diagnostic>> {
        let mut needs = needs(session, set_up, &self.answers)?;
        let is_said = |need: &&mut Need| matches!(need.what, What::Program { .. } | What::Secret { .. });
        if self.is_own {
            for need in needs.iter_mut().filter(is_said) {
                set_up.trust.agree(std::slice::from_ref(need));
                need.named_by = None;
            }
        }
        Ok(needs)
    }
}
