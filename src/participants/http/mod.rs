//! Participants behind HTTP; the only file that uses `reqwest`.
//!
//! Limits the attempts of a call (`TRIES`) and the bytes read of a response. Does not follow redirects. Sends a
//! key only to the service's own host, and over plain http only to this machine. Does not interpret answers.

mod endpoint;
pub(crate) mod error;
pub mod link;
mod parameters;
pub mod probe;
pub(crate) mod request_body;
pub mod retry;
pub(crate) mod service;
pub mod stream;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Certificate, Client, ClientBuilder, Method, Request, Response, Url};
use tokio::sync::{MutexGuard, OnceCell, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::api::{ApiStyle, ServiceError, first_line};
use super::{Failure, Finish, Participant, Reply, SeatRequest, lock};
use crate::diagnostic::Diagnostic;
use crate::round::answer::is_few;
use crate::tokens::estimated_tokens;
use endpoint::{endpoint, headers, host, is_loopback, put_key};
use error::{RequestError, format_duration, masked, masked_answer};
use parameters::{Learned, Parameters};
use request_body::{PrefixCache, SplitBody, WarmupGuard};
use retry::{Patience, TRIES, backoff, jitter, pay, retry_after};
pub use service::{KeyHeader, LOCAL_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS, Service, Timeouts, WindowQuestion};
use stream::{MAX_REPLY, StreamedBody, without_text};

/// While a model loads, each retry waits as long as after this many attempts.
const LOADING: u32 = 3;
/// A seat whose request is not refused within this time lets the next seat ask.
const REFUSAL: Duration = Duration::from_secs(1);
/// Limit of an error body, in bytes.
const MAX_ERROR: usize = 64 * 1024;

/// Participant shared by all seats of one service.
pub struct HttpParticipant {
    service: Service,
    url: Url,
    headers: HeaderMap,
    heads: PrefixCache,
    /// Granted in request order, never closed.
    permits: Semaphore,
    models: Mutex<HashMap<String, Arc<KnownModel>>>,
    /// Cloned by each unanswered seat that the service asked to wait. While a clone exists, seats of all models
    /// take turns, since they may share a limit.
    held_back: Arc<()>,
    turn: tokio::sync::Mutex<()>,
    /// Set when a seat that was asked to wait has failed; seats then no longer take turns.
    refuses_in_turn: AtomicBool,
    client: OnceLock<Result<Client, String>>,
}

/// Requests of one call.
#[derive(Default)]
struct Attempts {
    tries: u32,
    /// Number of tries that cannot have cost anything.
    declined: u32,
}

/// Facts about a model, kept for the rest of the run.
#[derive(Default)]
struct KnownModel {
    learned: Mutex<Learned>,
    /// Context window, if a local server reports it.
    window: OnceCell<Option<usize>>,
}

impl HttpParticipant {
    /// Creates a participant for a service, with `permits` concurrent requests or no limit.
    ///
    /// # Errors
    /// The address is invalid or contains a password, or the key cannot be a header. Or the key would be sent
    /// over plain http to another machine.
    pub fn new(mut service: Service, permits: Option<usize>) -> Result<Self, Diagnostic> {
        let url = endpoint(&service, service.dialect.path())?;
        if service.has_key() && url.scheme() == "http" && !is_loopback(&url) {
            let name = service.key_name.as_deref().unwrap_or("the key");
            let host = url.host_str().unwrap_or_default();
            return Err(Diagnostic::new(format!("`{name}` would be sent to `{host}` over plain http"))
                .hint("use an https address, or unset the key for this service"));
        }
        service.limits.completion_tokens = url.host_str() == Some("api.openai.com");
        Ok(Self {
            headers: headers(&service)?,
            permits: Semaphore::new(permits.unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS)),
            heads: PrefixCache::default(),
            models: Mutex::default(),
            held_back: Arc::default(),
            turn: tokio::sync::Mutex::default(),
            refuses_in_turn: AtomicBool::new(false),
            client: OnceLock::new(),
            service,
            url,
        })
    }

    fn client(&self) -> Result<&Client, RequestError> {
        let build = || builder(&self.url, &self.service.timeouts).build().map_err(|error| cause(&error));
        self.client
            .get_or_init(build)
            .as_ref()
            .map_err(|cause| RequestError::permanent(format!("cannot make ready for TLS: {cause}")))
    }

    fn asks_in_turn(&self) -> bool {
        Arc::strong_count(&self.held_back) > 1 && !self.refuses_in_turn.load(Ordering::Relaxed)
    }

    fn model(&self, name: &str) -> Arc<KnownModel> {
        let mut models = lock(&self.models);
        Arc::clone(models.entry(name.to_owned()).or_default())
    }

    async fn call(&self, ask: &SeatRequest, made: &mut Attempts) -> Result<Reply, Failure> {
        let total = ask.timeout.unwrap_or(self.service.timeouts.total);
        let patience = Patience::new(ask.time_left.into_iter().chain(ask.timeout).min(), total);
        let prompt = [&*ask.prompt.rules, &ask.prompt.snapshot, &ask.prompt.tail];
        // The estimate is only compared with a window.
        let needed = self.service.window.map_or(0, |_| prompt.map(estimated_tokens).iter().sum());
        if let Some(misfit) = patience.wait(self.window_problem(&ask.model, needed)).await? {
            return Err(misfit.into());
        }
        let head = self.heads.get(&ask.prompt, || self.service.dialect.head(ask));
        let mut lead = None;
        if ask.warm_first {
            lead = patience.wait(head.wait_or_lead(&ask.model)).await?;
        }
        let permit = patience.wait(self.permits.acquire()).await?.ok();
        let mut reply =
            self.send_until_answered(ask, head.bytes.clone(), patience, permit, lead, made).await?;
        if let Some(question) = self.service.window
            && reply.usage.is_some_and(|usage| is_few(usage.input as usize, needed))
        {
            // Some servers report a model's window only once it is loaded.
            reply.window = self.fetch_window(question, &ask.model).await;
        }
        Ok(reply)
    }

    /// Sends requests until one is answered or another attempt is pointless.
    async fn send_until_answered<'a>(
        &'a self,
        ask: &SeatRequest,
        head: Bytes,
        mut patience: Patience,
        mut permit: Option<SemaphorePermit<'a>>,
        mut lead: Option<WarmupGuard>,
        made: &mut Attempts,
    ) -> Result<Reply, Failure> {
        let (mut loading, mut is_renewed) = (0, false);
        let (mut last, mut turn, mut held_back) = (None, None, None);
        let mut parameters = Parameters::new(&self.service, ask, &lock(&self.model(&ask.model).learned));
        let encode = |sent| SplitBody([head.clone(), self.service.dialect.tail(ask, sent).into()]);
        let mut body = encode(parameters.sent);
        loop {
            if turn.is_none() && self.asks_in_turn() {
                if held_back.is_some() {
                    ask.watch.queues();
                }
                permit = None;
                turn = Some(patience.wait(self.turn.lock()).await?).filter(|_| self.asks_in_turn());
            }
            if permit.is_none() {
                permit = patience.wait(self.permits.acquire()).await?.ok();
            }
            if patience.left().is_zero() {
                return Err(patience.late());
            }
            let paid = pay(ask, last.as_deref())?;
            made.tries += 1;
            ask.watch.asked(made.tries);
            let refusals = self.service.key_command.as_ref().map_or(0, |command| command.refusals());
            let sent = patience.spend(self.send(body.clone(), ask, &mut lead, &mut turn)).await?;
            drop(permit.take());
            let fault = match sent {
                Ok(reply) => {
                    paid.settle(reply.usage, true);
                    return Ok(self.complete(reply, ask, &parameters));
                }
                Err(fault) => fault.masked(&self.service.secrets()),
            };
            paid.settle(None, fault.may_cost);
            made.declined += u32::from(!fault.may_cost);
            if fault.asked.is_some() {
                held_back.get_or_insert_with(|| Arc::clone(&self.held_back));
            }
            if parameters.adapt(self.service.dialect, fault.declined.as_deref(), ask) {
                if ask.again.is_none() && !ask.has_twice_the_room {
                    ask.watch.waits(&fault.reason, Duration::ZERO);
                }
                body = encode(parameters.sent);
                continue;
            }
            if let (Some(401), Some(command), false) = (fault.status, &self.service.key_command, is_renewed) {
                // The key may have expired since the command printed it.
                is_renewed = true;
                command.forget(refusals);
                continue;
            }
            loading += u32::from(fault.is_loading);
            let counted = made.tries - parameters.declined() - loading;
            let wait = self.pause(&fault, ask, made.tries, counted, &patience)?;
            last = Some(fault.reason.clone());
            ask.watch.waits(&fault.reason, wait);
            patience.pause(wait, fault.asked.is_some()).await?;
        }
    }

    /// Completes a reply with facts about its request, and remembers them for the model.
    fn complete(&self, reply: Reply, ask: &SeatRequest, parameters: &Parameters) -> Reply {
        let limit = parameters.sent.max_output_tokens.filter(|_| reply.finish == Finish::Length);
        let model = self.model(&ask.model);
        let dropped = parameters.settle(&mut lock(&model.learned), ask);
        lock(&model.learned).thinks |=
            ask.has_twice_the_room || reply.usage.is_some_and(|usage| usage.thinking > 0);
        Reply { text: masked_answer(reply.text, &self.service.secrets()), dropped, limit, ..reply }
    }

    /// Returns the wait before the next attempt, or the failure if there must be none. `counted` attempts were
    /// neither declined for a parameter nor because the model is loading.
    fn pause(
        &self,
        fault: &RequestError,
        ask: &SeatRequest,
        tries: u32,
        counted: u32,
        patience: &Patience,
    ) -> Result<Duration, Failure> {
        let failure = |more: String, timed_out| {
            let in_full = fault.in_full.as_ref().map(|reason| format!("{reason}{more}"));
            Err(Failure { in_full, timed_out, ..format!("{}{more}", fault.reason).into() })
        };
        let made = if fault.is_loading { LOADING } else { counted };
        let own = backoff(self.service.first_wait, made, jitter(&ask.seat, tries));
        let wait = match fault.asked {
            _ if !fault.again || made >= TRIES => failure(String::new(), false),
            Some(wait) if wait >= patience.longest_wait() => {
                failure(format!("; asked to wait {}, {}", format_duration(wait), patience.exceeded()), false)
            }
            Some(wait) => Ok(wait),
            None if own >= patience.left() => failure("; no time left to try again".to_owned(), true),
            None => Ok(own),
        };
        if fault.asked.is_some() && wait.is_err() {
            self.refuses_in_turn.store(true, Ordering::Relaxed);
        }
        wait
    }

    async fn send(
        &self,
        body: SplitBody,
        ask: &SeatRequest,
        lead: &mut Option<WarmupGuard>,
        turn: &mut Option<MutexGuard<'_, ()>>,
    ) -> Result<Reply, RequestError> {
        let mut request = pin!(self.request(Method::POST, self.url.clone(), Body::wrap(body)));
        // A service that does not stream is silent until its whole reply; a refusal arrives sooner.
        let response = if let Ok(response) = timeout(REFUSAL, &mut request).await {
            response
        } else {
            *turn = None;
            request.await
        };
        match self.accepted(response?).await {
            Ok(response) => {
                *turn = None;
                self.read_reply(response, lead, ask).await
            }
            Err(fault) if fault.is_filtered => Ok(without_text(Finish::Refusal)),
            Err(fault) => Err(fault),
        }
    }

    async fn request(&self, method: Method, url: Url, body: Body) -> Result<Response, RequestError> {
        let mut request = Request::new(method, url);
        *request.headers_mut() = self.headers.clone();
        if let Some(command) = &self.service.key_command {
            let key = command.key().await.map_err(RequestError::permanent)?;
            put_key(&self.service, &key, request.headers_mut())
                .map_err(|problem| RequestError::permanent(problem.message))?;
        }
        *request.body_mut() = Some(body);
        self.client()?.execute(request).await.map_err(|error| self.connection_error(&error))
    }

    /// Returns the response if its status is 200, else its error.
    async fn accepted(&self, response: Response) -> Result<Response, RequestError> {
        let status = response.status().as_u16();
        if status == 200 {
            return Ok(response);
        }
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        if let (300..=399, Some(target)) = (status, header("location")) {
            let host = self.url.join(target).map(|target| first_line(&host(&target))).unwrap_or_default();
            let reason = format!("HTTP {status}: redirected to `{host}`, which is not followed");
            return Err(RequestError::permanent(reason));
        }
        let (after_ms, after) = (header("retry-after-ms"), header("retry-after"));
        let asked = retry_after(after_ms, after, crate::clock::system_time());
        let again = header("x-should-retry").and_then(|word| word.parse().ok());
        let body = self.read(response, MAX_ERROR).await.ok().flatten().unwrap_or_default();
        let (mut error, secrets) = (ServiceError::read(&body), self.service.secrets());
        // Masked before the message is truncated, which could leave part of a secret.
        error.message = error.message.map(|message| masked(message, &secrets));
        let (has_key, key_name) = (self.service.key().is_some(), self.service.key_name.as_deref());
        let fault = RequestError::status(status, &error, has_key, key_name).masked(&secrets);
        Err(RequestError {
            again: again.unwrap_or(fault.again),
            // With other statuses, a message may mention a wait without asking for one.
            asked: asked.or(error.wait.filter(|_| matches!(status, 429 | 503 | 529))),
            is_filtered: status == 400 && error.filtered,
            declined: matches!(status, 400 | 422).then(|| Box::new(error)),
            ..fault
        })
    }

    /// Reads a reply. Its text is never shown while it arrives; only the number of pieces is reported. A reply
    /// beyond the cap is returned as too long, not as an error.
    async fn read_reply(
        &self,
        mut response: Response,
        lead: &mut Option<WarmupGuard>,
        ask: &SeatRequest,
    ) -> Result<Reply, RequestError> {
        let unreadable = |error| RequestError::unreadable(error, &self.service.secrets());
        let mut arriving = StreamedBody::new(self.service.dialect);
        while let Some(piece) = self.next_piece(&mut response).await? {
            *lead = None;
            let before = arriving.count;
            let is_enough = arriving.push(&piece).map_err(unreadable)?;
            ask.watch.on_data(arriving.count - before);
            if is_enough {
                break;
            }
        }
        arriving.end().map_err(unreadable)
    }

    /// Returns the next piece of a body; fails after the idle timeout.
    async fn next_piece(&self, response: &mut Response) -> Result<Option<Bytes>, RequestError> {
        let idle = self.service.timeouts.idle;
        let piece = timeout(idle, response.chunk()).await.map_err(|_| {
            let reason = format!("the reply stopped for {}", format_duration(idle));
            RequestError { may_cost: true, ..RequestError::transient(reason) }
        })?;
        piece.map_err(|error| self.connection_error(&error))
    }

    /// Reads a body of at most `cap` bytes; `None` if it is larger.
    async fn read(&self, mut response: Response, cap: usize) -> Result<Option<Vec<u8>>, RequestError> {
        let mut body = Vec::new();
        while let Some(piece) = self.next_piece(&mut response).await? {
            if body.len() + piece.len() > cap {
                return Ok(None);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Some(body))
    }

    fn connection_error(&self, error: &reqwest::Error) -> RequestError {
        let host = host(&self.url);
        if error.is_connect() && error.is_timeout() {
            let limit = format_duration(self.service.timeouts.connect);
            return RequestError::transient(format!("no connection to `{host}` within {limit}"));
        }
        let cause = cause(error);
        let what = if error.is_connect() { "cannot connect to" } else { "lost the connection to" };
        let proxy = error.is_connect().then(|| proxy_of(&self.url)).flatten().unwrap_or_default();
        let reason = format!("{what} `{host}`{proxy}: {cause}");
        let fault = RequestError { may_cost: !error.is_connect(), ..RequestError::transient(reason) };
        if cause.contains("certificate") {
            // A retry would get the same certificate.
            let cure =
                "; if your company's proxy signs connections itself, set SSL_CERT_FILE to its certificate";
            return RequestError { again: false, reason: fault.reason + cure, ..fault };
        }
        fault
    }
}

