//! The services known by name: their dialects, addresses and the variables that hold their keys.
//!
//! Plain data. Others are configured by address and dialect; any of these can be given another
//! address by `<NAME>_BASE_URL` or in config.yaml.

use crate::participants::api::{ApiStream, ApiStyle, SchemaMode};
use crate::participants::http::WindowQuestion;

#[derive(Debug, Clone, Copy)]
pub struct BuiltInProvider {
    /// Its name before the `/` of a model.
    pub name: &'static str,
    pub dialect: ApiStyle,
    pub base_url: &'static str,
    /// Variables that may hold the key; the first that is set is used.
    pub keys: &'static [&'static str],
    pub stream: ApiStream,
    pub form: SchemaMode,
    /// Limit of concurrent requests unless the user sets one; none: unlimited.
    pub in_flight: Option<usize>,
    /// For a server of one's own: what starts it.
    pub start: Option<&'static str>,
}

impl BuiltInProvider {
    /// A local server, whose models may be small.
    pub fn is_small(&self) -> bool {
        self.form == SchemaMode::Bounded
    }

    /// The way to ask for its context window.
    pub fn window(&self) -> Option<WindowQuestion> {
        let (paths, setting): (&[&str], &str) = match self.name {
            "ollama" => (&["api/ps", "api/show"], "OLLAMA_CONTEXT_LENGTH"),
            "llamacpp" => (&["props"], "its option `-c`"),
            "lmstudio" => (&["api/v0/models"], "`lms load --context-length`"),
            "vllm" => (&["v1/models"], "its option `--max-model-len`"),
            _ => return None,
        };
        Some(WindowQuestion { paths, setting })
    }
}

pub fn known(provider: &str) -> Option<&'static BuiltInProvider> {
    KNOWN.iter().find(|known| known.name == provider)
}

const fn cloud(
    name: &'static str,
    dialect: ApiStyle,
    base_url: &'static str,
    keys: &'static [&'static str],
    form: SchemaMode,
) -> BuiltInProvider {
    BuiltInProvider {
        name,
        dialect,
        base_url,
        keys,
        stream: ApiStream::WithUsage,
        form,
        in_flight: None,
        start: None,
    }
}

const fn own(
    name: &'static str,
    base_url: &'static str,
    keys: &'static [&'static str],
    start: &'static str,
    in_flight: Option<usize>,
) -> BuiltInProvider {
    let server = cloud(name, ApiStyle::OpenAi, base_url, keys, SchemaMode::Bounded);
    BuiltInProvider { in_flight, start: Some(start), ..server }
}

use ApiStyle::{Anthropic, OpenAi, Responses};
use SchemaMode::{BySchema, InWords};

/// Every service known by name.
///
/// A server of one's own is asked no more at a time than it works on at once by its own default:
/// what waits there would push the shared part of the prompt out of its slots, and could not be
/// given up. Ollama works on one request of a model, llama.cpp and LM Studio on four, each in a
/// slot with a cache of its own; vLLM shares its cache among a few hundred.
pub const KNOWN: [BuiltInProvider; 15] = [
    cloud("openai", OpenAi, "https://api.openai.com/v1", &["OPENAI_API_KEY"], BySchema),
    cloud("openai-responses", Responses, "https://api.openai.com/v1", &["OPENAI_API_KEY"], BySchema),
    cloud("anthropic", Anthropic, "https://api.anthropic.com", &["ANTHROPIC_API_KEY"], BySchema),
    cloud("openrouter", OpenAi, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"], BySchema),
    cloud(
        "gemini",
        OpenAi,
        "https://generativelanguage.googleapis.com/v1beta/openai",
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        BySchema,
    ),
    // Counts tokens without being asked, and refuses a field it does not know.
    BuiltInProvider {
        stream: ApiStream::Plain,
        ..cloud("mistral", OpenAi, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], BySchema)
    },
    // Knows a mode for JSON, and none for a schema.
    cloud("deepseek", OpenAi, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], InWords),
    cloud("groq", OpenAi, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], BySchema),
    cloud("xai", OpenAi, "https://api.x.ai/v1", &["XAI_API_KEY"], BySchema),
    cloud("perplexity", OpenAi, "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"], InWords),
    own("ollama", "http://127.0.0.1:11434/v1", &[], "ollama serve", Some(1)),
    own("llamacpp", "http://127.0.0.1:8080/v1", &[], "llama-server -m MODEL.gguf", Some(4)),
    own("lmstudio", "http://127.0.0.1:1234/v1", &[], "lms server start", Some(4)),
    own("vllm", "http://127.0.0.1:8000/v1", &["VLLM_API_KEY"], "vllm serve MODEL", Some(64)),
    // Passes on to others, whose limits it knows.
    BuiltInProvider {
        start: Some("litellm --config config.yaml"),
        ..cloud("litellm", OpenAi, "http://127.0.0.1:4000/v1", &["LITELLM_API_KEY"], InWords)
    },
];
