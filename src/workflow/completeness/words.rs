//! The words by which an order to look something up is known.

/// Orders that look something up, longest first; what follows names the place.
pub const VERBS: [&str; 25] = [
    "have a look at",
    "have a look in",
    "take a look at",
    "take a look in",
    "look through",
    "look into",
    "look at",
    "look in",
    "refer to",
    "go into",
    "go to",
    "look up",
    "check",
    "open",
    "read",
    "consult",
    "fetch",
    "visit",
    "browse",
    "search",
    "query",
    "see",
    "download",
    "inspect",
    "grep",
];
/// The same after "start by".
pub const GERUNDS: [&str; 7] =
    ["checking", "reading", "opening", "consulting", "searching", "fetching", "browsing"];
/// Orders that take something out of a tracker: "find the ticket in Jira".
pub const TAKE: [&str; 5] = ["find", "get", "pull", "take", "grab"];
/// Systems that hold work.
pub const TRACKERS: [&str; 12] = [
    "tracker",
    "linear",
    "jira",
    "trello",
    "asana",
    "github",
    "gitlab",
    "notion",
    "confluence",
    "wiki",
    "backlog",
    "bugzilla",
];
/// Other things that are opened or read.
pub const PLACES: [&str; 18] = [
    "file",
    "files",
    "folder",
    "folders",
    "directory",
    "repository",
    "repo",
    "link",
    "links",
    "url",
    "urls",
    "website",
    "webpage",
    "codebase",
    "readme",
    "changelog",
    "docs",
    "spreadsheet",
];
/// What "look up" asks for without a place.
pub const RECORDS: [&str; 8] = ["ticket", "tickets", "issue", "issues", "task", "tasks", "story", "stories"];
/// What follows a file's last point.
pub const EXTENSIONS: [&str; 25] = [
    "md", "txt", "rs", "ts", "tsx", "js", "jsx", "py", "json", "yaml", "yml", "toml", "html", "css", "go",
    "java", "pdf", "csv", "log", "doc", "docx", "xml", "sh", "c", "sql",
];
/// Names that end like a file and are none.
pub const PRODUCTS: [&str; 6] = ["node.js", "next.js", "vue.js", "react.js", "three.js", "d3.js"];
/// What may follow a place's name; another word makes it part of a compound, as in "the file size".
pub const AFTER: [&str; 29] = [
    "for", "to", "and", "or", "then", "first", "before", "after", "again", "if", "when", "where", "as", "at",
    "in", "on", "by", "with", "whether", "now", "once", "that", "which", "called", "named", "from", "about",
    "until", "up",
];
/// Words before an order that change nothing about it.
pub const FILLERS: [&str; 22] = [
    "please",
    "then",
    "and",
    "or",
    "but",
    "first",
    "next",
    "now",
    "also",
    "just",
    "always",
    "finally",
    "afterwards",
    "so",
    "kindly",
    "simply",
    "step",
    "let's",
    "start",
    "begin",
    "todo",
    "-",
];
/// Words between "you" and the order.
pub const MODALS: [&str; 22] = [
    "you", "you'll", "must", "should", "can", "could", "would", "will", "shall", "may", "need", "have",
    "are", "to", "please", "also", "first", "now", "always", "then", "want", "just",
];
/// Turns of phrase that an order follows.
pub const REMINDERS: [&str; 9] = [
    "remember to",
    "be sure to",
    "make sure to",
    "make sure you",
    "feel free to",
    "try to",
    "do not forget to",
    "don't forget to",
    "go ahead and",
];
/// Words a clause begins with that is no order; a verb later in it is somebody else's doing.
pub const SUBJECTS: [&str; 52] = [
    "we",
    "i",
    "they",
    "it",
    "he",
    "she",
    "users",
    "people",
    "customers",
    "clients",
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "our",
    "their",
    "its",
    "each",
    "every",
    "some",
    "many",
    "does",
    "do",
    "did",
    "should",
    "must",
    "can",
    "could",
    "would",
    "will",
    "is",
    "are",
    "was",
    "has",
    "have",
    "may",
    "what",
    "which",
    "who",
    "how",
    "why",
    "where",
    "whose",
    "shall",
    "one",
    "all",
    "both",
    "no",
    "nobody",
];
/// Words that begin a clause another one follows.
pub const SUBORDINATE: [&str; 19] = [
    "if", "when", "after", "before", "once", "while", "since", "as", "for", "in", "on", "at", "to", "with",
    "unless", "where", "from", "until", "because",
];
/// What an object does not reach across.
pub const STOPS: [&str; 16] = [
    "that", "whether", "if", "how", "why", "which", "who", "what", "because", "so", "until", "unless",
    "while", "where", "between", "than",
];
/// Words that say the thing is at hand.
pub const AT_HAND: [&str; 9] =
    ["below", "above", "attached", "enclosed", "following", "given", "here", "snapshot", "inline"];
