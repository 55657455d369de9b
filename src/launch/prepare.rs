//! From a definition's file to a session that can open: loaded, its roster resolved, its needs known.

use std::path::Path;

use serde_json::{Map, Value};

use super::environment::{Environment, PROGRAM, random};
use super::error::no_problems;
use super::material::{TaskTexts, linked_sessions, unreadable_evidence, with_tasks};
use super::needs::needs;
use super::roster::{ModelFlags, Roster, RosterInputs, UnknownAgentPolicy, resolve};
use super::scripted_answers::Answers;
use crate::config::PathPolicy;
use crate::config::dirs::Dirs;
use crate::config::need::{Need, What};
use crate::config::own_strategies::own_strategy;
use crate::config::persona_library::PersonaLibrary;
use crate::config::read_file::{read_input, read_text};
use crate::config::remote::RemoteConfig;
use crate::diagnostic::Diagnostic;
use crate::history::{
    Door, Event, LinkedSession, PseudonymMap, RemoteSeat, SeatInfo, Session, SessionOpened, TEXTS,
    TimedEvent, Timestamp,
};
use crate::insight::join_list;
use crate::journal::FORMAT;
use crate::round::snapshot::{hex, sha256_hex};
use crate::tally::NoDecision;
use crate::workflow::{
    ChosenParticipant, Definition, Examined, LINK, MAX_DEFINITION, OtherFiles, STANDARD_INPUT, Source, Step,
    default_id, depth, examine, needs_screen, recheck, state_file, unknown_tasks, with_written_names,
};

/// Receives each warning, and what is done meanwhile.
pub type Tell<'a> = &'a mut dyn FnMut(&Diagnostic);

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
        let opened_so = |step: &str| session.roster.values().any(|seat| seat.is_scripted(step));
        self.answers.clone().with_written(session.definition(), opened_so)
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
    tell: Tell<'_>,
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
    let id = session_id(&plan.definition.id);
    let mut header = plan.header(roster, &id, options.input.as_deref(), options.seed)?;
    no_problems(unasked(&options.invited, &header))?;
    no_problems(pin_workers(&mut header, &set_up.config.remote, &plan.file))?;
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
    if options.is_headless && !options.only_looks {
        set_up.trust.check_all(&needs)?;
    }
    Ok(Opening { header, session, needs })
}

