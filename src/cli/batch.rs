//! `--batch`: definitions and unfinished sessions, one after another, without a person.

use std::path::{Path, PathBuf};

use super::Done;
use super::args::Run;
use super::dry_run;
use super::files::damage_problem;
use super::output::{Output, fail, fail_as};
use super::plan::{PROGRAM, SetUp, load_plan, refuse_later, session_id};
use super::work::{Seated, work};
use crate::engine::Budget;
use crate::journal::{Disk, Journal, OpenError, fold};
use crate::problem::Problem;
use crate::report;
use crate::session::{Command, Event, Exit, Session, Stamped, exit_of};
use crate::setup::answers::Answers;
use crate::setup::folders::read_text;
use crate::setup::models::Catalog;
use crate::setup::roster::{ModelFlags, personas_of, seat_all};
use crate::workflow::recheck;

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
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|error| vec![Problem::new(format!("the runtime cannot start: {error}"))])?;
    raise_descriptor_limit();
    let mut highest = Exit::Finished;
    for file in &run.files {
        let exit =
            one(file, run, &set_up, &runtime, output).unwrap_or_else(|problems| fail(&problems, output));
        highest = highest.max(exit);
    }
    runtime.shutdown_background();
    Ok(highest)
}

/// Each seat of a round holds a connection: as many may be open as the system lets one process have.
fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        // Where it is refused, what is open already stays usable; a seat beyond it fails by name.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// `resume FILE...`: as `--batch` with sessions only.
pub fn resume(args: &Run, output: &mut Output) -> Done {
    for file in &args.files {
        if file.extension().is_none_or(|extension| extension != "s2s") {
            let problem = Problem::new("only a session can be resumed").in_file(&file.display().to_string());
            return Err(vec![problem.hint("give a `.s2s` file; `roundtable sessions` lists them")]);
        }
    }
    run(&Run { batch: true, ..args.clone() }, output)
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
    let now = crate::clock::now();
    session.apply(&Stamped { at: now, event: Event::SessionOpened(Box::new(header.clone())) });
    if args.dry_run {
        return dry_run::run(session, now, set_up, output);
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
    let start = Command::Open(Box::new(header));
    let personas = personas_of(&session);
    let seated =
        Seated { session: Session::default(), journal, personas, table, answers: plan.answers, budget, path };
    Ok(work(seated, start, args, set_up, runtime, output))
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
    let _ = super::files::bytes_of(path)?;
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
        return Ok(exit_of(&session, closed.status));
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
    let start = Command::Resume { program: PROGRAM.to_owned(), torn_bytes };
    let personas = personas_of(&session);
    let seated =
        Seated { session, journal: opened.journal, personas, table, answers, budget, path: path.to_owned() };
    Ok(work(seated, start, args, set_up, runtime, output))
}
