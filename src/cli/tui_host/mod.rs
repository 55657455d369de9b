//! Host of the screen: access to files, folders and the engine.

mod engine_thread;
mod home;
mod saved;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::unbounded_channel;

use super::args::RunArgs;
use super::browse::session_name;
use super::console::VerbResult;
use super::doctor;
use super::dry_run::misfits;
use super::files::remove_unused;
use super::link_door::LinkDoor;
use super::options::launch_options;
use crate::config::doctor::ProbeLevel;
use crate::config::need::Need;
use crate::config::participant_factory::ParticipantFactory;
use crate::config::settings::BackgroundConfig;
use crate::config::trust::{Trust, lines};
use crate::diagnostic::Diagnostic;
use crate::history::{Door, LogEntry, SeatInfo, SeatInvited, Session, SessionOpened, TimedEvent};
use crate::insight::wording::resume_verb;
use crate::journal::{Disk, fold};
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::material::with_evidence;
use crate::launch::needs::needs;
use crate::launch::plan::{LaunchOptions, RunMode, load_definition, read_definition};
use crate::launch::prepare::{Tell, opened, prepare};
use crate::launch::run::raise_descriptor_limit;
use crate::launch::seat::{Launcher, is_only_in_rounds, seated};
use crate::launch::session_file::{open_session, read_session};
use crate::participants::human::HumanQueue;
use crate::participants::lock;
use crate::report::{self, Document, Source};
use crate::round::snapshot::sha256_hex;
use crate::tui::{
    Draft, EngineHandle, Home, Host, ModelSource, OpenTarget, Palette, ScreenOptions, SeatChoice, SeatLink,
    StartRefusal, Theme, preview_events,
};

/// Maximum bytes of a stored draft.
const MOST_KEPT: u64 = 16 * 1024 * 1024;

/// Shows the screen with a file or the home screen.
pub fn show(run: &RunArgs, opening: Option<OpenTarget>) -> VerbResult {
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        let problem = Diagnostic::new("this terminal cannot show the screen (TERM=dumb)");
        let hint = "use `roundtable run FILE`, or `roundtable replay FILE --text`";
        return Err(problem.hint(hint).into());
    }
    let mut set_up = Environment::find(run.common.trust.trust)?;
    raise_descriptor_limit();
    let screen = screen_options(&set_up);
    let options = LaunchOptions { mode: RunMode::Screen, ..launch_options(run, &mut set_up)? };
    let host =
        TuiHost { options, save: run.opening.save.clone(), set_up: Arc::new(set_up), door: Mutex::new(None) };
    let (exit, left) = crate::tui::run(Arc::new(host), opening, screen)
        .map_err(|error| Diagnostic::new(format!("the terminal cannot be used: {error}")))?;
    if let Some(file) = left {
        // Standard error may be closed too, so errors are ignored.
        let session = read_session(Path::new(&file)).map(|log| fold(&log)).unwrap_or_default();
        let (lead, verb) = match session.closed {
            Some(_) => ("see it", "report"),
            None => ("resume", resume_verb(&session)),
        };
        let said = format!(
            "session saved: {file}\n{lead} with: roundtable {verb} {}",
            session_name(Path::new(&file))
        );
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    Ok(exit)
}

fn screen_options(set_up: &Environment) -> ScreenOptions {
    let screen = &set_up.config.screen;
    let theme = Theme::from_environment(|name| std::env::var(name).ok());
    let palette = match screen.background {
        BackgroundConfig::Light => Palette::LIGHT,
        BackgroundConfig::Dark => Palette::DARK,
        BackgroundConfig::Auto => theme.palette,
    };
    ScreenOptions {
        theme: Theme { palette, ascii: theme.ascii || screen.ascii, ..theme },
        notify: screen.notify,
    }
}

struct TuiHost {
    options: LaunchOptions,
    /// File of a new session, if the user names one.
    save: Option<PathBuf>,
    set_up: Arc<Environment>,
    /// Door for invited seats, bound for the first one.
    door: Mutex<Option<Arc<LinkDoor>>>,
}

impl TuiHost {
    fn launcher<'a>(&'a self, desk: Option<&'a HumanQueue>) -> Launcher<'a> {
        Launcher { options: &self.options, set_up: &self.set_up, desk }
    }

    /// Returns the file of a form's draft, in a folder that only its owner can read.
    fn draft_path(&self, name: &str) -> PathBuf {
        let safe =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(150);
        self.set_up.folders.drafts().join(format!("{}.json", safe.collect::<String>()))
    }

    /// Returns the name under which this project's model is stored.
    fn model_key(&self) -> String {
        let project = self.set_up.folders.project.display().to_string();
        format!("model-{}", &sha256_hex(&project)[..16])
    }

