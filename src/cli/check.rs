//! The `check` command: all errors and warnings of definitions at once.
//!
//! Prints one finding per line on standard output, with its hint below. Notes list the programs and addresses
//! of a run, and user settings that a program ignores. It starts nothing but version commands, and sends
//! nothing but the requests of `--probe`. It needs no keys.

use std::path::Path;

use super::console::{Console, VerbResult};
use super::dry_run::{foreseen, misfits};
use super::options::environment;
use crate::config::need::NeedKind;
use crate::config::trust::lines;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::history::Timestamp;
use crate::insight::pluralize;
use crate::launch::environment::Environment;
use crate::launch::needs::{budget, needs};
use crate::launch::plan::{LaunchOptions, SessionPlan, examine_file, read_definition};
use crate::launch::prepare::{undecidable_rounds, without_model};
use crate::launch::roster::UnknownAgentPolicy;
use crate::launch::wrapped::program_notes;
use crate::sanitize::harmless_line;
use crate::workflow::{Definition, Step, StepKind, needs_screen};

#[derive(Default)]
struct CheckFindings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Programs and addresses of a run, ignored settings, and the results that approvals adopt.
    notes: Vec<Diagnostic>,
}

pub fn run(files: &[impl AsRef<Path>], probe: bool, output: &mut Console) -> VerbResult {
    let set_up = environment(false, output)?;
    let (mut error_count, mut warning_count) = (0, 0);
    for path in files {
        let CheckFindings { errors, warnings, notes } = findings(path.as_ref(), &set_up, probe);
        error_count += errors.len();
        warning_count += warnings.len();
        let file = path.as_ref().display().to_string();
        let mut found: Vec<(&str, &Diagnostic)> = Vec::new();
        for (severity, problems) in [("error", &errors), ("warning", &warnings), ("note", &notes)] {
            found.extend(problems.iter().map(|problem| (severity, problem)));
        }
        found.sort_by_key(|(_, problem)| {
            let place = problem.place.as_ref();
            place.map(|place| (place.file != file, place.line, place.column)).unwrap_or_default()
        });
        for (severity, problem) in found {
            print(severity, problem, output);
        }
    }
    let checked = pluralize(files.len(), "definition");
    let (wrong, doubts) = (pluralize(error_count, "error"), pluralize(warning_count, "warning"));
    output.note(&format!("{checked} checked: {wrong}, {doubts}"));
    Ok(if error_count > 0 { ExitCode::Usage } else { ExitCode::Finished })
}

/// Prints each file with its discussions expanded to steps.
pub fn expand(files: &[impl AsRef<Path>], output: &mut Console) -> VerbResult {
    let set_up = environment(false, output)?;
    for path in files {
        output.bytes(read_definition(path.as_ref(), &set_up.folders)?.text.as_bytes());
    }
    Ok(ExitCode::Finished)
}

fn findings(path: &Path, set_up: &Environment, probe: bool) -> CheckFindings {
    if path.extension().is_some_and(|extension| extension == "s2s") {
        let problem = Diagnostic::new("this is a session, not a definition")
            .hint("`roundtable verify` checks sessions");
        let errors = vec![problem.with_file(&path.display().to_string())];
        return CheckFindings { errors, ..CheckFindings::default() };
    }
    match examine_file(path, &set_up.folders) {
        Ok(plan) => {
            let mut found = CheckFindings::default();
            found.add_findings(&plan, set_up, probe);
            found
        }
        Err(errors) => CheckFindings { errors, ..CheckFindings::default() },
    }
}

impl CheckFindings {
    /// Adds findings about participants, models and work items; the definition may have errors.
    fn add_findings(&mut self, plan: &SessionPlan, set_up: &Environment, probe: bool) {
        let Self { errors, warnings, notes } = self;
        errors.extend(plan.problems.iter().cloned().chain(set_up.folders.context().err()));
        warnings.extend(plan.warnings.iter().cloned());
        match plan.options.answers.check(&plan.definition) {
            Ok(unused) => warnings.extend(unused),
            Err(wrong) => errors.extend(wrong),
        }
        let drafted = match plan.draft(set_up, UnknownAgentPolicy::Noticed, Timestamp(0)) {
            Ok(drafted) => drafted,
            Err(found) => return errors.extend(found),
        };
        errors.extend(drafted.problems);
        warnings.extend(drafted.notices);
        let (mut session, is_valid) = (drafted.session, errors.is_empty());
        // Opens the session even if the definition has errors, to find more of them.
        session.open_with(&drafted.header, plan.definition.clone(), Timestamp(0));
        let (refused, warned) = foreseen(&session, &plan.file);
        errors.extend(refused);
        warnings.extend(warned);
        warnings.extend(undecidable_rounds(&session, &plan.file));
        match needs(&session, set_up, &plan.options.answers, plan.options.max_usd) {
            Ok(needs) if is_valid => {
                notes.extend(lines(&needs, &set_up.trust).into_iter().map(Diagnostic::new));
                notes.extend(without_model(&session, &plan.file, || None));
                notes.extend(adoptions(&plan.definition));
                notes.extend(needs_screen(&plan.definition, &plan.file));
                let (aside, refused) = program_notes(&session, &plan.options.answers, set_up);
                notes.extend(aside);
                errors.extend(refused.into_iter().map(|problem| problem.with_file(&plan.file)));
                // A project's price may still be agreed to; until then its absence from the budget is no error.
                if !needs.iter().any(|need| matches!(need.what, NeedKind::Price { .. }))
                    && let Err(unpriced) = budget(None, &session, &plan.options.answers, set_up)
                {
                    errors.extend(unpriced.into_iter().map(|problem| problem.with_file(&plan.file)));
                }
                if probe {
                    let misfits = misfits(&session, &LaunchOptions::default(), set_up);
                    warnings.extend(misfits.into_iter().map(|misfit| misfit.with_file(&plan.file)));
                }
                *notes = std::mem::take(notes).into_iter().map(|note| note.with_file(&plan.file)).collect();
            }
            Ok(_) => {}
            Err(found) => {
                let new: Vec<_> = found.into_iter().filter(|problem| !errors.contains(problem)).collect();
                errors.extend(new);
            }
        }
    }
}

/// Notes the rounds that each approval adopts, of those listed before it; skips approvals of a text.
fn adoptions(definition: &Definition) -> Vec<Diagnostic> {
    let mut counted: Vec<String> = Vec::new();
    let adoption = |step: &Step| {
        counted.extend(step.round().and_then(|round| round.rule).map(|_| step.id.clone()));
        let StepKind::Approval(approval) = &step.kind else { return None };
        let adopted = counted.extract_if(.., |id| approval.adopts(Some(id)));
        let adopted: Vec<String> = adopted.map(|id| format!("`{id}`")).collect();
        let what = if adopted.is_empty() { "nothing that is listed before it" } else { &adopted.join(", ") };
        let is_of_text = approval.edits.is_some() || approval.merges.is_some();
        (!is_of_text).then(|| Diagnostic::new(format!("approval `{}` adopts {what}", step.id)))
    };
    definition.all_steps().filter_map(adoption).collect()
}

fn print(severity: &str, problem: &Diagnostic, output: &mut Console) {
    let mut told = problem.clone();
    told.message.insert_str(0, &format!("{severity}: "));
    // Editors need file, line and column, so a line always has a column.
    if let Some(place) = told.place.as_mut().filter(|place| place.line > 0) {
        place.column = place.column.max(1);
    }
    output.line(&harmless_line(&told.to_string()));
    if let Some(hint) = &problem.hint {
        output.line(&format!("  hint: {}", harmless_line(hint)));
    }
}
