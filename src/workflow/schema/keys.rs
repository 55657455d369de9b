//! The keys of every mapping of a definition: what may stand under each, and what it is for.
//!
//! One table a mapping. It says nothing of how a schema is written.

use crate::ballot::BallotKind;
use crate::tally::Rule;

/// What may stand under a key.
pub(super) enum KeyType {
    Text,
    Texts,
    Any,
    Flag,
    /// A whole number from this on.
    Count(u64),
    Positive,
    Number,
    Duration,
    Values,
    Words(&'static [&'static str]),
    Choices(fn() -> Vec<&'static str>),
    Is(&'static str),
    ListOf(&'static str),
    Either(&'static [KeyType]),
}

use KeyType::{
    Any, Choices, Count, Duration, Either, Flag, Is, ListOf, Number, Positive, Text, Texts, Values, Words,
};

/// A key, what may stand under it, and what it is for.
pub(super) type KeySpec = (&'static str, KeyType, &'static str);

pub(super) const WORKING: [KeySpec; 24] = [
    ("id", Text, "The session's id; the file's name when absent"),
    ("description", Text, "A line about it"),
    ("goal", Text, "What the session is for"),
    ("constraints", Texts, "What any outcome must respect"),
    ("project_summary", Text, "The project in a few lines; .s2s/CONTEXT.md when absent"),
    ("input", Any, "The session's input; the goal when absent"),
    (
        "participants",
        Either(&[Words(&["all"]), ListOf("participant")]),
        "Who takes part, in the order of reveal",
    ),
    ("facilitator_directive", Text, "A line for every participant, after its role"),
    ("artifacts", Either(&[Words(&["all"]), ListOf("artifact")]), "Numbered material"),
    ("agenda", ListOf("agenda_item"), "What is to be discussed"),
    ("tasks", ListOf("task"), "The tracker's tasks"),
    ("tracker", Is("tracker"), "Where the tracker's tasks are kept, in place of `tasks`"),
    ("links", ListOf("link"), "What is linked to what"),
    ("reports", ListOf("report"), "What agents have reported"),
    ("open_conflicts", Values, "Disagreements still open"),
    ("open_questions", Values, "Questions still open"),
    ("budget", Positive, "The most money the session may cost, in US dollars"),
    ("context", Is("context"), "What a round's snapshot recalls of what was before"),
    (
        "leaks",
        Words(&["off", "flag", "mask", "refuse"]),
        "What to do with identity leaks in answers shown to later steps",
    ),
    ("pseudonyms", Either(&[Flag, Is("pseudonyms")]), "Whether later rounds see pseudonyms only"),
    ("completeness", COMPLETENESS, "Completeness check of steps that set none"),
    ("max_iterations", Count(1), "How many steps may run in all, loops included; 100 when absent"),
    ("max_duration_ms", Count(1), "How long the session may take, in milliseconds"),
    ("steps", ListOf("step"), "What is done, in this order or as the routes say"),
];
pub(super) const IDLE: [KeySpec; 4] = [
    ("facilitator", Any, "Who facilitates"),
    (
        "warm_first",
        Words(&["auto", "on", "off"]),
        "Whether one seat of each model is sent ahead: auto, on or off",
    ),
    (
        "structured",
        Words(&["auto", "off"]),
        "Whether services that take one are given the ballot form as a JSON Schema: auto or off",
    ),
    ("$schema", Text, "This schema's place, for editors"),
];
const COMPLETENESS: KeyType = Words(&["strict", "warn", "off", "refuse"]);
pub(super) const EVERY_STEP: [KeySpec; 9] = [
    ("id", Text, "The step's id, unique in the file"),
    ("type", Choices(step_types), "What the step does"),
    ("description", Text, "A line about it"),
    ("label", Text, "The stage's name"),
    ("next", Text, "The step that follows a success"),
    ("on_error", Text, "The step that follows a failure"),
    ("max_runs", Count(1), "How often it may run"),
    (
        "on_exhausted",
        Text,
        "The step that stands in when it has run that often; the facilitator is asked when absent",
    ),
    ("output", Text, "The key its result is stored under; its id when absent"),
];
pub(super) const HAND_OVER: [KeySpec; 9] = [
    (
        "brief",
        Words(&["full", "none"]),
        "Whether goal, constraints, stage and earlier artifacts go before the prompt",
    ),
    ("task", Text, "The task it works on"),
    ("requires", Texts, "What must be there before anything is handed over"),
    (
        "completeness",
        COMPLETENESS,
        "How what is asked is checked against what is handed over; warn when absent",
    ),
    ("max_retries", Count(0), "How often a failed try is repeated"),
    ("retry_delay_ms", Count(0), "How long to wait between tries, in milliseconds"),
    ("timeout_ms", Count(1), "How long one try may take, in milliseconds"),
    ("facilitator_directive", Text, "A line for whoever is asked in this step"),
    ("min_success", Count(0), "How many of the steps must succeed"),
];
pub(super) const PROMPT: KeySpec = ("prompt", Text, "A Handlebars template of what is asked");
pub(super) const AGENT: [KeySpec; 4] = [
    ("agent", Text, "A participant's or a persona's name"),
    PROMPT,
    ("output_schema", Any, "A JSON Schema the answer must fit"),
    ("expected_output", Either(&[Text, Is("expected_output")]), "What the answer should be like"),
];
pub(super) const ROUND: [KeySpec; 15] = [
    ("question", Text, "What is asked"),
    ("exploration", Text, "Background to the question"),
    ("context", Is("context"), "What its snapshot recalls of what was before, where that is its own"),
    (
        "ballot",
        Either(&[Choices(ballot_kinds), Is("ballot")]),
        "The form of an answer; an open question when absent",
    ),
    (
        "rule",
        Either(&[Choices(Rule::names), Is("rule")]),
        "How ballots are counted; without one nothing is decided",
    ),
    ("ties", Either(&[Words(&["none", "ask"]), Is("ties")]), "What happens when options are level"),
    ("quorum", Either(&[Count(1), Text]), "How many seats make a decision, or a share such as 60%"),
    (
        "quorum_ballots",
        Either(&[Count(1), Text]),
        "How many valid ballots, abstentions not among them, make a decision; a share is of the seats",
    ),
    (
        "act_at",
        Words(&["weak", "strong", "unanimous"]),
        "How strong a result must be to be a decision; any when absent",
    ),
    ("close", Words(&["all", "quorum", "deadline", "manual"]), "When the round closes"),
    ("deadline", Duration, "How long it may stay open, such as 90s"),
    (
        "on_failed",
        Words(&["stop", "close"]),
        "What a round without a facilitator does when failed seats keep it below its quorum: stop, to be resumed, or close all the same",
    ),
    ("on_undecided", Text, "The step that follows a round that took place and did not decide"),
    ("participants", Either(&[Words(&["all"]), Texts]), "Who is asked; all when absent"),
    ("artifacts", Either(&[Words(&["all"]), Texts]), "What they are shown; all when absent"),
];
pub(super) const PARALLEL: [KeySpec; 1] = [("steps", ListOf("step"), "What is done at once")];
pub(super) const TRANSFORM: [KeySpec; 1] =
    [("transform", Text, "A path such as context.plan.files, or JSONPath")];
pub(super) const CONDITION: [KeySpec; 3] = [
    ("condition", Text, "Such as context.tests.success === true"),
    ("then", Text, "The step that follows when it holds"),
    ("else", Text, "The step that follows when it does not"),
];
pub(super) const APPROVAL: [KeySpec; 3] = [
    ("message", Text, "What the facilitator is asked"),
    ("on_approve", Text, "The step that follows a yes"),
    ("on_reject", Text, "The step that follows a no"),
];
pub(super) const REVIEW: [KeySpec; 6] = [
    ("of", Text, "What is reviewed: an agent's or a round's step, a parallel of them, or an artifact's id"),
    ("reviewers", Either(&[Words(&["all"]), Texts]), "Who reviews; never the author"),
    ("criteria", Texts, "What the reviewers look at"),
    PROMPT,
    ("on_reject", Text, "The step that follows when reviewers did not approve"),
    (
        "reject_when",
        Words(&["any", "majority", "all"]),
        "How many of their verdicts must be against it; any when absent",
    ),
];

pub(super) const ASKING: [&str; 8] = [
    "brief",
    "task",
    "requires",
    "completeness",
    "max_retries",
    "retry_delay_ms",
    "timeout_ms",
    "facilitator_directive",
];

/// A type of step: its own keys, those that must be there, and what it takes of a work item.
pub(super) type StepKeys =
    (&'static str, &'static [KeySpec], &'static [&'static str], &'static [&'static str]);

pub(super) const STEPS: [StepKeys; 7] = [
    ("agent", &AGENT, &["agent"], &ASKING),
    (
        "round",
        &ROUND,
        &["question"],
        &["task", "requires", "completeness", "timeout_ms", "facilitator_directive"],
    ),
    ("parallel", &PARALLEL, &["steps"], &["min_success"]),
    ("transform", &TRANSFORM, &["transform"], &[]),
    ("condition", &CONDITION, &["condition"], &[]),
    ("approval", &APPROVAL, &["message"], &[]),
    ("review", &REVIEW, &["of", "criteria"], &ASKING),
];

/// The mappings inside others: their keys, and those that must be there.
pub(super) const INNER: [(&str, &[KeySpec], &[&str]); 15] = [
    (
        "participant_map",
        &[
            ("persona", Text, "The persona it takes"),
            ("name", Text, "The seat's name; the persona's when absent"),
            ("prompt", Text, "Its own text, in place of a persona's"),
            ("model", Text, "provider/model"),
            ("weight", Positive, "What its ballot weighs"),
            (
                "seed",
                Count(0),
                "The first seat's, one more for each further; passed on to providers that take one",
            ),
            (
                "temperature",
                Either(&[Number, Values, Is("temperature")]),
                "From 0 to 2: of every seat, dealt from a list, or spread; passed on to providers that take one",
            ),
            ("count", Count(1), "How many seats it takes; of a grid, each persona with each model"),
            ("grid", Is("grid"), "Seats every persona with every model"),
            ("skills", Texts, "What it can do"),
            ("tags", Texts, "Words to know it by; a reviewer is told of an author by the first two"),
            ("command", Texts, "An external program and its arguments"),
            ("cwd", Text, "The folder the program runs in"),
            ("env", Texts, "Names of variables the program is given"),
            ("max_bytes", Count(1), "How much the program may print"),
            ("ok_exit", Values, "Exit codes that are answers: {exit, stdout, stderr}"),
            ("tool_less", Flag, "Whether the program may take a seat in a blind round"),
        ],
        &[],
    ),
    (
        "grid",
        &[("personas", Texts, "Names of personas"), ("models", Texts, "provider/model, several")],
        &["personas", "models"],
    ),
    (
        "temperature",
        &[("from", Number, "The first seat's"), ("to", Number, "The last seat's")],
        &["from", "to"],
    ),
    (
        "artifact",
        &[
            ("id", Text, "Such as REQ-001"),
            ("summary", Text, "A line about it; the title when absent"),
            ("title", Text, "Its title"),
            ("relevant", Flag, "Whether participants are shown all of it"),
            ("kind", Any, "What it is"),
            ("status", Any, "How it stands"),
            ("priority", Any, "How urgent it is"),
            ("description", Any, "The whole of it"),
            ("content", Any, "Its text"),
            ("acceptance", Any, "When it is done"),
        ],
        &["id"],
    ),
    (
        "agenda_item",
        &[("id", Text, "Its id"), ("title", Text, "Its title"), ("status", Text, "open when absent")],
        &[],
    ),
    (
        "task",
        &[
            ("id", Text, "Such as APP-15"),
            ("issue_id", Text, "The same, by its written name"),
            ("title", Text, "Its title"),
            ("description", Text, "What is to be done"),
            ("test_steps", Texts, "How it is tested"),
            ("steps", Texts, "The same, by another name"),
            ("status", Text, "OPEN when absent"),
            ("evidence", Any, "What shows that it is done; the tracker writes it to its file"),
            ("statusSince", Any, "Since when"),
            ("priority", Either(&[Count(0), Text]), "1 urgent to 4 low, 0 none"),
            ("estimate", Any, "How long it will take"),
            ("timeSpent", Any, "How long it took so far"),
            ("createdAt", Any, "When it was made"),
            ("labels", Any, "Its labels"),
            ("languageCode", Any, "Its language"),
            ("latestSummary", Any, "Never handed on"),
            ("deleted", Flag, "Whether it is left out"),
            ("deletedAt", Any, "The same, by a time"),
        ],
        &[],
    ),
    (
        "tracker",
        &[(
            "file",
            Text,
            "A file with `tasks`, read when the session opens; status and evidence go back to it",
        )],
        &["file"],
    ),
    (
        "link",
        &[
            ("id", Text, "Its id"),
            ("fromId", Text, "Where it begins"),
            ("toId", Text, "Where it leads"),
            ("type", Text, "What it says, such as agent_task"),
            ("createdAt", Text, "When it was made"),
        ],
        &["id", "fromId", "toId", "type"],
    ),
    (
        "report",
        &[
            ("agentId", Text, "Whose report it is"),
            ("scope", Text, "current, or what it is about"),
            ("createdAt", Text, "When it was made"),
            ("content", Text, "What it says"),
        ],
        &["agentId"],
    ),
    (
        "ballot",
        &[
            ("kind", Choices(ballot_kinds), "The form; position when absent"),
            ("options", Texts, "What can be chosen"),
            ("min", Number, "The lower end of the scale"),
            ("max", Number, "The upper end of the scale"),
            ("cards", Values, "The cards of an estimate"),
        ],
        &[],
    ),
    (
        "rule",
        &[
            ("name", Choices(Rule::names), "The rule"),
            ("threshold", Either(&[Number, Text]), "A share such as 2/3 or 0.6667"),
            ("strength", Words(&["winning-votes", "margins"]), "How pairs of options are compared"),
            ("by", Words(&["weight", "confidence"]), "What is weighed"),
        ],
        &["name"],
    ),
    (
        "context",
        &[
            (
                "answers",
                Words(&["full", "positions", "reasons", "none"]),
                "Of the answers of the round closed last; full when absent",
            ),
            ("rounds", Count(0), "How many closed rounds; 5 when absent"),
            (
                "results",
                Either(&[Words(&["all", "none"]), Texts]),
                "Which results of other steps, by step; all when absent",
            ),
        ],
        &[],
    ),
    ("pseudonyms", &[("seed", Count(0), "What they are drawn with; drawn itself when absent")], &[]),
    ("ties", &[("seeded", Count(0), "The seed that decides between level options")], &["seeded"]),
    (
        "expected_output",
        &[
            ("description", Text, "What it is"),
            ("length", Text, "How long it is"),
            ("format", Text, "How it is written"),
        ],
        &[],
    ),
];

pub(super) fn step_types() -> Vec<&'static str> {
    STEPS.iter().map(|(name, ..)| *name).collect()
}

pub(super) fn ballot_kinds() -> Vec<&'static str> {
    BallotKind::names()
}
