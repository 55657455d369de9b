//! Sentences a facilitator writes, and what is found in them.

use super::{CompletenessFinding, Held, findings};

/// Ids of a definition: REQ-001 and the artifact `login` are handed over, REQ-002 and APP-15 are not.
fn held() -> Held {
    let ids = [("REQ-001", true), ("REQ-002", false), ("APP-15", false), ("login", true), ("adr7", false)];
    Held {
        ids: ids.map(|(id, is_held)| (id.to_owned(), is_held)).to_vec(),
        names: "src/cache.rs: the cache\nThe file PLAN.md as it stands".to_owned(),
        may_grow: false,
    }
}

fn found(said: &str) -> Vec<CompletenessFinding> {
    findings(said, &held())
}

const INNOCENT: [&str; 62] = [
    "Do we accept artifact REQ-001?",
    "Does REQ-001 hold? What of REQ-001's wording?",
    "Improve the login flow; artifact login says how.",
    "check that the avatar loads at http://localhost:3000",
    "1. Navigate to http://localhost:3000/profile\n2. Verify avatar image loads",
    "Open http://localhost:3000/profile and click the edit button.",
    "Check whether the service at https://example.org answers within 1 s",
    "Implement issue APP-15: User Profile Page\nDescription: Create profile page with avatar...",
    "Never check Linear for data you already have",
    "Don't look up the ticket in Jira.",
    "Do not read files or open links.",
    "Do not read files",
    "You must not open the tracker",
    "Answer without reading the file",
    "Which of the open questions matters most?",
    "Which file should we read first?",
    "Does the plan check the file size?",
    "Should the service read the file at startup?",
    "Should users open a link in a new tab?",
    "Do we open a file per request, or one for all?",
    "Read the plan below, then review it",
    "Read the file below and say what is missing.",
    "Open the attached file in your mind: what do you see?",
    "Check the plan for gaps",
    "Check the file size limit",
    "Check the link between cost and latency",
    "check linear growth of the table",
    "Check the notion of time in it",
    "Read the repository pattern as it is meant here",
    "Open questions: see below",
    "We open the file lazily and read the links on demand; is that safe?",
    "Users check Jira daily.",
    "Users log in, open the file and read the wiki.",
    "The linter must read the config file before it runs.",
    "The service has to open the file twice.",
    "Customers who want to read the wiki must sign in.",
    "It takes 3 s to open the link.",
    "Improve it so that nobody has to check the tracker.",
    "Use UTF-8 and ISO-8601 dates",
    "CVE-2024-1234 is the reason for it",
    "Provide screenshot evidence.",
    "How should the tracker and the wiki be linked?",
    "Do we move from Jira to Linear?",
    "GitHub, GitLab or Gitea: which one?",
    "Is Notion a fit for the wiki?",
    "Should we keep the backlog in GitHub?",
    "The details are in REQ-001.",
    "Check Node.js support and read/write/execute permissions",
    "Say how the program opens src/main.rs",
    "Write the result to out/report.md",
    "The page at https://example.org/pricing is slow: why?",
    "Keep http://localhost:3000/health up",
    "Look at the trade-offs and name the risks",
    "See what breaks first",
    "Look up the words in the glossary above",
    "Go to market in May or in June?",
    "Search must answer in 100 ms",
    "Read src/cache.rs and say what it lacks",
    "Check PLAN.md for gaps",
    "Find the bug that makes it slow",
    "Get the numbers right",
    "Consult each other never; answer alone",
];

