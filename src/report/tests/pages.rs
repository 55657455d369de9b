//! Tests of the first page: pauses, findings and open rounds.

use serde_json::{Value, json};

use super::Table;
use crate::ballot::{Ballot, Finding, Severity, Stance};
use crate::core::{Command, question_asked};
use crate::history::{RoundRevised, RoundRun};
use crate::report::{github, html, madr, markdown, sarif};

/// Returns the first page of each format for people: the part before the record.
fn first_pages(table: &Table) -> [String; 2] {
    let [text, page] = [markdown(&table.document()), html(&table.document())];
    let before = |text: &str, record: &str| text.split(record).next().unwrap_or_default().to_owned();
    [before(&text, "## The record"), before(&page, "The whole record")]
}

#[test]
fn a_pause_says_who_blocks_and_until_when() {
    let mut table = Table::round(
        "participants: [software-architect, qa-lead]\nsteps:\n\
         - {id: ask, type: round, question: Adopt it?, ballot: consent, rule: consent, on_undecided: amend}\n\
         - {id: amend, type: approval, message: Amend it?, on_approve: ask}\n",
    );
    for seat in ["software-architect", "qa-lead"] {
        table.seal(seat);
    }
    let answers = vec![
        table.stance("software-architect", Stance::Support, None),
        table.stance("qa-lead", Stance::Block, Some("encrypt at rest")),
    ];
    table.close(answers);
    table.command(Command::FinishStep { step: "ask".to_owned() });
    table.command(Command::StartStep);
    table.command(Command::AskPerson { step: "amend".to_owned() });
    for page in first_pages(&table) {
        assert!(page.contains("A person has to answer"), "{page}");
        assert!(page.contains("qa-lead blocks, until: encrypt at rest"), "{page}");
    }
    let value = table.json();
    assert_eq!(value["waiting"]["about"], json!(["qa-lead blocks, until: encrypt at rest"]));
}

fn finding(file: &str, line: u32, severity: Severity, claim: &str) -> Finding {
    let (file, lines) = (Some(file.to_owned()), Some((line, line)));
    Finding { file, lines, severity, claim: claim.to_owned(), evidence: None }
}

#[test]
fn findings_stand_in_groups_and_places_without_evidence_are_named() {
    let mut table = Table::round(
        "question: What is wrong?\nballot: findings\nparticipants: [software-architect, qa-lead]\n\
         artifacts: [{id: CHANGE, summary: c, relevant: true, content: \"+++ b/pay.py\\n@@ -0,0 +1,2 @@\\n+a\\n+b\\n\"}]\n",
    );
    for seat in ["software-architect", "qa-lead"] {
        table.seal(seat);
    }
    let twice = |claim: &str| finding("pay.py", 2, Severity::Critical, claim);
    let elsewhere = finding("config.py", 99, Severity::Low, "The key is logged.");
    let answers = vec![
        table.answer("software-architect", Ballot::Findings(vec![twice("It pays twice.")]), json!({})),
        table.answer("qa-lead", Ballot::Findings(vec![twice("It retries."), elsewhere]), json!({})),
    ];
    table.close(answers);
    table.finish();
    for page in first_pages(&table) {
        let plain = page.replace("<b>", "").replace("</b>", "").replace("**", "");
        for said in [
            "2 findings: 1 critical, 1 low",
            "critical pay.py:2 2 of 2: It pays twice (software-architect); It retries (qa-lead)",
            "low config.py:99 1 of 2: The key is logged (qa-lead)",
            "config.py:99 named by qa-lead",
        ] {
            assert!(plain.contains(said), "{said}: {plain}");
        }
        assert!(!plain.contains("pay.py:2 named by"), "what is in the evidence is not flagged");
    }
    // A severity has the same level in SARIF and in GitHub annotations.
    assert_eq!(
        serde_json::from_str::<Value>(&sarif(&table.document())).unwrap()["runs"][0]["results"][0]["level"],
        "error"
    );
    let annotations = github(&table.document());
    assert!(annotations.contains("::error title=critical%2C found by 2 of 2,file=pay.py"), "{annotations}");
    assert!(annotations.contains("::notice title=low%2C found by 1 of 2,file=config.py"), "{annotations}");
}

