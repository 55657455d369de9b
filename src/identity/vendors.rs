//! Who makes models and what they are called, as the leak scan knows them.
//!
//! A name that is also a common word, a person's or another thing's counts only where a text says
//! who it is itself ("I'm Gemini"), or with what makes it a model ("Gemini 1.5 Pro").

use super::leak::Named;

/// Names that count wherever they stand, word by word.
const STRONG: [(Named, &[&str]); 20] = [
    (Named::Vendor, &["anthropic"]),
    (Named::Vendor, &["openai"]),
    (Named::Vendor, &["deepmind"]),
    (Named::Vendor, &["mistral", "ai"]),
    (Named::Vendor, &["mistralai"]),
    (Named::Vendor, &["moonshot", "ai"]),
    (Named::Vendor, &["meta", "ai"]),
    (Named::Vendor, &["ai21"]),
    (Named::Vendor, &["zhipu"]),
    (Named::Vendor, &["openrouter"]),
    (Named::Model, &["claude"]),
    (Named::Model, &["chatgpt"]),
    (Named::Model, &["deepseek"]),
    (Named::Model, &["qwen"]),
    (Named::Model, &["mixtral"]),
    (Named::Model, &["codestral"]),
    (Named::Model, &["ministral"]),
    (Named::Model, &["chatglm"]),
    (Named::Model, &["github", "copilot"]),
    (Named::Model, &["microsoft", "copilot"]),
];
/// Names that count where a text says who it is itself, or before a version or a size.
const WEAK: [(Named, &str); 32] = [
    (Named::Vendor, "google"),
    (Named::Vendor, "meta"),
    (Named::Vendor, "alibaba"),
    (Named::Vendor, "microsoft"),
    (Named::Vendor, "amazon"),
    (Named::Vendor, "apple"),
    (Named::Vendor, "nvidia"),
    (Named::Vendor, "ibm"),
    (Named::Vendor, "tencent"),
    (Named::Vendor, "baidu"),
    (Named::Vendor, "bytedance"),
    (Named::Vendor, "cohere"),
    (Named::Vendor, "perplexity"),
    (Named::Vendor, "xai"),
    (Named::Vendor, "mistral"),
    (Named::Model, "gpt"),
    (Named::Model, "gemini"),
    (Named::Model, "gemma"),
    (Named::Model, "llama"),
    (Named::Model, "grok"),
    (Named::Model, "phi"),
    (Named::Model, "kimi"),
    (Named::Model, "ernie"),
    (Named::Model, "copilot"),
    (Named::Model, "bard"),
    (Named::Model, "sonnet"),
    (Named::Model, "opus"),
    (Named::Model, "haiku"),
    (Named::Model, "nova"),
    (Named::Model, "o1"),
    (Named::Model, "o3"),
    (Named::Model, "glm"),
];
/// Weak names that a version or size after them makes a model.
const VERSIONED: [&str; 11] =
    ["gpt", "gemini", "gemma", "llama", "grok", "phi", "kimi", "ernie", "mistral", "glm", "nova"];
/// Names that hold their version in the same word: `gpt4o`, `qwen2`.
const GROWN: [&str; 5] = ["gpt", "qwen", "llama", "gemma", "claude"];
/// What follows a model's name and belongs to it.
const SIZES: [&str; 20] = [
    "opus", "sonnet", "haiku", "instant", "pro", "flash", "ultra", "nano", "turbo", "mini", "micro", "large",
    "medium", "small", "instruct", "coder", "lite", "plus", "max", "preview",
];
/// Sizes that make a weak name a model; the others are words of their own too often.
const TELLING: [&str; 8] = ["pro", "flash", "ultra", "nano", "turbo", "instruct", "large", "coder"];

/// A name that begins at a word: of whom, and how many words it has.
pub type Begun = (Named, usize);

/// The name that counts anywhere and begins with these words.
pub fn strong(words: &[&str]) -> Option<Begun> {
    let first = words.first()?;
    let whole = STRONG.iter().filter(|(_, name)| words.starts_with(name));
    let whole = whole.max_by_key(|(_, name)| name.len()).map(|(named, name)| (*named, name.len()));
    let grown = GROWN.iter().any(|name| {
        first.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let versioned = VERSIONED.contains(first)
        && words.get(1).is_some_and(|next| is_version(next) || TELLING.contains(next));
    whole.or(grown.then_some((Named::Model, 1))).or(versioned.then_some((Named::Model, 1)))
}

/// The name that begins with these words, where a text says who it is itself.
pub fn any(words: &[&str]) -> Option<Begun> {
    let first = words.first()?;
    strong(words).or_else(|| WEAK.iter().find(|(_, name)| name == first).map(|(named, _)| (*named, 1)))
}

/// Whether a word after a model's name belongs to it.
pub fn belongs(word: &str) -> bool {
    is_version(word) || SIZES.contains(&word)
}

/// `4`, `4o`, `3`, `70b`, `v2`, `r1`, `k2`.
fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix(['v', 'r', 'k', 'm']).unwrap_or(word);
    digits.len() <= 8 && digits.starts_with(|c: char| c.is_ascii_digit())
}
