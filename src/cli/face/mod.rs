//! The screen's world: what it needs of files, folders and the engine.

mod engine;
mod film;
mod fork;
mod kept;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc::unbounded_channel;

use super::VerbResult;
use super::args::{Format, Run};
use super::batch::{budget, raise_descriptor_limit, read_answers};
use super::files::{bytes_of, damage_problem, rendered};
use super::plan::{Environment, PROGRAM, PreparedSession, plan_of, rehearsed_tasks, session_id};
use super::resume::not_opened;
use super::work::ReadySession;
use crate::config::doctor::ProbeLevel;
use crate::config::need::Need;
use crate::config::participant_factory::ParticipantFactory;
use crate::config::path_policy::PathPolicy;
use crate::config::trust::{Trust, lines};
use crate::core::Command;
use crate::diagnostic::Diagnostic;
use crate::history::{Event, LogEntry, Session, SessionOpened, TimedEvent};
use crate::journal::{Disk, Journal, KeyStore, OpenJournalError, OpenedJournal, fold};
use crate::launch::roster::ModelFlags;
use crate::launch::scripted_answers::Answers;
use crate::launch::seating::{needs, outside, personas_of, seat_participants};
use crate::participants::human::HumanQueue;
use crate::tui::{
    Draft, EngineHandle, Home, Host, Keys, OpenTarget, ReplayLoad, ScreenOptions, StartRefusal, Theme,
};
use crate::workflow::recheck;

/// Shows the screen: a file, or the home screen.
pub fn show(run: &Run, opening: Option<OpenTarget>) -> VerbResult {
    let set_up = Environment::find(run.trust)?;
    raise_descriptor_limit();
    let looks = looks(&set_up)?;
    let answers = read_answers(run)?;
    let host = TuiHost { run: run.clone(), answers, set_up: Arc::new(set_up) };
    crate::tui::run(Arc::new(host), opening, looks)
        .map_err(|error| vec![Diagnostic::new(format!("the terminal cannot be used: {error}"))])
}

fn looks(set_up: &Environment) -> Result<ScreenOptions, Vec<Diagnostic>> {
    let screen = &set_up.config.screen;
    let given = screen.value.keys.iter().map(|(name, keys)| (name.as_str(), keys.as_slice()));
    let wrong = |message: String| vec![Diagnostic::new(message).with_file(&screen.from)];
    let keys = Keys::configured(given).map_err(|message| wrong(format!("`screen.keys`: {message}")))?;
    let theme = Theme::from_environment(|name| std::env::var(name).ok());
    let colors = screen.value.colors.iter().map(|(role, color)| (role.as_str(), color.as_str()));
    let theme = theme.with_colors(colors).map_err(|message| wrong(format!("`screen.colors`: {message}")))?;
    let theme = Theme { ascii: theme.ascii || screen.value.ascii, ..theme };
    Ok(ScreenOptions { theme, keys, mouse: screen.value.mouse })
}

/// What the command line gives the screen.
struct TuiHost {
    run: Run,
    answers: Answers,
    set_up: Arc<Environment>,
}

impl TuiHost {
    /// A definition with everything the command line says of it.
    fn plan(&self, opening: &OpenTarget) -> Result<(PreparedSession, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (mut plan, notices) = match opening {
            OpenTarget::Text { name, text } => plan_of(text.clone(), name.clone(), &self.set_up.folders)?,
            OpenTarget::File(path) => super::plan::read_plan(path, &self.set_up.folders)?,
            _ => return Err(vec![Diagnostic::new("this is no definition")]),
        };
        plan.flags = ModelFlags::parse(&self.run.model);
        plan.answers = self.answers.clone();
        if !self.run.participants.is_empty() {
            plan.definition = plan.definition.with_participants(&self.run.participants);
            let problems = recheck(&plan.definition, &plan.file);
            if !problems.is_empty() {
                return Err(problems);
            }
        }
        plan.answers.check(&plan.definition)?;
        Ok((plan, notices))
    }

    /// Everyone at the table of a session.
    fn seated(
        &self,
        session: Session,
        journal: Journal,
        path: PathBuf,
        desk: HumanQueue,
    ) -> Result<ReadySession, StartRefusal> {
        let mut answers = self.answers.clone();
        answers.resume(&session);
        let led_out =
            outside(&session, &answers, &PathPolicy::for_project(&self.set_up.folders, path.to_str()));
        if !led_out.is_empty() {
            return Err(led_out.into());
        }
        self.agreed(&session, &answers)?;
        let table = seat_participants(&session, &mut self.set_up.catalog().with_desk(desk), &answers)?;
        let budget = budget(&self.run, &session, &self.set_up)?;
        let personas = personas_of(&session);
        Ok(ReadySession { session, journal, table, personas, answers, budget, path })
    }
}

impl TuiHost {
    /// Refuses a session that needs something which the person has not agreed to.
    fn agreed(&self, session: &Session, answers: &Answers) -> Result<(), StartRefusal> {
        let needs = needs(session, &self.set_up.catalog(), answers)?;
        let unagreed = self.set_up.trust.unagreed(needs);
        if unagreed.is_empty() { Ok(()) } else { Err(StartRefusal::Unagreed(unagreed)) }
    }
}

impl Host for TuiHost {
    fn home(&self) -> Home {
        rows::home(&self.set_up)
    }

