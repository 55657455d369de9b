//! Response streams: the split does not matter, and errors quote nothing.

use roundtable::participants::Reply;
use roundtable::participants::api::ApiStyle;
use roundtable::participants::http::stream::StreamedBody;

use super::choose;

const DIALECTS: [ApiStyle; 3] = [ApiStyle::OpenAi, ApiStyle::Anthropic, ApiStyle::Responses];
/// Text of the model in the seeds.
const SECRET: &str = "the fox is late";

/// Reads the body of a 200 that arrives in these pieces.
fn read<'a>(dialect: ApiStyle, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Reply, String> {
    let mut arriving = StreamedBody::new(dialect);
    for piece in pieces {
        if arriving.push(piece).map_err(|unreadable| unreadable.reason)? {
            break;
        }
    }
    arriving.end().map_err(|unreadable| unreadable.reason)
}

/// Reads any bytes as the body of a 200, whole or as events. The first byte selects the API style, the second
/// the split.
pub fn stream(data: &[u8]) {
    let (dialect, data) = choose(data);
    let (cut, body) = choose(data);
    let dialect = DIALECTS[dialect % DIALECTS.len()];
    let whole = read(dialect, [body]);
    judge(&whole);
    assert_eq!(read(dialect, body.chunks(1)), whole, "byte by byte");
    let size = 1 + cut % 61;
    assert_eq!(read(dialect, body.chunks(size)), whole, "by {size} bytes");
    let (first, second) = body.split_at(cut * body.len() / 256);
    assert_eq!(read(dialect, [first, &[], second]), whole, "cut in two");
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
