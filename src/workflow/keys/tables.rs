//! The maps of a definition apart from its steps: the root, and the maps inside it.

use super::material;
use super::shared::RECALL;
use super::spec::KeyType::{
    Any, Duration, Either, Flag, List, Map, Named, Number, Positive, Steps, Text, Texts, Whole, Words,
};
use super::spec::{KeySpec, KeyType, MapSpec, StepType, key, map, words};
use crate::workflow::definition::{Effort, LeakAction, WarmFirst};
use crate::workflow::load::participants::MOST_SEATS;
use crate::workflow::steps::step::COMPLETENESS;
use crate::workflow::steps::types::{step_keys, type_names};

const fn from(least: u64) -> KeyType {
    Whole(least, u64::MAX)
}

pub static DEFINITION: MapSpec = map(
    "definition",
    "the definition",
    &[
        key("id", Text, "the file's name", "The session's id.", "cache-choice"),
        key("description", Text, "", "A line about the session.", "\"Which cache we build first\""),
        key("goal", Text, "", "The purpose of the session.", "\"Choose a cache\""),
        key("constraints", Texts, "", "Conditions that every result must meet.", "[\"no new server\"]"),
        key("project_summary", Text, "`.s2s/CONTEXT.md`", "The project in a few lines.", "\"A web shop\""),
        key("input", Any, "the goal", "The input of the first step, any value.", "\"Add a dark mode\""),
        key(
            "participants",
            List(&Either(&[Text, Map(&PARTICIPANT)])),
            "five personas",
            "The roster: models, `human`, names of personas, or maps; answers are revealed in this order.",
            "[openai/gpt-5-mini, human, qa-lead, {name: ana, model: ollama/llama3.2}]",
        ),
        key("facilitator_directive", Text, "", "A line for everyone, after `your_role`.", "\"Be brief.\""),
        key("artifacts", List(&Map(&material::ARTIFACT)), "", "Numbered material.", "[{id: R-1, title: A}]"),
        key("agenda", List(&Map(&material::AGENDA_ITEM)), "", "The items to discuss.", "[{title: Caching}]"),
        key("tasks", List(&Map(&material::TASK)), "", "Tasks of a tracker.", "[{id: APP-15, title: Mode}]"),
        key("tracker", Map(&material::TRACKER), "", "The file of the tasks.", "{file: tasks.yaml}"),
        key(
            "links",
            List(&Map(&material::LINK)),
            "",
            "Links between tasks, agents and saved sessions.",
            "[{id: l1, fromId: agent-1, toId: APP-15, type: agent_task}]",
        ),
        key("reports", List(&Map(&material::REPORT)), "", "Agents' reports.", "[{agentId: a, content: Ok}]"),
        key("open_conflicts", List(&Any), "", "Conflicts that are still open.", "[\"speed or safety\"]"),
        key("open_questions", List(&Any), "", "Questions that are still open.", "[\"Who pays?\"]"),
        key("current_round", from(1), "1", "The number of the first round.", "3"),
        key("max_usd", Positive, "no limit", "The most that the session may cost, in US dollars.", "0.50"),
        key("supersedes", Text, "", "The session or decision record that the decision replaces.", "ADR-0007"),
        key("warm_first", words!(WarmFirst), "off", "Whether one seat a model is asked first.", "auto"),
        key("context", Map(&RECALL), "", "The earlier rounds and steps that snapshots hold.", "{rounds: 3}"),
        key(
            "leaks",
            words!(LeakAction),
            "flag",
            "Names of seats, models and makers in answers: flagged, masked or left.",
            "mask",
        ),
        key(
            "pseudonyms",
            Either(&[Flag, Map(&PSEUDONYMS)]),
            "false",
            "Pseudonyms in place of names.",
            "true",
        ),
        key("completeness", COMPLETENESS, "warn", "The completeness check of steps that set none.", "strict"),
        key("max_snapshot_bytes", from(1), "262144", "The largest snapshot, in bytes.", "1000000"),
        key(
            "secrets",
            Words(|| vec!["refuse", "allow"]),
            "refuse",
            "Evidence that looks like a key or password; `allow` sends it, once you agree.",
            "allow",
        ),
        key("max_iterations", from(1), "100", "The most step runs in one session, loops included.", "20"),
        key("max_duration", Duration, "no limit", "The most time the session may take.", "10m"),
        key(
            "answers",
            Named(&Any),
            "",
            "Answers written beforehand, by step and seat, as in a file of `--answers`; no model is asked.",
            "{pick: {qa-lead: {vote: redis}}, ok: true}",
        ),
        key("steps", Steps, "one round of `question`", "The steps.", "[{id: a, question: \"Why?\"}]"),
        key("type", Words(type_names), "round", "The type of a file that is one step.", "approval"),
        key("$schema", Text, "", "The JSON Schema, for editors.", "definition.schema.json"),
    ],
);

static PARTICIPANT: MapSpec = map(
    "participant",
    "a participant",
    &[
        key("persona", Text, "that of its name, if any", "The persona.", "qa-lead"),
        key("name", Text, "the persona, or the model's last part", "The name of the seat.", "ann"),
        key("role", Text, "the name; without a persona `participant`", "Its `your_role`.", "reviewer"),
        key("prompt", Text, "the persona's text", "A text instead of a persona's.", "\"You test.\""),
        key(
            "model",
            Texts,
            "see [models](PROVIDERS.md)",
            "`provider/model`, `human`, `remote/link`, `remote/inbox` or `recorded/FILE`. In a list, in rounds, the next is asked if one fails.",
            "ollama/llama3.2",
        ),
        key("agent_only", Flag, "false", "It works for steps of type `agent` and sits in no round.", "true"),
        key("weight", Positive, "1", "The weight of its ballot.", "2"),
        key("seed", from(0), "", "The seed of the first seat, one more for each further seat.", "7"),
        // No service takes a higher one.
        key("temperature", Number(0.0, 2.0), "the provider's", "The temperature.", "0.7"),
        key("effort", words!(Effort), "the provider's", "How much the model is to think.", "low"),
        key("max_output_tokens", from(1), "16384", "The most tokens of a reply, thinking included.", "32768"),
        key("count", Whole(1, MOST_SEATS), "1", "The number of seats.", "3"),
        key("skills", Texts, "", "Skills, for work items.", "[rust]"),
        key("tags", Texts, "the persona's", "Words that describe it to reviewers.", "[backend]"),
        key("command", Texts, "", "An external program and its arguments.", "[./agent.sh, --json]"),
        key("env", Texts, "", "Names of environment variables that the program gets.", "[HOME]"),
        key("ok_exit", List(&Whole(0, 255)), "[0]", "Exit codes that are answers.", "[0, 1]"),
        key(
            "tools",
            Words(|| vec!["none", "allowed"]),
            "",
            "`allowed`: the program that its model is may use its tools, and takes no seat in a round. `none`: its persona's tools are left out.",
            "none",
        ),
        key("tool_less", Flag, "false", "Whether the program may take a seat in a blind round.", "true"),
    ],
);

static PSEUDONYMS: MapSpec = map(
    "pseudonyms",
    "pseudonyms",
    &[key("seed", from(0), "the run's, or random", "The seed they are drawn with.", "7")],
);

/// The keys of a file that is one step of a type: the definition's and the step's.
pub fn single_step_keys(of: Option<&'static StepType>) -> Vec<&'static KeySpec> {
    let is_new = |key: &&KeySpec| DEFINITION.keys.iter().all(|known| known.name != key.name);
    let own = step_keys(of).into_iter().filter(is_new);
    DEFINITION.keys.iter().chain(own).collect()
}
