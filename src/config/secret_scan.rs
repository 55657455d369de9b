//! Detection of keys and passwords in text to be sent.
//!
//! Knows only common formats: it catches mistakes, but a clean result proves nothing.

use std::sync::LazyLock;

use regex::RegexSet;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Line of the file or diff, from 1.
    pub line: usize,
    pub what: &'static str,
    /// Hash of all the content to be sent.
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretPolicy {
    Refuse,
    Allow,
    /// Sends only content with these hashes, to which the user has agreed.
    #[serde(skip)]
    Agreed(Vec<String>),
}

impl SecretPolicy {
    pub fn allow_if(is_allowed: bool) -> Self {
        if is_allowed { Self::Allow } else { Self::Refuse }
    }
}

/// Name and pattern of each format.
const SHAPES: [(&str, &str); 21] = [
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("an AWS access key", r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    ("a GitHub fine-grained token", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+"),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI or OpenRouter key", r"\bsk-(proj-|or-v1-|svcacct-)?[A-Za-z0-9_]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a DigitalOcean token", r"\bdop_v1_[a-f0-9]{64}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password in an address", r"[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s:@$<{*]{3,}@"),
    (
        "a password or key",
        r#"(?i)(password|passwd|secret|api[_-]?key|access[_-]?token)["']?\s*[:=]\s*["'][^"'\s$<{*]{8,}["']"#,
    ),
    // Unquoted value to the end of its line, in shell or YAML.
    (
        "a password or key",
        r"(?i)^\s*((export|set|env|-)\s+)?([a-z0-9_]*(password|passwd|secret|api_?key|access_?token|secret_access_key|private_key)\s*(=|:\s))\s*[^\s$<{*(\[\x22'&|!>]{8,}\s*$",
    ),
];

static SET: LazyLock<RegexSet> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are fixed and a test compiles them")]
    RegexSet::new(SHAPES.map(|(_, shape)| shape)).expect("patterns that compile")
});

/// Returns the line, from 1, and the name of the first text that looks like a secret.
pub fn first_secret(text: &str) -> Option<(usize, &'static str)> {
    text.lines().enumerate().find_map(|(index, line)| {
        let shape = SET.matches(line).iter().next()?;
        Some((index + 1, SHAPES.get(shape)?.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_is_found_and_placeholders_are_not() {
        let (a, hex) = ("a".repeat(40), "0".repeat(64));
        let texts = [
            "-----BEGIN RSA PRIVATE KEY-----".to_owned(),
            format!("AKIA{}", "A".repeat(16)),
            format!("ghp_{a}"),
            format!("github_pat_{a}"),
            format!("glpat-{a}"),
            format!("xoxb-{a}"),
            "https://hooks.slack.com/services/T0/B0/x1".to_owned(),
            format!("sk_live_{a}"),
            format!("AIza{a}"),
            format!("sk-ant-{a}"),
            format!("sk-proj-{a}"),
            format!("npm_{}", "a".repeat(36)),
            format!("pypi-{a}{a}"),
            format!("SG.{}.{}", "a".repeat(22), "a".repeat(43)),
            format!("SK{}", "0".repeat(32)),
            format!("hf_{a}"),
            format!("dop_v1_{hex}"),
            format!("eyJ{a}.eyJ{a}.{a}"),
            "postgres://app:hunter2@db/app".to_owned(),
            "\"password\": \"correct-horse\"".to_owned(),
            "export DB_PASSWORD=hunter2hunter2".to_owned(),
        ];
        for ((name, _), text) in SHAPES.iter().zip(texts) {
            assert_eq!(first_secret(&format!("first\n{text}\n")), Some((2, *name)), "{text}");
        }
        for secret in [
            "API_KEY=abcdef0123456789abcdef",
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG",
            "password: hunter2hunter2",
            "ENV API_KEY=abcdef0123456789",
            "      - DB_PASSWORD=hunter2hunter2",
        ] {
            assert!(first_secret(secret).is_some(), "{secret}");
        }
        for harmless in [
            "API_KEY=$OTHER_KEY_HERE",
            "password: the user types it here",
            "- Secret: what nobody was told",
            "let api_key = read_from_environment(name);",
            "secret: [one, two, three, four]",
            "password = \"$PASSWORD\"",
            "password: \"<your password>\"",
            "https://example.org/a:b@c",
            "the task-force of sk-learn",
            "postgres://app:$PASSWORD@db/app",
        ] {
            assert_eq!(first_secret(harmless), None, "{harmless}");
        }
    }
}
