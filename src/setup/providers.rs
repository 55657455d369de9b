//! The services known by name: their dialects, addresses and the variables that hold their keys.
//!
//! Plain data. Others are configured by address and dialect; any of these can be given another
//! address by `<NAME>_BASE_URL` or in config.yaml.

use crate::participants::dialect::{Dialect, Stream};

/// A service this program knows by name.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name before the `/` of a model.
    pub name: &'static str,
    /// The form of its requests.
    pub dialect: Dialect,
    /// Where it answers.
    pub base_url: &'static str,
    /// Variables that may hold the key; the first that is set is used.
    pub keys: &'static [&'static str],
    /// How replies come.
    pub stream: Stream,
    /// For a server of one's own: what starts it.
    pub start: Option<&'static str>,
}

impl Known {
    /// Whether it answers nobody without a key.
    pub fn needs_key(&self) -> bool {
        !self.keys.is_empty() && self.start.is_none()
    }
}

const fn cloud(
    name: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    keys: &'static [&'static str],
) -> Known {
    Known { name, dialect, base_url, keys, stream: Stream::WithUsage, start: None }
}

const fn own(
    name: &'static str,
    base_url: &'static str,
    keys: &'static [&'static str],
    start: &'static str,
) -> Known {
    Known { name, dialect: Dialect::OpenAi, base_url, keys, stream: Stream::WithUsage, start: Some(start) }
}

/// Every service known by name.
pub const KNOWN: [Known; 15] = [
    cloud("openai", Dialect::OpenAi, "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    cloud("openai-responses", Dialect::Responses, "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    cloud("anthropic", Dialect::Anthropic, "https://api.anthropic.com", &["ANTHROPIC_API_KEY"]),
    cloud("openrouter", Dialect::OpenAi, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    cloud(
        "gemini",
        Dialect::OpenAi,
        "https://generativelanguage.googleapis.com/v1beta/openai",
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    ),
    // Counts tokens without being asked, and refuses a field it does not know.
    Known {
        stream: Stream::Plain,
        ..cloud("mistral", Dialect::OpenAi, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"])
    },
    cloud("deepseek", Dialect::OpenAi, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    cloud("groq", Dialect::OpenAi, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    cloud("xai", Dialect::OpenAi, "https://api.x.ai/v1", &["XAI_API_KEY"]),
    cloud("perplexity", Dialect::OpenAi, "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"]),
    own("ollama", "http://127.0.0.1:11434/v1", &[], "ollama serve"),
    own("llamacpp", "http://127.0.0.1:8080/v1", &[], "llama-server -m MODEL.gguf"),
    own("lmstudio", "http://127.0.0.1:1234/v1", &[], "lms server start"),
    own("vllm", "http://127.0.0.1:8000/v1", &["VLLM_API_KEY"], "vllm serve MODEL"),
    own("litellm", "http://127.0.0.1:4000/v1", &["LITELLM_API_KEY"], "litellm --config config.yaml"),
];
