//! `doctor --wiretap`: what a program really sends, measured now.

use serde_json::json;

use super::console::{Console, VerbResult};
use super::options::environment;
use crate::config::findings::Findings;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::wrapped::refusal;
use crate::participants::programs::Finding;
use crate::sanitize::harmless_line;

/// Measures the program of each model and prints what was found.
pub fn run(names: &[String], trusts: bool, output: &mut Console) -> VerbResult {
    if names.is_empty() {
        let problem = Diagnostic::new("--wiretap needs a program");
        return Err(problem.hint("roundtable doctor --wiretap claude-cli/MODEL").into());
    }
    let set_up = environment(trusts, output)?;
    let (catalog, findings) = (set_up.catalog(), Findings::of(&set_up.folders));
    let mut exit = ExitCode::Finished;
    for name in names {
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        let found = catalog.seat_program(provider).ok_or_else(|| {
            Diagnostic::new(format!("`{provider}` is no program"))
                .hint("name one that `roundtable doctor` lists, or a provider with a `command`")
        })?;
        let path = catalog.runnable(&found)?;
        let known = findings.of_program(&found, &path, model)?;
        let finding = match findings.measure(&found, &path, &known.version, model) {
            Ok(finding) => finding,
            Err(problem) => {
                output.warn(&problem);
                exit = ExitCode::Unreachable;
                continue;
            }
        };
        let refused = refusal(name, &found, &finding).map(|problem| problem.message);
        if output.json {
            let mut line = json!(finding);
            line["model"] = json!(name);
            line["version"] = json!(known.version);
            line["path"] = json!(path.display().to_string());
            line["refused"] = json!(refused);
            output.line(&crate::report::safe_json(&line));
        } else {
            output.line(&harmless_line(&format!("{name}  {} · {}", known.version, path.display())));
            for line in lines(&finding, refused.as_deref()) {
                output.line(&harmless_line(&format!("  {line}")));
            }
        }
    }
    Ok(exit)
}

fn lines(finding: &Finding, refused: Option<&str>) -> [String; 6] {
    let list = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let whole = if finding.is_whole { "whole and unchanged" } else { "not whole, or changed" };
    [
        format!("tools        {}", list(&finding.tools)),
        format!("requests     {}", finding.requests),
        format!("adds         {} bytes before, {} after", finding.bytes_before, finding.bytes_after),
        format!("snapshot     {whole}"),
        format!("other hosts  {} (seen through the proxy)", list(&finding.hosts)),
        format!("blind seat   {}", refused.unwrap_or("yes")),
    ]
}
