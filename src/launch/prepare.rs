//! Preparation of a session: roster, header and needs.

use std::path::Path;

use super::environment::{Environment, PROGRAM, random};
use super::error::{each_once, no_problems};
use super::material::check_evidence;
use super::needs::needs;
use super::plan::{LaunchOptions, SessionPlan};
use super::roster::{UnknownAgentPolicy, resolve};
use super::scripted_answers::Answers;
use crate::config::doctor::{CheckupStatus, Doctor, LOCAL_SERVERS, ProbeLevel};
use crate::config::need::Need;
use crate::config::remote::RemoteConfig;
use crate::diagnostic::Diagnostic;
use crate::history::{
    Door, Event, PseudonymMap, RemoteSeat, SeatInfo, Session, SessionOpened, TEXTS, TimedEvent, Timestamp,
};
use crate::insight::join_list;
use crate::journal::FORMAT;
use crate::participants::external_program::run_on_own_thread;
use crate::round::snapshot::{hex, sha256_hex};
use crate::tally::NoDecision;
use crate::workflow::load::entries::Findings;
use crate::workflow::{
    Definition, LINK, STANDARD_INPUT, Step, depth, needs_screen, recheck, with_written_names,
};

/// Callback for warnings and progress messages.
pub type Tell<'a> = &'a mut dyn FnMut(&Diagnostic);

pub struct Opening {
    pub header: SessionOpened,
    pub session: Session,
    pub needs: Vec<Need>,
}

/// Session as it would open, with its errors and warnings.
pub struct DraftedSession {
    pub header: SessionOpened,
    pub session: Session,
    pub problems: Vec<Diagnostic>,
    pub notices: Vec<Diagnostic>,
}

/// Prepares a session from a plan; `tell` receives each warning. Asks no seat.
pub fn prepare(
    plan: SessionPlan,
    options: &LaunchOptions,
    set_up: &Environment,
    tell: Tell<'_>,
) -> Result<Opening, Vec<Diagnostic>> {
    plan.warnings.iter().for_each(&mut *tell);
    let plan = plan.with_options(options)?;
    check_answers(options, &plan.definition, &plan.file, tell)?;
    let DraftedSession { header, session, problems, notices } =
        plan.draft(set_up, UnknownAgentPolicy::Refused, crate::clock::now())?;
    no_problems(problems)?;
    notices.iter().for_each(&mut *tell);
    if options.is_headless() {
        // On a screen, the draft reports this.
        if !options.is_preview {
            let problem = without_model(&session, &plan.file, || local_model(set_up));
            no_problems(problem.into_iter().collect())?;
        }
        undecidable_rounds(&session, &plan.file).iter().for_each(&mut *tell);
    }
    let needs = needs(&session, set_up, &plan.options.answers, options.max_usd)?;
    if options.is_headless() && !options.is_preview {
        set_up.trust.check_all(&needs)?;
    }
    Ok(Opening { header, session, needs })
}

impl SessionPlan {
    /// Applies the options of a run: participants, and seats behind links.
    fn with_options(mut self, options: &LaunchOptions) -> Result<Self, Vec<Diagnostic>> {
        self.options = options.clone();
        if !options.participants.is_empty() {
            self.definition = self.definition.with_participants(&options.participants)?;
        }
        if !options.invited.is_empty() {
            self.definition = self.definition.with_invited(&options.invited)?;
            let links = options.invited.iter().map(|name| (name.clone(), LINK.to_owned()));
            self.options.flags.named.extend(links);
        }
        let names_others = options.names_others();
        self.options.answers = options.answers.clone().with_written(&self.definition, |_| !names_others);
        if !options.participants.is_empty() || !options.invited.is_empty() {
            no_problems(recheck(&self.definition, &self.file))?;
        }
        Ok(self)
    }

    /// Returns the session as it would open at this time.
    pub fn draft(
        &self,
        set_up: &Environment,
        nobody: UnknownAgentPolicy,
        at: Timestamp,
    ) -> Result<DraftedSession, Vec<Diagnostic>> {
        let found = Findings::new(&self.file);
        check_evidence(&self.definition, &set_up.preview_reader(&self.definition), &found);
        let mut header = self.header(&found)?;
        resolve(self, set_up, nobody, &mut header, &found);
        self.unlinked.iter().for_each(|unlinked| found.warn(unlinked.clone()));
        header.pseudonyms = self.pseudonyms(&header)?;
        check_invited(&self.options.invited, &header, &found);
        pin_workers(&mut header, &set_up.config.remote, &found);
        let session = opened(&header, at);
        check_remote_seats(&session, &found);
        // Several seats may have the same error.
        let [problems, notices] = [found.problems, found.warnings].map(|list| each_once(list.take()));
        Ok(DraftedSession { header, session, problems, notices })
    }

    /// Draws the roster's pseudonyms, if the definition wants them: by the run's seed, or else by a random one.
    fn pseudonyms(&self, header: &SessionOpened) -> Result<Option<PseudonymMap>, Vec<Diagnostic>> {
        if !self.definition.pseudonyms {
            return Ok(None);
        }
        let seed = self.options.seed.map_or_else(random_seed, Ok)?;
        Ok(Some(PseudonymMap::draw(seed, header.participants.iter().map(|seat| seat.name.as_str()))))
    }

