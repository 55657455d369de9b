//! Live sessions: the engine waits for orders, executes them, and records each.
//!
//! A round with failed seats waits, too.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::FutureExt as _;
use roundtable::core::{Command, ExitCode, ReplyLimits, decide};
use roundtable::engine::{Budget, FacilitatorRequest, WaitPoint, current_wait_point};
use roundtable::history::{
    ApprovalGiven, CloseReason, Event, LogEntry, PauseReason, Price, RoundRevised, SeatStatus, Session,
    Timestamp,
};

use crate::patience::{PATIENCE, wait_for};
use crate::seats::{Clock, Place, newcomer, said, seated, slow, unreachable};

const ONE: &str = "\
goal: \"Pick one\"
participants: [ann, bob, cyd]
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality, deadline: 30s}
";

/// Returns the definition with these keys instead of its deadline.
fn one(keys: &str) -> String {
    ONE.replace(", deadline: 30s", keys)
}

fn seen(session: &Session) -> FacilitatorRequest {
    let events = decide(session, Command::OpenRound { project_summary: None, seal: None }, Timestamp(0))
        .expect("a draft");
    let Event::RoundOpened(opened) = &events[0] else { panic!("no round") };
    FacilitatorRequest::OpenRound { seen: Some(opened.snapshot_sha256.clone()) }
}

/// Gives the next orders at each new wait point; `during` gives orders for each event.
fn at_holds<'a>(
    plan: Vec<fn(&Session) -> Vec<FacilitatorRequest>>,
    during: impl Fn(&LogEntry) -> Vec<FacilitatorRequest> + 'a,
) -> impl FnMut(&LogEntry, &Session) -> Vec<FacilitatorRequest> + 'a {
    let (mut plan, mut last) = (VecDeque::from(plan), None::<WaitPoint>);
    move |line, session| {
        let mut orders = during(line);
        let now = current_wait_point(session);
        if now.is_some() && last != now {
            orders.extend(plan.pop_front().map(|next| next(session)).unwrap_or_default());
        }
        last = now;
        orders
    }
}

/// Opens the round, accepts its result, and gives these orders in between.
fn accepting<'a>(
    during: impl Fn(&LogEntry) -> Vec<FacilitatorRequest> + 'a,
) -> impl FnMut(&LogEntry, &Session) -> Vec<FacilitatorRequest> + 'a {
    at_holds(vec![|session| vec![seen(session)], |_| vec![FacilitatorRequest::Accept]], during)
}

fn is_sealed(line: &LogEntry, seat: &str) -> bool {
    matches!(&line.stamped.event, Event::BallotSealed(sealed) if sealed.participant == seat)
}

fn retry(seat: &str, model: Option<&str>) -> FacilitatorRequest {
    let (participant, model) = (seat.to_owned(), model.map(str::to_owned));
    FacilitatorRequest::Order(Command::Retry { participant, model })
}

fn more_time(more_ms: u64) -> FacilitatorRequest {
    FacilitatorRequest::Order(Command::ExtendDeadline { more_ms })
}

fn excuse(seat: &str, reason: &str) -> FacilitatorRequest {
    let (participant, reason) = (seat.to_owned(), reason.to_owned());
    FacilitatorRequest::Order(Command::Excuse { participant, reason })
}

/// Returns an opening of an unseen draft, an empty revision, and a valid one.
fn revisions() -> Vec<FacilitatorRequest> {
    let form =
        "question: \"Which, really?\"\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n";
    let revised = RoundRevised {
        step: "pick".to_owned(),
        form: form.to_owned(),
        participants: Some(vec!["ann".to_owned(), "cyd".to_owned()]),
        ..RoundRevised::default()
    };
    let nonsense = RoundRevised { form: "question: [".to_owned(), ..revised.clone() };
    vec![
        FacilitatorRequest::OpenRound { seen: Some("0".repeat(64)) },
        FacilitatorRequest::Order(Command::ReviseRound(nonsense)),
        FacilitatorRequest::Order(Command::ReviseRound(revised)),
    ]
}