    fn draft(&self, opening: &OpenTarget) -> Result<Draft, Vec<Diagnostic>> {
        let (plan, mut notices) = self.plan(opening)?;
        let roster = plan.roster(&self.set_up)?;
        notices.extend(roster.notices.iter().chain(self.set_up.notices()).cloned());
        notices.extend(plan.linked_sessions(&self.set_up.folders).1);
        let id = session_id(&plan.definition.id);
        let header =
            plan.header(roster, &id, (self.run.input.as_deref(), self.run.seed), &self.set_up.folders)?;
        // Who has nobody to take a seat is told before anything is written.
        let mut session = Session::default();
        let at = crate::clock::now();
        session.apply(&TimedEvent { at, event: Event::SessionOpened(Box::new(header.clone())) });
        let needs = plan.needs(&session, &self.set_up)?;
        notices.extend(self.set_up.catalog().unneeded(&needs));
        notices.extend(rehearsed_tasks(&session));
        let trust = Trust::for_looking();
        seat_participants(
            &session,
            &mut ParticipantFactory::new(&self.set_up.config, &trust),
            &plan.answers,
        )?;
        let notices = notices.iter().map(ToString::to_string).collect();
        Ok(Draft { opened: header, notices, needs: lines(&needs, &self.set_up.trust) })
    }

    fn begin(&self, opened: &SessionOpened) -> Result<EngineHandle, StartRefusal> {
        let mut session = Session::default();
        let at = crate::clock::now();
        session.apply(&TimedEvent { at, event: Event::SessionOpened(Box::new(opened.clone())) });
        let path = match &self.run.save {
            Some(path) if path.is_dir() => path.join(format!("{}.s2s", opened.session)),
            Some(path) if std::fs::metadata(path).map_or(true, |meta| meta.len() == 0) => path.clone(),
            _ => {
                let folder = self.set_up.folders.sessions_to_write().map_err(|problem| vec![problem])?;
                folder.join(format!("{}.s2s", opened.session))
            }
        };
        self.agreed(&session, &self.answers)?;
        let (desk, people) = unbounded_channel();
        let mut catalog = self.set_up.catalog().with_desk(desk.clone());
        let table = seat_participants(&session, &mut catalog, &self.answers)?;
        let budget = budget(&self.run, &session, &self.set_up)?;
        let journal = Journal::create(&Disk::default(), &path, &opened.session)
            .map_err(|error| vec![Diagnostic::new(error.to_string())])?;
        let (personas, answers) = (personas_of(&session), self.answers.clone());
        let seated =
            ReadySession { session: Session::default(), journal, table, personas, answers, budget, path };
        Ok(engine::spawn(seated, Command::Open(Box::new(opened.clone())), &self.set_up, (desk, people)))
    }

    fn resume(&self, path: &Path) -> Result<(Vec<LogEntry>, EngineHandle), StartRefusal> {
        let OpenedJournal { journal, log, .. } = opened(path)?;
        let session = fold(&log);
        if session.closed.is_some() {
            for error in KeyStore::new(Disk::default(), &self.set_up.folders.keys()).erase_all(&session) {
                tracing::debug!(%error, "a key of a finished session is left");
            }
            let problem = Diagnostic::new("the session is over already");
            return Err(vec![problem.hint("look at it; F begins a new session from any point of it")].into());
        }
        let torn_bytes = log.torn as u64;
        let (desk, people) = unbounded_channel();
        let seated = self.seated(session, journal, path.to_owned(), desk.clone())?;
        let start = Command::Resume { program: PROGRAM.to_owned(), torn_bytes };
        Ok((log.lines, engine::spawn(seated, start, &self.set_up, (desk, people))))
    }

    fn fork(&self, path: &Path, seq: u64) -> Result<PathBuf, StartRefusal> {
        let folder = self.set_up.folders.sessions_to_write().map_err(|problem| vec![problem])?;
        fork::fork(path, seq, &folder, |session| self.agreed(session, &self.answers))
    }

    fn agree(&self, needs: &[Need]) -> Result<(), Diagnostic> {
        self.set_up.trust.keep(needs)
    }

    fn load_replay(&self, path: &Path) -> Result<ReplayLoad, Vec<Diagnostic>> {
        film::open(path)
    }

    fn context(&self) -> Result<Option<String>, Diagnostic> {
        self.set_up.folders.context()
    }

    fn doctor(&self, depth: ProbeLevel) -> String {
        match crate::cli::doctor::checked(&self.set_up, &[], depth) {
            Ok(found) => crate::cli::doctor::lines(&found.unwrap_or_default(), true).join("\n"),
            Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    fn report(&self, session: &Session, format: &str) -> Result<PathBuf, Diagnostic> {
        let format = <Format as clap::ValueEnum>::from_str(format, true).map_err(Diagnostic::new)?;
        let path = PathBuf::from(format!("{}.{}", session.id, format.extension()));
        Disk::default()
            .write_whole(&path, rendered(session, format).as_bytes())
            .map_err(|error| Diagnostic::new(error.to_string()))?;
        Ok(path)
    }

    fn edit(&self, text: &str) -> Result<String, Diagnostic> {
        kept::edit(&self.set_up.folders.drafts(), text)
    }

    fn keep(&self, name: &str, text: Option<&str>) -> Result<(), Diagnostic> {
        kept::keep(&self.set_up.folders.drafts(), name, text)
    }

    fn kept(&self, name: &str) -> Option<String> {
        kept::kept(&self.set_up.folders.drafts(), name)
    }
}

/// Opens a session file and locks it.
fn opened(path: &Path) -> Result<OpenedJournal, Vec<Diagnostic>> {
    let file = path.display().to_string();
    Journal::open(&Disk::default(), path).map_err(|error| {
        vec![match error {
            OpenJournalError::Disk(error) => not_opened(&error, &file),
            OpenJournalError::NothingRecorded => {
                Diagnostic::new("nothing was recorded in it").with_file(&file)
            }
            OpenJournalError::Damage(damage) => damage_problem(&damage, &file),
        }]
    })
}
