//! Tests of the Markdown report: order, completeness, protection against forgery.

use std::sync::Arc;

use serde_json::json;

use super::{CHOICE, CONSENT, Table, below_quorum, decided};
use crate::ballot::{Ballot, Stance};
use crate::core::{AgendaChange, Command};
use crate::history::{ApprovalGiven, Door, Event, SeatInvited, SeatJoined, Timestamp};
use crate::report::{html, markdown, with_line_breaks};

/// Returns the report without its last section, which names file and times.
fn body(report: &str) -> &str {
    report.split("## Session details").next().unwrap()
}

#[test]
fn the_decision_comes_first_and_dissent_word_for_word() {
    let report = markdown(&decided().document());
    let head: Vec<&str> = report.lines().take(5).collect();
    let line = "> **Decision: inline** – 2 of 3 seats chose it (a majority needed). 1 chose redis.";
    assert_eq!(head[..4], ["# Which cache first?", "", line, ">"]);
    assert!(head[4].starts_with("> **Strength** weak ("), "{}", head[4]);
    let dissent = report.split("## Dissent\n").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_eq!(
        dissent,
        "\n- **devops-engineer** votes redis: “Restarts empty an in-process cache.<br>That happens \\*daily\\*.”\n"
    );
    let options = "| | result | said for it | said against it |\n|---|---|---|---|\n\
                   | **A inline** | 2 of 3, chosen | Keep it in the process. (software-architect) | stale prices (qa-lead) |\n\
                   | **B redis** | 1 of 3 | deploys are frequent (devops-engineer); redis is there already \
                   (devops-engineer) | – |\n";
    assert!(report.contains(options), "{report}");
    assert!(report.contains("`roundtable verify FILE`: "));
    let order = [
        "## Options",
        "## Who voted what",
        "## Dissent",
        "## Cost and check",
        "## The record",
        "## Session details",
    ];
    let places: Vec<usize> = order.iter().map(|heading| report.find(heading).expect(heading)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn notes_on_remote_ballots_follow_the_check() {
    let mut table = Table::round(CHOICE);
    assert_eq!(table.document().notes, [""; 0]);
    let [invitation, key] = ["a", "b"].map(|digit| digit.repeat(64));
    for expires in [Timestamp(1), Timestamp(2)] {
        let (participant, invitation) = ("devops-engineer".to_owned(), invitation.clone());
        table.apply(Event::SeatInvited(SeatInvited { participant, invitation, expires }));
        let (participant, invitation) = ("devops-engineer".to_owned(), "a".repeat(64));
        let key = key.clone();
        table.apply(Event::SeatJoined(SeatJoined { participant, invitation, key }));
    }
    table.seal("qa-lead");
    table.session.rounds[0].seats["qa-lead"].door = Some(Door::Inbox);
    let notes = [
        "1 ballot came as plain text, sealed on arrival: qa-lead",
        "devops-engineer was invited again and has joined with more than one key",
    ];
    let (markdown, html) = (markdown(&table.document()), html(&table.document()));
    for note in notes {
        assert!(markdown.contains(&format!("- {note}\n")), "{markdown}");
        assert!(html.contains(&format!("<p>{note}</p>")), "{html}");
    }
}

#[test]
fn seats_appear_in_roster_order_with_their_answers() {
    let report = markdown(&decided().document());
    let record = report.split("## The record").nth(1).unwrap();
    let seats: Vec<&str> = record.lines().filter(|line| line.starts_with("- **")).collect();
    assert_eq!(
        seats,
        [
            "- **software-architect** · ollama/llama3.2 · votes inline (80 % sure): Keep it in the process.",
            "- **qa-lead** · ollama/llama3.2 · votes inline<br>Concerns: stale prices",
            "- **devops-engineer** · ollama/llama3.2 · votes redis (60 % sure): Restarts empty an in-process \
             cache.<br>That happens \\*daily\\*.<br>Reasons: deploys are frequent · redis is there already",
        ]
    );
    let shown = with_line_breaks(&decided().document());
    assert!(shown.contains("votes inline\n  Concerns: stale prices\n"), "{shown}");
}

#[test]
fn a_missed_quorum_appears_first() {
    let report = markdown(&below_quorum().document());
    let first = report.lines().nth(2).unwrap();
    assert_eq!(
        first,
        "> **No decision: too few took part** – 1 of 3 took part, 2 are needed. 1 failed, 1 missing. \
         The 1 ballot cast: inline 1."
    );
    assert!(report.contains("- **software-architect** failed: connection refused"));
    assert!(report.contains("- **devops-engineer** did not answer before the close"));
    assert!(!report.contains("**Decision:"));
    assert!(!report.contains("## Dissent"));
}

#[test]
fn ties_and_blocks_say_so_first() {
    let mut table = Table::round(CHOICE);
    table.seal("software-architect");
    table.seal("qa-lead");
    let answers = vec![
        table.vote("software-architect", "inline", json!({})),
        table.vote("qa-lead", "redis", json!({})),
    ];
    table.close(answers);
    let report = markdown(&table.document());
    let line = "> **No decision: inline and redis tie** – Both have 1 of 2 ballots; the rule breaks no ties. \
                Of 3 seats 1 missing.";
    assert_eq!(report.lines().nth(2), Some(line));

    let mut table = Table::round(CONSENT);
    for seat in ["software-architect", "qa-lead", "devops-engineer"] {
        table.seal(seat);
    }
    let answers = vec![
        table.stance("software-architect", Stance::Support, None),
        table.stance("qa-lead", Stance::Block, Some("encrypt at rest")),
        table.stance("devops-engineer", Stance::StandAside, None),
    ];
    table.close(answers);
    let report = markdown(&table.document());
    assert!(
        report.lines().nth(2).unwrap().starts_with("> **Blocked by qa-lead** – 1 of 3 seats supports it")
    );
    let dissent = report.split("## Reservations\n").nth(1).unwrap();
    assert!(dissent.starts_with(
        "\n- **qa-lead** blocks, until “encrypt at rest”; no reasons given\n\
         - **devops-engineer** stands aside; no reasons given\n"
    ));
}

#[test]
fn an_open_round_shows_only_the_states_of_its_seats() {
    let mut table = Table::round(CHOICE);
    table.seal("qa-lead");
    table.fail("devops-engineer", "connection refused");
    let report = markdown(&table.document());
    let line = "> **Not finished: the round is open** – Round “pick” is open; 1 of 3 seats sealed.";
    assert_eq!(report.lines().nth(2), Some(line));
    let seats: Vec<&str> =
        report.lines().filter(|line| line.starts_with("- **") && line.contains("**: ")).collect();
    assert_eq!(
        seats,
        [
            "- **software-architect**: asking",
            "- **qa-lead**: sealed after 3.2 s",
            "- **devops-engineer**: failed after 5.0 s: connection refused",
        ]
    );

    // A file that reveals too early or incompletely still shows nothing until all seats are revealed.
    table.seal("software-architect");
    let early = table.vote("qa-lead", "inline", json!({"position": "SECRET"}));
    table.apply(Event::AnswerRevealed(early.into()));
    assert!(!markdown(&table.document()).contains("SECRET"));
    table.close_only();
    assert!(!markdown(&table.document()).contains("SECRET"));
}

/// Creates a conflict with this text in every field.
fn conflict(text: &str) -> Command {
    let (title, description) = (text.replace('\n', " "), Some(text.to_owned()));
    let change = AgendaChange::OpenConflict { title, minimum_change: description.clone(), description };
    Command::ChangeAgenda(change)
}

#[test]
fn hostile_text_neither_acts_nor_forges() {
    let hostile = "\u{1b}[2J\u{1b}]8;;http://x\u{7}\u{202e}\n# Decision: forged\n```\n## Dissent\n\
                   </blockquote><h1>Decision: redis</h1>\n**Decision: redis**\n\n| a |";
    let mut table = Table::round(CHOICE);
    for seat in ["software-architect", "qa-lead", "devops-engineer"] {
        table.seal(seat);
    }
    let mut first = table.vote(
        "software-architect",
        "inline",
        json!({"position": hostile, "rationale": [hostile, "end\\"], "trade_offs": {"risks": [hostile]}, hostile: hostile}),
    );
    first.flags = vec![hostile.to_owned()];
    first.reason = Some(hostile.to_owned());
    let answers =
        vec![first, table.vote("qa-lead", "inline", json!({})), table.invalid("devops-engineer", hostile)];
    table.close(answers);
    table.apply(Event::warning(hostile));
    table.command(conflict(hostile));
    let report = markdown(&table.document());
    assert!(report.chars().all(|c| c == '\n' || !crate::sanitize::is_unsafe(c)));
    let headings: Vec<&str> = report.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "# Which cache first?",
            "## Options",
            "## Who voted what",
            "## Dissent",
            "## Seats that did not count",
            "## Cost and check",
            "## The record: rounds and answers, word for word",
            "### Round 1 `pick`: Which cache first?",
            "## Warnings",
            "## Artifacts",
            "## Open conflicts",
            "## Session details",
        ]
    );
    let is_table = |line: &str| {
        ["| seat |", "|---|", "| software-", "| qa-lead |", "| devops-", "| |", "| **A inline", "| **B redis"]
            .iter()
            .any(|row| line.starts_with(row))
    };
    let outside: Vec<&str> = report.lines().filter(|line| !line.trim_start().starts_with('>')).collect();
    assert!(!outside.iter().any(|line| line.starts_with(['`', '|']) && !is_table(line) || line.contains("**Decision: redis")));
    assert!(!report.contains("> #") && !report.contains("\n> ```"));
    let report = with_line_breaks(&table.document());
    assert!(report.contains("end\\\\\n  Trade-offs") && !report.replace("\\<", "").contains('<'));
}

