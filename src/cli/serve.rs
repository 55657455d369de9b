//! `serve`: a headless run whose `remote/link` seats vote in a browser.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use indexmap::IndexMap;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::args::{Run, ServeArgs};
use super::batch::run_behind;
use super::console::{Console, is_on_terminal};
use super::door::{DoorInputs, OpenDoor, check_links};
use super::verb_result::VerbResult;
use crate::diagnostic::Diagnostic;
use crate::doors::{Board, Door, router};
use crate::engine::RemoteSeats;
use crate::history::{LogEntry, SeatInvited, SeatStatus, Session, SessionOpened, Timestamp};
use crate::journal::{Disk, KeyStore};
use crate::launch::error::RunError;
use crate::round::seal::sign::SigningKey;
use crate::round::snapshot::{sha256_hex, unhex};

/// Where it listens unless another address is given.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8700);
/// How long an invitation can be taken, in milliseconds: a week.
const INVITED_FOR: i64 = 7 * 24 * 3600 * 1000;
/// How many arrivals wait for the engine; a sender beyond them waits too.
const WAITING: usize = 1024;

/// Runs a definition or resumes a session, with a door for its remote seats.
pub fn run(args: &ServeArgs, trust: bool, output: &mut Console) -> VerbResult {
    let address = args.bind.unwrap_or(ADDRESS);
    if let Some(url) = &args.behind
        && !url
            .strip_prefix("https://")
            .is_some_and(|host| !host.is_empty() && !host.contains(['#', '?', ' ']))
    {
        let problem = Diagnostic::new(format!("--behind `{url}` is no https address"));
        return Err(problem
            .hint("write it as `https://votes.example`: elsewhere browsers cannot seal")
            .into());
    }
    if !address.ip().is_loopback() && args.behind.is_none() {
        let problem = Diagnostic::new(format!("browsers cannot seal over plain http to `{}`", address.ip()));
        let hint =
            "listen at 127.0.0.1, and use `--behind https://NAME` with a proxy or tunnel that leads here";
        return Err(problem.hint(hint).into());
    }
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    let listener = listener.map_err(|error| {
        let problem = Diagnostic::new(format!("cannot listen at {address}: {error}"));
        problem.hint("another program may be there; choose another port with --bind 127.0.0.1:PORT")
    })?;
    let door = LinkDoor { args, listener, board: OnceLock::new() };
    run_behind(&Run { trust, ..args.into() }, &door, output)
}

struct LinkDoor<'a> {
    args: &'a ServeArgs,
    listener: TcpListener,
    board: OnceLock<Arc<Board>>,
}

impl OpenDoor for LinkDoor<'_> {
    fn open(&self, of: &DoorInputs<'_>, output: &mut Console) -> Result<RemoteSeats, RunError> {
        let keys = KeyStore::new(Disk::default(), &of.set_up.folders.keys());
        let key = table_key(&keys, of.header)?;
        let public_key = key.public();
        let (tokens, invitations) = invite(&keys, of)?;
        let (arrive, arrivals) = mpsc::channel(WAITING);
        let board =
            Arc::clone(self.board.get_or_init(|| Arc::new(Board::new(key, of.session.invitations.clone()))));
        let listener = self.listener.try_clone().map_err(|error| cannot_listen(&error))?;
        let (runtime, _entered) = (of.runtime, of.runtime.enter());
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| cannot_listen(&error))?;
        let routes = router(Arc::new(Door::new(board, arrive)));
        let service = routes.into_make_service_with_connect_info::<SocketAddr>();
        runtime.spawn(async move {
            // It only ends with the program.
            let _ = axum::serve(listener, service).await;
        });
        self.tell(&tokens, &public_key, output)?;
        Ok(RemoteSeats { invitations, arrivals })
    }

    fn see(&self, line: &LogEntry, session: &Session) {
        if let Some(board) = self.board.get() {
            board.see(line, session);
        }
    }

    fn linger(&self) -> u64 {
        self.args.linger
    }
}

