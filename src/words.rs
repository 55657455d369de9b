//! Synonyms from other tools and their terms here, for command line and definitions.
//!
//! The table is consulted before the nearest known word. An unambiguous synonym is accepted; any other is an
//! error with a hint.

/// Rows: the place (a verb, a flag, a map or a key of a definition), synonyms, the term here, and the hint.
/// Without a hint, the synonym is accepted.
const TABLE: [(&str, &str, &str, &str); 79] = [
    ("verb", "batch", "run", ""),
    ("verb", "list ls history", "sessions", ""),
    ("verb", "version", "--version", ""),
    ("verb", "show view", "report", ""),
    ("verb", "validate lint", "check", ""),
    ("verb", "vote new", "", "`roundtable ask \"Which?\" OPTION OPTION` asks a question"),
    ("verb", "models providers config", "", "`roundtable doctor` prints models, keys and settings"),
    ("verb", "fork", "", "`F` in `roundtable replay SESSION` begins a new session at an event"),
    ("verb", "export", "", "`roundtable report SESSION --out FILE.html`; also .md, .json, .csv and .madr.md"),
    ("verb", "seat", "", "open the link in a browser: `roundtable serve` prints one for each person"),
    ("verb", "worker", "", "this program was built without it: build it with `--features nats`"),
    ("flag", "--budget --max-cost", "--max-usd", ""),
    ("flag", "--models", "--model", ""),
    ("flag", "--agents --personas", "--participants", ""),
    ("flag", "--output", "--out", ""),
    ("flag", "--file --attach", "--evidence", ""),
    ("flag", "--offline --mock", "--rehearse", ""),
    ("flag", "--context", "", "`--evidence FILE`, or `--background TEXT` of `roundtable ask`"),
    (
        "flag",
        "--report --html --markdown --adr",
        "",
        "`--out FILE.html` writes a report; also .md and .madr.md",
    ),
    (
        "flag",
        "--prompt --question --options --option",
        "",
        "`roundtable ask \"Which?\" OPTION OPTION` takes words",
    ),
    ("flag", "--verbose --debug", "", "`roundtable trace` prints prompts and replies"),
    ("flag", "--timeout", "", "write `deadline: 90s` in the definition"),
    ("flag", "--no-color", "", "set NO_COLOR=1"),
    ("flag", "--api-key", "", "keys are in variables such as OPENAI_API_KEY; `roundtable doctor` names each"),
    ("definition", "evidence", "artifacts", ""),
    ("definition", "budget max_cost", "max_usd", ""),
    (
        "definition",
        "models agents seats voters",
        "participants",
        "write `participants: [ollama/qwen3, openai/…]`",
    ),
    ("definition", "files attachments", "artifacts", "write `artifacts: [{file: …}]` or `evidence: FILE`"),
    ("definition", "title name", "", "write `goal: …` for the purpose, or `description: …`"),
    ("definition", "rounds max_rounds", "", "write `type: discussion` with `max_rounds: 3`"),
    ("definition", "anonymous", "pseudonyms", "write `pseudonyms: true`"),
    ("definition", "facilitator moderator", "", "write `facilitator: …` on a step of `type: discussion`"),
    ("definition", "version", "", "leave it out: a definition has no version"),
    ("definition", "workflow stages", "steps", "write `steps: [{id: pick, type: round, question: …}]`"),
    ("round", "prompt ask topic", "question", "write `question: \"Which cache first?\"`"),
    ("round", "background", "exploration", "write `exploration: …`, the background to the question"),
    ("round", "vote votes choice choices", "ballot", "write `ballot: {kind: choice, options: [a, b]}`"),
    (
        "round",
        "tie tiebreak tie_break tie-break",
        "ties",
        "write `ties: {seeded: 7}` to draw, or `ties: ask`",
    ),
    ("round", "threshold", "", "write `rule: {name: supermajority, threshold: 2/3}`"),
    ("round", "method voting", "rule", "write `rule: majority`"),
    ("step", "needs depends_on", "", "steps run in the order of the file; `next: ID` goes elsewhere"),
    ("step", "when if", "", "a step of `type: condition` branches; an approval has `ask_if`"),
    ("step", "name", "id", "write `id: …`"),
    ("step", "title", "description", "write `description: …`, or `label: …` for the stage"),
    ("step", "models agents seats voters", "", "name them under `participants` at the top of the file"),
    ("step", "evidence files attachments", "", "write `artifacts: [{file: …}]` at the top of the file"),
    (
        "step",
        "goal constraints max_usd budget max_cost agenda tasks pseudonyms anonymous leaks",
        "",
        "write it at the top of the file",
    ),
    (
        "step",
        "kind",
        "type",
        "write `type: round`; a ballot has a kind: `ballot: {kind: choice, options: [a, b]}`",
    ),
    ("step", "uses include", "type", "write `type: use` with `definition: FILE`"),
    ("step", "persona participant", "agent", "write `agent: NAME`"),
    ("agent", "question system_prompt instructions", "prompt", "write `prompt: \"Plan {{input}}.\"`"),
    (
        "agent",
        "model provider",
        "",
        "name it as the agent: `agent: openai/gpt-5-mini`, or on the participant",
    ),
    ("discussion", "question", "topic", "write `topic: …`"),
    ("approval", "question prompt", "message", "write `message: \"Adopt it?\"`"),
    ("condition", "if when", "condition", "write `condition: \"context.pick.outcome === 'decided'\"`"),
    (
        "participant",
        "system_prompt system instructions backstory",
        "prompt",
        "write `prompt: …`, or `persona: qa-lead`",
    ),
    ("participant", "id", "name", "write `name: …`"),
    ("participant", "provider", "", "write it into the model: `model: openai/gpt-5-mini`"),
    ("ballot", "choices", "options", ""),
    ("ballot", "type", "kind", ""),
    ("ballot", "scale", "", "write `cards: [1, 2, 3, 5, 8]`, or `min: 1` and `max: 5`"),
    ("option", "name key value", "id", "write `{id: outbox, title: …}`"),
    ("rule", "kind type", "name", ""),
    ("kind", "rank ranked", "ranking", ""),
    ("kind", "vote single", "choice", "write `{kind: choice, options: [a, b]}`"),
    ("kind", "yes-no boolean", "choice", "write `{kind: choice, options: [yes, no]}` or `consent`"),
    ("kind", "rating points", "score", "write `{kind: score, options: [a, b], min: 1, max: 5}`"),
    ("kind", "text open", "position", "write `position`, or leave `ballot` out"),
    ("kind", "multiple checkbox", "approval", "write `{kind: approval, options: [a, b]}`"),
    ("type", "vote poll", "round", "write `type: round`"),
    ("type", "prompt task llm", "agent", "write `type: agent` with `agent: NAME`"),
    ("type", "confirm gate human", "approval", "write `type: approval` with `message`"),
    ("type", "loop foreach", "each", "write `type: each` with `of` and `as`"),
    ("name", "average mean", "score", ""),
    ("name", "most-votes most", "plurality", ""),
    ("name", "two-thirds 2/3", "supermajority", ""),
    ("name", "simple-majority", "majority", ""),
    ("name", "ranked-choice instant-runoff", "irv", ""),
    ("name", "consensus unanimity", "unanimous", ""),
];

