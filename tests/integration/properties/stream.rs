//! What services send: however a stream is cut, it is the same reply; no reason quotes the reply.

use roundtable::participants::Reply;
use roundtable::participants::api::ApiStyle;
use roundtable::participants::http::stream::{read_body, read_pieces};

use super::choose;

const DIALECTS: [ApiStyle; 3] = [ApiStyle::OpenAi, ApiStyle::Anthropic, ApiStyle::Responses];
/// Words that stand in the seeds where a model's text stands.
const SECRET: &str = "the fox is late";

/// Any bytes as the body of a 200, whole or by events; the first byte says in which dialect, the second
/// how the stream is cut.
pub fn stream(data: &[u8]) {
    let (dialect, data) = choose(data);
    let (cut, body) = choose(data);
    let dialect = DIALECTS[dialect % DIALECTS.len()];
    judge(&read_body(dialect, body));
    let whole = read_pieces(dialect, [body]);
    judge(&whole);
    assert_eq!(read_pieces(dialect, body.chunks(1)), whole, "byte by byte");
    let size = 1 + cut % 61;
    assert_eq!(read_pieces(dialect, body.chunks(size)), whole, "by {size} bytes");
    let (first, second) = body.split_at(cut * body.len() / 256);
    assert_eq!(read_pieces(dialect, [first, &[], second]), whole, "cut in two");
}

fn judge(read: &Result<Reply, String>) {
    match read {
        Ok(reply) => assert_eq!(reply.tries, 0),
        Err(reason) => {
            assert!(!reason.is_empty() && !reason.contains(SECRET), "{reason}");
            assert!(reason.len() < 200 && reason.chars().all(|c| !c.is_control()), "{reason}");
        }
    }
}
