//! A saved session read for the screen, up to its first damage.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::journal::LogReader;
use crate::launch::session_file::{bytes_of, damage_problem};
use crate::tui::ReplayLoad;

pub fn open(path: &Path) -> Result<ReplayLoad, Vec<Diagnostic>> {
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
    Ok(ReplayLoad { lines, damage })
}
