//! What is said of programs that take a seat: what they add to a prompt, and whether they have tools; and of
//! personas that sit without theirs.

use indexmap::IndexMap;

use crate::history::{Session, Wrapped};

/// What the programs that take seats add to what they are given, a label for each program.
pub(super) fn labels(session: &Session) -> Vec<String> {
    let mut groups: IndexMap<&Wrapped, Vec<&str>> = IndexMap::new();
    for seat in session.roster.values() {
        if let Some(wrapped) = &seat.wrapped {
            groups.entry(wrapped).or_default().push(&seat.name);
        }
    }
    let label = |(wrapped, names): (&Wrapped, Vec<&str>)| {
        let who = format!("{} ({}, version {})", names.join(", "), wrapped.program, wrapped.version);
        let adds = wrapped.added_bytes.map(|bytes| format!("adds {bytes} bytes to each prompt"));
        match (adds, wrapped.tools.is_empty()) {
            (None, _) => format!(
                "Declared, not checked: {who} is said to have no tools; what it sends was not measured."
            ),
            (Some(adds), true) => format!("Program: {who} {adds}, declares no tools."),
            (Some(adds), false) => {
                format!("Not tool-less: {who} declares {} and {adds}.", wrapped.tools.join(", "))
            }
        }
    };
    groups.into_iter().map(label).collect()
}

/// The seats whose personas list tools, and which sit without them.
pub(super) fn without_tools(session: &Session) -> Option<String> {
    let seats = session.roster.values().filter(|seat| seat.without_tools && !seat.persona.is_empty());
    let names: Vec<&str> = seats.map(|seat| seat.name.as_str()).collect();
    let label = || {
        format!("Without tools: {} (`tools: none`): the tools of the persona are left out.", names.join(", "))
    };
    (!names.is_empty()).then(label)
}
