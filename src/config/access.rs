//! Addresses and keys of services, and the project's influence on them.
//!
//! A service's usual key goes only to the service's own address, or to one that the user configured. The
//! project's address gets only the project's key, and never the usual key of a built-in service. Consent to the
//! project's settings is checked elsewhere.

use super::need::{KeySource, Need, NeedKind};
use super::providers::{BuiltInProvider, KNOWN, known};
use super::settings::{Config, Provider};
use crate::diagnostic::Diagnostic;

pub fn address_variable(provider: &str) -> String {
    format!("{}_BASE_URL", provider.to_uppercase().replace('-', "_"))
}

/// Returns the address in the provider's variable or, unless one is configured, in a vendor tool's.
fn set_address(
    provider: &str,
    is_configured: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let read = |name: &str| variable(name).filter(|address| !address.trim().is_empty());
    read(&address_variable(provider)).or_else(|| match provider {
        _ if is_configured => None,
        "ollama" => read("OLLAMA_HOST").map(|host| ollama_address(host.trim())),
        "openai" => read("OPENAI_API_BASE"),
        "openai-responses" => read("OPENAI_BASE_URL").or_else(|| read("OPENAI_API_BASE")),
        _ => None,
    })
}

/// Reads Ollama's address by its rules: default port without a scheme, 0.0.0.0 for this machine.
fn ollama_address(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/').replacen("0.0.0.0", "127.0.0.1", 1);
    let has_port = rest.rsplit(']').next().is_some_and(|end| end.contains(':')) || host.contains("://");
    let name = if rest.starts_with(':') { "127.0.0.1" } else { "" };
    format!("{scheme}://{name}{rest}{}/v1", if has_port { "" } else { ":11434" })
}

pub fn access(config: &Config, provider: &str) -> Result<Need, Diagnostic> {
    let Provider { own, project, named_by: from } =
        config.providers.get(provider).cloned().unwrap_or_default();
    let set = set_address(provider, own.base_url.is_some(), |name| std::env::var(name).ok());
    let by_user = own.base_url.or_else(|| known(provider).map(|known| known.base_url.to_owned()));
    let is_projects = set.is_none() && project.base_url.is_some() && project.base_url != by_user;
    let by_project = project.base_url.filter(|_| is_projects);
    let address = by_project.or(set).or(by_user).ok_or_else(|| {
        Diagnostic::new(format!("provider `{provider}` has no address"))
            .hint(format!("set `providers.{provider}.base_url` in config.yaml"))
    })?;
    let users_key = || key(own.key_env.as_deref(), &own.key_command, usual(provider));
    let projects_key = match key(project.key_env.as_deref(), &project.key_command, &[]) {
        KeySource::Nowhere => None,
        // The same variable would be used without the project's setting.
        KeySource::Variables(names) if !is_projects && is_of(&names, &users_key()) => None,
        key => Some(key),
    };
    let named_by = from.filter(|_| is_projects || projects_key.is_some());
    if let (Some(KeySource::Variables(names)), Some(file)) = (&projects_key, &named_by) {
        refuse_usual(names, provider, &address, is_projects).map_err(|problem| problem.with_file(file))?;
    }
    let key = match projects_key {
        Some(key) => key,
        None if is_projects => KeySource::Nowhere,
        None => users_key(),
    };
    Ok(Need { what: NeedKind::Service { provider: provider.to_owned(), address, key }, named_by })
}

fn usual(provider: &str) -> &'static [&'static str] {
    known(provider).map_or(&[], |known| known.keys)
}

fn key(variable: Option<&str>, command: &[String], usual: &[&str]) -> KeySource {
    if variable.is_none() && !command.is_empty() {
        return KeySource::Command(command.to_vec());
    }
    let names: Vec<String> = variable.into_iter().chain(usual.iter().copied()).map(str::to_owned).collect();
    if names.is_empty() { KeySource::Nowhere } else { KeySource::Variables(names) }
}

fn is_of(names: &[String], key: &KeySource) -> bool {
    matches!(key, KeySource::Variables(known) if names.iter().all(|name| known.contains(name)))
}

/// Refuses to send the usual key of a built-in service to another address.
fn refuse_usual(
    names: &[String],
    provider: &str,
    address: &str,
    is_projects: bool,
) -> Result<(), Diagnostic> {
    for name in names {
        let mut owners = KNOWN.iter().filter(|known| known.keys.contains(&name.as_str())).peekable();
        let Some(first) = owners.peek().map(|known| known.name) else { continue };
        let is_home =
            |known: &BuiltInProvider| known.base_url == address || (known.name == provider && !is_projects);
        if !owners.any(is_home) {
            let message = format!("{name} is the key of `{first}`: no address of a project is sent it");
            return Err(Diagnostic::new(message).hint(format!(
                "use a separate key, or name the address in your own configuration or in {}",
                address_variable(provider)
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::set_address;

    #[test]
    fn vendor_variables_set_only_unset_addresses() {
        let variables = [
            ("OPENAI_API_BASE", "http://old/v1"),
            ("OPENAI_BASE_URL", "http://new/v1"),
            ("LAB_BASE_URL", " "),
        ];
        let read = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, address)| (*address).to_owned())
        };
        let set = |provider, is_configured| set_address(provider, is_configured, read);
        assert_eq!(set("openai", false).as_deref(), Some("http://new/v1"));
        assert_eq!(set("openai-responses", false).as_deref(), Some("http://new/v1"));
        assert_eq!(set("openai-responses", true), None);
        assert_eq!(set("lab", false), None);
        assert_eq!(set("anthropic", false), None);
        let old = |name: &str| (name == "OPENAI_API_BASE").then(|| "http://old/v1".to_owned());
        for provider in ["openai", "openai-responses"] {
            assert_eq!(set_address(provider, false, old).as_deref(), Some("http://old/v1"), "{provider}");
        }
    }

    #[test]
    fn ollama_host_follows_ollamas_rules() {
        for (host, address) in [
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("box:8080", "http://box:8080/v1"),
            ("box", "http://box:11434/v1"),
            (":8080", "http://127.0.0.1:8080/v1"),
            ("https://gpu.example/", "https://gpu.example/v1"),
            ("[::1]", "http://[::1]:11434/v1"),
        ] {
            let set = set_address("ollama", false, |name| (name == "OLLAMA_HOST").then(|| host.to_owned()));
            assert_eq!(set.as_deref(), Some(address), "{host}");
        }
    }
}
