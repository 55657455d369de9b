//! A saved session read for the screen: its beginning at once, the rest on another thread.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::diagnostic::Diagnostic;
use crate::history::LogEntry;
use crate::journal::LogReader;
use crate::launch::session_file::{bytes_of, damage_problem};
use crate::tui::{LoadProgress, ReplayLoad};

/// So long the beginning may take; short sessions are whole by then.
const AT_ONCE: Duration = Duration::from_millis(40);
/// So often what was read since is handed over.
const HAND_OVER: Duration = Duration::from_millis(50);

pub fn open(path: &Path) -> Result<ReplayLoad, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    let first = read_at_once(&bytes, &file)?;
    if first.is_empty() {
        return Err(Diagnostic::new("nothing was recorded in it").with_file(&file).into());
    }
    let (tell, rest) = unbounded_channel();
    let read = first.len();
    let read_on = move || follow(&file, &bytes, read, &tell);
    let started = std::thread::Builder::new().name("replay".to_owned()).spawn(read_on);
    started.map_err(|error| Diagnostic::new(format!("the session file cannot be read: {error}")))?;
    Ok(ReplayLoad { first, rest })
}

/// The documents that are read soon enough to be shown at once.
fn read_at_once(bytes: &[u8], file: &str) -> Result<Vec<LogEntry>, Vec<Diagnostic>> {
    let started = Instant::now();
    let reader = LogReader::new(bytes).map_err(|damage| damage_problem(&damage, file))?;
    let mut first: Vec<LogEntry> = Vec::new();
    for line in reader {
        first.push(line.map_err(|damage| damage_problem(&damage, file))?);
        if started.elapsed() > AT_ONCE {
            break;
        }
    }
    Ok(first)
}

/// Reads what follows the first documents and hands it over piece by piece.
fn follow(file: &str, bytes: &[u8], skip: usize, tell: &UnboundedSender<LoadProgress>) {
    // A screen that is gone needs to know nothing.
    let say = |progress| drop(tell.send(progress));
    let Ok(mut reader) = LogReader::new(bytes) else { return };
    if let Err(damage) = go_on(&mut reader, skip, file, bytes.len(), tell) {
        return say(LoadProgress::Damaged(damage));
    }
    let torn = reader.torn_bytes();
    let whole = match torn {
        0 => LoadProgress::Whole,
        bytes => LoadProgress::Damaged(format!(
            "{bytes} bytes of a torn write at the end are left out; resuming cuts them off"
        )),
    };
    say(whole);
}

/// Hands over what follows the first `skip` documents, as it is read.
fn go_on(
    reader: &mut LogReader<'_>,
    skip: usize,
    file: &str,
    whole: usize,
    tell: &UnboundedSender<LoadProgress>,
) -> Result<(), String> {
    let said = |damage| {
        let problem: Diagnostic = damage_problem(&damage, file);
        format!("{problem}: what follows is not shown")
    };
    let (mut lines, mut since, mut count) = (Vec::new(), Instant::now(), 0);
    while let Some(line) = reader.next() {
        let line = line.map_err(said)?;
        count += 1;
        if count > skip {
            lines.push(line);
        }
        if since.elapsed() > HAND_OVER {
            let percent = u8::try_from(reader.read() * 100 / whole.max(1)).unwrap_or(100);
            if tell.send(LoadProgress::Lines(std::mem::take(&mut lines), percent)).is_err() {
                return Ok(());
            }
            since = Instant::now();
        }
    }
    let _ = tell.send(LoadProgress::Lines(lines, 100));
    Ok(())
}
