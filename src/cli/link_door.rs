//! Door for links: address, certificate, invitations, and links to print.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::ValueEnum as _;
use indexmap::IndexMap;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::args::ServeArgs;
use super::console::{Console, is_on_terminal};
use crate::clock::system_time;
use crate::config::remote::RemoteConfig;
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::{Door, SeatInfo, SeatInvited, SeatStatus, Session, SessionOpened, Timestamp};
use crate::journal::KeyStore;
use crate::launch::environment::{Environment, random};
use crate::launch::error::RunError;
use crate::participants::lock;
use crate::remote::{
    Board, Connections, HttpDoor, Identity, MOST_OF_AN_ADDRESS, MOST_OPEN, VALID_FOR, accept_tls,
    fingerprint, make_identity, router,
};
use crate::round::offer;
use crate::round::seal::sign::SigningKey;
use crate::round::snapshot::sha256_hex;

/// Inputs of every door of a session.
pub struct DoorInputs<'a> {
    /// A session that is open, or that opens when it runs.
    pub session: &'a Session,
    #[cfg_attr(not(feature = "nats"), expect(dead_code, reason = "the door of workers alone reads it"))]
    pub set_up: &'a Environment,
    pub runtime: &'a tokio::runtime::Runtime,
}

impl<'a> DoorInputs<'a> {
    pub fn header(&self) -> &'a SessionOpened {
        self.session.header.as_deref().expect("a session that is opened has a header")
    }
}

const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8700);
/// Validity of an invitation in milliseconds: one week.
const INVITED_FOR: i64 = 7 * 24 * 3600 * 1000;

/// A bound port, which serves one session at a time.
pub struct LinkDoor {
    asked: RemoteConfig,
    keys: KeyStore,
    listener: TcpListener,
    address: SocketAddr,
    /// Base URL of links.
    url: String,
    /// `None` behind a proxy, which has the certificate, or if only this machine can connect.
    tls: Option<TlsAcceptor>,
    /// Notes for the facilitator on a self-signed certificate, with its fingerprint.
    pub notes: Vec<String>,
    serving: Mutex<Option<Serving>>,
    /// The newest invitation with its token, until it is on disk.
    unrecorded: Mutex<Option<(SeatInvited, String)>>,
}

struct Serving {
    board: Arc<Board>,
    /// Fingerprint of the table key, as in links.
    fingerprint: String,
    _ends: DropGuard,
}

/// Credentials of a seat: a link, or an agent's address and token.
pub struct Access {
    pub text: String,
    pub is_agent: bool,
}

#[derive(Default)]
pub struct OpenedLinks {
    pub access: IndexMap<String, Access>,
    /// Cancelled when another session is served.
    pub ends: Option<CancellationToken>,
}