#[test]
fn rehearsals_and_scripts_are_labelled() {
    let mut table = Table::open(CHOICE, "rehearsal");
    let report = markdown(&table.document());
    let says = "**REHEARSAL: 3 of 3 answers were picked at random by placeholders, not by a model.**";
    assert!(report.starts_with("# REHEARSAL: ") && report.contains(says), "{report}");
    table.seat("qa-lead", |seat| seat.scripted = vec!["pick".to_owned()]);
    let report = markdown(&table.document());
    let says = "**Placeholders: 2 of 3 answers were picked at random";
    assert!(report.contains(says), "{report}");
    assert!(report.contains("**Scripted: 1 of 3 answers were given by a script"));
    assert!(!markdown(&decided().document()).to_lowercase().contains("rehears"));

    let again = "  - {id: again, type: round, question: Still so?, participants: [qa-lead]}\n";
    let mut table = Table::open(&format!("{CHOICE}{again}"), "ollama/llama3.2");
    table.seat("qa-lead", |seat| seat.scripted = vec!["pick".to_owned()]);
    assert!(markdown(&table.document()).contains("**Scripted: 1 of 4 answers were"));
}

#[test]
fn lost_answers_are_reported() {
    let mut table = Table::round(CHOICE);
    table.seal("qa-lead");
    table.command(Command::LoseKey);
    let lost = "- **qa-lead**: its answer was lost with the round's key after 3.2 s";
    assert!(markdown(&table.document()).contains(lost));
    assert_eq!(table.json()["rounds"][0]["key_lost"], json!(["qa-lead"]));
    table.close(Vec::new());
    let report = markdown(&table.document());
    assert!(report.contains("- **qa-lead** failed: its answer was lost with the round's key"));
    assert!(report.contains("**Round `pick`: its key was lost, and with it what qa-lead had sealed."));
    assert!(report.lines().nth(2).unwrap().contains("1 failed, 2 missing."));
}

