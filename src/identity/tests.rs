//! The table of texts: what is found, and what only looks like it.

use serde_json::json;

use super::{Hit, LeakKind, LeakScanner, Named, leaks_in, masked};

const SEATS: [&str; 5] = ["qa-lead", "software-architect", "skeptic", "a", "qa-lead-2"];

fn scan(material: &str) -> LeakScanner {
    LeakScanner::new(&SEATS, &["ollama/llama3.2", "lab/m1", "rehearsal"], material)
}

/// What was found, as `kind:text`.
fn found(text: &str, material: &str) -> Vec<String> {
    let name = |hit: &Hit| {
        let kind = match hit.kind {
            LeakKind::Itself => "self",
            LeakKind::Vendor => "vendor",
            LeakKind::Model => "model",
            LeakKind::Seat => "seat",
        };
        format!("{kind}:{}", &text[hit.start..hit.end])
    };
    scan(material).hits(text).iter().map(name).collect()
}

#[test]
fn who_says_who_it_is_or_names_another_is_found() {
    for (text, wanted) in [
        ("as Claude, made by Anthropic", &["self:Claude", "self:Anthropic"][..]),
        ("I'm GPT-4", &["self:GPT-4"]),
        ("I’m GPT‑4o mini.", &["self:GPT‑4o mini"]),
        ("As an AI developed by OpenAI, I cannot say.", &["self:AI", "self:OpenAI"]),
        ("As an AI language model, I see two risks.", &["self:AI language model"]),
        ("I am a large language model trained by Google.", &["self:large language model", "self:Google"]),
        ("I was trained by the team at Meta to help.", &["self:Meta"]),
        ("My name is Gemini and I agree.", &["self:Gemini"]),
        ("I am Gemini 1.5 Pro", &["self:Gemini 1.5 Pro"]),
        ("I'm actually based on Llama.", &["self:Llama"]),
        ("Speaking as Grok, no.", &["self:Grok"]),
        ("This is what ChatGPT would say", &["model:ChatGPT"]),
        ("Claude and I differ", &["model:Claude"]),
        ("ask Claude's maker", &["model:Claude"]),
        ("claude", &["model:claude"]),
        ("CLAUDE 3.5 SONNET is here", &["model:CLAUDE 3.5 SONNET"]),
        ("anthropic/claude-sonnet-4", &["vendor:anthropic", "model:claude-sonnet-4"]),
        ("https://api.openai.com/v1 answered 401", &["vendor:openai"]),
        ("gpt4 or GPT-5", &["model:gpt4", "model:GPT-5"]),
        ("Qwen2.5-Coder and deepseek-r1", &["model:Qwen2.5-Coder", "model:deepseek-r1"]),
        ("llama3.2 said", &["model:llama3.2"]),
        ("by ollama/llama3.2", &["model:ollama/llama3.2"]),
        ("lab/m1 it was", &["model:lab/m1"]),
        ("Gemini Pro and Mistral AI", &["model:Gemini Pro", "vendor:Mistral AI"]),
        (
            "C\u{200b}l\u{ad}aude and Сlаudе and Ｃlaude",
            &["model:C\u{200b}l\u{ad}aude", "model:Сlаudе", "model:Ｃlaude"],
        ),
        ("**Claude**, _OpenAI_ (Anthropic)", &["model:Claude", "vendor:OpenAI", "vendor:Anthropic"]),
        ("qa-lead will object", &["seat:qa-lead"]),
        ("QA-Lead's point; QA‑LEAD", &["seat:QA-Lead", "seat:QA‑LEAD"]),
        ("as the qa lead, I object", &["self:qa lead"]),
        ("I am the software architect here", &["self:software architect"]),
        ("qa-lead-2 differs", &["seat:qa-lead-2"]),
        (
            "I agree with skeptic; skeptic said so, @skeptic",
            &["seat:skeptic", "seat:skeptic", "seat:skeptic"],
        ),
        ("`a` and @a", &["seat:a", "seat:a"]),
    ] {
        assert_eq!(found(text, ""), wanted, "{text}");
    }
}

