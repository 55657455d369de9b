//! The header that a session opens with, and its id.

use std::path::Path;

use super::environment::{PROGRAM, random};
use super::prepare::PreparedSession;
use super::roster::Roster;
use crate::diagnostic::Diagnostic;
use crate::history::{PseudonymMap, SessionOpened, TEXTS};
use crate::journal::FORMAT;
use crate::round::snapshot::{hex, sha256_hex};
use crate::workflow::{STANDARD_INPUT, depth, with_written_names};

impl PreparedSession {
    pub(super) fn new_id(&self) -> String {
        session_id(&self.definition.id)
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
    let is_json = text.trim_start().starts_with(['{', '[']);
    let parsed = if is_json { serde_json::from_str(text).ok() } else { None };
    let input = parsed.unwrap_or_else(|| serde_json::Value::String(text.to_owned()));
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
