//! Listener with connection limits, plain or over TLS.
//!
//! When it is full, connections without a valid token are closed first.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

use crate::participants::lock;

pub const MOST_OPEN: usize = 1024;
/// Limit of connections without a valid token per address; not for a proxy, which all share.
pub const MOST_OF_AN_ADDRESS: usize = MOST_OPEN / 10;
/// Limit of connections per token.
const MOST_OF_A_TOKEN: usize = 32;
/// Time limit for a request's headers, and their size limit in bytes.
const HEADERS: Duration = Duration::from_secs(60);
const MAX_HEADERS: usize = 16 * 1024;
/// Time limit of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
pub struct Connections {
    free: Arc<Semaphore>,
    of_address: usize,
    /// Connections by number, the oldest first.
    open: Mutex<BTreeMap<u64, Open>>,
}

struct Open {
    holder: Holder,
    ends: CancellationToken,
}

#[derive(PartialEq)]
enum Holder {
    Stranger(IpAddr),
    /// Hash of its token.
    Seat(String),
}

/// Open connection; dropping it frees its place.
pub struct Guest {
    pub address: IpAddr,
    number: u64,
    connections: Arc<Connections>,
    _place: OwnedSemaphorePermit,
}

impl Connections {
    /// Allows `most` connections, and `of_address` strangers per address.
    pub fn new(most: usize, of_address: usize) -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(most)), of_address, open: Mutex::default() })
    }

    /// Accepts connections and answers their requests until `ends` is cancelled.
    pub async fn serve(
        self: Arc<Self>,
        mut listener: TcpListener,
        tls: Option<TlsAcceptor>,
        routes: Router,
        ends: CancellationToken,
    ) {
        loop {
            // axum's `accept` pauses while the system has no free descriptors.
            let (stream, from) = Listener::accept(&mut listener).await;
            let ends = ends.child_token();
            let Some(guest) = self.enter(from.ip(), ends.clone()).await else { return };
            let answering = answer(stream, tls.clone(), routes.clone(), guest);
            tokio::spawn(ends.run_until_cancelled_owned(answering));
        }
    }

    /// Admits a stranger. At a limit it closes the oldest stranger's connection. If only seats are connected, it
    /// waits until one leaves.
    async fn enter(self: &Arc<Self>, address: IpAddr, ends: CancellationToken) -> Option<Guest> {
        let is_own = |holder: &Holder| *holder == Holder::Stranger(address);
        if lock(&self.open).values().filter(|open| is_own(&open.holder)).count() >= self.of_address {
            self.end_oldest(is_own);
        } else if self.free.available_permits() == 0 {
            self.end_oldest(|holder| matches!(holder, Holder::Stranger(_)));
        }
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let mut open = lock(&self.open);
        let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
        open.insert(number, Open { holder: Holder::Stranger(address), ends });
        Some(Guest { address, number, connections: Arc::clone(self), _place: place })
    }

    fn end_oldest(&self, is_one: impl Fn(&Holder) -> bool) {
        let mut open = lock(&self.open);
        let oldest = open.iter().find(|(_, open)| is_one(&open.holder)).map(|(number, _)| *number);
        if let Some(oldest) = oldest.and_then(|number| open.remove(&number)) {
            oldest.ends.cancel();
        }
    }
}

impl Guest {
    /// Marks the connection as a seat's. Returns false if the token has too many other connections.
    pub fn mark_as_seat(&self, invitation: &str) -> bool {
        let holder = Holder::Seat(invitation.to_owned());
        let mut open = lock(&self.connections.open);
        let is_other = |(number, open): &(&u64, &Open)| **number != self.number && open.holder == holder;
        let has_place = open.iter().filter(is_other).count() < MOST_OF_A_TOKEN;
        if let Some(own) = open.get_mut(&self.number).filter(|_| has_place) {
            own.holder = holder;
        }
        has_place
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        lock(&self.connections.open).remove(&self.number);
    }
}

async fn answer(stream: TcpStream, tls: Option<TlsAcceptor>, routes: Router, guest: Guest) -> Option<()> {
    let stream = match tls {
        None => Either::Left(stream),
        Some(tls) => Either::Right(timeout(HANDSHAKE, tls.accept(stream)).await.ok()?.ok()?),
    };
    let (guest, routes) = (Arc::new(guest), TowerToHyperService::new(routes));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&guest));
        routes.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(MAX_HEADERS);
    http.serve_connection(TokioIo::new(stream), answer).await.ok()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Serves a page for strangers and one for seats.
    async fn serve(most: usize, of_address: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seat = async |axum::Extension(guest): axum::Extension<Arc<Guest>>| {
            if guest.mark_as_seat("dana") { "yes" } else { "no" }
        };
        let routes = Router::new().route("/", get(|| async { "hello" })).route("/seat", get(seat));
        let connections = Connections::new(most, of_address);
        tokio::spawn(connections.serve(listener, None, routes, CancellationToken::new()));
        address
    }

    /// Returns a connection that has requested a page.
    async fn asked(address: SocketAddr, page: &str) -> TcpStream {
        let mut client = TcpStream::connect(address).await.expect("connects");
        let request = format!("GET {page} HTTP/1.1\r\nHost: h\r\n\r\n");
        client.write_all(request.as_bytes()).await.expect("sent");
        assert_eq!(client.read_u8().await.expect("an answer"), b'H');
        client
    }

    async fn has_ended(mut client: TcpStream) -> bool {
        timeout(PAUSE, client.read_to_end(&mut Vec::new())).await.is_ok()
    }

    const PAUSE: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn one_address_or_one_token_leaves_room_for_others() {
        let address = serve(3, 2).await;
        let seat = asked(address, "/seat").await;
        let [first, second] = [asked(address, "/").await, asked(address, "/").await];
        let third = asked(address, "/").await;
        assert!(has_ended(first).await && !has_ended(asked(address, "/seat").await).await);
        assert!(has_ended(second).await, "the oldest stranger of an address goes");
        let seats = [asked(address, "/seat").await, asked(address, "/seat").await];
        assert!(has_ended(third).await, "in a full house any stranger goes");
        let waits = timeout(PAUSE, asked(address, "/seat")).await;
        assert!(waits.is_err(), "and nobody whose token is valid");
        drop((seat, seats));
    }

    #[tokio::test]
    async fn idle_connections_and_slow_headers_are_closed() {
        let address = serve(2, 2).await;
        let mut idle = asked(address, "/").await;
        let mut slow = TcpStream::connect(address).await.expect("connects");
        slow.write_all(b"GET / HTTP/1.1\r\n").await.expect("sent");
        tokio::time::sleep(PAUSE).await;
        tokio::time::pause();
        let slow = async {
            while slow.write_all(b"X: y\r\n").await.is_ok()
                && !slow.try_read(&mut [0; 9]).is_ok_and(|read| read == 0)
            {
                tokio::time::sleep(HEADERS / 4).await;
            }
        };
        timeout(2 * HEADERS, slow).await.expect("it ends although it never idles");
        timeout(2 * HEADERS, idle.read_to_end(&mut Vec::new())).await.expect("it ends").expect("read");
    }
}
