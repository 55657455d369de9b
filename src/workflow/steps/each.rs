//! `each`: runs its steps once for each item of a list.
//!
//! The list is there when the step begins: then its steps are copied, one sequence an item, `ID.1`, `ID.2` …

use serde_json::Value as Json;

use super::step::{Each, Item, Sequence, Step, StepKind};
use crate::workflow::keys::spec::KeyType::{Steps, Text, Whole};
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::Entries;
use crate::workflow::load::entries::parsed;
use crate::yaml::Value;

pub const MOST_ITEMS: usize = 1_000;

pub static TYPE: StepType = StepType {
    name: "each",
    what: "an each step",
    about: "Runs its steps in order, once for each item of a list; no item's steps see another's results.",
    keys: &[
        key("of", Text, REQUIRED, "The list: a path to a result or into `input`.", "context.plan.files"),
        key("as", Text, "item", "The key of the item in the context and in templates.", "file"),
        key("steps", Steps, REQUIRED, "The steps for one item.", "[{id: a, type: agent, agent: coder}]"),
        key("concurrency", Whole(1, 1_000), "1", "The number of items that run at the same time.", "4"),
    ],
    shared: &["output"],
};

pub fn read(entries: Entries<'_>, written: Vec<Step>) -> Option<Each> {
    if let Some(node) = entries.node("steps").filter(|node| node.value == Value::List(Vec::new())) {
        entries.refuse(node, "an each step has no `steps`", "add the steps for one item");
    }
    let of = entries.text("of").filter(|text| !text.trim().is_empty())?;
    Some(Each {
        of: parsed(entries, "of", Transform::parse(&of))?,
        item: entries.text("as").unwrap_or_else(|| "item".to_owned()),
        written,
        concurrency: entries.count("concurrency").unwrap_or(1) as usize,
        steps: Vec::new(),
    })
}

impl Each {
    /// Makes the steps of every item of the list; `id` is this step's own.
    pub fn expand(&mut self, id: &str, items: &[Json]) {
        let Some(place) = self.written.first().map(|step| step.place) else { return };
        let steps = items.iter().enumerate().map(|(index, item)| {
            let name = format!("{id}.{}", index + 1);
            let ids: Vec<String> = self.written.iter().flat_map(Step::own_ids).collect();
            let mut steps = self.written.clone();
            for step in &mut steps {
                step.put_into(&name, &ids);
            }
            let item = Item { key: self.item.clone(), value: item.clone() };
            Step::of_kind(&name, StepKind::Sequence(Sequence { steps, item: Some(item) }), place)
        });
        self.steps = steps.collect();
    }
}

/// The id that a step inside an `each` was written with: what follows the number of the item.
pub fn written_id(id: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = id.split('.').collect();
    match parts.iter().rposition(|part| is_number(part)) {
        Some(at) if at > 0 && at + 1 < parts.len() => {
            let after: usize = parts[at + 1..].iter().map(|part| part.len() + 1).sum();
            &id[id.len() + 1 - after..]
        }
        Some(_) | None => id,
    }
}
