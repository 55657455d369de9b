//! Published files: cargo package, release archive, files for package hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::patience::Patient as _;
use crate::program::files_in;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_package_contains_what_the_source_includes_and_is_small() {
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--list", "--allow-dirty", "--offline", "--locked"]).current_dir(root());
    let listed = command.output_soon().expect("cargo runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let files: Vec<&str> = listed.lines().collect();
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    for path in files_in(&root().join("src")).into_iter().filter(is_rust) {
        let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
        let text = if is_test { String::new() } else { fs::read_to_string(&path).expect("source") };
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let real = path.parent().expect("a folder").join(name).canonicalize().expect("an included file");
            let inside = real.strip_prefix(root().canonicalize().expect("a root")).expect("inside");
            let inside = inside.to_string_lossy();
            assert!(files.contains(&&*inside), "{inside} is not in the package");
        }
    }
    let published =
        ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "Cargo.lock", "src/main.rs"];
    for wanted in published {
        assert!(files.contains(&wanted), "{wanted} is not in the package");
    }
    for left_out in ["tests/", "fuzz/", ".ci/", ".github/", "benches/", "target/"] {
        assert!(!files.iter().any(|file| file.starts_with(left_out)), "{left_out} is in the package");
    }
    let size = |file: &&&str| fs::metadata(root().join(file)).map_or(0, |known| known.len());
    let bytes: u64 = files.iter().map(|file| size(&file)).sum();
    assert!(bytes < 6 << 20, "{bytes} bytes, before compression");
}

#[test]
fn a_release_contains_program_pages_and_completions_with_a_checksum() {
    let out = tempfile::tempdir().expect("a folder");
    // Compressing a debug build takes long.
    let program = out.path().join("program");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_roundtable"));
    fs::write(&program, script).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let mut command = Command::new("bash");
    command.arg(root().join("tools/package.sh")).arg(&program).arg("some-target");
    let done = command.arg(out.path()).output_soon().expect("bash starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let name = format!("roundtable-{}-some-target", env!("CARGO_PKG_VERSION"));
    let check = |script: &str| {
        let done =
            Command::new("bash").args(["-euc", script]).current_dir(out.path()).output_soon().expect("bash");
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    check(&format!("sha256sum --check {name}.tar.gz.sha256 && tar -xzf {name}.tar.gz"));
    assert!(check(&format!("./{name}/roundtable --version")).contains(env!("CARGO_PKG_VERSION")));
    let files = check(&format!("cd {name} && find . -type f | sort"));
    for wanted in ["./LICENSE-MIT", "./man1/roundtable.1", "./man1/roundtable-resume.1"] {
        assert!(files.lines().any(|file| file == wanted), "{wanted}\n{files}");
    }
    assert!(!check(&format!("find {name} -type f -empty")).contains('/'), "no file is empty");
}

#[test]
fn workflows_call_what_is_there_and_take_no_foreign_text_into_a_script() {
    let folder = root().join(".github/workflows");
    let mut found = 0;
    for entry in fs::read_dir(&folder).expect("workflows") {
        let path = entry.expect("a workflow").path();
        let text = fs::read_to_string(&path).expect("readable");
        let workflow: Value = serde_yaml::from_str(&text).expect("YAML");
        let jobs = workflow["jobs"].as_object().expect("jobs");
        for step in jobs.values().flat_map(|job| job["steps"].as_array().expect("steps")) {
            assert!(step.get("uses").is_some() != step.get("run").is_some(), "{}: {step}", path.display());
            let Some(run) = step.get("run").and_then(Value::as_str) else { continue };
            found += 1;
            assert!(!run.contains("${{"), "{}: {run}", path.display());
            let is_ours = |word: &&str| word.starts_with("tools/") || word.starts_with(".ci/");
            for word in run.split(['"', ' ']).filter(is_ours) {
                assert!(root().join(word).is_file(), "{}: {word}", path.display());
            }
        }
        let permissions = &workflow["permissions"];
        assert_eq!(permissions["contents"], "read", "{}: no more than it needs", path.display());
    }
    assert!(found > 5, "only {found} scripts");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let (_, rest) = manifest.split_once("rust-version = \"").expect("a version");
    let (oldest, _) = rest.split_once('"').expect("its end");
    let places =
        [("Dockerfile", format!("rust:{oldest}-")), (".github/workflows/ci.yml", format!("+{oldest} "))];
    for (file, words) in places {
        let text = fs::read_to_string(root().join(file)).expect("a file");
        assert!(text.contains(&words), "{file} names the oldest Rust, {oldest}");
    }
}
