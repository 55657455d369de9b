//! The answers of a round, word for word, as far as a page has room for them.

use std::fmt::Write as _;

use super::markup::{DISSENT, TEXT, e};
use crate::ballot::Ballot;
use crate::history::{AnswerRevealed, RoundRun};
use crate::insight::cut;
use crate::insight::references::Citable;
use crate::insight::{SeatView, dissents, format_duration, group_digits, seats, winners};
use crate::report::model::{FULL_RECORD, POSITIONS_ONLY, Report, people_money, plain_texts, sure};
use crate::round::answer::Outcome;

/// The answers in roster order, as far as a page has room for them.
pub fn answers(report: &Report<'_>, run: &RoundRun, out: &mut String) {
    let count = run.seats.len();
    if count > FULL_RECORD {
        let what = if count > POSITIONS_ONLY {
            "Here stand the count and the dissent."
        } else {
            "Here stands the dissent in full, and of the others the position."
        };
        let _ = write!(
            out,
            "<p class=\"note\">{} seats: {what} Every answer: <code>roundtable report --format csv</code> or <code>json</code>.</p>",
            group_digits(count)
        );
    }
    let is_deciding = report.run.is_some_and(|own| own.opened.round == run.opened.round);
    if count > POSITIONS_ONLY && is_deciding {
        return;
    }
    out.push_str("<h3>All answers, word for word</h3><div class=\"ans\">");
    let citable = Citable::of_round(run);
    let begun = out.len();
    let winners = winners(report.session, run);
    for seat in seats(report.session, run) {
        let is_dissent = dissents(&seat, &winners);
        if count <= FULL_RECORD || is_dissent && out.len() - begun < DISSENT {
            article(report, &seat, &citable, out);
        } else if count <= POSITIONS_ONLY {
            let said = cut(&crate::report::model::said(&seat), 280);
            let vote = seat.ballot().and_then(Ballot::phrase).unwrap_or_default();
            let _ = write!(
                out,
                "<article><b>{}</b> {} <span dir=\"auto\">{}</span></article>",
                e(seat.name),
                e(&vote),
                e(&said)
            );
        }
    }
    out.push_str("</div>");
}

fn article(report: &Report<'_>, seat: &SeatView<'_>, citable: &Citable, out: &mut String) {
    let vote = seat.ballot().and_then(Ballot::phrase);
    let outcome = seat.outcome().map_or("", |outcome| outcome.name()).replace('_', " ");
    let did = vote.unwrap_or(if outcome == "answered" { String::new() } else { outcome });
    let mut small = vec![e(&seat.who())];
    small.extend(sure(seat).map(|sure| format!("{sure} sure")));
    if let Some(answer) = seat.answer() {
        small.push(format_duration(answer.record.latency_ms));
        if let Some(tokens) = answer.record.tokens.filter(|tokens| tokens.input + tokens.output > 0) {
            small.push(format!(
                "{} + {} tokens",
                group_digits(tokens.input as usize),
                group_digits(tokens.output as usize)
            ));
        }
        if let Some(spent) = seat.spent {
            small.push(e(&people_money(&spent)));
        }
        if answer.record.tries > 1 {
            small.push(format!("{} tries", answer.record.tries));
        }
    }
    let _ = write!(
        out,
        "<article><header><b>{}</b> <span>{}</span><small>{}</small></header>",
        e(seat.name),
        e(&did),
        small.join(" · ")
    );
    if let Some(why) = seat.reason() {
        let _ = write!(out, "<p class=\"non\">{}</p>", e(&cut(why, TEXT)));
    }
    if let Some(answer) = seat.answer() {
        if matches!(answer.outcome, Outcome::Answered | Outcome::Abstained) {
            contents(seat, answer, citable, out);
        } else if let Some(reply) = answer.record.replies.last().filter(|reply| !reply.text.trim().is_empty())
        {
            let _ = write!(
                out,
                "<p class=\"k\">Last reply, not counted</p><pre class=\"txt\" dir=\"auto\">{}</pre>",
                e(&cut(&reply.text, 1_000))
            );
        }
        for flag in &answer.flags {
            let _ = write!(out, "<p class=\"k\">Flag: {}</p>", e(flag));
        }
    }
    if let Some(found) = seat.leaks {
        let how = crate::insight::handling(found);
        let _ = write!(out, "<p class=\"k\">Leak scan ({how})</p><ul>");
        for leak in found {
            let text = crate::insight::finding(leak, crate::insight::shown_mask(report.session, leak));
            let _ = write!(out, "<li>{}</li>", e(&text));
        }
        out.push_str("</ul>");
    }
    out.push_str("</article>");
}

fn contents(seat: &SeatView<'_>, answer: &AnswerRevealed, citable: &Citable, out: &mut String) {
    if let Some(text) = answer.answer.get("position").and_then(|value| value.as_str()) {
        let _ = write!(out, "<p class=\"pos pre\" dir=\"auto\">{}</p>", e(&shortened(text)));
    }
    let listing = seat.ballot().map(Ballot::listing).unwrap_or_default();
    list("", &listing, out);
    if let Some(change) = seat.ballot().and_then(Ballot::minimum_change) {
        list("It would pass with", &[change.to_owned()], out);
    }
    let named = [("rationale", "Reasons"), ("concerns", "Concerns"), ("suggestions", "Suggestions")];
    for (key, heading) in named {
        list(heading, &plain_texts(answer.answer.get(key)), out);
    }
    let kind = answer.ballot.as_ref().and_then(Ballot::kind).unwrap_or_default();
    for (key, value) in &answer.answer {
        let is_shown = ["position", "confidence", "references"].contains(&key.as_str())
            || named.iter().any(|(known, _)| known == key)
            || kind.ballot_keys().any(|known| known == key);
        if is_shown || value.is_null() {
            continue;
        }
        let heading = if key == "trade_offs" {
            "Trade-offs".to_owned()
        } else {
            format!("Also {key}, kept and not counted")
        };
        list(&heading, &leaves(value), out);
    }
    list("References", &plain_texts(answer.answer.get("references")), out);
    let unresolved: Vec<String> = citable.unresolved(answer).into_iter().map(str::to_owned).collect();
    list("References that lead nowhere in the snapshot", &unresolved, out);
}

/// A value as lines: "optimizing for: speed".
fn leaves(value: &serde_json::Value) -> Vec<String> {
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        serde_json::Value::Array(items) => items.iter().map(text).collect(),
        serde_json::Value::Object(entries) => entries
            .iter()
            .flat_map(|(key, value)| {
                let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                items.iter().map(move |item| format!("{}: {}", key.replace('_', " "), text(item)))
            })
            .collect(),
        other => vec![text(other)],
    }
}

fn list(heading: &str, texts: &[String], out: &mut String) {
    if texts.iter().all(|text| text.trim().is_empty()) {
        return;
    }
    if !heading.is_empty() {
        let _ = write!(out, "<p class=\"k\">{}</p>", e(heading));
    }
    out.push_str("<ul>");
    for text in texts {
        let _ = write!(out, "<li class=\"pre\" dir=\"auto\">{}</li>", e(&shortened(text)));
    }
    out.push_str("</ul>");
}

/// A text as far as a page has room for it; the file has all of it.
fn shortened(text: &str) -> String {
    let more = text.chars().count().saturating_sub(TEXT);
    if more == 0 {
        return text.trim().to_owned();
    }
    format!("{}\n{more} more characters: roundtable report --format json", cut(text, TEXT))
}