impl LinkDoor<'_> {
    /// Prints the link of each seat, with its code for a phone's camera where a terminal shows it.
    fn tell(
        &self,
        tokens: &IndexMap<String, String>,
        table_key: &str,
        output: &mut Console,
    ) -> Result<(), RunError> {
        let listens = self.listener.local_addr().map(|address| format!("http://{address}"));
        let base = self.args.behind.clone().or(listens.ok()).unwrap_or_default();
        let hash = Sha256::digest(unhex::<32>(table_key).unwrap_or_default());
        let fingerprint = URL_SAFE_NO_PAD.encode(hash.get(..16).unwrap_or_default());
        let link = |token: &str| format!("{}/b#{token}.{fingerprint}", base.trim_end_matches('/'));
        if let Some(path) = &self.args.links {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let lines = tokens.iter().map(|(seat, token)| format!("{seat} {}\n", link(token)));
            let lines = lines.collect::<Vec<_>>().concat();
            let written = options.open(path).and_then(|mut file| file.write_all(lines.as_bytes()));
            written.map_err(|error| {
                let problem = Diagnostic::new(format!("cannot write the links: {error}"));
                problem
                    .hint("--links never overwrites: choose another path")
                    .with_file(&path.display().to_string())
            })?;
        }
        for (seat, token) in tokens {
            let link = link(token);
            output.note(&format!("link of {seat}: {link}"));
            // Most terminals are dark: what is light in the code is drawn.
            if let Ok(code) = QrCode::new(&link)
                && is_on_terminal()
            {
                output.note(
                    &code
                        .render::<Dense1x2>()
                        .dark_color(Dense1x2::Light)
                        .light_color(Dense1x2::Dark)
                        .build(),
                );
            }
        }
        output.note("whoever opens a link first votes as that seat: send each to one person alone");
        Ok(())
    }
}

fn cannot_listen(error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("cannot listen: {error}"))
}

/// The key that signs offers.
fn table_key(keys: &KeyStore, header: &SessionOpened) -> Result<SigningKey, Diagnostic> {
    check_links(header)?;
    let found = keys.table_key(&header.session).map_err(|error| Diagnostic::new(error.to_string()))?;
    found.filter(|key| header.table_key.as_ref() == Some(&key.public())).ok_or_else(|| {
        Diagnostic::new("the key that signs this session's offers is not on this machine")
            .hint("serve it where it was begun, or begin a new session")
    })
}

/// The token of every remote seat, and the invitations that are new. Those of an earlier run go on.
fn invite(
    keys: &KeyStore,
    of: &DoorInputs<'_>,
) -> Result<(IndexMap<String, String>, Vec<SeatInvited>), Diagnostic> {
    let failed = |error: String| Diagnostic::new(format!("nobody can be invited: {error}"));
    let id = if of.session.id.is_empty() { &of.header.session } else { &of.session.id };
    let kept = keys.tokens(id).map_err(|error| failed(error.to_string()))?;
    let now = crate::clock::now();
    let (mut tokens, mut invitations) = (IndexMap::new(), Vec::new());
    for seat in of.header.participants.iter().filter(|seat| seat.remote.is_some()) {
        let known = of.session.invitations.get(&seat.name).filter(|known| now <= known.expires);
        let is_valid = |token: &&String| known.is_some_and(|known| known.invitation == sha256_hex(token));
        if let Some(token) = kept.get(&seat.name).filter(is_valid) {
            tokens.insert(seat.name.clone(), token.clone());
            continue;
        }
        let open = of.session.open_round().and_then(|round| round.seat(&seat.name));
        if open.is_some_and(|seat| matches!(seat.status, SeatStatus::Sealed(_) | SeatStatus::Lost(_))) {
            continue;
        }
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| failed(error.to_string()))?;
        let token = URL_SAFE_NO_PAD.encode(random);
        let (participant, invitation) = (seat.name.clone(), sha256_hex(&token));
        invitations.push(SeatInvited { participant, invitation, expires: Timestamp(now.0 + INVITED_FOR) });
        tokens.insert(seat.name.clone(), token);
    }
    keys.keep_tokens(id, &tokens).map_err(|error| failed(error.to_string()))?;
    Ok((tokens, invitations))
}
