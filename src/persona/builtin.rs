//! Built-in personas.

use std::sync::LazyLock;

use super::Persona;

/// Name and file text of each built-in persona, in listing order.
pub const BUILTIN: [(&str, &str); 17] = [
    ("software-architect", include_str!("../../personas/software-architect.md")),
    ("security-champion", include_str!("../../personas/security-champion.md")),
    ("product-manager", include_str!("../../personas/product-manager.md")),
    ("qa-lead", include_str!("../../personas/qa-lead.md")),
    ("technical-lead", include_str!("../../personas/technical-lead.md")),
    ("devops-engineer", include_str!("../../personas/devops-engineer.md")),
    ("ux-researcher", include_str!("../../personas/ux-researcher.md")),
    ("business-analyst", include_str!("../../personas/business-analyst.md")),
    ("documentation-specialist", include_str!("../../personas/documentation-specialist.md")),
    ("oss-maintainer", include_str!("../../personas/oss-maintainer.md")),
    ("skeptic", include_str!("../../personas/skeptic.md")),
    ("planner", include_str!("../../personas/planner.md")),
    ("coder", include_str!("../../personas/coder.md")),
    ("tester", include_str!("../../personas/tester.md")),
    ("reviewer", include_str!("../../personas/reviewer.md")),
    ("researcher", include_str!("../../personas/researcher.md")),
    ("facilitator", include_str!("../../personas/facilitator.md")),
];

/// Parsed once, because each seat of a large panel may look one up.
static READ: LazyLock<Vec<Persona>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| Persona::parse(text, &format!("personas/{name}.md")).ok();
    BUILTIN.iter().filter_map(read).collect()
});

pub fn builtin(name: &str) -> Option<Persona> {
    READ.iter().find(|known| known.name == name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_parses_under_its_own_name() {
        for (name, text) in BUILTIN {
            let persona = Persona::parse(text, name).unwrap();
            assert_eq!(persona.name, name);
            assert!(persona.tools.is_empty() && persona.model.is_none(), "{name}");
            assert!(persona.notices.is_empty(), "{name}: {:?}", persona.notices);
        }
    }
}
