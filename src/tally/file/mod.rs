//! Ballots from a file: JSON (or YAML), or CSV.
//!
//! Text goes in, a profile or all problems come out, each with its line. The kind of file is recognized by its
//! name's ending. What a file says is taken as it is: an option that is not listed, a ballot of another
//! kind, a key that is not known are errors.

mod ballot_file;
mod csv;
mod structured;

pub use ballot_file::BallotFile;

use crate::diagnostic::Diagnostic;

/// Reads a ballot file; its name's ending says how.
pub fn read_ballots(text: &str, file: &str) -> Result<BallotFile, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "csv" => csv::read(text, file),
        "json" | "yaml" | "yml" | "" => structured::read(text, file),
        _ => {
            let problem = Diagnostic::new(format!("a ballot file does not end in `.{ending}`"));
            Err(vec![problem.hint("known here: .json, .yaml, .csv").with_file(file)])
        }
    }
}

#[cfg(test)]
mod tests;