#[test]
fn an_open_question_shows_the_note_and_a_line_for_each_seat() {
    let mut table =
        Table::round("question: What risks?\nparticipants: [software-architect, qa-lead, skeptic]\n");
    for seat in ["software-architect", "qa-lead", "skeptic"] {
        table.seal(seat);
    }
    let answers = vec![
        table.answer("software-architect", Ballot::Position, json!({"position": "It grows without end."})),
        table.answer("qa-lead", Ballot::Position, json!({"position": "Nobody tests it."})),
        table.answer("skeptic", Ballot::Abstain, json!({"rationale": ["It is early."]})),
    ];
    table.close(answers);
    table.command(Command::RecordSynthesis { round: table.step(), text: "Both fear its size.".to_owned() });
    table.finish();
    for page in first_pages(&table) {
        for said in
            ["Both fear its size.", "It grows without end.", "Nobody tests it.", "abstained: It is early."]
        {
            assert!(page.contains(said), "{said}: {page}");
        }
    }
}

#[test]
fn a_proposal_that_was_amended_twice_is_one_decision_with_its_three_texts() {
    let mut table = Table::open(
        "participants: [software-architect, qa-lead]\nsteps:\n\
         - {id: ask, type: round, question: Deploy daily., ballot: consent, rule: consent, on_undecided: ask}\n",
        "lab/m",
    );
    for (text, change) in [
        ("Deploy daily.", Some("not on Fridays")),
        ("Deploy daily, but not on Fridays.", Some("and by day")),
        ("Deploy daily, but not on Fridays, and by day.", None),
    ] {
        table.command(Command::StartStep);
        let (step, form) =
            ("ask".to_owned(), format!("question: {text:?}\nballot: consent\nrule: consent\n"));
        table.command(Command::ReviseRound(RoundRevised {
            step,
            form,
            participants: None,
            models: indexmap::IndexMap::default(),
        }));
        table.command(Command::OpenRound { project_summary: None, seal: None });
        let stance = if change.is_some() { Stance::Block } else { Stance::Support };
        for seat in ["software-architect", "qa-lead"] {
            table.seal(seat);
        }
        let answers = vec![
            table.stance("software-architect", Stance::Support, None),
            table.stance("qa-lead", stance, change),
        ];
        table.close(answers);
        table.command(Command::FinishStep { step: "ask".to_owned() });
    }
    assert_eq!(table.document().decisions.len(), 1);
    let asked: Vec<&RoundRun> = table.session.rounds.iter().collect();
    assert_eq!(
        question_asked(&asked, asked[2]),
        "Deploy daily, but not on Fridays, and by day.",
        "what was adopted"
    );
    let record = madr(&table.document());
    assert!(record.contains("\n* Every participant of round 2 was handed the same snapshot, "), "{record}");
    for page in first_pages(&table) {
        for said in [
            "Adopted: nobody blocks",
            "How the proposal changed",
            "qa-lead blocked until",
            "not on Fridays",
            "and by day",
            "“daily.” became “daily, but not on Fridays.”",
            "“Fridays.” became “Fridays, and by day.”",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
    }
}

#[test]
fn three_hundred_seats_have_a_short_first_page_and_are_all_in_the_record() {
    let names: Vec<String> = (0..300).map(|at| format!("{{name: seat-{at}, prompt: Vote.}}")).collect();
    let definition = format!(
        "question: Which?\nballot: {{kind: choice, options: [a, b]}}\nrule: majority\nparticipants: [{}]\n",
        names.join(", ")
    );
    let mut table = Table::round(&definition);
    let seats: Vec<String> = (0..300).map(|at| format!("seat-{at}")).collect();
    for seat in &seats {
        table.seal(seat);
    }
    let vote = |(at, seat): (usize, &String)| {
        let option = if at % 3 == 0 { "b" } else { "a" };
        table.vote(seat, option, json!({"rationale": [format!("reason number {at} of this seat alone")]}))
    };
    let answers = seats.iter().enumerate().map(vote).collect();
    table.close(answers);
    table.finish();
    for page in first_pages(&table) {
        assert!(page.contains("200 of 300 seats chose it") && page.len() < 60_000, "{}", page.len());
    }
    let text = markdown(&table.document());
    assert!(
        seats.iter().all(|seat| text.contains(&format!("- **{seat}** ·"))),
        "every seat is in the record"
    );
}