impl Participant for HttpParticipant {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async {
            let mut made = Attempts::default();
            let done = self.call(ask, &mut made).await;
            let Attempts { tries, declined } = made;
            let failed = |failure| Failure { tries, declined, ..failure };
            done.map(|reply| Reply { tries, declined, ..reply }).map_err(failed)
        })
    }
}

/// Describes the proxy of an address, for messages; `None` if exceptions (`NO_PROXY`) are set.
fn proxy_of(url: &Url) -> Option<String> {
    let names =
        if url.scheme() == "https" { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    if ["NO_PROXY", "no_proxy"].iter().any(set) {
        return None;
    }
    let name = names.into_iter().chain(["ALL_PROXY", "all_proxy"]).find(set).filter(|_| !is_loopback(url))?;
    let value = std::env::var(name).ok()?;
    let at = value.rsplit('@').next().unwrap_or_default();
    Some(format!(" through the proxy `{}` of {name}", crate::sanitize::harmless_line(at)))
}

pub fn is_this_machine(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_loopback(&url))
}

/// Returns a client for one service. Plain http needs no certificates, loopback neither proxy nor resolver.
fn builder(url: &Url, timeouts: &Timeouts) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only if the program has already chosen another provider, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(timeouts.connect);
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]).http1_only();
    }
    if is_loopback(url) {
        let here = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        let here = here.map(|address| SocketAddr::new(address, 0));
        builder = builder.no_proxy().resolve_to_addrs("localhost", &here);
    }
    builder
}

/// Returns the innermost cause of an error, which contains no address.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    crate::sanitize::harmless_line(&inner.to_string())
}
