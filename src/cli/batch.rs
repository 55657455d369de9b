//! `--batch`: definitions and unfinished sessions, one after another, without a person.

use std::path::{Path, PathBuf};

use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio_util::sync::CancellationToken;

use super::Done;
use super::args::Run;
use super::files::{bytes_of, damage_problem};
use super::output::{Output, fail, fail_as};
use crate::engine::{Budget, Engine, EngineError, Observer, Parts, Person, PersonSays, Table};
use crate::journal::{Disk, FORMAT, Journal, KeyStore, OpenError, fold};
use crate::problem::Problem;
use crate::report;
use crate::round::snapshot::sha256_hex;
use crate::session::{
    Command, Event, Exit, Line, Next, Question, QuestionKind, Session, SessionOpened, next,
};
use crate::setup::answers::Answers;
use crate::setup::config::Config;
use crate::setup::folders::{Folders, read_text};
use crate::setup::models::Catalog;
use crate::setup::personas::Library;
use crate::setup::roster::{ModelFlags, Roster, personas_of, resolve, seat_all};
use crate::workflow::{Definition, MAX_DEFINITION, Source, StepKind, load, recheck};

/// The program's name and version, as sessions record it.
pub const PROGRAM: &str = concat!("roundtable ", env!("CARGO_PKG_VERSION"));

/// Folders and configuration.
pub struct SetUp {
    /// Where things lie.
    pub folders: Folders,
    /// The settings in effect.
    pub config: Config,
}

impl SetUp {
    /// Finds both.
    pub fn find() -> Result<Self, Vec<Problem>> {
        let folders = Folders::find().map_err(|problem| vec![problem])?;
        let config = Config::load(&folders)?;
        Ok(Self { folders, config })
    }
}

/// A definition, ready to be opened.
pub struct Plan {
    /// The definition.
    pub definition: Definition,
    /// Its text.
    pub text: String,
    /// Its file's name, for messages.
    pub file: String,
    /// Flags on models.
    pub flags: ModelFlags,
    /// Scripted answers.
    pub answers: Answers,
}

/// Reads and loads a definition; `-` is standard input.
pub fn load_plan(path: &Path, set_up: &SetUp, output: &Output) -> Result<Plan, Vec<Problem>> {
    let _ = set_up;
    let is_stdin = path == Path::new("-");
    let file = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let text = if is_stdin {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_DEFINITION as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| vec![Problem::new(format!("cannot be read: {error}")).in_file(&file)])?;
        String::from_utf8(bytes).map_err(|_| vec![Problem::new("is not UTF-8 text").in_file(&file)])?
    } else {
        let limit = (MAX_DEFINITION as u64) * 8;
        read_text(path, limit).map_err(|problem| vec![problem])?
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let id = stem.filter(|_| !is_stdin).unwrap_or_else(|| "stdin".to_owned());
    let loaded = load(Source { text: &text, file: &file, id: &id })?;
    for warning in &loaded.warnings {
        output.warn(warning);
    }
    let (flags, answers) = (ModelFlags::default(), Answers::default());
    Ok(Plan { definition: loaded.definition, text, file, flags, answers })
}

impl Plan {
    fn roster(&self, set_up: &SetUp) -> Result<Roster, Vec<Problem>> {
        let library = Library::new(&set_up.folders);
        let catalog = Catalog::new(&set_up.config);
        resolve(&self.definition, &self.file, &library, &catalog, &set_up.config, &self.flags, &self.answers)
    }

    /// The header a session of this plan opens with.
    pub fn header(
        &self,
        id: &str,
        input: Option<&str>,
        seed: Option<u64>,
        set_up: &SetUp,
    ) -> Result<SessionOpened, Vec<Problem>> {
        let mut roster = self.roster(set_up)?;
        for seat in &mut roster.seats {
            seat.seed = seat.seed.or(seed);
        }
        let name = Path::new(&self.file).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(SessionOpened {
            session: id.to_owned(),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            definition_file: name.unwrap_or_else(|| self.file.clone()),
            definition_sha256: sha256_hex(&self.text),
            definition: self.text.clone(),
            input: input.map_or_else(|| self.definition.input(), parse_input),
            seed,
            participants: roster.seats,
            personas: roster.personas,
        })
    }
}

