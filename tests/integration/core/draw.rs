//! Generators: definitions of up to four steps, and actions on a session.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::drive::SEATS;

/// Ids of the steps. The second one could be mistaken for the second round of the first.
const IDS: [&str; 4] = ["pick", "pick.2", "ok", "last"];
const OPTIONS: [&str; 3] = ["red", "green", "blue"];

#[derive(Debug, Clone)]
pub struct Drawn {
    pub text: String,
    pub max_iterations: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ballot {
    Vote(usize),
    Abstain,
    Invalid,
    Refuse,
    Fail,
}

/// Actions on a session; most of them are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Follow,
    Settle(usize, Ballot),
    /// An answer for a closed round or an unknown seat.
    Stray(usize, Ballot),
    /// A record sealed for one seat that names another.
    Swapped(usize),
    /// A record sealed under another round's key.
    WrongKey(usize),
    Excuse(usize),
    Close,
    CloseWithWrongKey,
    Tally,
    Start,
    OpenRound,
    AskPerson,
    Answer {
        yes: bool,
        choice: Option<usize>,
        stray: bool,
    },
    LoseKey,
    AskAgain,
    Finish,
    Pause,
    Resume,
    Stop,
    CloseSession,
    OpenAgain,
    /// A facilitator's order that answers nothing.
    Live(usize),
}

impl Arbitrary for Ballot {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        prop_oneof![
            6 => (0..3_usize).prop_map(Self::Vote),
            1 => Just(Self::Abstain),
            1 => Just(Self::Invalid),
            1 => Just(Self::Refuse),
            1 => Just(Self::Fail),
        ]
        .boxed()
    }
}

impl Arbitrary for Action {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        let seat = || 0..SEATS.len() + 1;
        let answer = (any::<bool>(), prop::option::of(0..4_usize), prop::bool::weighted(0.1))
            .prop_map(|(yes, choice, stray)| Self::Answer { yes, choice, stray });
        prop_oneof![
            30 => Just(Self::Follow),
            20 => (seat(), any::<Ballot>()).prop_map(|(seat, ballot)| Self::Settle(seat, ballot)),
            2 => (seat(), any::<Ballot>()).prop_map(|(seat, ballot)| Self::Stray(seat, ballot)),
            1 => seat().prop_map(Self::Swapped),
            1 => seat().prop_map(Self::WrongKey),
            2 => seat().prop_map(Self::Excuse),
            2 => Just(Self::Close),
            1 => Just(Self::CloseWithWrongKey),
            3 => Just(Self::Tally),
            2 => Just(Self::Start),
            2 => Just(Self::OpenRound),
            4 => Just(Self::AskPerson),
            5 => answer,
            2 => Just(Self::LoseKey),
            2 => Just(Self::AskAgain),
            3 => Just(Self::Finish),
            1 => Just(Self::Pause),
            2 => Just(Self::Resume),
            // A stop ends most other actions, so it is rare.
            1 => (0..10_u8).prop_map(|n| if n == 0 { Self::Stop } else { Self::Follow }),
            1 => Just(Self::CloseSession),
            1 => Just(Self::OpenAgain),
            6 => (0..11_usize).prop_map(Self::Live),
        ]
        .boxed()
    }
}

pub fn actions(most: usize) -> impl Strategy<Value = Vec<Action>> {
    prop::collection::vec(any::<Action>(), 0..most)
}

fn counted() -> impl Strategy<Value = Value> {
    let ties = prop_oneof![
        Just(json!("none")),
        Just(json!("ask")),
        any::<u32>().prop_map(|seed| json!({ "seeded": seed })),
    ];
    let rule = prop_oneof![Just("majority"), Just("plurality")];
    prop_oneof![
        1 => Just(json!({ "ballot": "position" })),
        1 => Just(json!({ "ballot": { "kind": "choice", "options": OPTIONS } })),
        2 => Just(json!({ "ballot": "consent", "rule": "consent" })),
        5 => (2..=3_usize, rule, ties).prop_map(|(options, rule, ties)| json!({
            "ballot": { "kind": "choice", "options": &OPTIONS[..options] }, "rule": rule, "ties": ties,
        })),
    ]
}

