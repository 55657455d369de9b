//! `serve`: a headless run whose `remote/link` seats vote in a browser.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use indexmap::IndexMap;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::args::{Run, ServeArgs};
use super::batch::run_behind;
use super::console::{Console, is_on_terminal};
use super::door::{DoorInputs, OpenDoor, check_links};
use super::verb_result::VerbResult;
use crate::config::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::doors::{
    Board, Door, Entrance, Identity, MOST_OPEN, Peer, accept_tls, fingerprint, make_identity, router,
};
use crate::engine::RemoteSeats;
use crate::history::{SeatInvited, SeatStatus, Session, SessionOpened, Timestamp};
use crate::journal::{Disk, KeyStore};
use crate::launch::error::RunError;
use crate::round::offer;
use crate::round::seal::sign::SigningKey;
use crate::round::snapshot::sha256_hex;

/// Where it listens unless another address is given.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8700);
/// How long an invitation can be taken, in milliseconds: a week.
const INVITED_FOR: i64 = 7 * 24 * 3600 * 1000;
/// How many arrivals wait for the engine; a sender beyond them waits too.
const WAITING: usize = 1024;

/// Runs a definition or resumes a session, with a door for its remote seats.
pub fn run(args: &ServeArgs, trust: bool, output: &mut Console) -> VerbResult {
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
    let mut address = args.bind.unwrap_or(ADDRESS);
    if args.lan {
        address.set_ip(lan_address()?);
    }
    let tls = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => Tls::Given(given_certificate(cert, key)?),
        _ if args.self_signed || args.lan => Tls::Made,
        _ => Tls::None,
    };
    if !address.ip().is_loopback() && args.behind.is_none() && matches!(tls, Tls::None) {
        let problem = Diagnostic::new(format!("browsers cannot seal over plain http to `{}`", address.ip()));
        let hint = "add `--self-signed`, or `--cert FILE --key FILE`; or listen at 127.0.0.1 and use \
                    `--behind https://NAME` with a proxy or tunnel that leads here";
        return Err(problem.hint(hint).into());
    }
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    let (listener, address) = listener.map_err(|error| {
        let problem = Diagnostic::new(format!("cannot listen at {address}: {error}"));
        problem.hint("another program may be there; choose another port with --bind ADDRESS:PORT")
    })?;
    let door = LinkDoor { args, listener, address, tls, board: OnceLock::new() };
    run_behind(&Run { trust, ..args.into() }, &door, output)
}

/// How what goes over the wire is encrypted.
enum Tls {
    /// By whoever leads here, or not at all on this machine.
    None,
    Given(TlsAcceptor),
    /// With a certificate that is made here.
    Made,
}

struct LinkDoor<'a> {
    args: &'a ServeArgs,
    listener: TcpListener,
    /// Where it listens, with the port that was free.
    address: SocketAddr,
    tls: Tls,
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
        let tls = match &self.tls {
            Tls::None => None,
            Tls::Given(tls) => Some(tls.clone()),
            Tls::Made => Some(self.made_certificate(&keys, output)?),
        };
        let entrance = Entrance::open(listener, tls, MOST_OPEN).map_err(|error| cannot_listen(&error))?;
        let routes = router(Arc::new(Door::new(board, arrive)));
        let service = routes.into_make_service_with_connect_info::<Peer>();
        runtime.spawn(async move {
            // It only ends with the program.
            let _ = axum::serve(entrance, service).await;
        });
        self.tell(&tokens, &public_key, output)?;
        Ok(RemoteSeats { invitations, arrivals })
    }

    fn see(&self, session: &Session) {
        if let Some(board) = self.board.get() {
            board.see(session);
        }
    }

    fn options(&self) -> String {
        let ServeArgs { bind, lan, self_signed, cert, key, behind, .. } = self.args;
        let mut options = String::new();
        if bind.is_some() {
            options.push_str(&format!(" --bind {}", self.address));
        }
        for (option, is_given) in [(" --lan", lan), (" --self-signed", self_signed)] {
            options.push_str(if *is_given { option } else { "" });
        }
        for (option, file) in [("cert", cert), ("key", key)] {
            options.extend(file.iter().map(|file| format!(" --{option} {}", file.display())));
        }
        options.extend(behind.iter().map(|url| format!(" --behind {url}")));
        options
    }

    fn linger(&self) -> u64 {
        self.args.linger
    }
}

impl LinkDoor<'_> {
    /// The address for links: that in the network, where it listens at all of them.
    fn reached_at(&self) -> IpAddr {
        let address = self.address.ip();
        if address.is_unspecified() { lan_address().unwrap_or(address) } else { address }
    }

    /// The certificate that was made for this address before, while it is valid; else a new one.
    fn made_certificate(&self, keys: &KeyStore, output: &mut Console) -> Result<TlsAcceptor, Diagnostic> {
        let failed = |error: String| Diagnostic::new(format!("no certificate can be made: {error}"));
        let (address, now) = (self.reached_at(), crate::clock::now());
        let kept = keys.identity(address).map_err(|error| failed(error.to_string()))?;
        let kept = kept.and_then(|(file, certificate, key)| {
            let identity = Identity { certificate, key };
            Some((file, accept_tls(&identity, now).ok()?, identity))
        });
        let (file, acceptor, identity) = if let Some(kept) = kept {
            kept
        } else {
            let made = make_identity(address, now).map_err(failed)?;
            let file = keys.keep_identity(address, &made.certificate, &made.key);
            let file = file.map_err(|error| failed(error.to_string()))?;
            (file, accept_tls(&made, now).map_err(failed)?, made)
        };
        output.note(&format!("certificate: {}", file.display()));
        let print = fingerprint(&identity.certificate).unwrap_or_default();
        output.note(&format!("browsers warn of it once; its SHA-256 fingerprint: {print}"));
        Ok(acceptor)
    }

    /// Prints the link of each seat, with its code for a phone's camera where a terminal shows it.
    fn tell(
        &self,
        tokens: &IndexMap<String, String>,
        table_key: &str,
        output: &mut Console,
    ) -> Result<(), RunError> {
        let base = self.args.behind.clone().unwrap_or_else(|| {
            let scheme = if matches!(self.tls, Tls::None) { "http" } else { "https" };
            format!("{scheme}://{}", SocketAddr::new(self.reached_at(), self.address.port()))
        });
        let fingerprint = offer::fingerprint(table_key).unwrap_or_default();
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

/// This machine's address in its network. Nothing is sent: the system only says which it would use.
fn lan_address() -> Result<IpAddr, Diagnostic> {
    let ask = |from: &str, to: &str| {
        let socket = UdpSocket::bind(from)?;
        socket.connect(to)?;
        socket.local_addr()
    };
    // Addresses for examples, which nobody has.
    let found = ask("0.0.0.0:0", "203.0.113.1:9").or_else(|_| ask("[::]:0", "[2001:db8::1]:9"));
    let found = found.ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback());
    found.ok_or_else(|| {
        Diagnostic::new("this machine has no address in a network")
            .hint("name one: --bind ADDRESS:PORT --self-signed")
    })
}

/// The certificate and key of two files.
fn given_certificate(cert: &Path, key: &Path) -> Result<TlsAcceptor, Diagnostic> {
    let (certificate, key) = (read_text(cert, 1 << 20)?, read_text(key, 1 << 20)?);
    let made = accept_tls(&Identity { certificate, key }, crate::clock::now());
    made.map_err(|why| Diagnostic::new(why).with_file(&cert.display().to_string()))
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
