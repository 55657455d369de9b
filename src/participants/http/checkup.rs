//! Requests of `doctor` to a service, read by `probe.rs`.
//!
//! One request each, without a retry and outside the concurrency limit.

use super::endpoint::{endpoint, host};
use tokio::time::Instant;

use super::complaint::Parameters;
use super::parameters::Learned;
use super::probe::Latency;
use super::{
    Bytes, Failure, HttpParticipant, MAX_REPLY, Method, Request, RequestError, SeatRequest, SplitBody,
};

impl HttpParticipant {
    pub fn host(&self) -> String {
        host(&self.url)
    }

    /// The body in which the service lists its models.
    pub(in crate::participants) async fn list(&self) -> Result<Vec<u8>, Failure> {
        let once = |fault: RequestError| Failure { in_full: fault.in_full, ..fault.reason.into() };
        let url = endpoint(&self.service, self.service.dialect.models_path())
            .map_err(|problem| once(RequestError::permanent(problem.message)))?;
        let mut request = Request::new(Method::GET, url);
        *request.headers_mut() = self.headers().await.map_err(once)?;
        let response = self.client().map_err(once)?.execute(request).await;
        let response = response.map_err(|error| once(self.broken(&error)))?;
        let body = match response.status().as_u16() {
            200 => self.read(response, MAX_REPLY).await,
            status @ 300..=399 => Err(RequestError::redirect(status, self.target(&response).as_deref())),
            status => self.declined(status, response).await.map(|_| None),
        };
        body.map_err(once).map(Option::unwrap_or_default)
    }

    /// Asks for a reply and measures how soon it begins and ends.
    pub async fn pace(&self, ask: &SeatRequest) -> Result<Latency, Failure> {
        let once = |fault: RequestError| Failure { in_full: fault.in_full, ..fault.reason.into() };
        let dialect = self.service.dialect;
        let head = Bytes::from(dialect.head(ask));
        let mut parameters = Parameters::of(dialect, self.limits, ask, Learned::default(), None);
        let (started, mut response) = loop {
            let tail = Bytes::from(dialect.tail(ask, parameters.sent));
            let started = Instant::now();
            let response =
                self.post(SplitBody { head: head.clone(), tail }, &mut false).await.map_err(once)?;
            let fault = match response.status().as_u16() {
                200 => break (started, response),
                status @ 300..=399 => RequestError::redirect(status, self.target(&response).as_deref()),
                status => match self.declined(status, response).await {
                    Ok(_) => RequestError::permanent(format!("HTTP {status}")),
                    Err(fault) => fault,
                },
            };
            if !parameters.adapt(dialect, fault.declined.as_ref(), ask) {
                return Err(once(fault));
            }
        };
        let mut first = None;
        while self.piece(&mut response).await.map_err(once)?.is_some() {
            first.get_or_insert(started.elapsed());
        }
        let whole = started.elapsed();
        let (taken, declined) = (parameters.taken(dialect), parameters.settle(&self.memory, ask));
        Ok(Latency { first: first.unwrap_or(whole), whole, taken, declined })
    }
}