fn merged(parts: impl IntoIterator<Item = Value>) -> Value {
    let maps = parts.into_iter().filter_map(|part| match part {
        Value::Object(map) => Some(map),
        _ => None,
    });
    Value::Object(maps.flatten().collect())
}

/// Draws the keys of a round; with `all_seats` everyone takes part, and it closes when all are settled.
fn round(all_seats: bool) -> BoxedStrategy<Value> {
    let seats = prop_oneof![
        2 => Just(json!({})),
        1 => prop::sample::subsequence(SEATS.to_vec(), 2..=SEATS.len())
            .prop_map(|seats| json!({ "participants": seats })),
    ];
    let quorum = prop_oneof![
        3 => Just(json!({})),
        1 => (1..=2_u32).prop_map(|seats| json!({ "quorum": seats })),
        1 => (1..=100_u32).prop_map(|share| json!({ "quorum": format!("{share}%") })),
    ];
    let close = prop_oneof![
        3 => Just(json!({})),
        1 => Just(json!({ "close": "quorum" })),
        1 => Just(json!({ "close": "deadline", "deadline": "90s" })),
        1 => Just(json!({ "close": "manual" })),
    ];
    let base = json!({ "type": "round", "question": "Which colour?" });
    (counted(), seats, quorum, close)
        .prop_map(move |(counted, seats, quorum, close)| {
            let free = if all_seats { json!({}) } else { merged([seats, close]) };
            merged([base.clone(), counted, quorum, free])
        })
        .boxed()
}

fn routes(ids: Vec<&'static str>, approval: bool) -> BoxedStrategy<Value> {
    let to = move || prop::option::weighted(0.4, prop::sample::select(ids.clone()));
    (to(), to(), to(), to())
        .prop_map(move |(next, on_error, yes, no)| {
            let mut keys = vec![("next", next), ("on_error", on_error)];
            if approval {
                keys.extend([("on_approve", yes), ("on_reject", no)]);
            }
            keys.into_iter().filter_map(|(key, to)| Some((key.to_owned(), Value::from(to?)))).collect()
        })
        .boxed()
}

fn step(id: &'static str, all: Vec<&'static str>, routed: bool) -> BoxedStrategy<Value> {
    let approval = json!({ "type": "approval", "message": "Accept it?" });
    let own = prop_oneof![3 => round(false), 1 => Just(approval)];
    own.prop_flat_map(move |own| {
        let leads =
            if routed { routes(all.clone(), own["type"] == "approval") } else { Just(json!({})).boxed() };
        leads.prop_map(move |leads| merged([json!({ "id": id }), own.clone(), leads]))
    })
    .boxed()
}

fn whole(steps: &[Value], max_iterations: u32) -> Drawn {
    let seat = |name| json!({ "name": name, "persona": "painter", "weight": 1.5 });
    let text = json!({
        "goal": "Paint the shed", "participants": SEATS.map(seat), "max_iterations": max_iterations,
        "artifacts": [{ "id": "REQ-001", "summary": "The shed is green" }], "steps": steps,
    });
    Drawn { text: text.to_string(), max_iterations }
}

pub fn definition() -> impl Strategy<Value = Drawn> {
    (1..=IDS.len(), any::<bool>(), 1..12_u32).prop_flat_map(|(count, routed, max_iterations)| {
        let ids = IDS[..count].to_vec();
        let steps: Vec<_> = ids.iter().map(|id| step(id, ids.clone(), routed)).collect();
        steps.prop_map(move |steps| whole(&steps, max_iterations))
    })
}

/// Draws a definition of one round with all seats, which closes when all are settled.
pub fn one_round() -> impl Strategy<Value = Drawn> {
    round(true).prop_map(|round| whole(&[merged([json!({ "id": "pick" }), round])], 3))
}
