//! A saved session read for the screen: its beginning at once, the rest on another thread, which then
//! watches the file.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::diagnostic::Diagnostic;
use crate::history::LogEntry;
use crate::journal::LogReader;
use crate::launch::session_file::{beginning_of, bytes_of, damage_problem};
use crate::tui::{LoadProgress, ReplayLoad};

/// So long the beginning may take; short sessions are whole by then.
const AT_ONCE: Duration = Duration::from_millis(40);
/// So many bytes of a file are read for it.
const BEGINNING: u64 = 8 * 1024 * 1024;
/// So often what was read since is handed over.
const HAND_OVER: Duration = Duration::from_millis(50);
/// So often the file is looked at once it is read.
const WATCH: Duration = Duration::from_millis(500);

pub fn open(path: &Path) -> Result<ReplayLoad, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let mut bytes = beginning_of(path, BEGINNING)?;
    let mut first = read_at_once(&bytes, &file)?;
    if first.is_empty() && !is_whole(&bytes) {
        bytes = bytes_of(path)?;
        first = read_at_once(&bytes, &file)?;
    }
    if first.is_empty() {
        return Err(Diagnostic::new("nothing was recorded in it").with_file(&file).into());
    }
    let (tell, rest) = unbounded_channel();
    let (read, path) = (first.len(), path.to_owned());
    let read_on = move || follow(&path, bytes, read, &tell);
    let started = std::thread::Builder::new().name("replay".to_owned()).spawn(read_on);
    started.map_err(|error| Diagnostic::new(format!("the session file cannot be read: {error}")))?;
    Ok(ReplayLoad { first, rest })
}

fn is_whole(bytes: &[u8]) -> bool {
    (bytes.len() as u64) < BEGINNING
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

/// Reads what follows the first documents and hands it over piece by piece; then watches the file as long
/// as the screen shows it.
fn follow(path: &Path, bytes: Vec<u8>, skip: usize, tell: &UnboundedSender<LoadProgress>) {
    let file = path.display().to_string();
    // A screen that is gone needs to know nothing.
    let say = |progress| tell.send(progress).is_ok();
    let bytes = match if is_whole(&bytes) { Ok(bytes) } else { bytes_of(path) } {
        Ok(bytes) => bytes,
        Err(problem) => {
            say(LoadProgress::Damaged(problem.to_string()));
            return;
        }
    };
    let Ok(mut reader) = LogReader::new(&bytes) else { return };
    if let Err(damage) = go_on(&mut reader, skip, &file, bytes.len(), tell) {
        say(LoadProgress::Damaged(damage));
        return;
    }
    let torn = reader.torn_bytes();
    let whole = match torn {
        0 => LoadProgress::Whole,
        bytes => LoadProgress::Damaged(format!(
            "{bytes} bytes of a torn write at the end are left out; resuming cuts them off"
        )),
    };
    if !say(whole) {
        return;
    }
    let reader = reader.stand();
    watch(path, bytes, reader, tell);
}

/// Watches the file as long as the screen shows it, `reader` standing at the end of what was read.
fn watch(
    path: &Path,
    mut bytes: Vec<u8>,
    mut stand: LogReader<'static>,
    tell: &UnboundedSender<LoadProgress>,
) {
    let file = path.display().to_string();
    let changed = |what: &str| {
        let _ = tell.send(LoadProgress::Changed(format!("{file} {what}; shown as it was read")));
    };
    let mut length = bytes.len() as u64;
    loop {
        std::thread::park_timeout(WATCH);
        if tell.is_closed() {
            return;
        }
        let now = match std::fs::metadata(path) {
            Ok(found) if found.len() == length => continue,
            Ok(found) if found.len() > length => bytes_of(path),
            Ok(_) => return changed("was cut"),
            Err(_) => return changed("was deleted or moved"),
        };
        let Ok(now) = now else { continue };
        if now.get(..bytes.len()) != Some(&bytes[..]) {
            return changed("was rewritten");
        }
        (length, bytes) = (now.len() as u64, now);
        let mut reader = stand.over(&bytes);
        let mut lines = Vec::new();
        for line in reader.by_ref() {
            match line {
                Ok(line) => lines.push(line),
                Err(damage) => {
                    let problem: Diagnostic = damage_problem(&damage, &file);
                    let _ = tell.send(LoadProgress::Changed(format!("{problem}: what follows is not shown")));
                    return;
                }
            }
        }
        stand = reader.stand();
        if !lines.is_empty() && tell.send(LoadProgress::Grew(lines)).is_err() {
            return;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The next thing told of the file, within a few seconds.
    fn told(load: &mut ReplayLoad) -> LoadProgress {
        for _ in 0..400 {
            if let Ok(told) = load.rest.try_recv() {
                return told;
            }
            std::thread::park_timeout(Duration::from_millis(25));
        }
        panic!("nothing is told of the file");
    }

    /// A session file up to some events, opened; and what follows in it.
    fn opened(folder: &Path) -> (ReplayLoad, std::path::PathBuf, Vec<u8>) {
        let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/context-passing.s2s");
        let bytes = std::fs::read(saved).unwrap();
        let mut reader = LogReader::new(&bytes).unwrap();
        assert_eq!(reader.by_ref().take(12).count(), 12);
        let (start, rest) = bytes.split_at(reader.read());
        let path = folder.join("x.s2s");
        std::fs::write(&path, start).unwrap();
        let mut load = open(&path).unwrap();
        let mut count = load.first.len();
        loop {
            match told(&mut load) {
                LoadProgress::Lines(lines, _) => count += lines.len(),
                LoadProgress::Whole => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(count, 12);
        (load, path, rest.to_vec())
    }

    #[test]
    fn what_is_written_to_a_file_that_is_shown_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (mut load, path, rest) = opened(folder.path());
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        // First half of a document, which is nothing yet.
        std::io::Write::write_all(&mut file, &rest[..100]).unwrap();
        std::thread::park_timeout(WATCH * 2);
        std::io::Write::write_all(&mut file, &rest[100..]).unwrap();
        let LoadProgress::Grew(lines) = told(&mut load) else { panic!("it grew") };
        assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), (12..22).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_is_cut_rewritten_or_deleted_is_told_and_shown_as_it_was() {
        for (deed, word) in [("cut", "was cut"), ("rewrite", "was rewritten"), ("delete", "deleted or moved")]
        {
            let folder = tempfile::tempdir().unwrap();
            let (mut load, path, _) = opened(folder.path());
            match deed {
                "cut" => std::fs::write(&path, "---\n").unwrap(),
                "rewrite" => std::fs::write(&path, "x".repeat(1 << 20)).unwrap(),
                _ => std::fs::remove_file(&path).unwrap(),
            }
            let LoadProgress::Changed(what) = told(&mut load) else { panic!("it changed") };
            assert!(what.contains(word), "{what}");
        }
    }
}
