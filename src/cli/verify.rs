//! The `verify` command: checks session files and explains what they prove.
//!
//! Reads only the file and earlier receipts: no network, no keys, no personas.

use std::path::Path;

use super::args::VerifyArgs;
use super::browse::{newest_session, session_file};
use super::console::{Console, VerbResult, fail};
use crate::config::read_file::read_text;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::history::Receipt;
use crate::journal::{OTHER_TEXTS, UNCHECKED, UNPROVEN, Verification, read_log, verify};
use crate::launch::session_file::{bytes_of, damage_problem, is_no_session};
use crate::sanitize::harmless_line;

const MAX_RECEIPT: u64 = 64 << 10;

/// Verifies every file; the exit code is the highest.
pub fn run(args: &VerifyArgs, output: &mut Console) -> VerbResult {
    if args.files.len() > 1 && (args.expect.is_some() || args.receipt.is_some()) {
        let problem = Diagnostic::new("--expect and --receipt belong to one session");
        return Err(problem.hint("verify each session alone").into());
    }
    let newest = if args.files.is_empty() { vec![newest_session(output)?] } else { Vec::new() };
    let mut highest = ExitCode::Finished;
    for file in args.files.iter().chain(&newest) {
        let verified = verify_one(&session_file(file), args, output);
        highest = highest.max(verified.unwrap_or_else(|error| fail(&error, output)));
    }
    Ok(highest)
}

fn verify_one(path: &Path, args: &VerifyArgs, output: &mut Console) -> VerbResult {
    let expect = args.expect.as_deref().map(hash).transpose()?;
    let receipt = args.receipt.as_deref().map(receipt_in).transpose()?;
    let bytes = bytes_of(path)?;
    let mut found = verify(&bytes, expect.as_deref());
    // Only a damaged session fails the check; another kind of file or format is an error.
    if let Some(damage) = found.damage.as_ref().filter(|damage| is_no_session(damage)) {
        return Err(damage_problem(damage, &path.display().to_string()).into());
    }
    if let Some(receipt) = receipt
        && let Ok(log) = read_log(&bytes)
    {
        found.check_receipt(&log, &receipt);
    }
    say(&found, args.explain, output);
    let verdict = if found.findings.is_empty() { "verified" } else { "verification failed" };
    output.line(&format!("{verdict}: {}", harmless_line(&path.display().to_string())));
    Ok(if found.findings.is_empty() { ExitCode::Finished } else { ExitCode::Damaged })
}

fn hash(given: &str) -> Result<String, Diagnostic> {
    let hash = given.trim().to_lowercase();
    if (16..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(hash);
    }
    let problem =
        Diagnostic::new(format!("--expect wants a hash of 64 hex digits, or its first 16, not `{hash}`"));
    Err(problem.hint("the last one is printed at the end of a run, and by `roundtable verify`"))
}

/// Reads a receipt: JSON text, or the path of a file.
fn receipt_in(given: &str) -> Result<Receipt, Diagnostic> {
    let is_receipt = given.trim_start().starts_with('{');
    let text = if is_receipt { given.to_owned() } else { read_text(Path::new(given), MAX_RECEIPT)? };
    let file = if is_receipt { "--receipt" } else { given };
    Receipt::read(&text).map_err(|what| {
        let hint = "give the receipt that a remote seat was shown when its answer was sealed";
        Diagnostic::new(what).hint(hint).with_file(file)
    })
}

fn say(found: &Verification, explain: bool, output: &mut Console) {
    if found.has_other_texts {
        output.line(&format!("note    {OTHER_TEXTS}"));
    }
    let failed: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    for (mark, texts) in [("FAILED", &failed), ("ok", &found.proven), ("note", &found.notes)] {
        for text in texts {
            output.line(&format!("{mark:8}{}", harmless_line(text)));
        }
    }
    if let Some(head) = &found.head {
        output.line(&format!("hash    {head}"));
    }
    if explain {
        output.line("\nA session file cannot prove:");
        for text in UNPROVEN {
            output.line(&format!("  - {text}"));
        }
        output.line("\nValues from outside, whose change only a hash noted earlier finds:");
        for line in UNCHECKED.lines() {
            output.line(&format!("  - {line}"));
        }
    } else {
        output.line("note    what no session file can prove: --explain");
    }
}
