//! Saved sessions for the screen: replay and fork.

use std::path::{Path, PathBuf};

use crate::core::{Command, decide};
use crate::diagnostic::Diagnostic;
use crate::engine::current_wait_point;
use crate::history::{LogEntry, Session, TimedEvent};
use crate::journal::{Chain, Disk, EventLog, LogReader, read_log, unwritten};
use crate::launch::prepare::session_id;
use crate::launch::session_file::{bytes_of, damage_problem};
use crate::tui::StartRefusal;

/// Copies the session at `path` up to `seq` to a new file in `folder`, and appends the fork event. Ends earlier
/// if a session cannot continue at `seq`. Writes nothing if `may` refuses the session at that point.
pub fn fork(
    path: &Path,
    seq: u64,
    folder: &Path,
    may: impl Fn(&Session) -> Result<(), StartRefusal>,
) -> Result<PathBuf, StartRefusal> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    let log = read_log(&bytes).map_err(|damage| damage_problem(&damage, &file))?;
    let (session, count) = fork_point(&log, seq).ok_or_else(|| {
        let problem = Diagnostic::new("no session can begin before this point").with_file(&file);
        problem.hint("choose a point after its first question was drafted")
    })?;
    may(&session)?;
    let last = &log.lines[count - 1];
    let id = session_id(&session.definition().id);
    let at = crate::clock::now();
    let command = Command::Fork { session: id.clone(), at_seq: last.seq };
    let events = decide(&session, command, at).map_err(|refusal| Diagnostic::new(refusal.to_string()))?;
    let end = end_of(&bytes, &last.hash).ok_or_else(|| Diagnostic::new("the point is not in the file"))?;
    let mut text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut chain = Chain::after(&log.lines[..count]);
    for event in events {
        chain.write(TimedEvent { at, event }, &mut text);
    }
    let disk = Disk::default();
    let new = folder.join(format!("{id}.s2s"));
    let failed = |error: crate::journal::DiskError| vec![Diagnostic::new(error.to_string())];
    disk.make_dir(folder).map_err(failed)?;
    disk.write_whole(&new, text.as_bytes()).map_err(failed)?;
    Ok(new)
}

/// Returns the last state up to `seq` that waits for the facilitator, and its number of events.
fn fork_point(log: &EventLog, seq: u64) -> Option<(Session, usize)> {
    let (mut session, mut points) = (Session::default(), Vec::new());
    for (index, line) in log.lines.iter().enumerate().take_while(|(_, line)| line.seq <= seq) {
        session.apply_entry(line);
        if current_wait_point(&session).is_some() && session.open_round().is_none() {
            points.push(index + 1);
        }
    }
    let count = points.into_iter().rev().find(|count| unwritten(&log.lines[..*count]).is_empty())?;
    let mut session = Session::default();
    log.lines[..count].iter().for_each(|line| session.apply_entry(line));
    Some((session, count))
}

/// Returns the offset after the document with this hash.
fn end_of(bytes: &[u8], hash: &str) -> Option<usize> {
    let line = format!("\nhash: {hash}\n");
    let at = bytes.windows(line.len()).position(|window| window == line.as_bytes())?;
    Some(at + line.len())
}

/// Reads a saved session up to its first damage, and describes the damage.
pub fn replay(path: &Path) -> Result<(Vec<LogEntry>, Option<String>), Vec<Diagnostic>> {
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    let problem = |damage| damage_problem(&damage, &file);
    let mut reader = LogReader::new(&bytes).map_err(problem)?;
    let (mut lines, mut damage) = (Vec::new(), None);
    for line in reader.by_ref() {
        match line {
            Ok(line) => lines.push(line),
            Err(found) if lines.is_empty() => return Err(problem(found).into()),
            Err(found) => {
                damage = Some(format!("{}: what follows is not shown", problem(found)));
                break;
            }
        }
    }
    if lines.is_empty() {
        return Err(Diagnostic::new("nothing was recorded in it").with_file(&file).into());
    }
    if let (None, torn @ 1..) = (&damage, reader.torn_bytes()) {
        let what = format!("{torn} bytes of a torn write at the end are left out; resuming cuts them off");
        damage = Some(what);
    }
    Ok((lines, damage))
}