#[test]
fn what_only_looks_like_it_is_left_alone() {
    for text in [
        "Claude Shannon measured it; so did Jean-Claude and Claude Monet.",
        "the Gemini constellation, and the Gemini program of 1965",
        "a llama on the meadow, a mistral from the north",
        "I grok it; the parts cohere; perplexity is a metric",
        "Google Docs and Amazon S3 and a meta question",
        "the GPT partition table",
        "openair, anthropics, claudette, chatgpted, anthropical",
        "edit CLAUDE.md and ~/.claude/agents and src/claude/main.rs",
        "a library developed by Google",
        "As an AI company we would; use it as an AI assistant would",
        "such as an AI model, as well as a language model",
        "I am an AI engineer",
        "a skeptic would ask; the skeptic in me",
        "a lead for qa, an architect of software",
        "the qa lead role, a software architect's view",
        "sonnet and haiku are poems; opus 5 is a sonata",
        "non-qa-lead, qa-lead-style, qa-leadership",
        "option a, then a said nothing",
        "phi is an angle; nova is a star",
        "",
    ] {
        assert_eq!(found(text, ""), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn who_stands_in_the_material_is_the_matter_and_no_leak() {
    let question = "Which first: Claude, GPT-4, or a model by Mistral AI? qa-lead asked.";
    assert_eq!(found("Claude before GPT-5 and Mistral AI, as qa-lead said", question), Vec::<String>::new());
    assert_eq!(found("I'm Claude and I prefer Claude", question), ["self:Claude"]);
    assert_eq!(found("OpenAI", question), ["vendor:OpenAI"]);
}

#[test]
fn the_copy_is_masked_and_the_answer_is_not_changed() {
    let answer = json!({ "result": {
        "position": "I'm Claude; qa-lead is right.\nAnthropic",
        "by Claude": ["OpenAI", { "x/~": "GPT-4" }],
        "by GPT-4": 3,
        "confidence": 0.5,
    }});
    let before = answer.clone();
    let mask = |hit: &Hit| {
        Some(match hit.named {
            Named::Seat(at) => format!("participant-{at}"),
            Named::Vendor => "[vendor]".to_owned(),
            _ => "[model]".to_owned(),
        })
    };
    let leaks = leaks_in(&scan(""), &answer, ("qa-lead", "pick/1"), &mask);
    assert_eq!(
        masked(&answer, &leaks),
        json!({ "result": {
            "position": "I'm [model]; participant-0 is right.\n[vendor]",
            "by [model]": ["[vendor]", { "x/~": "[model]" }],
            "by [model]'": 3,
            "confidence": 0.5,
        }})
    );
    assert_eq!(answer, before);
    let pointers: Vec<&str> = leaks.iter().map(|leak| leak.place.as_str()).collect();
    assert!(pointers.contains(&"/result/by Claude/1/x~1~0"), "{pointers:?}");
    // A finding that does not fit changes nothing; without masks all stays.
    assert_eq!(masked(&json!({ "result": { "position": "short" } }), &leaks)["result"]["position"], "short");
    let flagged = leaks_in(&scan(""), &answer, ("qa-lead", "pick/1"), &|_| None);
    assert_eq!((flagged.len(), masked(&answer, &flagged)), (leaks.len(), answer));
}

proptest::proptest! {
    /// No text makes it panic; what it finds stands in the text, in order and apart.
    #[test]
    fn every_text_is_scanned(text in "(I'm |as |Claude|GPT-4|qa-lead|@a|by |OpenAI|é|\u{200b}|[a-zA-Z ,.'/-]|\\PC){0,40}") {
        let hits = scan("").hits(&text);
        let mut last = 0;
        for hit in hits {
            proptest::prop_assert!(hit.start >= last && hit.start < hit.end);
            proptest::prop_assert!(text.get(hit.start..hit.end).is_some());
            last = hit.end;
        }
    }
}
