//! Ideas merged in an answers file.

use crate::diagnostic::Diagnostic;
use crate::history::{Merge, MergedOption, SetAside, option_id};
use crate::workflow::Fields;
use crate::yaml::{Node, Value};

pub const MERGE_HINT: &str = "write `options: [{title: \"…\", from: [seat#1, seat#2]}]`, and `set_aside: [{idea: seat#3, \
                          reason: \"…\"}]` for what goes into none";

/// Ideas merged into options; an option without an id has one made of its title.
pub fn merged(node: &Node, file: &str) -> Result<(Merge, Option<String>), Diagnostic> {
    let mut fields = Fields::from_node(node, "the merge", file)?;
    let mut merge = Merge::default();
    fields.flag("approved");
    let comment = fields.text("comment");
    let mut problems = Vec::new();
    for option in list(fields.node("options")) {
        let mut option = Fields::from_node(option, "an option", file).map_err(|p| p.hint(MERGE_HINT))?;
        let title = option.text("title").unwrap_or_default();
        let id = option.text("id").unwrap_or_else(|| option_id(&title));
        let (description, from) = (option.text("description"), option.texts("from"));
        problems.extend(option.finish(&[]));
        merge.options.push(MergedOption { id, title, description, from });
    }
    for aside in list(fields.node("set_aside")) {
        let mut aside =
            Fields::from_node(aside, "an idea set aside", file).map_err(|p| p.hint(MERGE_HINT))?;
        let (idea, reason) = (aside.text("idea"), aside.text("reason"));
        problems.extend(aside.finish(&[]));
        let (idea, reason) = (idea.unwrap_or_default(), reason.unwrap_or_default());
        merge.set_aside.push(SetAside { idea, reason });
    }
    problems.extend(fields.finish(&[]));
    match problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok((merge, comment)),
    }
}

fn list(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.value) {
        Some(Value::List(items)) => items,
        _ => node.map(std::slice::from_ref).unwrap_or_default(),
    }
}