impl LinkDoor {
    /// # Errors
    /// The address is taken or not safe for browsers; a certificate cannot be made.
    pub fn bind(asked: RemoteConfig, keys: KeyStore) -> Result<Self, Diagnostic> {
        if let Some(url) = &asked.behind
            && !url
                .strip_prefix("https://")
                .is_some_and(|host| !host.is_empty() && !host.contains(['#', '?', ' ']))
        {
            let problem = Diagnostic::new(format!("invalid --behind `{url}`: expected an https URL"));
            return Err(problem.hint("write it as `https://votes.example`: elsewhere browsers cannot seal"));
        }
        let mut address = asked.bind.unwrap_or(ADDRESS);
        if asked.lan {
            address.set_ip(lan_address()?);
        }
        let makes_tls = asked.self_signed || asked.lan;
        if !address.ip().is_loopback() && asked.behind.is_none() && !makes_tls {
            let problem =
                Diagnostic::new(format!("browsers cannot seal over plain http to `{}`", address.ip()));
            let hint = "add `--self-signed`; or listen at 127.0.0.1 and use `--behind https://NAME` with a \
                        proxy or tunnel that leads here";
            return Err(problem.hint(hint));
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
        // Bound to all addresses: links contain the one in the local network.
        let ip = address.ip();
        let reached = if ip.is_unspecified() { lan_address().unwrap_or(ip) } else { ip };
        let made = makes_tls.then(|| made_certificate(&keys, reached)).transpose()?;
        let (tls, notes) = made.map_or((None, Vec::new()), |(tls, notes)| (Some(tls), notes));
        let url = asked.behind.clone().unwrap_or_else(|| {
            let scheme = if tls.is_some() { "https" } else { "http" };
            format!("{scheme}://{}", SocketAddr::new(reached, address.port()))
        });
        let url = url.trim_end_matches('/').to_owned();
        let (serving, unrecorded) = (Mutex::new(None), Mutex::new(None));
        Ok(Self { asked, keys, listener, address, url, tls, notes, serving, unrecorded })
    }

    /// Serves a session from now on; replaces an earlier one.
    pub fn open(&self, of: &DoorInputs<'_>) -> Result<(RemoteSeats, OpenedLinks), Diagnostic> {
        check_links(of.header())?;
        let key = table_key(&self.keys, of.header())?;
        let fingerprint = offer::fingerprint(&key.public()).unwrap_or_default();
        let (tokens, invitations) = invite(&self.keys, of)?;
        let remote = RemoteSeats { invitations, ..RemoteSeats::default() };
        let board = Arc::new(Board::new(key, of.session.clone(), self.asked.results.unwrap_or_default()));
        let _entered = of.runtime.enter();
        let listener = self.listener.try_clone().and_then(tokio::net::TcpListener::from_std);
        let listener = listener.map_err(|error| Diagnostic::new(format!("cannot listen: {error}")))?;
        let ends = CancellationToken::new();
        // Behind a proxy, all connections have its address.
        let of_address = if self.asked.behind.is_some() { MOST_OPEN } else { MOST_OF_AN_ADDRESS };
        let routes = router(Arc::new(HttpDoor::new(Arc::clone(&board), remote.arrive.clone())));
        let connections = Connections::new(MOST_OPEN, of_address);
        let serving = connections.serve(listener, self.tls.clone(), routes, ends.clone());
        of.runtime.spawn(ends.clone().run_until_cancelled_owned(serving));
        *lock(&self.serving) = Some(Serving { board, fingerprint, _ends: ends.clone().drop_guard() });
        let access = of.header().participants.iter().filter_map(|seat| {
            let token = tokens.get(&seat.name)?;
            Some((seat.name.clone(), self.access(seat, token)))
        });
        Ok((remote, OpenedLinks { access: access.collect(), ends: Some(ends) }))
    }

    /// Makes new credentials for a seat, and returns them with the invitation.
    /// Once the invitation is on disk, the new token is stored and replaces the old one.
    pub fn invite(&self, session: &Session, seat: &str) -> Result<(SeatInvited, Access), Diagnostic> {
        let info = session.seat_info(seat).ok_or_else(|| cannot_invite(&format!("no seat `{seat}`")))?;
        let (token, invited) = invitation(seat)?;
        let access = self.access(info, &token);
        *lock(&self.unrecorded) = Some((invited.clone(), token));
        Ok((invited, access))
    }

    pub fn see(&self, session: &Session) {
        if let Some(serving) = &*lock(&self.serving) {
            serving.board.see(session);
        }
        let is_on_record = |(made, _): &mut (SeatInvited, String)| {
            let known = session.invitations.get(&made.participant);
            known.is_some_and(|known| known.invitation == made.invitation)
        };
        let recorded = lock(&self.unrecorded).take_if(is_on_record);
        if let Some((invited, token)) = recorded
            && let Ok(mut tokens) = self.keys.tokens(&session.id)
        {
            tokens.insert(invited.participant, token);
            // If it cannot be stored, it works until this program ends.
            let _ = self.keys.keep_tokens(&session.id, &tokens);
        }
    }

    /// Returns the options that make the same links work again, each with a leading space.
    pub fn options(&self) -> String {
        let RemoteConfig { bind, lan, self_signed, behind, results, .. } = &self.asked;
        let mut options = String::new();
        if bind.is_some() {
            options.push_str(&format!(" --bind {}", self.address));
        }
        for (option, is_given) in [(" --lan", lan), (" --self-signed", self_signed)] {
            options.push_str(if *is_given { option } else { "" });
        }
        options.extend(behind.iter().map(|url| format!(" --behind {url}")));
        let part = results.and_then(|part| part.to_possible_value());
        options.extend(part.map(|part| format!(" --results {}", part.get_name())));
        options
    }

    /// Waits until every connected seat has received the end of the session.
    pub async fn wait_until_notified(&self) {
        let is_notified =
            || lock(&self.serving).as_ref().is_some_and(|serving| serving.board.has_informed_all());
        while !is_notified() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        // Lets the last response arrive.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    fn access(&self, seat: &SeatInfo, token: &str) -> Access {
        let (url, serving) = (&self.url, lock(&self.serving));
        let fingerprint = serving.as_ref().map_or("", |serving| &serving.fingerprint);
        let is_agent = has_door(seat, Door::Inbox);
        let text = if is_agent {
            format!("ROUNDTABLE_URL={url} ROUNDTABLE_TOKEN={token}.{fingerprint}")
        } else {
            format!("{url}/b#{token}.{fingerprint}")
        };
        Access { text, is_agent }
    }
}

/// Returns the stored certificate for this address while it is valid, else a new one, with notes on it.
fn made_certificate(keys: &KeyStore, address: IpAddr) -> Result<(TlsAcceptor, Vec<String>), Diagnostic> {
    let failed = |error: String| Diagnostic::new(format!("no certificate can be made: {error}"));
    let kept = keys.identity(address).map_err(|error| failed(error.to_string()))?;
    let kept = kept.and_then(|(file, certificate, key)| {
        let identity = Identity { certificate, key };
        let made = std::fs::metadata(&file).and_then(|meta| meta.modified()).ok()?;
        let is_valid = system_time() < made + VALID_FOR - Duration::from_secs(2 * 24 * 3600);
        Some((file, accept_tls(&identity).ok().filter(|_| is_valid)?, identity))
    });
    let (file, acceptor, identity) = if let Some(kept) = kept {
        kept
    } else {
        let made = make_identity(address, crate::clock::now()).map_err(failed)?;
        let file = keys.keep_identity(address, &made.certificate, &made.key);
        let file = file.map_err(|error| failed(error.to_string()))?;
        (file, accept_tls(&made).map_err(failed)?, made)
    };
    let print = fingerprint(&identity.certificate).unwrap_or_default();
    let notes = vec![
        format!("certificate: {}", file.display()),
        format!("browsers warn of it once; its SHA-256 fingerprint: {print}"),
    ];
    Ok((acceptor, notes))
}

/// Returns a link as a QR code; inverted, because most terminals are dark.
pub fn qr_code(link: &str) -> Option<String> {
    let code = QrCode::new(link).ok()?;
    let drawn = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    // Half of the margin is enough, and the code fits on a screen of 24 lines.
    let lines: Vec<&str> = drawn.lines().collect();
    let inner = lines.get(1..lines.len().saturating_sub(1))?;
    Some(inner.join("\n"))
}

/// Returns this machine's address in the local network. Sends nothing: only the routing table is consulted.
fn lan_address() -> Result<IpAddr, Diagnostic> {
    let ask = |from: &str, to: &str| {
        let socket = UdpSocket::bind(from)?;
        socket.connect(to)?;
        socket.local_addr()
    };
    // Destinations reserved for documentation.
    let found = ask("0.0.0.0:0", "203.0.113.1:9").or_else(|_| ask("[::]:0", "[2001:db8::1]:9"));
    let found = found.ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback());
    found.ok_or_else(|| {
        Diagnostic::new("this machine has no address in a network")
            .hint("name one: --bind ADDRESS:PORT --self-signed")
    })
}

