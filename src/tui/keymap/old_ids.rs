//! Action ids of earlier versions, which were derived from labels: read for ever, never written.

/// Old id and current id, where they differ.
#[rustfmt::skip]
pub(super) const OLD_IDS: [(&str, &str); 43] = [
    ("open-what-is-chosen", "open-row"),
    ("a-topic-of-your-own", "new-question"),
    ("open-the-round-or-begin", "open-round"),
    ("edit-the-round", "edit-round"),
    ("choose-who-is-asked", "choose-participants"),
    ("what-differs-from-the-last-snapshot", "show-diff"),
    ("close-the-round-now", "close-round"),
    ("excuse-the-chosen-seat", "excuse-seat"),
    ("ask-the-chosen-seat-anew-or-by-another-model", "retry-seat"),
    ("give-the-round-more-time", "extend-deadline"),
    ("answer-where-it-is-a-persons-turn", "answer-seat"),
    ("accept-and-go-on", "accept-result"),
    ("ask-again-as-a-new-round", "repeat-round"),
    ("answer-the-question", "answer-question"),
    ("note-what-came-of-the-round", "add-note"),
    ("add-or-edit-an-artifact", "edit-artifact"),
    ("play-or-pause", "play-pause"),
    ("event-before", "previous-event"),
    ("round-before", "previous-round"),
    ("seat-before", "previous-seat"),
    ("pane-before", "previous-pane"),
    ("look-at-the-snapshot", "show-snapshot"),
    ("look-at-the-workflows-map", "show-workflow"),
    ("look-at-the-results-so-far", "show-results"),
    ("show-a-work-item-whole", "show-work-items"),
    ("answers-side-by-side-or-one", "toggle-side-by-side"),
    ("what-if-by-another-rule", "other-rules"),
    ("write-a-report", "export-report"),
    ("copy-what-is-looked-at", "copy-pane"),
    ("a-new-session-from-here", "fork-session"),
    ("go-on-with-this-session", "resume-session"),
    ("next-hit", "next-match"),
    ("hit-before", "previous-match"),
    ("only-this-seats-events-or-all", "filter-events"),
    ("to-the-start", "go-to-start"),
    ("to-the-end", "go-to-end"),
    ("up-a-page", "page-up"),
    ("down-a-page", "page-down"),
    ("doctor:-see-how-the-providers-fare", "check-providers"),
    ("doctor:-have-each-say-a-word-and-time-it", "check-latency"),
    ("find-an-action-by-its-name", "command-palette"),
    ("show-the-keys", "help"),
    ("to-the-shell-fg-comes-back", "suspend"),
];

/// Returns the current id of an action named by an old or a current id.
pub fn current_id(name: &str) -> &str {
    OLD_IDS.iter().find(|(old, _)| *old == name).map_or(name, |(_, current)| current)
}