fn parse_input(text: &str) -> serde_json::Value {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let parsed = if is_json { serde_json::from_str(text).ok() } else { None };
    parsed.unwrap_or_else(|| serde_json::Value::String(text.to_owned()))
}

/// Runs every file; the exit code is the highest.
pub fn run(run: &Run, output: &mut Output) -> Done {
    if !run.batch {
        let problem = match run.files.first() {
            None => Problem::new("nothing to do")
                .hint("roundtable --batch FILE runs a definition; --help tells the rest"),
            Some(_) => Problem::new("the interactive screen is not built yet")
                .hint("add --batch to run headless, or use `roundtable replay FILE.s2s`"),
        };
        return Err(vec![problem]);
    }
    if run.files.is_empty() {
        return Err(vec![Problem::new("--batch needs a file").hint("roundtable --batch FILE...")]);
    }
    let set_up = SetUp::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| vec![Problem::new(format!("the runtime cannot start: {error}"))])?;
    let mut highest = Exit::Finished;
    for file in &run.files {
        let exit =
            one(file, run, &set_up, &runtime, output).unwrap_or_else(|problems| fail(&problems, output));
        highest = highest.max(exit);
    }
    runtime.shutdown_background();
    Ok(highest)
}

/// `resume FILE...`: as `--batch` with sessions only.
pub fn resume(args: &Run, output: &mut Output) -> Done {
    for file in &args.files {
        if file.extension().is_none_or(|extension| extension != "s2s") {
            let problem = Problem::new("only a session can be resumed").in_file(&file.display().to_string());
            return Err(vec![problem.hint("give a `.s2s` file; `roundtable sessions` lists them")]);
        }
    }
    run(
        &Run {
            files: args.files.clone(),
            batch: true,
            model: args.model.clone(),
            participants: args.participants.clone(),
            input: args.input.clone(),
            answers: args.answers.clone(),
            save: args.save.clone(),
            ..*args
        },
        output,
    )
}

