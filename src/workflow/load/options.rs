//! Loading options that are more than names: those with texts, and those that an earlier step left.

use super::entries::Entries;
use super::map_reader::as_text;
use crate::ballot::OptionText;
use crate::workflow::keys::spec::KeyType::{Text, Whole};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, key, map};
use crate::workflow::lang::Transform;
use crate::workflow::steps::prompt::parsed;
use crate::yaml::Node;

pub static OPTION: MapSpec = map(
    "option",
    "an option",
    &[
        key("id", Text, REQUIRED, "What ballots name.", "outbox"),
        key("title", Text, "", "The option in a few words.", "\"A table of events\""),
        key("description", Text, "", "The option, described.", "\"Events go into a table first.\""),
    ],
);

pub static OPTIONS_FROM: MapSpec = map(
    "options_from",
    "`options`",
    &[
        key("from", Text, REQUIRED, "The path of a list in the context.", "context.merge.options"),
        key("max", Whole(2, 1000), "12", "The most options that are accepted.", "20"),
    ],
);

/// The most options that are taken from a result unless the definition says otherwise.
const MOST_FROM_RESULT: usize = 12;

/// Options that an earlier step left.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionsFrom {
    pub transform: Transform,
    pub max: usize,
}

/// Where options are taken from, if not written.
pub fn options_from(entries: Entries<'_>) -> Option<OptionsFrom> {
    let ballot = entries.map("ballot")?;
    let own = ballot.map("options")?;
    let transform = parsed(own, "from", Transform::parse(&own.text("from")?))?;
    Some(OptionsFrom { transform, max: own.count("max").map_or(MOST_FROM_RESULT, |max| max as usize) })
}

pub fn option(node: &Node, inner: Entries<'_>) -> Option<(String, OptionText)> {
    let Some(map) = Entries::of(node, inner.found) else {
        return Some((as_text(node)?, OptionText::default()));
    };
    let text = OptionText { title: map.text("title"), description: map.text("description") };
    Some((map.text("id")?, text))
}