/// Returns the term meant by an unknown word at a place, and the hint.
pub fn meant(place: &str, word: &str) -> Option<(&'static str, &'static str)> {
    let word = word.to_lowercase();
    let row = TABLE.iter().find(|row| row.0 == place && row.1.split(' ').any(|known| known == word))?;
    Some((row.2, row.3))
}

/// Returns the term for an accepted synonym.
pub fn alias(place: &str, word: &str) -> Option<&'static str> {
    meant(place, word).filter(|(_, hint)| hint.is_empty()).map(|(word, _)| word)
}

/// Prefixes of model names that people write without a provider, and their provider.
const FAMILIES: [(&str, &str); 8] = [
    ("gpt", "openai"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("llama", "ollama"),
    ("qwen", "ollama"),
    ("gemma", "ollama"),
    ("deepseek", "deepseek"),
];

/// Adds the provider to a model name written without one.
pub fn model_meant(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let (_, provider) = FAMILIES.iter().find(|(family, _)| lower.starts_with(family))?;
    Some(format!("{provider}/{name}"))
}

/// Rewrites a model name with a colon after its provider.
pub fn model_with_slash(name: &str) -> Option<String> {
    let (provider, model) = name.split_once(':').filter(|_| !name.contains('/'))?;
    let is_known =
        ["openrouter", "groq"].contains(&provider) || FAMILIES.iter().any(|(_, of)| *of == provider);
    is_known.then(|| format!("{provider}/{model}"))
}
