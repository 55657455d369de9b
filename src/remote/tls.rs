//! TLS with a self-signed certificate for the server's address.

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
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;

use crate::history::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Validity of a new certificate.
pub const VALID_FOR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Certificate and its key, as PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// Returns the acceptor of TLS connections.
///
/// # Errors
/// The certificate or the key is unusable; with the reason.
pub fn accept_tls(identity: &Identity) -> Result<TlsAcceptor, String> {
    let chain =
        CertificateDer::pem_slice_iter(identity.certificate.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).map_err(|error| error.to_string())?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    config.map(|config| TlsAcceptor::from(Arc::new(config))).map_err(|error| error.to_string())
}

/// Creates a self-signed certificate for an address, valid from a day ago to allow for slow clocks.
pub fn make_identity(address: IpAddr, now: Timestamp) -> Result<Identity, String> {
    let make = || {
        let mut params = CertificateParams::new(vec![address.to_string(), "localhost".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "roundtable serve");
        let now = Duration::from_millis(now.0.unsigned_abs());
        params.not_before = date_time_ymd(1970, 1, 1) + now - DAY;
        params.not_after = params.not_before + VALID_FOR;
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
            .map_err(|_| rcgen::Error::RingUnspecified)?;
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &SystemRandom::new())
                .map_err(|_| rcgen::Error::RingUnspecified)?;
        // Derived from the key, so that serial numbers differ; at most 20 bytes, and positive.
        let mut serial = Sha256::digest(pair.public_key())[..20].to_vec();
        serial[0] &= 0x7f;
        params.serial_number = Some(SerialNumber::from(serial));
        Ok((params.self_signed(&Signer(pair))?, key))
    };
    let (certificate, key) =
        make().map_err(|error: rcgen::Error| format!("no certificate can be made: {error}"))?;
    Ok(Identity { certificate: pem("CERTIFICATE", certificate.der()), key: pem("PRIVATE KEY", key.as_ref()) })
}

/// Key that signs its own certificate.
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

/// Returns a certificate's SHA-256 as browsers show it; `None` if the text contains no certificate.
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