    /// Returns the header, still without a roster.
    fn header(&self, found: &Findings<'_>) -> Result<SessionOpened, Vec<Diagnostic>> {
        let seed = self.options.seed;
        let input = self.options.input.as_deref().map(|text| parse_input(text, found));
        let name = Path::new(&self.file).file_name().filter(|_| self.file != STANDARD_INPUT);
        Ok(SessionOpened {
            session: session_id(&self.definition.id),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            texts: TEXTS.to_owned(),
            definition_file: name.map_or("stdin".into(), |name| name.to_string_lossy()).into_owned(),
            definition_sha256: sha256_hex(&self.text),
            definition: self.text.clone(),
            draw_seed: self.definition.draws().then(|| seed.map_or_else(random_seed, Ok)).transpose()?,
            input: with_written_names(input.unwrap_or_else(|| Ok(self.definition.input()))?),
            seed,
            rehearse: self.options.rehearse,
            tasks_file: self.tasks.file.clone(),
            tasks_state: self.tasks.state.clone(),
            unread: self.unread.iter().chain(&self.unlinked).map(recorded_text).collect(),
            linked_sessions: self.linked.clone(),
            ..SessionOpened::default()
        })
    }
}

fn check_invited(invited: &[String], header: &SessionOpened, found: &Findings<'_>) {
    for name in invited.iter().filter(|name| header.participants.iter().all(|seat| seat.name != **name)) {
        let problem = Diagnostic::new(format!("no step asks `{name}`, whom --invite names"));
        found.add(problem.hint("add the name to the `participants` of a round, or leave it out"));
    }
}

/// Writes the workers' keys into their seats; refuses workers that are not configured.
fn pin_workers(header: &mut SessionOpened, known: &RemoteConfig, found: &Findings<'_>) {
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
        found.refuse_at((0, 0), missing, hint);
    }
}

/// Refuses remote seats that are scripted, or asked for more than they can answer.
fn check_remote_seats(session: &Session, found: &Findings<'_>) {
    let definition = session.definition();
    for seat in session.roster.values() {
        let Some(RemoteSeat { door, .. }) = RemoteSeat::from_model(&seat.model) else { continue };
        let (name, mut steps) = (&seat.name, definition.all_steps());
        let is_beyond = |step: &&Step| step.round().is_none() && seat.sits_in(definition, step);
        if !seat.scripted.is_empty() {
            let problem = format!("the answers file answers for `{name}`, which is a remote seat");
            found.add(Diagnostic::new(problem).hint("leave its answers out, or give it another model"));
        } else if let Some(Step { id, .. }) = steps.find(is_beyond).filter(|_| door != Door::Inbox) {
            let message =
                format!("`{name}` is a remote seat, and step `{id}` asks it for more than a ballot");
            found.refuse_at((0, 0), message, "only `remote/inbox` answers elsewhere than in rounds");
        }
    }
}

pub fn opened(header: &SessionOpened, at: Timestamp) -> Session {
    let mut session = Session::default();
    session.apply(&TimedEvent { at, event: Event::SessionOpened(Box::new(header.clone())) });
    session
}

/// Refuses answers that their step cannot use, and for headless runs rounds that only a person can close.
pub(super) fn check_answers(
    options: &LaunchOptions,
    definition: &Definition,
    file: &str,
    tell: Tell<'_>,
) -> Result<(), Vec<Diagnostic>> {
    if options.is_headless() {
        no_problems(needs_screen(definition, file))?;
    }
    let written = Answers::written(definition, file).check(definition)?;
    let unused = written.iter().filter(|_| !options.names_others());
    unused.chain(&options.answers.check(definition)?).for_each(tell);
    Ok(())
}

fn random_seed() -> Result<u64, Vec<Diagnostic>> {
    let random: [u8; 6] = random()?;
    Ok(random.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Formats a problem for the session's header, with only the name of its file.
fn recorded_text(problem: &Diagnostic) -> String {
    let file = problem.place.as_ref().map_or("", |place| place.file.as_str());
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    name.map_or_else(|| problem.message.clone(), |name| problem.clone().with_file(&name).to_string())
}

fn parse_input(text: &str, found: &Findings<'_>) -> Result<serde_json::Value, Vec<Diagnostic>> {
    // A session file cannot contain deeper values.
    const DEEPEST: usize = 36;
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok(text.into());
    }
    let input = serde_json::from_str(text).unwrap_or_else(|error| {
        let said = format!("--input begins like JSON and is not, so it is taken as text: {error}");
        found.warn(Diagnostic::new(said).hint("check its quotes and brackets"));
        text.into()
    });
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
    // Without randomness, ids differ by the second; creating the file fails on a clash.
    let random: [u8; 2] = random().unwrap_or_default();
    let slug = if slug.is_empty() { "session" } else { slug };
    format!("{date}-{time}-{slug}-{}", hex(&random))
}

/// Returns the error that asked seats have no model; `local` finds a model to suggest.
pub fn without_model(
    session: &Session,
    file: &str,
    local: impl FnOnce() -> Option<String>,
) -> Option<Diagnostic> {
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
    let local = match local() {
        Some(found) => format!("take the local one that was found, `--model {found}`"),
        None => "name a local one such as `--model ollama/llama3.2`".to_owned(),
    };
    Some(problem.with_file(file).hint(format!(
        "give `--model PROVIDER/MODEL`, set `model:` in config.yaml, or {local}; `--rehearse` tries the \
         definition with placeholders"
    )))
}

/// Returns a model of a local server, if one answers.
fn local_model(set_up: &Environment) -> Option<String> {
    let catalog = set_up.catalog();
    let doctor = Doctor { catalog: &catalog, folders: &set_up.folders, depth: ProbeLevel::Listing };
    let local = LOCAL_SERVERS.map(str::to_owned);
    let checked = run_on_own_thread(async { doctor.check(&local).await.map_err(|problem| problem.message) });
    checked.unwrap_or_default().into_iter().find_map(|checkup| match checkup.state {
        CheckupStatus::Answers(models) => {
            let model = models.iter().find(|model| !model.contains("embed"))?;
            Some(format!("{}/{model}", checkup.provider))
        }
        _ => None,
    })
}

/// Returns a warning for each round that cannot decide because placeholders vote in it.
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
