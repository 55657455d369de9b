//! Accepts connections: plain or over TLS, a limited number at once, none that idles for long.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::serve::Listener;
use futures::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

/// Number of open connections; further ones wait until one ends.
pub const MOST_OPEN: usize = 1024;
/// Number of connections of one address, unless a proxy brings all.
pub const MOST_OF_AN_ADDRESS: usize = 256;
/// A connection without traffic ends after this time. Events are sent at least every 15 seconds.
const IDLE: Duration = Duration::from_secs(60);
/// Limits on the time and the bytes of a request's headers.
const HEADERS: Duration = Duration::from_secs(30);
const MAX_HEADERS: usize = 16 * 1024;
/// Limit on the time of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Answer to a browser that does not begin with TLS, whose first byte is 22.
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\
    cache-control: no-store\r\nx-content-type-options: nosniff\r\nConnection: close\r\n\r\n\
    This port speaks https: open the link as it was sent.\n";

#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Places of which each key, such as a token, may hold only so many at once.
pub struct Shares {
    most: usize,
    free: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Shares {
    pub fn new(most: usize) -> Self {
        Self { most, free: Mutex::default() }
    }

    /// Returns a place that is free again once dropped; none if the key holds its share.
    pub fn take(&self, key: String) -> Option<OwnedSemaphorePermit> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.retain(|_, places| places.available_permits() < self.most);
        let places = free.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.most)));
        Arc::clone(places).try_acquire_owned().ok()
    }
}

/// Connections that are ready for HTTP, as they come in.
pub struct Entrance {
    ready: mpsc::Receiver<(Connection, Peer)>,
}

impl Entrance {
    /// Accepts connections until it `ends`, `most` at once and `of_address` of each address; over TLS with
    /// an acceptor. Needs a runtime.
    pub fn open(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        most: usize,
        of_address: usize,
        ends: CancellationToken,
    ) -> Self {
        let (send, ready) = mpsc::channel(1);
        let free = Arc::new(Semaphore::new(most));
        tokio::spawn(async move {
            tokio::select! {
                () = accept(listener, tls, free, Shares::new(of_address), send) => {}
                () = ends.cancelled() => {}
            }
        });
        Self { ready }
    }

    /// Answers the requests of every connection, without an end.
    pub async fn serve(mut self, routes: Router) {
        loop {
            let (connection, peer) = self.next().await;
            let routes = TowerToHyperService::new(routes.clone());
            let answer = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(ConnectInfo(peer));
                routes.call(request)
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(MAX_HEADERS);
            // The client decides how a connection ends.
            tokio::spawn(http.serve_connection(TokioIo::new(connection), answer).map(drop));
        }
    }

    async fn next(&mut self) -> (Connection, Peer) {
        match self.ready.recv().await {
            Some(next) => next,
            None => std::future::pending().await,
        }
    }
}

/// Handshakes run beside this loop, so that a slow one holds nobody up.
async fn accept(
    mut listener: TcpListener,
    tls: Option<TlsAcceptor>,
    free: Arc<Semaphore>,
    shares: Shares,
    send: mpsc::Sender<(Connection, Peer)>,
) {
    while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
        // axum's own: it waits where the system has no descriptors left.
        let (stream, from) = Listener::accept(&mut listener).await;
        let Some(share) = shares.take(from.ip().to_string()) else { continue };
        let (tls, send) = (tls.clone(), send.clone());
        tokio::spawn(async move {
            let transport = match tls {
                None => Some(Transport::Plain(stream)),
                Some(tls) => timeout(HANDSHAKE, encrypt(stream, &tls)).await.ok().flatten(),
            };
            if let Some(transport) = transport {
                let connection =
                    Connection { transport, idle: Box::pin(sleep(IDLE)), _places: [permit, share] };
                // It fails when the program ends.
                let _ = send.send((connection, Peer(from))).await;
            }
        });
    }
}

async fn encrypt(mut stream: TcpStream, tls: &TlsAcceptor) -> Option<Transport> {
    let mut first = [0];
    stream.peek(&mut first).await.ok()?;
    if first != [22] {
        let _ = stream.write_all(NOT_TLS).await;
        let _ = stream.shutdown().await;
        // The request must be read, or the other end sees an error instead of the answer.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        return None;
    }
    Some(Transport::Tls(Box::new(tls.accept(stream).await.ok()?)))
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// An open connection. It ends with an error once nothing was read or written for [`IDLE`].
pub struct Connection {
    transport: Transport,
    idle: Pin<Box<Sleep>>,
    _places: [OwnedSemaphorePermit; 2],
}

impl Connection {
    /// Restarts the idle time where something happened, and ends the connection where it is up.
    fn watch<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
            return done;
        }
        ready!(self.idle.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let done = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        };
        self.watch(cx, done)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        };
        self.watch(cx, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn entrance(most: usize) -> (Entrance, SocketAddr) {
        shared_entrance(most, most).await
    }

    async fn shared_entrance(most: usize, of_address: usize) -> (Entrance, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        (Entrance::open(listener, None, most, of_address, CancellationToken::new()), address)
    }

    #[tokio::test]
    async fn a_connection_beyond_the_limit_waits_until_one_ends() {
        let (mut entrance, address) = entrance(2).await;
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(address).await.expect("connects"));
        }
        let first = entrance.next().await.0;
        let second = entrance.next().await.0;
        for _ in 0..1000 {
            tokio::task::yield_now().await;
            assert!(entrance.next().now_or_never().is_none(), "a third one is open");
        }
        drop(first);
        let third = entrance.next().await.0;
        drop((second, third));
    }

    #[tokio::test]
    async fn one_address_leaves_room_for_others() {
        let (mut entrance, address) = shared_entrance(3, 2).await;
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(address).await.expect("connects"));
        }
        let first = entrance.next().await.0;
        let _second = entrance.next().await.0;
        assert_eq!(clients[2].read(&mut [0]).await.expect("an end"), 0, "the third one is closed at once");
        drop(first);
        clients.push(TcpStream::connect(address).await.expect("connects"));
        entrance.next().await;
    }

    #[tokio::test]
    async fn a_connection_that_idles_ends() {
        let (mut entrance, address) = entrance(1).await;
        let _client = TcpStream::connect(address).await.expect("connects");
        let mut connection = entrance.next().await.0;
        tokio::time::pause();
        let ended = connection.read_u8().await.expect_err("nothing was sent");
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn headers_that_come_too_slowly_end_a_connection() {
        let (entrance, address) = entrance(1).await;
        tokio::spawn(entrance.serve(Router::new()));
        let mut client = TcpStream::connect(address).await.expect("connects");
        client.write_all(b"GET / HTTP/1.1\r\n").await.expect("sent");
        // It is there before the clock runs.
        tokio::time::sleep(Duration::from_millis(200)).await;
        tokio::time::pause();
        let begun = Instant::now();
        let ended = async {
            loop {
                sleep(Duration::from_secs(9)).await;
                if client.write_all(b"X: y\r\n").await.is_err()
                    || client.try_read(&mut [0; 9]).is_ok_and(|read| read == 0)
                {
                    break;
                }
            }
        };
        timeout(2 * IDLE, ended).await.expect("it ends although it never idles");
        assert!(begun.elapsed() >= HEADERS / 2, "{:?}", begun.elapsed());
    }
}
