//! The `worker` command: answers for remote sessions with this machine's models.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::args::{WorkerArgs, WorkerVerb};
use super::console::{Console, VerbResult};
use super::doors::queue_error;
use super::headless::cancel_on_signal;
use super::options::environment;
use crate::config::dirs::Dirs;
use crate::config::prices::highest_price_of;
use crate::core::{ExitCode, is_free};
use crate::diagnostic::Diagnostic;
use crate::history::RemoteSeat;
use crate::journal::{Disk, KeyStore, WORKER_KEY};
use crate::launch::environment::{Environment, random};
use crate::launch::error::RunError;
use crate::launch::run::runtime;
use crate::launch::seat::lasting_table_key;
use crate::remote::nats::{Address, SESSION};
use crate::remote::worker::{Answerer, Money, Spool, Worker, WorkerModel, WorkerSettings};

const IN_FLIGHT: u64 = 16;

pub fn run(args: &WorkerArgs, output: &mut Console) -> VerbResult {
    match &args.verb {
        Some(WorkerVerb::Keygen) => {
            let key = keys()?.lasting_key(WORKER_KEY, random()?)?;
            output.line(&format!("ed25519:{}", key.public()));
            Ok(ExitCode::Finished)
        }
        Some(WorkerVerb::TableKey) => {
            output.line(&format!("ed25519:{}", lasting_table_key(&keys()?)?.public()));
            Ok(ExitCode::Finished)
        }
        None => work(args, output),
    }
}

fn keys() -> Result<KeyStore, Diagnostic> {
    Ok(KeyStore::new(Disk::default(), &Dirs::find(false)?.keys()))
}

/// Checks a worker name, which becomes part of NATS subjects and of a model name.
fn checked(name: &str) -> Result<&str, Diagnostic> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_plain && name != SESSION && RemoteSeat::from_model(&format!("remote/nats/{name}")).is_some() {
        return Ok(name);
    }
    let problem = Diagnostic::new(format!("invalid worker name `{name}`"));
    Err(problem.hint(format!("use letters, digits, `-` and `_`, such as `fleet`, but not `{SESSION}`")))
}

fn work(args: &WorkerArgs, output: &mut Console) -> VerbResult {
    let set_up = environment(args.trust.trust, output)?;
    let config = &set_up.config.worker;
    let missing = |what: &str, hint: &str| Diagnostic::new(what).hint(hint);
    let name = args.name.as_deref();
    let name = name.ok_or_else(|| missing("the worker has no name", "add --name, such as `--name fleet`"))?;
    let name = checked(name)?;
    let url = args.nats.clone().or_else(|| config.nats.url.clone());
    let url = url.ok_or_else(|| {
        missing("no NATS server is named", "add --nats, or write `worker: {nats: {url: …}}` in config.yaml")
    })?;
    let creds_file = config.nats.creds_file.clone();
    let in_flight = config.in_flight.map_or(IN_FLIGHT, |most| most.get().min(1024));
    let folder = set_up.folders.state.join("worker").join(name);
    let answerer = answerer(&set_up, &folder)?;
    let models: Vec<&str> = answerer.models.iter().map(|model| model.name.as_str()).collect();
    let limit = match &answerer.money {
        Some(money) => format!(", ${:.4} spent", money.spent()?),
        None => String::new(),
    };
    let started = format!("worker {name} at {url}: {}, {in_flight} at once{limit}", models.join(", "));
    let interrupt = CancellationToken::new();
    let console = output.clone();
    let settings = WorkerSettings {
        address: Address { url, creds_file, name: name.to_owned() },
        answerer,
        spool: Spool::open(Disk::default(), &folder)?,
        in_flight: usize::try_from(in_flight).unwrap_or(usize::MAX),
        interrupt: interrupt.clone(),
        tell: Arc::new(move |line| console.note(&crate::sanitize::harmless_line(line))),
    };
    let left = settings.spool.all()?;
    let stopped = interrupt.clone();
    runtime()?.block_on(async {
        let signals = tokio::spawn(cancel_on_signal(interrupt, Arc::new(OnceLock::new())));
        let worker = tokio::select! {
            worker = Worker::connect(settings) => worker.map_err(|error| queue_error(&error))?,
            () = stopped.cancelled() => return Ok(ExitCode::Finished),
        };
        output.note(&started);
        let done = worker.run(left).await.map_err(|error| queue_error(&error));
        signals.abort();
        done.map(|()| ExitCode::Finished)
    })
}

fn answerer(set_up: &Environment, folder: &std::path::Path) -> Result<Answerer, RunError> {
    let config = &set_up.config.worker;
    let keys = set_up.keys();
    let key = keys.signing_key(WORKER_KEY)?.ok_or_else(|| {
        Diagnostic::new("this machine has no worker key").hint(
            "make one with `roundtable worker keygen`, and give what it prints to whoever runs the sessions",
        )
    })?;
    if config.table_keys.is_empty() {
        let problem = Diagnostic::new("no table key is named: nobody may ask this worker");
        return Err(problem
            .hint("write `worker: {table_keys: [ed25519:…]}` in config.yaml, as `roundtable worker table-key` prints it where the sessions run")
            .into());
    }
    let max_usd = config.max_usd.map(|most| most.0);
    let mut names = config.models.clone();
    if names.is_empty() {
        names.extend(set_up.config.model.as_ref().map(|model| model.value.clone()));
    }
    if names.is_empty() {
        let problem = Diagnostic::new("no model is named");
        return Err(problem.hint("write `worker: {models: […]}` in config.yaml").into());
    }
    let models = names.iter().map(|name| model(name, set_up, max_usd.is_some()));
    Ok(Answerer {
        key,
        table_keys: config.table_keys.iter().map(|key| key.0.clone()).collect(),
        models: models.collect::<Result<_, _>>()?,
        money: max_usd.map(|limit| Money::new(Disk::default(), folder, limit)),
    })
}

fn model(name: &str, set_up: &Environment, is_limited: bool) -> Result<WorkerModel, Diagnostic> {
    let provider = name.split('/').next().unwrap_or_default();
    if is_free(name) && !matches!(provider, "rehearsal" | "recorded") {
        let problem = Diagnostic::new(format!("`{name}` does not answer here by itself"));
        return Err(problem.hint("a worker asks models, such as `ollama/llama3.2`"));
    }
    let mut catalog = set_up.catalog();
    let participant = catalog.participant(name)?;
    let price = highest_price_of(&catalog, name);
    let price = if is_limited { price? } else { price.unwrap_or_default() };
    let most_output = set_up.config.reply_limits().limit_for(None, name);
    Ok(WorkerModel { name: name.to_owned(), participant, price, most_output })
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn a_name_is_a_part_of_subjects() {
        assert!(checked("fleet-2_a").is_ok());
        for name in ["", "facilitator", "a.b", "*", ">", "a b", "a/b", "größe"] {
            checked(name).expect_err(name);
        }
    }
}
