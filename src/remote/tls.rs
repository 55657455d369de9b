//! TLS of a door: a certificate that somebody gives, or one that is made here for its address.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    CertificateParams, DnType, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm,
    SigningKey, date_time_ymd,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, RootCertStore, ServerConfig};
use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;

use crate::history::Timestamp;

const VALID_FOR: Duration = Duration::from_secs(365 * 24 * 3600);

/// A certificate, with those of who signed it, and its key, as PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// Takes connections in as this identity.
///
/// # Errors
/// Why it cannot be used, in words that name the certificate or the key.
pub fn accept_tls(identity: &Identity, now: Timestamp) -> Result<TlsAcceptor, String> {
    let chain =
        CertificateDer::pem_slice_iter(identity.certificate.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| format!("the certificate is no PEM file: {error}"))?;
    let first = chain.first().ok_or("the certificate file holds no certificate")?;
    check_time(first, now)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())
        .map_err(|error| format!("the key file holds no private key: {error}"))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    let config = config.map_err(|error| match error {
        Error::InconsistentKeys(_) => "the key is not that of the certificate".to_owned(),
        other => format!("the certificate cannot be used: {other}"),
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Refuses a certificate outside its time. It is held against itself: only what is said of its time
/// counts, since browsers judge who signed it.
fn check_time(certificate: &CertificateDer<'_>, now: Timestamp) -> Result<(), String> {
    let unusable = |error: Error| format!("the certificate cannot be used: {error}");
    let parsed = ParsedCertificate::try_from(certificate).map_err(unusable)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).map_err(unusable)?;
    let time = UnixTime::since_unix_epoch(Duration::from_millis(now.0.unsigned_abs()));
    let known = default_provider().signature_verification_algorithms.all;
    match verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], time, known) {
        Err(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Err("the certificate has expired".to_owned()),
        Err(Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Err("the certificate is not valid yet".to_owned()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A certificate for an address that nobody else has signed, valid for a year.
pub fn make_identity(address: IpAddr, now: Timestamp) -> Result<Identity, String> {
    let make = || {
        let mut params = CertificateParams::new(vec![address.to_string(), "localhost".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "roundtable serve");
        // A day before, for clocks that are behind.
        let now = Duration::from_millis(now.0.unsigned_abs());
        params.not_before = date_time_ymd(1970, 1, 1) + now - Duration::from_secs(24 * 3600);
        params.not_after = params.not_before + VALID_FOR;
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
            .map_err(|_| rcgen::Error::RingUnspecified)?;
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &SystemRandom::new())
                .map_err(|_| rcgen::Error::RingUnspecified)?;
        // Of the key, so that two certificates never have one number; at most 20 bytes, above zero.
        let mut serial = Sha256::digest(pair.public_key())[..20].to_vec();
        serial[0] &= 0x7f;
        params.serial_number = Some(SerialNumber::from(serial));
        Ok((params.self_signed(&Signer(pair))?, key))
    };
    let (certificate, key) =
        make().map_err(|error: rcgen::Error| format!("no certificate can be made: {error}"))?;
    Ok(Identity { certificate: pem("CERTIFICATE", certificate.der()), key: pem("PRIVATE KEY", key.as_ref()) })
}

/// A key that signs its own certificate.
struct Signer(EcdsaKeyPair);

impl PublicKeyData for Signer {
    fn der_bytes(&self) -> &[u8] {
        self.0.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature = self.0.sign(&SystemRandom::new(), message);
        signature.map(|bytes| bytes.as_ref().to_vec()).map_err(|_| rcgen::Error::RingUnspecified)
    }
}

/// The SHA-256 of a certificate as browsers show it; none where the text holds none.
pub fn fingerprint(certificate: &str) -> Option<String> {
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).ok()?;
    let bytes = Sha256::digest(&der);
    Some(bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":"))
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
