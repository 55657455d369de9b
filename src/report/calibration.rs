//! The track record as a web page: tables, and a reliability diagram as inline SVG. No script, no network.

use std::fmt::Write as _;

use crate::insight::calibration::{Calibration, ConfidenceStep, FEW, Share};
use crate::sanitize::harmless_line;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b232b;--page:#fff;--faint:#56616c;--line:#c9d1d9;--mark:#0b5fa5;--tint:#e3effa}\
@media screen and (prefers-color-scheme:dark){:root{--ink:#dde5ec;--page:#0d1116;--faint:#9aa7b3;--line:#37424d;\
--mark:#7cbcf8;--tint:#17293a}}\
body{font:15.5px/1.5 -apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif;\
background:var(--page);color:var(--ink);max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;margin:.5rem 0 1.5rem;width:100%}\
th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}\
td,thead th{text-align:right;white-space:nowrap;width:20%}\
caption{text-align:left;font-weight:600}.few{color:var(--faint)}.box{overflow-x:auto}\
.note{background:var(--tint);padding:.5rem .75rem;border-left:3px solid var(--mark)}\
svg{max-width:30rem;width:100%;height:auto}svg text{fill:var(--ink);font-size:12px}\
@media print{@page{size:A4;margin:12mm}}";

/// The page over all recorded outcomes; `left_out` names what was not counted, and why.
pub fn calibration_html(found: &Calibration, left_out: &[String]) -> String {
    let mut body = String::from("<h1>Track record</h1>\n");
    for line in found.summary() {
        let class = if line.starts_with("Few") { " class=\"note\"" } else { "" };
        let _ = writeln!(body, "<p{class}>{}</p>", text(&line));
    }
    for (heading, rows) in found.tables() {
        table(heading, &rows, &mut body);
    }
    body.push_str("<h2>Reliability</h2>\n");
    body.push_str(&diagram(&found.confidence));
    body.push_str(
        "<p>Each dot is one step of stated confidence: across what its answers stated on average, up how many \
         were right. On the dashed line, stated confidence is what turns out. Bars are 95 % intervals \
         (Wilson); larger dots have more answers.</p>\n",
    );
    if let Some(brier) = found.brier {
        let _ = writeln!(
            body,
            "<p>Brier score {brier:.3}: 0 is best, and 0.25 is what stating 50 % every time gets.</p>"
        );
    }
    if !left_out.is_empty() {
        body.push_str("<h2>Not counted</h2>\n<ul>\n");
        for line in left_out {
            let _ = writeln!(body, "<li>{}</li>", text(line));
        }
        body.push_str("</ul>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <title>Track record of {} decisions</title><style>{STYLE}</style></head><body><main>\n{body}</main></body></html>\n",
        found.decisions.of
    )
}

fn table(heading: &str, rows: &[(String, Share)], out: &mut String) {
    let _ = write!(
        out,
        "<div class=\"box\"><table><caption>{heading}</caption><thead><tr><td></td>\
         <th scope=\"col\">right</th><th scope=\"col\">share</th><th scope=\"col\">95 % interval</th></tr></thead>\n<tbody>"
    );
    for (name, share) in rows {
        let (class, few) =
            if share.is_few() && share.of > 0 { (" class=\"few\"", " (few)") } else { ("", "") };
        let _ = writeln!(
            out,
            "<tr{class}><th scope=\"row\">{}</th><td>{} of {}{few}</td><td>{}</td><td>{}</td></tr>",
            text(name),
            share.right,
            share.of,
            percent(*share),
            interval(*share)
        );
    }
    out.push_str("</tbody></table></div>\n");
}

/// "67 %"; a dash of nothing.
pub fn percent(share: Share) -> String {
    if share.of == 0 { "–".to_owned() } else { format!("{:.0} %", share.value() * 100.0) }
}

/// "21 to 94 %"; a dash of nothing.
pub fn interval(share: Share) -> String {
    let (low, high) = share.interval();
    if share.of == 0 { "–".to_owned() } else { format!("{:.0} to {:.0} %", low * 100.0, high * 100.0) }
}

/// The side of the diagram's square and its distance from the edges, in units of the view box.
const SIDE: f64 = 300.0;
const EDGE: f64 = 50.0;

fn x(share: f64) -> f64 {
    EDGE + share * SIDE
}

fn y(share: f64) -> f64 {
    EDGE / 2.0 + (1.0 - share) * SIDE
}

/// Stated confidence across, share right up, in a square with its diagonal.
fn diagram(steps: &[ConfidenceStep]) -> String {
    let filled: Vec<&ConfidenceStep> = steps.iter().filter(|step| step.share.of > 0).collect();
    let told = filled.iter().map(|step| {
        let few = if step.share.of < FEW { ", few" } else { "" };
        format!("stated {:.0} %: {} of {} right{few}", step.mean() * 100.0, step.share.right, step.share.of)
    });
    let told = told.collect::<Vec<_>>().join("; ");
    let told = if told.is_empty() { "no answer stated its confidence" } else { &told };
    let size = SIDE + 1.5 * EDGE;
    let mut out = format!(
        "<svg viewBox=\"0 0 {size:.0} {size:.0}\" role=\"img\" aria-label=\"Reliability diagram: {told}\">\n"
    );
    grid(&mut out);
    for step in filled {
        dot(step, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Lines and numbers at each quarter, the diagonal, and what the axes are.
fn grid(out: &mut String) {
    let (left, right, top, bottom) = (x(0.0), x(1.0), y(1.0), y(0.0));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (across, up, percent) = (x(share), y(share), share * 100.0);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {up}H{right}M{across} {top}V{bottom}\" stroke=\"var(--line)\" fill=\"none\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent} %</text>\
             <text x=\"{across}\" y=\"{}\" text-anchor=\"middle\">{percent} %</text>",
            left - 6.0,
            up + 4.0,
            bottom + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<path d=\"M{left} {bottom}L{right} {top}\" stroke=\"var(--faint)\" stroke-dasharray=\"5 4\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">stated confidence</text>\
         <text x=\"{left}\" y=\"14\">share right</text>",
        x(0.5),
        bottom + 34.0
    );
}

/// One step of stated confidence with its interval.
fn dot(step: &ConfidenceStep, out: &mut String) {
    let (low, high) = step.share.interval();
    let (across, up, radius) =
        (x(step.mean()), y(step.share.value()), 3.0 + (step.share.of as f64).sqrt().min(9.0));
    // Beyond three quarters there is room on the left alone.
    let (label, anchor) = if step.mean() > 0.75 { (-radius - 4.0, "end") } else { (radius + 4.0, "start") };
    let _ = writeln!(
        out,
        "<path d=\"M{across:.1} {:.1}V{:.1}\" stroke=\"var(--mark)\" stroke-width=\"2\"/>\
         <circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"{radius:.1}\" fill=\"var(--mark)\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} of {}</text>",
        y(low),
        y(high),
        across + label,
        up + 4.0,
        step.share.right,
        step.share.of
    );
}

fn text(raw: &str) -> String {
    super::html::e(&harmless_line(raw))
}