    /// Returns the model for seats that name none, from the command line or an earlier choice.
    fn default_model(&self) -> Option<String> {
        let is_known = |model: &String| self.set_up.catalog().check(model).is_ok();
        self.options.flags.all.clone().or_else(|| self.kept(&self.model_key()).filter(is_known))
    }

    /// Returns the command line's options with the person's choices on the screen.
    fn options_for(&self, choice: &SeatChoice) -> LaunchOptions {
        let mut options = self.options.clone();
        options.flags.all = self.default_model();
        options.flags.named.extend(choice.seats.iter().cloned());
        options.rehearse |= choice.rehearse;
        if !choice.participants.is_empty() {
            options.participants.clone_from(&choice.participants);
        }
        options
    }

    /// Returns the events of the command line's evidence and that of the first round.
    fn evidence(&self, header: &SessionOpened) -> Result<Vec<TimedEvent>, Diagnostic> {
        let mut session = Session::default();
        for event in preview_events(header, crate::clock::now()) {
            session.apply(&event);
        }
        if session.header.is_none() {
            return Ok(Vec::new());
        }
        let reader = self.set_up.preview_reader(session.definition());
        with_evidence(&mut session, &self.options.evidence, reader)
    }

    /// Returns the door for invited seats, bound on first use; `None` if no seat is invited.
    fn door(&self, header: &SessionOpened) -> Result<Option<Arc<LinkDoor>>, Diagnostic> {
        let is_invited =
            |seat: &SeatInfo| seat.remote.as_ref().is_some_and(|remote| remote.door != Door::Nats);
        if !header.participants.iter().any(is_invited) {
            return Ok(None);
        }
        let mut door = lock(&self.door);
        if door.is_none() {
            *door = Some(Arc::new(LinkDoor::bind(self.set_up.config.remote.clone(), self.set_up.keys())?));
        }
        Ok(door.clone())
    }

    /// Fails if the session needs something to which the person has not agreed.
    fn check_consent(&self, session: &Session) -> Result<(), StartRefusal> {
        let needs = needs(session, &self.set_up, &self.options.answers_of(session), self.options.max_usd)?;
        let unagreed = self.set_up.trust.unagreed(needs);
        if unagreed.is_empty() { Ok(()) } else { Err(StartRefusal::Unagreed(unagreed)) }
    }
}

fn wrong(error: RunError) -> StartRefusal {
    StartRefusal::Wrong(error.problems)
}

impl Host for TuiHost {
    fn home(&self) -> Home {
        Home { model: self.default_model(), ..home::home(&self.set_up) }
    }

    fn sources(&self) -> Vec<ModelSource> {
        home::sources(&self.set_up)
    }

    fn use_model(&self, model: &str) -> Result<(), Diagnostic> {
        self.set_up.catalog().check(model)?;
        self.keep(&self.model_key(), Some(model))
    }

    fn draft(&self, opening: &OpenTarget, choice: &SeatChoice) -> Result<Draft, Vec<Diagnostic>> {
        let set_up = &self.set_up;
        let options = self.options_for(choice);
        let mut notices = Vec::new();
        let plan = match opening {
            OpenTarget::Text { name, text } => load_definition(text.clone(), name.clone(), &set_up.folders)?,
            OpenTarget::File(path) => read_definition(path, &set_up.folders)?,
            _ => return Err(vec![Diagnostic::new("this is no definition")]),
        };
        let from = (opening.clone(), choice.clone());
        let opening = prepare(plan, &options, set_up, &mut |notice| notices.push(notice.clone()))?;
        notices.extend(set_up.notices().cloned().chain(set_up.catalog().unneeded(&opening.needs)));
        // Reports seats without a participant before anything is written.
        let trust = Trust::for_preview();
        let mut catalog = ParticipantFactory::new(&set_up.config, &trust);
        let answers = options.answers_of(&opening.session);
        let (_, problems) = seated(&opening.session, &mut catalog, &answers);
        let (saved, lost): (Vec<_>, Vec<_>) =
            problems.into_iter().partition(|(seat, _)| is_only_in_rounds(&opening.session, seat));
        if !lost.is_empty() {
            return Err(lost.into_iter().map(|(_, problem)| problem).collect());
        }
        let problems = saved.into_iter().map(|(seat, problem)| (seat, problem.with_hint())).collect();
        notices.extend(misfits(&opening.session, &options, set_up));
        let notices = notices.iter().map(ToString::to_string).collect();
        let needs = lines(&opening.needs, &set_up.trust);
        let asks_first = !set_up.trust.unagreed(opening.needs).is_empty();
        let evidence = self.evidence(&opening.header)?;
        Ok(Draft { opened: opening.header, notices, evidence, needs, asks_first, problems, from })
    }

