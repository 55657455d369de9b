//! A saved session read for the screen: its beginning at once, the rest on another thread.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::diagnostic::Diagnostic;
use crate::history::LogEntry;
use crate::journal::{LogReader, PresentWords};
use crate::launch::session_file::{bytes_of, damage_problem};
use crate::tui::{LoadProgress, ReplayLoad};

/// So long the beginning may take; short sessions are whole by then.
const AT_ONCE: Duration = Duration::from_millis(40);
/// So often what was read since is handed over.
const HAND_OVER: Duration = Duration::from_millis(50);

/// Opens a session file as a replay.
pub fn open(path: &Path) -> Result<ReplayLoad, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    let started = Instant::now();
    let mut reader = LogReader::new(&bytes).map_err(|damage| damage_problem(&damage, &file))?;
    let (mut first, mut words): (Vec<LogEntry>, _) = (Vec::new(), PresentWords::default());
    for line in reader.by_ref() {
        first.push(words.reword(line.map_err(|damage| damage_problem(&damage, &file))?));
        if started.elapsed() > AT_ONCE {
            break;
        }
    }
    if first.is_empty() {
        return Err(Diagnostic::new("nothing was recorded in it").with_file(&file).into());
    }
    let (tell, rest) = unbounded_channel();
    let read = first.len();
    let read_on = move || {
        let done = go_on(&bytes, read, &file, &tell);
        // A screen that is gone needs to know nothing.
        let _ = tell.send(done.err().map_or(LoadProgress::Whole, LoadProgress::Damaged));
    };
    let started = std::thread::Builder::new().name("replay".to_owned()).spawn(read_on);
    started.map_err(|error| Diagnostic::new(format!("the session file cannot be read: {error}")))?;
    Ok(ReplayLoad { first, rest })
}

/// Reads what follows the first documents, and hands it over piece by piece.
fn go_on(bytes: &[u8], skip: usize, file: &str, tell: &UnboundedSender<LoadProgress>) -> Result<(), String> {
    let said = |damage| {
        let problem: Diagnostic = damage_problem(&damage, file);
        format!("{problem}: what follows is not shown")
    };
    let mut reader = LogReader::new(bytes).map_err(said)?;
    let (mut lines, mut words, mut since) = (Vec::new(), PresentWords::default(), Instant::now());
    let percent =
        |reader: &LogReader<'_>| u8::try_from(reader.read() * 100 / bytes.len().max(1)).unwrap_or(100);
    let mut count = 0;
    while let Some(line) = reader.next() {
        let line = words.reword(line.map_err(said)?);
        count += 1;
        if count > skip {
            lines.push(line);
        }
        if since.elapsed() > HAND_OVER {
            if tell.send(LoadProgress::Lines(std::mem::take(&mut lines), percent(&reader))).is_err() {
                return Ok(());
            }
            since = Instant::now();
        }
    }
    let _ = tell.send(LoadProgress::Lines(lines, 100));
    match reader.torn_bytes() {
        0 => Ok(()),
        bytes => {
            Err(format!("{bytes} bytes of a torn write at the end are left out; resuming cuts them off"))
        }
    }
}