fn one(
    file: &Path,
    args: &Run,
    set_up: &SetUp,
    runtime: &tokio::runtime::Runtime,
    output: &mut Output,
) -> Done {
    let answers = match &args.answers {
        None => Answers::default(),
        Some(path) => {
            let text = read_text(path, 64 * 1024 * 1024).map_err(|problem| vec![problem])?;
            Answers::parse(&text, &path.display().to_string()).map_err(|problem| vec![problem])?
        }
    };
    if file.extension().is_some_and(|extension| extension == "s2s") {
        return go_on(file, args, answers, set_up, runtime, output);
    }
    let mut plan = load_plan(file, set_up, output)?;
    plan.flags = ModelFlags::parse(&args.model);
    plan.answers = answers;
    if !args.participants.is_empty() {
        plan.definition = plan.definition.with_participants(&args.participants);
        let problems = recheck(&plan.definition, &plan.file);
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    refuse_later(&plan)?;
    for problem in plan.answers.unserved(&plan.definition) {
        output.warn(&problem);
    }
    for notice in plan.roster(set_up)?.notices {
        output.warn(&notice);
    }
    let id = session_id(&plan.definition.id);
    let header = plan.header(&id, args.input.as_deref(), args.seed, set_up)?;
    let mut session = Session::default();
    let now = crate::engine::clock::now();
    session
        .apply(&crate::session::Stamped { at: now, event: Event::SessionOpened(Box::new(header.clone())) });
    if args.dry_run {
        return dry_run(&session, set_up, output);
    }
    let table = seat_all(&session, &mut Catalog::new(&set_up.config), &plan.answers)?;
    let budget = budget(args, &session, set_up)?;
    let path = save_path(args, &id, set_up)?;
    let journal = Journal::create(&Disk::default(), &path, &id).map_err(|error| {
        let problem = Problem::new(error.to_string());
        vec![match error.cause.kind() {
            std::io::ErrorKind::AlreadyExists => problem.hint("--save never overwrites: choose another path"),
            _ => problem.hint("check the folder's permissions, or give another path with --save"),
        }]
    })?;
    let start = vec![Command::Open(Box::new(header))];
    let seat = Seated { session: Session::default(), journal, table, answers: plan.answers, budget, path };
    work(seat, start, args, set_up, runtime, output)
}

fn refuse_later(plan: &Plan) -> Result<(), Vec<Problem>> {
    let later = |step: &crate::workflow::Step| match step.kind {
        StepKind::Later(name) => Some(
            Problem::new(format!(
                "step `{}` is of type `{name}`, which this version loads and does not run",
                step.id
            ))
            .hint("`round` and `approval` run; the other types come with a later version")
            .at(&plan.file, step.place.0, step.place.1),
        ),
        _ => None,
    };
    let problems: Vec<Problem> = plan.definition.steps.iter().filter_map(later).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// `YYYYMMDD-HHMMSS-<id>-<4 hex>`.
fn session_id(id: &str) -> String {
    let slug: String =
        id.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(48).collect();
    let slug = slug.trim_matches('-');
    let now = crate::engine::clock::now().to_string();
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    let mut random = [0; 2];
    // Without randomness the id is still unique by the second; `create` refuses a clash.
    let _ = getrandom::fill(&mut random);
    let slug = if slug.is_empty() { "session" } else { slug };
    format!("{date}-{time}-{slug}-{}", crate::round::snapshot::hex(&random))
}

fn save_path(args: &Run, id: &str, set_up: &SetUp) -> Result<PathBuf, Vec<Problem>> {
    match &args.save {
        None => Ok(set_up.folders.sessions().join(format!("{id}.s2s"))),
        Some(path) if args.files.len() > 1 => {
            if path.exists() && !path.is_dir() {
                let problem = Problem::new("several files need a folder to be saved in");
                return Err(vec![problem.in_file(&path.display().to_string())]);
            }
            Ok(path.join(format!("{id}.s2s")))
        }
        Some(path) if path.is_dir() => Ok(path.join(format!("{id}.s2s"))),
        Some(path) => Ok(path.clone()),
    }
}

fn budget(args: &Run, session: &Session, set_up: &SetUp) -> Result<Option<Budget>, Vec<Problem>> {
    let of_session = session.definition.as_ref().and_then(|definition| definition.budget);
    let Some(limit) = args.max_usd.into_iter().chain(of_session).reduce(f64::min) else { return Ok(None) };
    let free = |model: &str| matches!(model.split('/').next(), Some("rehearsal" | "recorded"));
    let mut problems = Vec::new();
    for seat in session.roster.values().filter(|seat| !free(&seat.model)) {
        if !set_up.config.prices.contains_key(&seat.model) {
            let problem = Problem::new(format!(
                "the price of `{}` is not known, so that no budget can be kept",
                seat.model
            ))
            .hint(format!("add `prices: {{{}: {{input: …, output: …}}}}` to config.yaml", seat.model));
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let prices = set_up.config.prices.iter();
    let prices = prices.map(|(name, price)| (name.clone(), (price.value.input, price.value.output)));
    let max_output_tokens = set_up.config.max_output_tokens.value;
    Ok(Some(Budget { limit, prices: prices.collect(), max_output_tokens }))
}

/// Prints what the first round would send.
fn dry_run(session: &Session, set_up: &SetUp, output: &mut Output) -> Done {
    let mut session = session.clone();
    let now = crate::engine::clock::now();
    let mut seq = 0;
    let mut fold_in = |session: &mut Session, event: Event, output: &mut Output| {
        let stamped = crate::session::Stamped { at: now, event };
        session.apply(&stamped);
        if output.json {
            output.line(&report::line(seq, "", "", now, &stamped.event, session));
        } else if let Event::WorkItemOffered(item) = &stamped.event {
            let round = session.round(&item.round).map(|round| session.prompt(round, item).text());
            let text = round.unwrap_or_default();
            let tokens = crate::text::estimated_tokens(text.len());
            let bytes = text.len();
            output.line(&crate::text::harmless(&format!(
                "=== {} ({}) · {bytes} bytes · about {tokens} tokens\n\n{text}",
                item.participant, item.model
            )));
        }
        seq += 1;
    };
    loop {
        let command = match next(&session) {
            Next::Decide(command @ Command::StartStep) => command,
            Next::OpenRound => Command::OpenRound { project_summary: set_up.folders.context() },
            _ => break,
        };
        let events = crate::session::decide(&session, command, now).map_err(|r| vec![Problem::new(r.0)])?;
        for event in events {
            fold_in(&mut session, event, output);
        }
    }
    if let Some(round) = session.open_round() {
        output.note(&format!(
            "dry run: {} seats, snapshot {} bytes (sha256 {}), nothing was sent or saved",
            round.seats.len(),
            round.opened.snapshot_bytes,
            round.opened.snapshot_sha256
        ));
        let later = session.definition.as_ref().map_or(0, |d| d.steps.len().saturating_sub(1));
        if later > 0 {
            output.note(&format!("{later} more steps wait for this round's result"));
        }
    }
    Ok(Exit::Finished)
}

fn go_on(
    path: &Path,
    args: &Run,
    mut answers: Answers,
    set_up: &SetUp,
    runtime: &tokio::runtime::Runtime,
    output: &mut Output,
) -> Done {
    let file = path.display().to_string();
    // A file that cannot be opened for writing is told apart from one that is damaged.
    let _ = bytes_of(path)?;
    let opened = match Journal::open(&Disk::default(), path) {
        Ok(opened) => opened,
        Err(OpenError::Disk(error)) if error.locked => {
            let problem = Problem::new("another roundtable has this session open").in_file(&file);
            return Err(vec![problem.hint("wait for it, or stop it")]);
        }
        Err(OpenError::Disk(error)) => return Err(vec![Problem::new(error.to_string())]),
        Err(OpenError::Damage(damage)) => {
            let exit = if damage.newer || damage.seq.is_none() || damage.seq == Some(0) {
                Exit::Usage
            } else {
                Exit::Damaged
            };
            return Ok(fail_as(&[damage_problem(&damage, &file)], exit, output));
        }
    };
    let session = fold(&opened.log);
    if let Some(aside) = &opened.torn {
        let problem =
            Problem::new(format!("{} bytes of a torn write were cut off", opened.log.torn)).in_file(&file);
        output.warn(&problem.hint(format!("they are kept in {}", aside.display())));
    }
    if let Some(closed) = &session.closed {
        output.note(&format!("the session is over already: {}", closed.status.name()));
        if !output.json {
            output.bytes(report::markdown(&session).as_bytes());
        }
        return Ok(crate::session::exit_of(&session, closed.status));
    }
    answers.resume(&session);
    if let Some(definition) = &session.definition {
        for problem in answers.unserved(definition) {
            output.warn(&problem);
        }
    }
    let table = seat_all(&session, &mut Catalog::new(&set_up.config), &answers)?;
    let budget = budget(args, &session, set_up)?;
    let torn_bytes = opened.log.torn as u64;
    let start = vec![Command::Resume { program: PROGRAM.to_owned(), torn_bytes }];
    let seat = Seated { session, journal: opened.journal, table, answers, budget, path: path.to_owned() };
    work(seat, start, args, set_up, runtime, output)
}

/// A session with everyone at the table.
struct Seated {
    session: Session,
    journal: Journal,
    table: Table,
    answers: Answers,
    budget: Option<Budget>,
    path: PathBuf,
}

fn work(
    seated: Seated,
    start: Vec<Command>,
    args: &Run,
    set_up: &SetUp,
    runtime: &tokio::runtime::Runtime,
    output: &mut Output,
) -> Done {
    let interrupt = CancellationToken::new();
    let watcher = runtime.spawn(cancel_on_signal(interrupt.clone()));
    let mut person = Scripted { answers: seated.answers, ask_again: args.ask_again };
    let mut session = seated.session;
    for command in &start {
        if let Command::Open(header) = command {
            // The personas of the header are needed before the event is folded.
            session.header = Some(std::sync::Arc::new((**header).clone()));
        }
    }
    let personas = personas_of(&session);
    if matches!(start.first(), Some(Command::Open(_))) {
        session = Session::default();
    }
    let mut face = Face::new(output);
    let mut engine = Engine::new(Parts {
        session,
        journal: seated.journal,
        keys: KeyStore::new(Disk::default(), &set_up.folders.keys()),
        table: seated.table,
        personas,
        context_file: Box::new(|| set_up.folders.context()),
        observer: &mut face,
        person: &mut person,
        interrupt,
        budget: seated.budget,
    });
    let done = runtime.block_on(async {
        engine.erase_old_keys()?;
        for command in start {
            engine.stage(command)?;
        }
        engine.run().await
    });
    watcher.abort();
    let (session, head) = (std::mem::take(&mut engine.session), engine.head());
    drop(engine);
    face.finish();
    conclude(done, &session, &seated.path, &head, output)
}

fn conclude(
    done: Result<Exit, EngineError>,
    session: &Session,
    path: &Path,
    head: &str,
    output: &mut Output,
) -> Done {
    let file = path.display();
    let exit = match done {
        Ok(exit) => exit,
        Err(error) => {
            let exit = if matches!(error, EngineError::Table(_)) { Exit::Usage } else { Exit::Failure };
            let problem = Problem::new(error.to_string())
                .hint(format!("what was recorded is safe; `roundtable resume {file}` goes on from there"));
            return Ok(fail_as(&[problem], exit, output));
        }
    };
    if !output.json {
        output.bytes(report::markdown(session).as_bytes());
    }
    if let Some((_, reason)) = &session.paused {
        let reason = reason.clone();
        output.note(&format!("waiting: {reason}"));
        output.note(&format!("go on with: roundtable resume {file}"));
    }
    output.note(&format!("saved: {file}"));
    output.note(&format!("last hash: {head}"));
    Ok(exit)
}

/// The person of a headless run: the answers file, or nobody.
struct Scripted {
    answers: Answers,
    ask_again: bool,
}

impl Person for Scripted {
    fn ask<'a>(
        &'a mut self,
        question: &'a Question,
        _session: &'a Session,
    ) -> BoxFuture<'a, Result<Option<PersonSays>, String>> {
        let says =
            |approved, choice, comment| PersonSays { approved, choice, comment, by: "scripted".to_owned() };
        let answer = match &question.kind {
            QuestionKind::KeyLost(_) => Ok(self.ask_again.then(|| says(true, None, None))),
            kind => self
                .answers
                .say(&question.step, kind)
                .map(|said| said.map(|said| says(said.approved, said.choice, said.comment))),
        };
        ready(answer).boxed()
    }
}

/// What watches a headless run: NDJSON on standard output, progress on a terminal.
struct Face<'a> {
    output: &'a mut Output,
    bar: Option<indicatif::ProgressBar>,
}

impl<'a> Face<'a> {
    fn new(output: &'a mut Output) -> Self {
        Self { output, bar: None }
    }

    fn progress(&mut self, session: &Session) {
        let Some(round) = session.open_round() else {
            if let Some(bar) = self.bar.take() {
                bar.finish_and_clear();
            }
            return;
        };
        let bar = self.bar.get_or_insert_with(|| {
            let bar = indicatif::ProgressBar::new(round.seats.len() as u64);
            let style =
                indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} settled {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        let message = format!("round {} · {} sealed", round.opened.number, round.sealed());
        bar.set_message(message);
        bar.set_position((round.seats.len() - round.open_seats().count()) as u64);
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Face<'_> {
    fn saw(&mut self, line: &Line, session: &Session) {
        let Line { seq, prev, hash, stamped } = line;
        tracing::debug!(seq, at = %stamped.at, "on disk");
        if self.output.json {
            self.output.line(&report::line(*seq, prev, hash, stamped.at, &stamped.event, session));
        } else if self.output.shows_progress() {
            self.progress(session);
        }
    }
}

/// Rests the session on Ctrl-C, and on SIGTERM and SIGHUP where there are signals.
async fn cancel_on_signal(interrupt: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut term), Ok(mut hup)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = term.recv() => {}
                _ = hup.recv() => {}
            }
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
    interrupt.cancel();
}
