//! The page that carries its record: it steps through the session and checks itself, without a network.
//!
//! One static script, named by its hash in the policy, reads the embedded file and writes text alone. What a
//! page cannot prove of itself is said in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::markup::e;
use super::{body, head};
use crate::history::Session;
use crate::report::model::{Report, Source};

const SCRIPT: &str = include_str!("replay.js");

const STYLE: &str = ".replay{border:1px solid var(--line);border-radius:8px;padding:14px 18px;margin-top:32px}\
.rp-check{padding:7px 12px;border-radius:6px;font-weight:600;background:var(--soft)}\
.rp-check.ok{background:var(--tyes);color:var(--yes)}.rp-check.bad{background:var(--tno);color:var(--no)}\
.rp-q{font-weight:600;margin-top:12px}\
#rp-stage{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:8px;\
min-height:150px;align-items:start}\
#rp-stage li{border:1px solid var(--line);border-radius:7px;padding:8px 11px;font-size:14px;min-height:64px}\
#rp-stage li>b{display:block}#rp-stage p{margin:4px 0 0;font-size:13.5px;white-space:pre-line}\
#rp-stage .wait{color:var(--mut);border-style:dashed}#rp-stage .sealed{background:var(--soft)}\
#rp-stage .now{outline:3px solid var(--acc)}.rp-line{min-height:1.5em;margin-top:10px;font-size:15.5px}\
.rp-ctl{display:flex;flex-wrap:wrap;gap:8px;align-items:center}.rp-ctl input{flex:1 1 160px;accent-color:var(--acc)}\
.replay button{font:inherit;font-size:14px;padding:6px 12px;min-height:36px;border:1px solid var(--mut);\
border-radius:6px;background:var(--bg);color:var(--fg);cursor:pointer}\
.replay :focus-visible{outline:3px solid var(--acc)}@media print{.replay{display:none}}";

/// The report of a session with its file in it; `file` are the bytes of that file.
pub fn replay_html(session: &Session, source: &Source, file: &[u8]) -> String {
    let report = Report::new(session, source);
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let policy = format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'");
    let mut out = head(&report, &policy, STYLE);
    let text = String::from_utf8_lossy(file);
    // The end of a script element is the only thing that could end it.
    let record = serde_json::Value::from(text.as_ref()).to_string().replace('<', "\\u003c");
    let panel = panel(source, &record);
    body(&report, &panel, &mut out);
    let script = format!("<script>{SCRIPT}</script></body>");
    match out.rfind("</body>") {
        Some(at) => format!("{}{script}{}", &out[..at], &out[at + "</body>".len()..]),
        None => out,
    }
}

fn panel(source: &Source, record: &str) -> String {
    let (name, hash) = (e(source.name()), e(&source.last_hash));
    format!(
        "\n<section id=\"replay\" class=\"replay\" data-hash=\"{hash}\" hidden tabindex=\"0\" aria-label=\"Replay of the \
         session\"><h2>Replay <small>built from the record that this page carries</small></h2>\
         <p id=\"rp-check\" class=\"rp-check\" role=\"status\">Checking …</p>\
         <p class=\"cap\">This shows that the record is whole. To see that nobody rewrote record and page together, compare the last \
         hash with one kept elsewhere. To open the seals, run <code>roundtable verify {name}</code>. <button type=\"button\" id=\"rp-save\" data-name=\"{name}\">Save the record</button></p>\
         <p id=\"rp-q\" class=\"rp-q\"></p><ul id=\"rp-stage\"></ul>\
         <p class=\"rp-line\"><span id=\"rp-say\" aria-live=\"polite\"></span></p>\
         <div class=\"rp-ctl\"><button type=\"button\" id=\"rp-prev\" aria-label=\"One step back\">◀</button>\
         <button type=\"button\" id=\"rp-play\">▶ Play</button>\
         <button type=\"button\" id=\"rp-next\" aria-label=\"One step on\">▶</button>\
         <input type=\"range\" id=\"rp-at\" min=\"0\" value=\"0\" aria-label=\"Step\"><span id=\"rp-time\" class=\"n\"></span></div>\
         </section><noscript><p class=\"cap\">The replay needs a script; everything else on this page does not.</p></noscript>\
         <script type=\"application/json\" id=\"s2s\">{record}</script>"
    )
}
