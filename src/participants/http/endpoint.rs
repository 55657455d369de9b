//! Request addresses and headers.
//!
//! Pure. Rejects addresses with a password, a key or another scheme than http and https, and keys that no header
//! can contain.

use std::net::IpAddr;

use secrecy::ExposeSecret as _;

use super::{ApiStyle, Diagnostic, HeaderMap, HeaderName, HeaderValue, KeyHeader, Service, Url};
use crate::yaml::is_key_name;

/// Returns the request address: the base address with the path of the API style.
pub fn endpoint(service: &Service, path: &str) -> Result<Url, Diagnostic> {
    let hint = "an address looks like `https://api.example.com/v1`";
    let no_address = |why: &str| Diagnostic::new(format!("the service's address {why}")).hint(hint);
    let mut url = Url::parse(service.base_url.trim()).map_err(|_| no_address("cannot be read"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(no_address(&format!("begins with `{}:`, neither http nor https", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(no_address("contains a user name or password"));
    }
    if url.query_pairs().any(|(name, _)| is_key_name(&name, &["key", "token", "subscriptionkey"])) {
        return Err(no_address("contains a key; name its variable in `headers` or `key_env`"));
    }
    let base = url.path().trim_end_matches('/');
    let base = match service.dialect {
        ApiStyle::OpenAi | ApiStyle::Responses => base,
        ApiStyle::Anthropic => {
            let base = base.strip_suffix("/messages").unwrap_or(base);
            base.strip_suffix("/v1").unwrap_or(base)
        }
    };
    // Users often paste the whole address.
    let base = base.strip_suffix(&format!("/{}", service.dialect.path())).unwrap_or(base);
    let path = format!("{base}/{path}");
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Returns true if the host itself names this machine; no resolver is asked.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns host and port, for messages.
pub fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns the headers of every request. Values from the configuration and the key are marked as sensitive.
pub fn headers(service: &Service) -> Result<HeaderMap, Diagnostic> {
    let mut headers = HeaderMap::new();
    let mut put = |name: &'static str, value| headers.insert(HeaderName::from_static(name), value);
    put("content-type", HeaderValue::from_static("application/json"));
    put("accept-encoding", HeaderValue::from_static("identity"));
    put("user-agent", HeaderValue::from_static(concat!("roundtable/", env!("CARGO_PKG_VERSION"))));
    if service.dialect == ApiStyle::Anthropic {
        put("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    for (name, value) in &service.headers {
        let unfit = |what: &str| {
            Diagnostic::new(format!("the {what} of the header `{name}` is none that can be sent"))
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit("name"))?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| unfit("value"))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    if let Some(key) = service.key() {
        put_key(service, &key, &mut headers)?;
    }
    Ok(headers)
}

/// Adds a key to the headers, marked as sensitive.
pub fn put_key(service: &Service, key: &str, headers: &mut HeaderMap) -> Result<(), Diagnostic> {
    let is_azure = Url::parse(&service.base_url)
        .is_ok_and(|url| url.host_str().is_some_and(|host| host.ends_with(".azure.com")));
    // Azure also accepts access tokens, which begin with `eyJ`.
    let is_token = key.starts_with("eyJ");
    let usual = match service.dialect {
        ApiStyle::OpenAi | ApiStyle::Responses if !is_azure || is_token => KeyHeader::Bearer,
        _ => KeyHeader::ApiKey,
    };
    let (name, value) = match (service.auth.unwrap_or(usual), service.dialect) {
        (KeyHeader::Bearer, _) => ("authorization", HeaderValue::from_str(&format!("Bearer {key}"))),
        (KeyHeader::ApiKey, ApiStyle::Anthropic) => ("x-api-key", HeaderValue::from_str(key)),
        (KeyHeader::ApiKey, _) => ("api-key", HeaderValue::from_str(key)),
    };
    let mut value = value.map_err(|_| {
        let named = service.key_name.as_deref().unwrap_or("the key");
        Diagnostic::new(format!("`{named}` contains a character that no key can have"))
            .hint("set it again, without line breaks or control characters")
    })?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azure_is_asked_by_deployment_and_version_with_its_own_header() {
        let base = "https://lab.openai.azure.com/openai/deployments/gpt-5?api-version=2024-10-21";
        let mut service = Service::new(ApiStyle::OpenAi, base);
        service.key = Some("k".into());
        let url = endpoint(&service, service.dialect.path()).unwrap();
        assert_eq!(
            url.as_str(),
            "https://lab.openai.azure.com/openai/deployments/gpt-5/chat/completions?api-version=2024-10-21"
        );
        let headers = headers(&service).unwrap();
        assert_eq!(headers.get("api-key").map(HeaderValue::as_bytes), Some(&b"k"[..]));
        assert!(!headers.contains_key("authorization"));
        service.base_url = "localhost:8080/v1".to_owned();
        let refused = endpoint(&service, service.dialect.path()).unwrap_err();
        assert!(refused.message.contains("begins with `localhost:`"), "{refused}");
    }

    #[test]
    fn the_header_of_a_key_follows_its_kind_and_the_configuration() {
        let header = |base: &str, key: &str, auth| {
            let service = Service { key: Some(key.into()), auth, ..Service::new(ApiStyle::OpenAi, base) };
            let headers = headers(&service).unwrap();
            ["authorization", "api-key"].into_iter().find(|name| headers.contains_key(*name))
        };
        let azure = "https://lab.openai.azure.com/openai/v1";
        assert_eq!(header(azure, "k", None), Some("api-key"));
        assert_eq!(header(azure, "eyJ0eXAi.x.y", None), Some("authorization"));
        assert_eq!(header(azure, "k", Some(KeyHeader::Bearer)), Some("authorization"));
        assert_eq!(header("https://gate.example/v1", "k", None), Some("authorization"));
        assert_eq!(header("https://gate.example/v1", "k", Some(KeyHeader::ApiKey)), Some("api-key"));
    }
}
