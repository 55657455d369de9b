//! `verify`: what a session file proves, what does not hold and where, and what no file can show.
//!
//! Reads the file, and receipts noted earlier, and nothing else: no network, no key, no persona folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::browse::session_file;
use super::console::{Console, fail};
use super::verb_result::VerbResult;
use crate::config::read_file::read_text;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::history::Receipt;
use crate::journal::{Finding, UNPROVEN, Verification, read_log, verify};
use crate::launch::session_file::{bytes_of, damage_problem, is_no_session};
use crate::report;
use crate::sanitize::harmless_line;

/// A file of receipts larger than this is not read, in bytes.
const MAX_RECEIPTS: u64 = 512 << 20;

/// What is verified beside the file itself.
pub struct VerifyInputs<'a> {
    /// A hash that must stand in the file.
    pub expect: Option<&'a str>,
    /// Receipts: files of them, or as they are.
    pub receipts: &'a [String],
}

/// Verifies every file; the exit code is the highest.
pub fn run(files: &[PathBuf], noted: &VerifyInputs<'_>, explain: bool, output: &mut Console) -> VerbResult {
    if files.len() > 1 && (noted.expect.is_some() || !noted.receipts.is_empty()) {
        let problem = Diagnostic::new("--expect and --receipt belong to one session");
        return Err(problem.hint("verify each session alone").into());
    }
    let mut highest = ExitCode::Finished;
    for file in files {
        let verified = verify_one(&session_file(file), noted, explain, output);
        highest = highest.max(verified.unwrap_or_else(|error| fail(&error, output)));
    }
    Ok(highest)
}

fn verify_one(path: &Path, noted: &VerifyInputs<'_>, explain: bool, output: &mut Console) -> VerbResult {
    let expect = noted.expect.map(hash).transpose()?;
    let mut receipts = Vec::new();
    for given in noted.receipts {
        receipts.extend(receipts_in(given)?);
    }
    let bytes = bytes_of(path)?;
    let mut found = verify(&bytes, expect.as_deref());
    // What is no session, or one of another format, is not a session that fails.
    if let Some(damage) = found.damage.as_ref().filter(|damage| is_no_session(damage)) {
        return Err(damage_problem(damage, &path.display().to_string()).into());
    }
    if !receipts.is_empty()
        && let Ok(log) = read_log(&bytes)
    {
        found.hold(&log, &receipts);
    }
    if output.json {
        output.line(&report::safe_json(&as_json(&found)));
    } else {
        say(&found, explain, output);
        let verdict = if found.findings.is_empty() { "verified" } else { "verification failed" };
        output.line(&format!("{verdict}: {}", harmless_line(&path.display().to_string())));
    }
    Ok(if found.findings.is_empty() { ExitCode::Finished } else { ExitCode::Damaged })
}

fn hash(given: &str) -> Result<String, Diagnostic> {
    let hash = given.trim().to_lowercase();
    if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(hash);
    }
    let problem = Diagnostic::new(format!("--expect wants a hash of 64 hex digits, not `{hash}`"));
    Err(problem.hint("the last one is printed at the end of a run, and by `roundtable verify`"))
}

/// The receipts that are given: one as it is, or a file of them.
fn receipts_in(given: &str) -> Result<Vec<Receipt>, Diagnostic> {
    let is_receipt = given.trim_start().starts_with('{');
    let text = if is_receipt { given.to_owned() } else { read_text(Path::new(given), MAX_RECEIPTS)? };
    let file = if is_receipt { "--receipt" } else { given };
    let hint = "give a receipt as `--receipts` wrote it, or the lines that `--json` printed";
    let receipts = Receipt::read_all(&text)
        .map_err(|(line, what)| Diagnostic::new(what).hint(hint).at(file, line, 1))?;
    if receipts.is_empty() {
        return Err(Diagnostic::new("no receipts found").hint(hint).with_file(file));
    }
    Ok(receipts)
}

/// What was found, with the keys that scripts build on.
pub fn as_json(found: &Verification) -> Value {
    let finding = |finding: &Finding| {
        let place = finding.place;
        json!({
            "seq": place.map(|place| place.seq),
            "line": place.map(|place| place.line),
            "byte": place.map(|place| place.offset),
            "what": finding.what,
        })
    };
    json!({
        "ok": found.findings.is_empty(),
        "findings": found.findings.iter().map(finding).collect::<Vec<_>>(),
        "proven": found.proven, "notes": found.notes, "unproven": UNPROVEN, "head": found.head,
    })
}

fn say(found: &Verification, explain: bool, output: &mut Console) {
    for finding in &found.findings {
        output.line(&format!("FAILED  {}", harmless_line(&finding.to_string())));
    }
    for text in &found.proven {
        output.line(&format!("ok      {}", harmless_line(text)));
    }
    for text in &found.notes {
        output.line(&format!("note    {}", harmless_line(text)));
    }
    if let Some(head) = &found.head {
        output.line(&format!("hash    {head}"));
    }
    if explain {
        output.line("\nA session file cannot prove:");
        for text in UNPROVEN {
            output.line(&format!("  - {text}"));
        }
    }
}