    fn measure(&self, header: &SessionOpened, tell: Tell<'_>) -> Result<SessionOpened, StartRefusal> {
        self.check_consent(&opened(header, crate::clock::now()))?;
        self.launcher(None).measured(header, tell).map_err(wrong)
    }

    fn begin(&self, header: &SessionOpened) -> Result<EngineHandle, StartRefusal> {
        let name = format!("{}.s2s", header.session);
        let path = match &self.save {
            Some(path) if path.is_dir() => path.join(name),
            Some(path) if std::fs::metadata(path).map_or(true, |meta| meta.len() == 0) => path.clone(),
            _ => self.set_up.folders.sessions_to_write()?.join(name),
        };
        let door = self.door(header)?;
        let (desk, people) = unbounded_channel();
        let ready = self.launcher(Some(&desk)).begin(header.clone(), &path).map_err(wrong)?;
        let spawned = engine_thread::spawn(ready, &self.set_up, desk, people, door.as_ref());
        Ok(spawned.inspect_err(|_| remove_unused(&path))?)
    }

    fn resume(&self, path: &Path, tell: Tell<'_>) -> Result<(Vec<LogEntry>, EngineHandle), StartRefusal> {
        let mut file = open_session(path).map_err(wrong)?;
        let session = fold(&file.log);
        if session.closed.is_some() {
            self.set_up.keys().erase_all(&session);
            let problem = Diagnostic::new("the session is over already");
            return Err(problem.hint("look at it; F begins a new session from any point of it").into());
        }
        self.check_consent(&session)?;
        let door = session.header.as_deref().map(|header| self.door(header)).transpose()?.flatten();
        let (desk, people) = unbounded_channel();
        let lines = std::mem::take(&mut file.log.lines);
        let ready = self.launcher(Some(&desk)).resume(session, file, path, tell);
        Ok((lines, engine_thread::spawn(ready.map_err(wrong)?, &self.set_up, desk, people, door.as_ref())?))
    }

    fn fork(&self, path: &Path, seq: u64) -> Result<PathBuf, StartRefusal> {
        saved::fork(path, seq, &self.set_up.folders.sessions_to_write()?, |session| {
            self.check_consent(session)
        })
    }

    fn invite(&self, session: &Session, seat: &str) -> Result<(SeatInvited, SeatLink), Diagnostic> {
        let door = lock(&self.door).clone();
        let door = door.ok_or_else(|| Diagnostic::new("no seat is invited"))?;
        let (invited, access) = door.invite(session, seat)?;
        Ok((invited, engine_thread::seat_link(&door, access)))
    }

    fn agree(&self, needs: &[Need]) -> Result<(), Diagnostic> {
        self.set_up.trust.keep(needs)
    }

    fn load_replay(&self, path: &Path) -> Result<(Vec<LogEntry>, Option<String>), Vec<Diagnostic>> {
        saved::replay(path)
    }

    fn paths(&self, typed: &str) -> Vec<String> {
        home::paths_beginning_with(&self.set_up.folders.project, typed)
    }

    fn context(&self) -> Result<Option<String>, Diagnostic> {
        self.set_up.folders.context()
    }

    fn doctor(&self) -> String {
        match doctor::checked(&self.set_up, &[], ProbeLevel::Listing) {
            Ok(found) => doctor::lines(&found, true).join("\n"),
            Err(error) => error.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    fn report(&self, session: &Session) -> Result<String, Diagnostic> {
        let path = PathBuf::from(format!("{}.md", session.id));
        let earlier = if path.exists() { ", in place of the earlier one" } else { "" };
        let document = Document::new(session, Source::default());
        Disk::default()
            .write_whole(&path, report::markdown(&document).as_bytes())
            .map_err(|error| Diagnostic::new(error.to_string()))?;
        Ok(format!("Report written to {}{earlier}. Other formats: roundtable report", path.display()))
    }

    fn keep(&self, name: &str, text: Option<&str>) -> Result<(), Diagnostic> {
        let (disk, path) = (Disk::default(), self.draft_path(name));
        let done = match text {
            Some(text) => disk
                .make_own_dir(&self.set_up.folders.drafts())
                .and_then(|()| disk.write_whole(&path, text.as_bytes())),
            None => disk.remove(&path),
        };
        done.map_err(|error| Diagnostic::new(error.to_string()))
    }

    fn kept(&self, name: &str) -> Option<String> {
        String::from_utf8(Disk::default().read_own(&self.draft_path(name), MOST_KEPT).ok()?).ok()
    }
}
