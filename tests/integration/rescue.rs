//! Failed seats with a facilitator at the screen: the round waits, and the facilitator says how it goes on.

use roundtable::core::{Command, ExitCode};
use roundtable::engine::FacilitatorRequest;
use roundtable::history::{CloseReason, Event, LogEntry, PauseReason, SeatStatus, Session};
use roundtable::journal::Disk;

use crate::seats::{Place, seated, unreachable};

fn definition(more: &str) -> String {
    format!(
        "goal: \"Pick one\"\nparticipants: [ann, bob, cyd]\nsteps:\n  - {{id: pick, type: round, question: \"Which?\", \
         ballot: {{kind: choice, options: [alpha, beta]}}, rule: plurality{more}}}\n"
    )
}

/// Opens the round, does what `when_held` says once it waits, and accepts what was counted.
fn led<'a>(
    when_held: impl Fn() -> Vec<FacilitatorRequest> + Send + 'a,
) -> impl FnMut(&LogEntry, &Session) -> Vec<FacilitatorRequest> + Send + 'a {
    let mut is_asked = false;
    move |line, session| match &line.stamped.event {
        Event::StepStarted(_) => vec![FacilitatorRequest::OpenRound { seen: None }],
        Event::TallyMade(_) => vec![FacilitatorRequest::Accept],
        _ if session.round_on_hold().is_some() && !is_asked => {
            is_asked = true;
            when_held()
        }
        _ => Vec::new(),
    }
}

fn run(
    definition: &str,
    failed: &'static [&'static str],
    when_held: impl Fn() -> Vec<FacilitatorRequest> + Send,
) -> (Result<ExitCode, String>, Session, Vec<String>) {
    let dir = tempfile::tempdir().expect("a folder");
    let place = Place::new(Disk::default(), dir.path());
    let (ran, refused) = place.start_live(definition, &seated(failed, unreachable), &mut led(when_held));
    place.verify();
    (ran.done, place.session(), refused)
}

fn closed(session: &Session) -> CloseReason {
    session.rounds[0].closed.as_ref().expect("closed").reason
}

fn retry(seat: &str) -> FacilitatorRequest {
    let model = Some("quick/one".to_owned());
    FacilitatorRequest::Order(Command::Retry { participant: seat.to_owned(), model })
}

fn excuse(seat: &str) -> FacilitatorRequest {
    let (participant, reason) = (seat.to_owned(), "gone".to_owned());
    FacilitatorRequest::Order(Command::Excuse { participant, reason })
}

#[test]
fn a_round_waits_for_a_failed_seat_until_it_is_asked_again() {
    for close in ["", ", close: quorum, quorum: 3"] {
        let (done, session, refused) = run(&definition(close), &["cyd"], || vec![retry("cyd")]);
        assert_eq!((done, refused), (Ok(ExitCode::Finished), vec![]), "{close}");
        let round = &session.rounds[0];
        let SeatStatus::Revealed(answer, _) = &round.seats["cyd"].status else { panic!("no answer") };
        assert_eq!((answer.record.model.as_str(), round.seats["cyd"].retried), ("quick/one", 1));
    }
}

#[test]
fn a_failed_seat_is_gone_on_without() {
    let (done, session, refused) = run(&definition(""), &["cyd"], || vec![excuse("ann"), excuse("cyd")]);
    assert_eq!((done, closed(&session)), (Ok(ExitCode::Undecided), CloseReason::All));
    assert_eq!(refused, ["`ann` is settled already"]);
    assert!(matches!(session.rounds[0].seats["cyd"].status, SeatStatus::Excused(_)));
}

#[test]
fn a_held_round_closes_by_order_and_at_its_deadline() {
    let (_, session, _) = run(&definition(""), &["cyd"], || vec![FacilitatorRequest::CloseRound]);
    assert_eq!(closed(&session), CloseReason::Facilitator);
    let (done, session, _) = run(&definition(", deadline: 30s"), &["cyd"], Vec::new);
    assert_eq!((done, closed(&session)), (Ok(ExitCode::Undecided), CloseReason::Deadline));
}

/// With `close: manual` it waits even where nobody failed; with `close: quorum` the quorum goes first.
#[test]
fn the_close_policy_says_what_is_waited_for() {
    let (_, session, _) = run(&definition(", close: manual"), &[], || vec![FacilitatorRequest::CloseRound]);
    assert_eq!((closed(&session), session.rounds[0].sealed()), (CloseReason::Facilitator, 3));
    let (_, session, _) = run(&definition(", close: quorum, quorum: 2"), &["ann"], || panic!("it waits"));
    assert_ne!(closed(&session), CloseReason::Facilitator);
}

/// Whoever resumes a round that waits has the failed seats asked again.
#[test]
fn leaving_and_resuming_asks_the_failed_seats_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = Place::new(Disk::default(), dir.path());
    let mut screen = led(|| vec![FacilitatorRequest::Leave { reason: PauseReason::Left }]);
    let text = definition("");
    let (ran, _) = place.start_live(&text, &seated(&["bob", "cyd"], unreachable), &mut screen);
    assert_eq!(ran.done, Ok(ExitCode::Waiting));
    let session = place.session();
    assert_eq!(session.paused.as_ref().map(|(_, reason)| reason), Some(&PauseReason::Left));
    let ran = place.go_on(false);
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    assert_eq!(place.session().rounds[0].sealed(), 3);
    place.verify();
}
