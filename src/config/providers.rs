//! Built-in services: API styles, addresses and key variables.
//!
//! Plain data. Other services are configured by address and API style. `<NAME>_BASE_URL` or config.yaml can
//! change the address of any.

use crate::participants::api::{ApiStream, ApiStyle, SchemaMode};
use crate::participants::http::WindowQuestion;

#[derive(Debug, Clone, Copy)]
pub struct BuiltInProvider {
    /// Name before the `/` of a model.
    pub name: &'static str,
    pub dialect: ApiStyle,
    pub base_url: &'static str,
    /// Variables that may contain the key; the first one set is used.
    pub keys: &'static [&'static str],
    pub stream: ApiStream,
    pub form: SchemaMode,
    /// Default limit of concurrent requests; `None` is unlimited.
    pub in_flight: Option<usize>,
    /// Command that starts it, for a local server.
    pub start: Option<&'static str>,
}

impl BuiltInProvider {
    /// Returns true for a local server, whose models may be small.
    pub fn is_small(&self) -> bool {
        self.form == SchemaMode::Bounded
    }

    /// Returns the requests that read its context window.
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

/// All built-in services.
///
/// A local server gets as many concurrent requests as it processes by default. Further requests would queue
/// there: they could not be cancelled, and would evict the shared prompt from its cache. Ollama processes one
/// request per model, llama.cpp and LM Studio four, each with its own cache slot. vLLM shares its cache among a
/// few hundred.
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
    // Counts tokens by default, and rejects unknown fields.
    BuiltInProvider {
        stream: ApiStream::Plain,
        ..cloud("mistral", OpenAi, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], BySchema)
    },
    // Has a JSON mode, but accepts no schema.
    cloud("deepseek", OpenAi, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], InWords),
    cloud("groq", OpenAi, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], BySchema),
    cloud("xai", OpenAi, "https://api.x.ai/v1", &["XAI_API_KEY"], BySchema),
    cloud("perplexity", OpenAi, "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"], InWords),
    own("ollama", "http://127.0.0.1:11434/v1", &[], "ollama serve", Some(1)),
    own("llamacpp", "http://127.0.0.1:8080/v1", &[], "llama-server -m MODEL.gguf", Some(4)),
    own("lmstudio", "http://127.0.0.1:1234/v1", &[], "lms server start", Some(4)),
    own("vllm", "http://127.0.0.1:8000/v1", &["VLLM_API_KEY"], "vllm serve MODEL", Some(64)),
    // A proxy that knows the limits of the services behind it.
    BuiltInProvider {
        start: Some("litellm --config config.yaml"),
        ..cloud("litellm", OpenAi, "http://127.0.0.1:4000/v1", &["LITELLM_API_KEY"], InWords)
    },
];
