//! The words around a name: how a text says who it is, who spoke, and what only looks like it.

/// Ways to say who one is, before the name.
pub const INTRODUCTIONS: [&[&str]; 9] = [
    &["i", "am"],
    &["i", "m"],
    &["im"],
    &["my", "name", "is"],
    &["call", "me"],
    &["speaking", "as"],
    &["answering", "as"],
    &["writing", "as"],
    &["known", "to", "you", "as"],
];
/// Words that may stand between an introduction and the name.
pub const FILLERS: [&str; 24] = [
    "a",
    "an",
    "the",
    "actually",
    "just",
    "simply",
    "called",
    "named",
    "based",
    "on",
    "powered",
    "by",
    "running",
    "of",
    "version",
    "instance",
    "model",
    "really",
    "your",
    "assistant",
    "built",
    "currently",
    "in",
    "fact",
];
pub const MOST_FILLERS: usize = 5;
/// What makers did, before `by`.
pub const MADE: [&str; 11] = [
    "made",
    "developed",
    "created",
    "trained",
    "built",
    "designed",
    "provided",
    "released",
    "hosted",
    "tuned",
    "offered",
];
pub const ME: [&str; 5] = ["i", "im", "me", "my", "myself"];
/// Words of "an AI language model".
pub const AI: [&str; 10] = [
    "ai",
    "llm",
    "language",
    "model",
    "assistant",
    "chatbot",
    "artificial",
    "intelligence",
    "large",
    "system",
];
/// What may follow "an AI" that speaks of itself, where no comma or end does.
pub const AFTER_AI: [&str; 16] = [
    "i",
    "developed",
    "made",
    "created",
    "trained",
    "built",
    "designed",
    "by",
    "from",
    "and",
    "so",
    "who",
    "that",
    "which",
    "without",
    "with",
];
/// Words before `as` that make it a comparison or a use.
pub const NOT_ITSELF: [&str; 12] =
    ["such", "same", "well", "much", "known", "used", "use", "using", "treat", "serve", "serves", "far"];
/// What somebody is said to do.
pub const SAYS: [&str; 24] = [
    "said",
    "says",
    "argued",
    "argues",
    "wrote",
    "writes",
    "claims",
    "claimed",
    "thinks",
    "proposed",
    "proposes",
    "suggested",
    "suggests",
    "voted",
    "votes",
    "answered",
    "answers",
    "noted",
    "notes",
    "mentioned",
    "objected",
    "objects",
    "prefers",
    "preferred",
];
/// What is somebody's.
pub const THEIRS: [&str; 12] = [
    "answer",
    "position",
    "point",
    "vote",
    "ballot",
    "argument",
    "view",
    "concern",
    "concerns",
    "suggestion",
    "reply",
    "reasoning",
];
/// Ends of file names; `CLAUDE.md` names a file.
pub const FILES: [&str; 14] =
    ["md", "rs", "py", "js", "ts", "json", "yaml", "yml", "toml", "txt", "sh", "html", "css", "lock"];