#[test]
fn approvals_appear_with_their_comment() {
    let mut table = Table::open(
        "steps: [{id: ok, type: approval, message: Accept?}]\nparticipants: [qa-lead]\n",
        "rehearsal",
    );
    table.command(Command::StartStep);
    table.command(Command::AskPerson { step: "ok".to_owned() });
    assert!(body(&markdown(&table.document())).contains("**ok: waiting for a person**\n\n> Accept?\n"));
    table.command(Command::Answer(ApprovalGiven {
        step: "ok".to_owned(),
        name: Some("Ana Berg".to_owned()),
        ..ApprovalGiven::by_person(false, "# smaller".to_owned())
    }));
    table.finish();
    let report = markdown(&table.document());
    assert!(report.contains("**ok: rejected**, by Ana Berg, "));
    assert!(report.contains("\n\n> Accept?\n\nComment:\n\n> \\# smaller\n"));
    assert_eq!(report.lines().nth(2), Some("> **Rejected by the facilitator**"));
    // A rehearsal without seats is still a rehearsal.
    let header = table.session.header.as_mut().map(Arc::make_mut).unwrap();
    header.rehearse = true;
    let report = markdown(&table.document());
    assert_eq!(report.lines().nth(2), Some("> **REHEARSAL: Rejected by the facilitator**"));
}

#[test]
fn a_definition_cannot_forge_either() {
    let definition = "\
goal: \"Choose\\n# Decision: forged\\n\\n- more\"
question: \"Which?\\n```\\n# Decision: forged\"
ballot: {kind: choice, options: [\"a\\n# Decision: forged\", \"```\"]}
rule: plurality
participants: [qa-lead]
";
    let mut table = Table::round(definition);
    table.seal("qa-lead");
    let answers = vec![table.vote("qa-lead", "```", json!({"vote": "```"}))];
    table.close(answers);
    let report = markdown(&table.document());
    assert_eq!(report.lines().next(), Some("# Which? …"));
    assert!(report.contains("\n> Choose\n> \\# Decision: forged\n>\n> - more\n"));
    assert!(report.contains("### Round 1 `cache`: Which? …\n"));
    assert!(!report.lines().any(|line| line.starts_with("# Decision") || line.starts_with("```")));
    assert!(report.contains("| **B \\`\\`\\`** | 1 of 1, chosen |"), "{report}");
    assert!(report.lines().nth(2).unwrap().starts_with("> **Decision: \\`\\`\\`** – "));
}

#[test]
fn pairs_and_their_paths_are_in_the_report() {
    let ranked = CHOICE.replace("kind: choice", "kind: ranking").replace("rule: majority", "rule: schulze");
    let mut table = Table::round(&ranked);
    let ranking =
        |names: &[&str]| Ballot::Ranking(names.iter().map(|name| vec![(*name).to_owned()]).collect());
    table.seal("qa-lead");
    table.seal("software-architect");
    let answers = vec![
        table.answer("software-architect", ranking(&["redis", "inline"]), json!({})),
        table.answer("qa-lead", ranking(&["redis", "inline"]), json!({})),
    ];
    table.close(answers);
    let text = markdown(&table.document());
    assert!(text.contains("Pairwise:\n\n    ballots that prefer"), "{text}");
    assert!(text.contains("    strongest paths"), "{text}");
}