/// Writes the keys of workers into their seats; a worker that the configuration does not know is a problem.
fn pin_workers(header: &mut SessionOpened, known: &RemoteConfig, file: &str) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for seat in &mut header.participants {
        let Some(remote) = &mut seat.remote else { continue };
        let Some(worker) = &remote.worker else { continue };
        remote.key = known.workers.get(worker).map(|known| known.key.0.clone());
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
    let definition = session.definition();
    let problem = |seat: &SeatInfo| {
        let (name, door) = (&seat.name, RemoteSeat::of_model(&seat.model)?.door);
        if !seat.scripted.is_empty() {
            let what = format!("the answers file answers for `{name}`, which is a remote seat");
            return Some(Diagnostic::new(what).hint("leave its answers out, or give it another model"));
        }
        let mut agents = definition.all_steps().filter(|step| step.round().is_none() && door != Door::Inbox);
        let id = &agents.find(|step| seat.sits_in(definition, step))?.id;
        let what = format!("`{name}` is a remote seat, and step `{id}` asks it for more than a ballot");
        let hint = "only `remote/inbox` answers elsewhere than in rounds";
        Some(Diagnostic::new(what).with_file(file).hint(hint))
    };
    session.roster.values().filter_map(problem).collect()
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
    tell: Tell<'_>,
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

    /// The pseudonyms of a roster, where the definition asks for them: by its seed, else the run's, else
    /// one from the operating system.
    fn pseudonyms(
        &self,
        roster: &Roster,
        seed: Option<u64>,
    ) -> Result<Option<PseudonymMap>, Vec<Diagnostic>> {
        let Some(asked) = self.definition.pseudonyms else { return Ok(None) };
        let seed = asked.seed.or(seed).map_or_else(random_seed, Ok)?;
        Ok(Some(PseudonymMap::draw(seed, roster.seats.iter().map(|seat| seat.name.as_str()))))
    }

    pub fn header(
        &self,
        mut roster: Roster,
        id: &str,
        input: Option<&str>,
        seed: Option<u64>,
    ) -> Result<SessionOpened, Vec<Diagnostic>> {
        for seat in &mut roster.seats {
            seat.seed = seat.seed.or(seed);
        }
        let name = Path::new(&self.file).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(SessionOpened {
            session: id.to_owned(),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            texts: TEXTS.to_owned(),
            definition_file: name
                .filter(|_| self.file != STANDARD_INPUT)
                .unwrap_or_else(|| "stdin".to_owned()),
            definition_sha256: sha256_hex(&self.text),
            definition: self.text.clone(),
            table_key: None,
            draw_seed: self.definition.draws().then(|| seed.map_or_else(random_seed, Ok)).transpose()?,
            pseudonyms: self.pseudonyms(&roster, seed)?,
            input: with_written_names(input.map_or_else(|| Ok(self.definition.input()), parse_input)?),
            seed,
            rehearse: self.rehearse,
            participants: roster.seats,
            personas: roster.personas,
            tasks_file: self.tasks.file.clone(),
            tasks_state: self.tasks.state.clone(),
            unread: self.unread.iter().chain(&self.unlinked).map(told).collect(),
            linked_sessions: self.linked.clone(),
            prices: roster.prices,
            providers: roster.providers,
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

fn random_seed() -> Result<u64, Vec<Diagnostic>> {
    let random: [u8; 6] = random()?;
    Ok(random.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A problem as a session records it: its place by the file's name alone.
fn told(problem: &Diagnostic) -> String {
    let file = problem.place.as_ref().map_or("", |place| place.file.as_str());
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    name.map_or_else(|| problem.message.clone(), |name| problem.clone().with_file(&name).to_string())
}

fn parse_input(text: &str) -> Result<serde_json::Value, Vec<Diagnostic>> {
    // A session file holds no deeper values than this.
    const DEEPEST: usize = 36;
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok(text.into());
    }
    let input = serde_json::from_str(text).map_err(|error| {
        let problem = Diagnostic::new(format!("--input begins like JSON and is not: {error}"));
        problem.hint("check its quotes and brackets")
    })?;
    if depth(&input) > DEEPEST {
        let problem = Diagnostic::new(format!("the input is nested deeper than {DEEPEST} levels"));
        return Err(problem.hint("give it flatter, or as a text").into());
    }
    Ok(input)
}

/// Returns a new session id: `YYYYMMDD-HHMMSS-<id>-<4 hex>`.
pub fn session_id(id: &str) -> String {
    let slug: String =
        id.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(48).collect();
    let slug = slug.trim_matches('-');
    let now = crate::clock::now().to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    // Without randomness the id is still unique by the second; `create` refuses a clash.
    let random: [u8; 2] = random().unwrap_or_default();
    let slug = if slug.is_empty() { "session" } else { slug };
    format!("{date}-{time}-{slug}-{}", hex(&random))
}

/// Says that seats are asked for which no model is named.
pub fn without_model(session: &Session, file: &str) -> Option<Diagnostic> {
    let definition = session.definition();
    let is_asked = |seat: &&SeatInfo| {
        definition.all_steps().any(|step| seat.sits_in(definition, step) && !seat.is_scripted(&step.id))
    };
    let names = session.roster.values().filter(|seat| seat.has_no_model()).filter(is_asked);
    let names: Vec<String> = names.map(|seat| format!("`{}`", seat.name)).collect();
    if names.is_empty() {
        return None;
    }
    let verb = if names.len() == 1 { "has" } else { "have" };
    let problem = Diagnostic::new(format!("no model: {} {verb} none", join_list(&names)));
    Some(problem.with_file(file).hint(
        "give `--model PROVIDER/MODEL`, set `model:` in config.yaml, or name a local one such as \
         `--model ollama/llama3.2`; `--rehearse` tries the definition with placeholders",
    ))
}

/// The rounds that cannot decide, since placeholders vote in them.
pub fn undecidable_rounds(session: &Session, file: &str) -> Vec<Diagnostic> {
    let definition = session.definition();
    let problem = |step: &Step| {
        let id = step.round().map(|_| &step.id)?;
        if session.rehearses() {
            return None;
        }
        let seats = session.roster.values().filter(|seat| seat.sits_in(definition, step));
        let (picks, others): (Vec<_>, Vec<_>) =
            seats.partition(|seat| seat.is_rehearsal() && !seat.is_scripted(id));
        let seats = picks.len() + others.len();
        let are = NoDecision::Placeholders { placeholders: picks.len() as u32, seats };
        let problem = Diagnostic::new(format!("round `{id}` cannot decide: {are}")).with_file(file);
        let hint = "give each seat a model, or say `--rehearse` to try the definition out";
        (!picks.is_empty()).then(|| problem.hint(hint))
    };
    definition.all_steps().filter_map(problem).collect()
}

/// Says that a session writes no state of its tasks, though the definition names their file.
fn rehearsed_tasks(session: &Session) -> Option<Diagnostic> {
    let file = session.tasks_file().filter(|_| session.has_rehearsal())?;
    let file = state_file(file);
    let problem = Diagnostic::new(format!("placeholders answer: nothing is written to `{file}`"));
    Some(problem.hint("seat a model with `--model NAME=provider/model`, or script the answers (--answers)"))
}
