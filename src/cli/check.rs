//! `check`: all errors and warnings of definitions at once, for editors and continuous integration.
//!
//! Findings are the result: a line each on standard output, with a hint below it; notes say what a run
//! would run, which addresses it would ask, and what is known of the programs that take seats. Nothing is
//! run but what prints the version of such a program, nothing sent or saved. Personas and models are looked
//! up as a run would; keys are not needed.

use std::path::Path;
use std::sync::Arc;

use super::console::{Console, VerbResult, as_json};
use super::options::environment;
use crate::config::trust::lines;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::history::{Session, Timestamp};
use crate::insight::pluralize;
use crate::launch::environment::Environment;
use crate::launch::material::unreadable_evidence;
use crate::launch::prepare::{
    ExaminedFile, PreparedSession, examine_file, opened, read_definition, undecidable_rounds, without_model,
};
use crate::launch::roster::UnknownAgentPolicy;
use crate::launch::wrapped::program_notes;
use crate::sanitize::harmless_line;

/// `error`, `warning`, or `note` for something that a run would start or contact; in this order.
type Severity = &'static str;

/// Checks each file and prints what was found, with `json` as one object per finding.
pub fn run(files: &[impl AsRef<Path>], json: bool, output: &mut Console) -> VerbResult {
    output.json = json;
    let set_up = environment(false, output)?;
    let (mut errors, mut warnings) = (0, 0);
    for path in files {
        let mut found = findings(path.as_ref(), &set_up);
        let file = path.as_ref().display().to_string();
        found.sort_by_key(|(_, problem)| {
            let place = problem.place.as_ref().map_or((0, 0), |place| (place.line, place.column));
            let is_other = problem.place.as_ref().is_some_and(|place| place.file != file);
            (is_other, place)
        });
        for (severity, problem) in found {
            errors += usize::from(severity == "error");
            warnings += usize::from(severity == "warning");
            print(severity, &problem, output);
        }
    }
    let checked = pluralize(files.len(), "definition");
    let (wrong, doubts) = (pluralize(errors, "error"), pluralize(warnings, "warning"));
    output.note(&format!("{checked} checked: {wrong}, {doubts}"));
    Ok(if errors > 0 { ExitCode::Usage } else { ExitCode::Finished })
}

/// Prints each file with the steps of its discussions in their place.
pub fn expand(files: &[impl AsRef<Path>], output: &mut Console) -> VerbResult {
    let set_up = environment(false, output)?;
    for path in files {
        let (plan, _) = read_definition(path.as_ref(), &set_up.folders)?;
        output.bytes(plan.text.as_bytes());
    }
    Ok(ExitCode::Finished)
}

fn findings(path: &Path, set_up: &Environment) -> Vec<(Severity, Diagnostic)> {
    if path.extension().is_some_and(|extension| extension == "s2s") {
        let problem = Diagnostic::new("this is a session, not a definition")
            .hint("`roundtable verify` checks sessions");
        return vec![("error", problem.with_file(&path.display().to_string()))];
    }
    let ExaminedFile { plan, mut problems, mut warnings } = match examine_file(path, &set_up.folders) {
        Ok(found) => found,
        Err(problems) => return errors(problems).collect(),
    };
    let notes = plan.map(|plan| of_plan(&plan, set_up, &mut problems, &mut warnings)).unwrap_or_default();
    let warnings = warnings.into_iter().map(|problem| ("warning", problem));
    errors(problems).chain(warnings).chain(notes.into_iter().map(|note| ("note", note))).collect()
}

fn errors(problems: Vec<Diagnostic>) -> impl Iterator<Item = (Severity, Diagnostic)> {
    problems.into_iter().map(|problem| ("error", problem))
}

/// Adds what is wrong with the participants, models and work items of a definition, which may have errors;
/// returns what a run of it would need.
fn of_plan(
    plan: &PreparedSession,
    set_up: &Environment,
    problems: &mut Vec<Diagnostic>,
    warnings: &mut Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    warnings.extend(plan.unlinked.iter().cloned());
    problems.extend(set_up.folders.context().err());
    problems.extend(unreadable_evidence(
        &plan.definition,
        &plan.file,
        &set_up.looking_reader(&plan.definition),
    ));
    match plan.answers.check(&plan.definition) {
        Ok(unused) => warnings.extend(unused),
        Err(wrong) => problems.extend(wrong),
    }
    let (roster, of_roster) = plan.roster(set_up, UnknownAgentPolicy::Noticed);
    let is_valid = problems.is_empty() && of_roster.is_empty();
    problems.extend(of_roster);
    warnings.extend(roster.notices.iter().cloned());
    let header = match plan.header(roster, "check", None, None) {
        Ok(header) => header,
        Err(found) => {
            problems.extend(found);
            return Vec::new();
        }
    };
    // As a run would open it, also where the definition has errors.
    let mut session = opened(&header, Timestamp(0));
    session.definition = Some(Arc::new(plan.definition.clone()));
    let (refused, warned) = foreseen(&session, &plan.file);
    problems.extend(refused);
    warnings.extend(warned);
    warnings.extend(undecidable_rounds(&session, &plan.file));
    match plan.needs(&session, set_up) {
        Ok(needs) if is_valid => {
            let needed = lines(&needs, &set_up.trust).into_iter().map(Diagnostic::new);
            let mut notes: Vec<Diagnostic> = needed.collect();
            notes.extend(without_model(&session, &plan.file));
            for note in program_notes(&session, &plan.answers, set_up) {
                match note {
                    Ok(note) => notes.push(note),
                    Err(problem) => problems.push(problem.with_file(&plan.file)),
                }
            }
            notes.into_iter().map(|note| note.with_file(&plan.file)).collect()
        }
        Ok(_) => Vec::new(),
        Err(found) => {
            let new: Vec<_> = found.into_iter().filter(|problem| !problems.contains(problem)).collect();
            problems.extend(new);
            Vec::new()
        }
    }
}

/// Returns what will be refused whatever results come, and the warnings; `file` is the definition's name.
pub fn foreseen(session: &Session, file: &str) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    const HINT: &str = "hand over what it names, or word it otherwise; `completeness: off` skips this check";
    let (mut refused, mut warned) = (Vec::new(), Vec::new());
    for (step, checked) in session.foreseen() {
        let problem = |why: &String| {
            let message = format!("step `{}`: {why}", step.id);
            Diagnostic::new(message).hint(HINT).at(file, step.place.0, step.place.1)
        };
        refused.extend(checked.refusal.iter().map(problem));
        warned.extend(checked.warnings.iter().map(problem));
    }
    (refused, warned)
}

fn print(severity: Severity, problem: &Diagnostic, output: &mut Console) {
    if output.json {
        return output.line(&crate::report::safe_json(&as_json("severity", severity, problem)));
    }
    let mut at = String::new();
    if let Some(place) = &problem.place {
        at.push_str(&place.file);
        // Editors find a place by file, line and column, so all three stand where any does.
        if place.line > 0 {
            at.push_str(&format!(":{}:{}", place.line, place.column.max(1)));
        }
        at.push_str(": ");
    }
    output.line(&harmless_line(&format!("{at}{}: {}", severity, problem.message)));
    if let Some(hint) = &problem.hint {
        output.line(&format!("  hint: {}", harmless_line(hint)));
    }
}