fn has_door(seat: &SeatInfo, door: Door) -> bool {
    seat.remote.as_ref().is_some_and(|remote| remote.door == door)
}

/// Returns the tokens of seats with a link or an inbox, and new invitations; valid ones of an earlier run stay.
fn invite(
    keys: &KeyStore,
    of: &DoorInputs<'_>,
) -> Result<(IndexMap<String, String>, Vec<SeatInvited>), Diagnostic> {
    let id = &of.session.id;
    let kept = keys.tokens(id).map_err(|error| cannot_invite(&error))?;
    let now = crate::clock::now();
    let (mut tokens, mut invitations) = (IndexMap::new(), Vec::new());
    let is_invited = |seat: &&SeatInfo| has_door(seat, Door::Link) || has_door(seat, Door::Inbox);
    for seat in of.header().participants.iter().filter(is_invited) {
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
        let (token, invited) = invitation(&seat.name)?;
        invitations.push(invited);
        tokens.insert(seat.name.clone(), token);
    }
    keys.keep_tokens(id, &tokens).map_err(|error| cannot_invite(&error))?;
    Ok((tokens, invitations))
}

/// Returns a new token for a seat, and the invitation to record.
fn invitation(seat: &str) -> Result<(String, SeatInvited), Diagnostic> {
    let token = URL_SAFE_NO_PAD.encode(random::<16>()?);
    let expires = Timestamp(crate::clock::now().0 + INVITED_FOR);
    let invited = SeatInvited { participant: seat.to_owned(), invitation: sha256_hex(&token), expires };
    Ok((token, invited))
}

