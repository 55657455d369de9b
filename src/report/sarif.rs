//! Findings as SARIF 2.1.0 for code viewers, one result per group.

use serde_json::{Value, json};

use super::model::Document;
use super::pretty;
use crate::ballot::Severity;
use crate::insight::findings::FindingGroup;
use crate::insight::pluralize;

/// Returns the SARIF log of a session; it has no results without findings.
pub fn sarif(document: &Document<'_>) -> String {
    let results: Value = document.findings.iter().map(|group| result(document, group)).collect();
    let rules = Severity::WORDS.map(|(word, severity)| {
        json!({
            "id": format!("finding/{word}"),
            "shortDescription": { "text": format!("A finding of {word} severity") },
            "defaultConfiguration": { "level": level(severity) },
        })
    });
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "roundtable", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules,
            } },
            "automationDetails": { "id": format!("roundtable/{}", document.session) },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// Returns the SARIF level of a severity.
pub fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

fn result(document: &Document<'_>, group: &FindingGroup<'_>) -> Value {
    let mark = document.mark;
    let labels = document.labels.iter().filter(|_| mark.is_empty()).map(|label| format!("\n{label}"));
    let mut result = json!({
        "ruleId": format!("finding/{}", group.severity.name()),
        "ruleIndex": group.severity as usize,
        "level": level(group.severity),
        "message": { "text": format!("{mark}{}{}", message(group), labels.collect::<String>()) },
        "locations": location(group).into_iter().collect::<Value>(),
        "properties": {
            "round": group.round, "severity": group.severity, "seats": group.seats, "of": group.of,
        },
    });
    if let Some(reason) = group.set_aside {
        // The facilitator set the finding aside; it stays in the log, marked as suppressed.
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    result
}

/// Returns every claim verbatim, one per line, with its seat.
fn message(group: &FindingGroup<'_>) -> String {
    let mut lines: Vec<String> = group.title.into_iter().map(str::to_owned).collect();
    for one in &group.findings {
        let evidence = one.finding.evidence.as_ref().map(|text| format!(" Evidence: {text}"));
        lines.push(format!("{}: {}{}", one.participant, one.finding.claim, evidence.unwrap_or_default()));
    }
    let missing = group.not_in_evidence.iter();
    lines.extend(missing.map(|(seat, place)| format!("Not in the evidence: {place} ({seat}).")));
    lines.push(format!("Found by {} of {}.", group.seats, pluralize(group.of, "seat")));
    lines.join("\n")
}

fn location(group: &FindingGroup<'_>) -> Option<Value> {
    let mut place = json!({ "artifactLocation": { "uri": uri(group.file?) } });
    if let Some((from, to)) = group.lines {
        place["region"] = json!({ "startLine": from, "endLine": to });
    }
    Some(json!({ "physicalLocation": place }))
}

/// Returns a path as a relative URI: `/` between folders, other special characters escaped.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").trim_start_matches("./").bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