/// Each with the phrase that is marked.
const GUESSES: [(&str, &str); 40] = [
    ("Check Linear for the next issue", "Check Linear"),
    ("check Linear", "check Linear"),
    ("CHECK LINEAR FOR THE NEXT ISSUE", "CHECK LINEAR"),
    ("please check linear", "check linear"),
    ("look up the ticket", "look up the ticket"),
    ("Look the ticket up.", "Look the ticket up"),
    ("First look up the ticket in the tracker.", "look up the ticket in the tracker"),
    ("Look it up in Jira", "Look it up in Jira"),
    ("In the tracker, look up the ticket", "look up the ticket"),
    ("You must check Jira before you answer", "check Jira"),
    ("Could you check the tracker?", "check the tracker"),
    ("Can you please look up the issue in GitHub?", "look up the issue in GitHub"),
    ("Remember to consult the wiki", "consult the wiki"),
    ("Make sure to read the file first", "read the file"),
    ("You need to open the repo", "open the repo"),
    ("Answer, then check the file.", "check the file"),
    ("Plan it, and open the link", "open the link"),
    ("If the answer is unclear, check Linear.", "check Linear"),
    ("For details, see docs/PLAN-B.md", "see docs/PLAN-B.md"),
    ("Please read src/main.rs", "read src/main.rs"),
    ("Read CONTEXT.md first", "Read CONTEXT.md"),
    ("Start by reading docs/OVERVIEW.md", "reading docs/OVERVIEW.md"),
    ("Read docs/PLAN-B.md: what is missing?", "Read docs/PLAN-B.md"),
    ("Open https://example.org/spec and summarise it", "Open https://example.org/spec"),
    ("Visit https://example.org", "Visit https://example.org"),
    ("- fetch https://example.org/a.json", "fetch https://example.org/a.json"),
    ("Have a look at the wiki", "Have a look at the wiki"),
    ("Take a look in the repository, then answer", "Take a look in the repository"),
    ("Refer to the README for the rules", "Refer to the README"),
    ("Go to Jira and say what is open", "Go to Jira"),
    ("Browse the codebase for dead code", "Browse the codebase"),
    ("Search the repo for it", "Search the repo"),
    ("Find the ticket in Jira", "Find the ticket in Jira"),
    ("Get the details from the tracker.", "Get the details from the tracker"),
    ("The ticket should be looked up in Linear.", "be looked up in Linear"),
    ("Don't guess: check the tracker", "check the tracker"),
    ("Never guess, but check the tracker", "check the tracker"),
    ("Implement ticket ABC-7 now", "Implement ticket ABC-7"),
    ("Which risks does issue ABC-7 have?", "does issue ABC-7"),
    ("Read the file ./plan/ and go on", "Read the file"),
];

/// Each with the phrase that is marked, and a word of the reason.
const CERTAIN: [(&str, &str, &str); 9] = [
    ("Implement issue APP-15", "Implement issue APP-15", "not handed over"),
    ("Implement APP-15 now", "Implement APP-15", "not handed over"),
    ("What about REQ-002?", "What about REQ-002", "not handed over"),
    ("Compare REQ-001/REQ-002", "Compare REQ-001/REQ-002", "not handed over"),
    ("Do we accept REQ-009?", "we accept REQ-009", "does not exist; there is `REQ-001`"),
    ("Is REQ-9's wording clear?", "Is REQ-9's", "does not exist"),
    ("(see APP-99)", "see APP-99", "does not exist"),
    ("What does adr7 cost?", "What does adr7", "not handed over"),
    ("Sum up artifact adr7", "up artifact adr7", "not handed over"),
];

#[test]
fn innocent_sentences_have_no_finding() {
    for said in INNOCENT {
        assert_eq!(found(said), [], "{said}");
    }
}

#[test]
fn guesses_about_language_are_found_with_their_phrase() {
    for (said, phrase) in GUESSES {
        let found = found(said);
        assert!(
            matches!(&found[..], [one] if !one.is_certain && one.phrase == phrase),
            "{said}: wanted `{phrase}`, found {found:?}"
        );
    }
}

#[test]
fn what_is_decided_exactly_is_certain() {
    for (said, phrase, why) in CERTAIN {
        let found = found(said);
        let fits =
            matches!(&found[..], [one] if one.is_certain && one.phrase == phrase && one.what.contains(why));
        assert!(fits, "{said}: wanted `{phrase}`, found {found:?}");
    }
}

#[test]
fn what_a_result_may_bring_is_no_certain_finding() {
    let open = Held { may_grow: true, ..held() };
    assert!(findings("Do we accept REQ-009?", &open).iter().all(|finding| !finding.is_certain));
}