fn cannot_invite(error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("nobody can be invited: {error}"))
}

pub fn check_links(header: &SessionOpened) -> Result<(), Diagnostic> {
    if header.participants.iter().any(|seat| seat.remote.is_some()) {
        return Ok(());
    }
    let problem = Diagnostic::new("no remote seats to serve");
    Err(problem.hint("write `{name: dana, model: remote/link}`, or run it with --batch"))
}

pub fn table_key(keys: &KeyStore, header: &SessionOpened) -> Result<SigningKey, Diagnostic> {
    let found = keys.table_key(&header.session).map_err(|error| Diagnostic::new(error.to_string()))?;
    found.filter(|key| header.table_key.as_ref() == Some(&key.public())).ok_or_else(|| {
        Diagnostic::new("the key that signs this session's offers is not on this machine")
            .hint("serve it where it was begun, or begin a new session")
    })
}

pub struct ServedDoor<'a> {
    pub args: &'a ServeArgs,
    pub door: Arc<LinkDoor>,
}

/// Links to print once their invitations are on disk, and the file for them.
pub struct Links {
    pub access: IndexMap<String, Access>,
    file: Option<File>,
}

impl<'a> ServedDoor<'a> {
    /// Binds the address of the command line, else that of the settings.
    pub fn bind(args: &'a ServeArgs, set_up: &Environment) -> Result<Self, Diagnostic> {
        let own = &set_up.config.remote;
        let is_given = RemoteConfig { results: None, ..args.door.clone() } != RemoteConfig::default();
        let mut asked = if is_given { args.door.clone() } else { own.clone() };
        asked.results = args.door.results.or(own.results);
        Ok(Self { args, door: Arc::new(LinkDoor::bind(asked, set_up.keys())?) })
    }

    /// Creates the file for links before anybody is invited.
    pub fn links(&self, output: &Console) -> Result<Links, RunError> {
        let file = self.args.links.as_deref().map(new_file).transpose()?;
        self.door.notes.iter().for_each(|note| output.note(note));
        Ok(Links { access: IndexMap::new(), file })
    }
}

fn new_file(path: &Path) -> Result<File, Diagnostic> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| {
        let problem = Diagnostic::new(format!("cannot write the links: {error}"));
        problem.hint("--links never overwrites: choose another path").with_file(&path.display().to_string())
    })
}

impl Links {
    /// Prints the link of each seat, with a QR code on a terminal.
    pub fn print(self, output: &Console) {
        if let Some(mut file) = self.file {
            let lines = self.access.iter().map(|(seat, access)| format!("{seat} {}\n", access.text));
            if let Err(error) = file.write_all(lines.collect::<String>().as_bytes()) {
                output.warn(&Diagnostic::new(format!("cannot write the links: {error}")));
            }
        }
        for (seat, Access { text, is_agent }) in &self.access {
            if *is_agent {
                output.note(&format!("for agent {seat}:\n{}", text.replace(' ', "\n")));
                continue;
            }
            output.note(&format!("link of {seat}: {text}"));
            if let Some(code) = qr_code(text).filter(|_| is_on_terminal()) {
                output.note(&code);
            }
        }
        output.note("whoever has a link or token first is that seat: give each to one person or agent alone");
    }
}
