//! `screen`: how the screen looks and is worked.

use indexmap::IndexMap;

use crate::diagnostic::Diagnostic;
use crate::workflow::{Fields, as_text};
use crate::yaml::{Node, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenConfig {
    /// Keys by the action's name, in place of the usual ones.
    pub keys: IndexMap<String, Vec<String>>,
    /// Colors by role: `good, bad, active, key, background`.
    pub colors: IndexMap<String, String>,
    pub ascii: bool,
    pub mouse: bool,
    /// The call when a long round closes: `off`, `bell` or `all`.
    pub notify: String,
}

impl Default for ScreenConfig {
    fn default() -> Self {
        Self {
            keys: IndexMap::new(),
            colors: IndexMap::new(),
            ascii: false,
            mouse: true,
            notify: "bell".to_owned(),
        }
    }
}

/// Reads how the screen looks; what is not said stays as it is.
pub(super) fn screen(node: &Node, file: &str, screen: &mut ScreenConfig, problems: &mut Vec<Diagnostic>) {
    let mut fields = match Fields::from_node(node, "`screen`", file) {
        Ok(fields) => fields,
        Err(problem) => return problems.push(problem),
    };
    for (name, node) in fields.entries("keys") {
        let texts = match &node.value {
            Value::List(items) => items.iter().filter_map(as_text).collect(),
            _ => as_text(node).into_iter().collect::<Vec<_>>(),
        };
        screen.keys.insert(name, texts);
    }
    for (role, node) in fields.entries("colors") {
        screen.colors.insert(role, as_text(node).unwrap_or_default());
    }
    screen.ascii = fields.flag("ascii").unwrap_or(screen.ascii);
    screen.mouse = fields.flag("mouse").unwrap_or(screen.mouse);
    let ways = ["off", "bell", "all"].map(|way| (way, way));
    screen.notify = fields.word("notify", &ways).map_or_else(|| screen.notify.clone(), str::to_owned);
    problems.extend(fields.finish(&[]));
}
