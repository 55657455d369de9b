//! `agent`: one work item for one agent.

use serde::{Deserialize, Serialize};

use crate::workflow::keys::shared::PROMPT;
use crate::workflow::keys::spec::KeyType::{Any, Either, Map, Text, Words};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, StepType, enum_of_words, key, map, words};
use crate::workflow::lang::{OutputSchema, Template};
use crate::workflow::load::entries::{Entries, prompt};
use crate::workflow::load::map_reader::as_text;

pub static TYPE: StepType = StepType {
    name: "agent",
    what: "an agent step",
    about: "Gives one work item to one agent.",
    keys: &[
        key("agent", Text, REQUIRED, "The name of a participant or persona, or a model.", "qa-lead"),
        key("tools", Words(|| vec!["allowed"]), "", "The model's program may use its tools.", "allowed"),
        PROMPT,
        key("form", words!(FacilitatorForm), "", "The form of a leading model's answer.", "synthesize"),
        key("synthesis_of", Text, "", "The round on which its answer is the facilitator's note.", "pick"),
        key("output_schema", Any, "", "A JSON Schema that the answer must fit.", "{type: object}"),
        key("expected_output", Either(&[Text, Map(&EXPECTED_OUTPUT)]), "", "The answer in words.", "a page"),
    ],
    shared: &[
        "input",
        "output",
        "record",
        "brief",
        "task",
        "requires",
        "completeness",
        "max_retries",
        "retry_delay",
        "timeout",
        "facilitator_directive",
    ],
};

static EXPECTED_OUTPUT: MapSpec = map(
    "expected_output",
    "`expected_output`",
    &[
        key("description", Text, "", "What it is.", "\"a release plan\""),
        key("length", Text, "", "Its length.", "\"one page\""),
        key("format", Text, "", "Its format.", "Markdown"),
    ],
);

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub agent: String,
    pub allows_tools: bool,
    /// The prompt's template; the agent is handed its input as JSON when there is none.
    pub prompt: Option<Template>,
    /// The form of its answer, if it leads a discussion; the prompt is then the topic.
    pub form: Option<FacilitatorForm>,
    pub synthesis_of: Option<String>,
    pub output_schema: Option<OutputSchema>,
    pub expected_output: ExpectedOutput,
}

enum_of_words! {
    /// Form of the answer of a model that leads a discussion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FacilitatorForm {
        Open = "open",
        /// The note on a closed round, and what follows from it.
        Synthesize = "synthesize",
        Conclude = "conclude",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedOutput {
    pub description: String,
    pub length: String,
    pub format: String,
}

pub fn read(entries: Entries<'_>) -> Agent {
    Agent {
        agent: entries.text("agent").unwrap_or_default(),
        allows_tools: entries.word("tools", &[("allowed", true)]).unwrap_or_default(),
        prompt: prompt(entries),
        form: entries.word("form", &FacilitatorForm::WORDS),
        synthesis_of: entries.text("synthesis_of"),
        output_schema: schema(entries),
        expected_output: expected_output(entries),
    }
}

fn schema(entries: Entries<'_>) -> Option<OutputSchema> {
    let node = entries.node("output_schema")?;
    let refuse = |why: String| {
        let hint = "write a JSON Schema, such as `{type: object, required: [answer]}`";
        entries.refuse(node, format!("`output_schema` cannot be read: {why}"), hint);
    };
    OutputSchema::parse(&node.to_json()).map_err(refuse).ok()
}

fn expected_output(entries: Entries<'_>) -> ExpectedOutput {
    if let Some(description) = entries.node("expected_output").and_then(as_text) {
        return ExpectedOutput { description, ..ExpectedOutput::default() };
    }
    let Some(inner) = entries.map("expected_output") else { return ExpectedOutput::default() };
    let text = |key| inner.text(key).unwrap_or_default();
    ExpectedOutput { description: text("description"), length: text("length"), format: text("format") }
}