#[test]
fn a_round_waits_is_revised_repeated_and_accepted() {
    let place = Place::fresh();
    let artifact = || serde_json::from_str(r#"{"id": "REQ-1", "title": "No new server"}"#).expect("a map");
    let mut screen = at_holds(
        vec![
            |_| revisions(),
            |session| {
                let (round, text) = ("pick".to_owned(), "Split so far.".to_owned());
                let note = FacilitatorRequest::Order(Command::RecordSynthesis { round, text });
                assert_eq!(current_wait_point(session), Some(WaitPoint::Counted));
                vec![more_time(1000), note, FacilitatorRequest::Order(Command::AskRoundAgain)]
            },
            |session| vec![seen(session)],
            |_| vec![FacilitatorRequest::Accept],
        ],
        |line| match &line.stamped.event {
            Event::RoundRevised(_) => {
                let (artifact, by) = (artifact(), "facilitator".to_owned());
                vec![FacilitatorRequest::Order(Command::RecordArtifact { artifact, by })]
            }
            _ => vec![],
        },
    );
    // The first round is opened once the artifact is recorded.
    let mut screen = |line: &LogEntry, session: &Session| {
        let mut orders = screen(line, session);
        if matches!(line.stamped.event, Event::ArtifactRecorded(_)) {
            orders.push(seen(session));
        }
        orders
    };
    let (ran, refused) = place.start_live(ONE, &|table| table, &mut screen);
    assert_eq!(ran.done, Ok(ExitCode::Finished), "{refused:?}");
    let [unseen, _, late] = &refused[..] else { panic!("{refused:?}") };
    assert!(unseen.contains("review the snapshot again") && late.contains("no round is open"), "{refused:?}");
    let session = place.session();
    let [first, second] = session.rounds.as_slice() else { panic!("two rounds") };
    assert_eq!([&*first.opened.round, &*second.opened.round], ["pick", "pick.2"]);
    assert_eq!(first.opened.question, "Which, really?");
    assert_eq!(first.seats.keys().collect::<Vec<_>>(), ["ann", "cyd"]);
    let [before, after] = [&first.opened.snapshot, &second.opened.snapshot];
    assert!(before.contains("REQ-1") && !before.contains("synthesis"), "{before}");
    assert!(after.contains("synthesis: \"Split so far.\""), "{after}");
    let accepted = session.approval_of(Some(second)).expect("on record");
    assert_eq!((&*accepted.given.by, accepted.given.approved), ("facilitator", true));
    place.verify();
}

#[test]
fn a_strategy_is_left_after_its_first_round() {
    // The steps of a discussion, without anything that is drawn.
    let definition = ONE.replace("pick,", "talk-vote, output: talk, next: talk-more,")
        + "  - {id: talk-more, type: round, question: Again?, next: talk-done}\n  \
           - {id: talk-done, type: condition, condition: \"context.talk.outcome === 'decided'\"}\n";
    fn leaves(then: FacilitatorRequest) -> Vec<FacilitatorRequest> {
        let yes = ApprovalGiven::yes("talk-vote", "facilitator");
        let leave = Command::Answer(ApprovalGiven { choice: Some("leave".to_owned()), ..yes });
        let leave = FacilitatorRequest::Order(leave);
        vec![leave.clone(), leave, then]
    }
    // To ask again stays; then it can be left once more.
    let again = |_: &_| leaves(FacilitatorRequest::Order(Command::AskRoundAgain));
    let opens = |session: &_| vec![seen(session)];
    let place = Place::fresh();
    let plan: Vec<fn(&Session) -> _> = vec![opens, again, opens, |_| leaves(FacilitatorRequest::Accept)];
    let (ran, refused) = place.start_live(&definition, &|table| table, &mut at_holds(plan, |_| vec![]));
    assert_eq!((ran.done, refused.len()), (Ok(ExitCode::Finished), 2), "only once: {refused:?}");
    let session = place.session();
    assert_eq!((session.rounds.len(), &*session.approvals[1].message), (2, "Leave the strategy here?"));
    assert_eq!(session.results["talk-done"].data["result"], true);
    assert!(session.approval_of(Some(&session.rounds[1])).is_none(), "it adopts nothing");
    place.verify();
}

#[test]
fn an_open_round_is_extended_a_seat_is_excused_and_it_is_closed_by_order() {
    let place = Place::fresh();
    let mut screen = accepting(|line| match &line.stamped.event {
        Event::BallotSealed(_) => {
            vec![
                more_time(60_000),
                excuse("bob", "on a train"),
                excuse("bob", "twice"),
                FacilitatorRequest::Accept,
            ]
        }
        Event::SeatExcused { .. } => vec![FacilitatorRequest::CloseRound],
        _ => vec![],
    });
    let (ran, refused) = place.start_live(ONE, &seated(&["bob", "cyd"], slow), &mut screen);
    assert_eq!(ran.done, Ok(ExitCode::Undecided), "one of three is no quorum");
    assert_eq!(refused, ["`bob` is settled already", "there is nothing to accept now"]);
    let session = place.session();
    let round = &session.rounds[0];
    assert_eq!(round.deadline_ms, Some(90_000));
    assert_eq!(round.opened.deadline_ms, Some(30_000));
    assert_eq!(round.closed.as_ref().expect("closed").reason, CloseReason::Facilitator);
    assert!(matches!(&round.seats["bob"].status, SeatStatus::Excused(why) if why == "on a train"));
    assert!(matches!(round.seats["cyd"].status, SeatStatus::Missing));
    place.verify();
}

#[test]
fn more_time_moves_the_deadline_that_closes_the_round() {
    let place = Place::fresh();
    let start = std::time::Instant::now();
    let mut screen = at_holds(
        vec![|session| vec![seen(session)], |_| {
            vec![FacilitatorRequest::Leave { reason: PauseReason::Left }]
        }],
        |line| Vec::from_iter(is_sealed(line, "ann").then_some(more_time(4_000_000))),
    );
    let (ran, refused) = place.start_live(ONE, &seated(&["bob", "cyd"], slow), &mut screen);
    assert!(refused.is_empty() && start.elapsed() < PATIENCE, "{refused:?}");
    assert_eq!(ran.done, Ok(ExitCode::Waiting));
    let session = place.session();
    let round = &session.rounds[0];
    // An hour is within the new deadline and far beyond the old one, so everybody answered.
    assert_eq!(round.closed.as_ref().expect("closed").reason, CloseReason::All);
    assert_eq!(round.sealed(), 3);
    assert!(session.paused.is_some() && session.step.is_some(), "it rests before what was not accepted");
    place.verify();
}

/// A failed seat and a hanging one get another model; a sealed seat does not change.
#[test]
fn a_seat_can_be_retried_until_it_is_sealed() {
    let place = Place::fresh();
    let mut screen = accepting(|line| {
        let orders = match () {
            () if is_sealed(line, "ann") => {
                &[("ann", "quick/one"), ("eve", ""), ("bob", "nobody/here"), ("bob", "quick/one")][..]
            }
            () if is_sealed(line, "bob") => &[("cyd", ""), ("cyd", "quick/two")],
            () => &[],
        };
        let order =
            |(seat, model): &(&str, &str)| retry(seat, Some(*model).filter(|model| !model.is_empty()));
        orders.iter().map(order).collect()
    });
    let (bob, cyd) = (seated(&["bob"], unreachable), seated(&["cyd"], slow));
    let table = |table| cyd(bob(table));
    let (ran, refused) = place.start_live(ONE, &table, &mut screen);
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let wanted = "seat `ann` is already sealed; `eve` has no seat in round `pick`; unknown provider `nobody`";
    assert_eq!(refused.join("; "), wanted);
    let session = place.session();
    let round = &session.rounds[0];
    assert_eq!(round.closed.as_ref().expect("closed").reason, CloseReason::All);
    assert_eq!(round.tally.as_ref().expect("a tally").answered, 3);
    let model = |seat: &str| match &round.seats[seat].status {
        SeatStatus::Revealed(answer, _) => answer.record.model.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((model("bob").as_str(), model("cyd").as_str()), ("quick/one", "quick/two"));
    assert_eq!(session.roster["cyd"].model, "quick/two", "it stays for later rounds");
    assert_eq!((round.seats["ann"].retried, round.seats["cyd"].retried), (0, 2));
    place.verify();
}

/// The old model answers before its request can be cancelled.
#[test]
fn a_reply_that_arrives_during_a_retry_is_dropped() {
    let place = Place { clock: Clock::Real, ..Place::fresh() };
    let told = Arc::new(tokio::sync::Notify::new());
    let late = Arc::clone(&told);
    let table = seated(&["cyd"], move |ask| {
        let late = Arc::clone(&late);
        async move {
            late.notified().await;
            Ok(said(&ask))
        }
        .boxed()
    });
    let seating = |model: &str| {
        told.notify_one();
        // The request is dropped when the answer is sealed.
        wait_for("the seal", || (Arc::strong_count(&told) <= 2).then_some(()));
        newcomer(model)
    };
    let mut screen =
        accepting(|line| Vec::from_iter(is_sealed(line, "ann").then(|| retry("cyd", Some("quick/one")))));
    let (ran, refused) = place.start_live_with(ONE, &table, &mut screen, Box::new(seating));
    assert_eq!((ran.done, refused), (Ok(ExitCode::Finished), vec![]));
    let session = place.session();
    let SeatStatus::Revealed(answer, _) = &session.rounds[0].seats["cyd"].status else { panic!("no answer") };
    assert_eq!(answer.record.model, "quick/one");
    place.verify();
}

/// The round may cost $6 with one re-ask of each seat; the retry may cost another $2.
#[test]
fn a_seat_is_retried_only_within_the_cost_limit() {
    for (limit, is_paid) in [(7.99, false), (8.0, true)] {
        let price = Price { output: 1000.0, ..Price::default() };
        let prices = [("test/test".to_owned(), price)].into();
        let budget = Some(Budget::new(limit, prices, ReplyLimits { usual: 1000, ..ReplyLimits::default() }));
        let place = Place { budget, ..Place::fresh() };
        let mut screen = accepting(|line| Vec::from_iter(is_sealed(line, "ann").then(|| retry("cyd", None))));
        let (ran, refused) = place.start_live(ONE, &seated(&["cyd"], slow), &mut screen);
        assert!(ran.done.is_ok(), "{:?}", ran.done);
        assert_eq!(place.session().rounds[0].seats["cyd"].retried, u32::from(is_paid));
        assert_eq!(refused.is_empty(), is_paid, "{refused:?}");
        assert!(refused.iter().all(|why| why.starts_with("asking again could cost $2.0000")), "{refused:?}");
    }
}

/// Opens the round, gives the orders of `when_held` once it waits, and accepts the tally.
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
    let place = Place::fresh();
    let (ran, refused) = place.start_live(definition, &seated(failed, unreachable), &mut led(when_held));
    place.verify();
    (ran.done, place.session(), refused)
}

fn closed(session: &Session) -> CloseReason {
    session.rounds[0].closed.as_ref().expect("closed").reason
}

#[test]
fn a_round_waits_for_a_failed_seat_until_its_retry() {
    for close in ["", ", close: quorum, quorum: 3"] {
        let (done, session, refused) = run(&one(close), &["cyd"], || vec![retry("cyd", Some("quick/one"))]);
        assert_eq!((done, refused), (Ok(ExitCode::Finished), vec![]), "{close}");
        let round = &session.rounds[0];
        let SeatStatus::Revealed(answer, _) = &round.seats["cyd"].status else { panic!("no answer") };
        assert_eq!((answer.record.model.as_str(), round.seats["cyd"].retried), ("quick/one", 1));
    }
}

#[test]
fn a_waiting_round_closes_by_order_at_its_deadline_and_as_its_policy_says() {
    let (done, session, refused) =
        run(&one(""), &["cyd"], || vec![excuse("ann", "gone"), excuse("cyd", "gone")]);
    assert_eq!((done, closed(&session)), (Ok(ExitCode::Undecided), CloseReason::All));
    assert_eq!(refused, ["`ann` is settled already"]);
    assert!(matches!(session.rounds[0].seats["cyd"].status, SeatStatus::Excused(_)));
    let (_, session, _) = run(&one(""), &["cyd"], || vec![FacilitatorRequest::CloseRound]);
    assert_eq!(closed(&session), CloseReason::Facilitator);
    let (done, session, _) = run(&one(", deadline: 30s"), &["cyd"], Vec::new);
    assert_eq!((done, closed(&session)), (Ok(ExitCode::Undecided), CloseReason::Deadline));
    // `close: manual` waits even without failures; `close: quorum` closes at the quorum.
    let (_, session, _) = run(&one(", close: manual"), &[], || vec![FacilitatorRequest::CloseRound]);
    assert_eq!((closed(&session), session.rounds[0].sealed()), (CloseReason::Facilitator, 3));
    let (_, session, _) = run(&one(", close: quorum, quorum: 2"), &["ann"], || panic!("it waits"));
    assert_ne!(closed(&session), CloseReason::Facilitator);
}

/// Resuming a round that waits retries the failed seats.
#[test]
fn leaving_and_resuming_asks_the_failed_seats_again() {
    let place = Place::fresh();
    let mut screen = led(|| vec![FacilitatorRequest::Leave { reason: PauseReason::Left }]);
    let text = one("");
    let (ran, _) = place.start_live(&text, &seated(&["bob", "cyd"], unreachable), &mut screen);
    assert_eq!(ran.done, Ok(ExitCode::Waiting));
    let session = place.session();
    assert_eq!(session.paused.as_ref().map(|(_, reason)| reason), Some(&PauseReason::Left));
    let ran = place.resume(false);
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    assert_eq!(place.session().rounds[0].sealed(), 3);
    place.verify();
}
