//! The `ask` command: runs a question without a definition file.
//!
//! On a terminal it first prints a summary of the panel and its cost. It asks no model and saves nothing before
//! the person agrees.

use serde_json::{Map, Value};

use super::args::{AskArgs, RunArgs};
use super::console::{Console, VerbResult, ask, is_on_terminal};
use super::dry_run::{Total, draft};
use super::files::write_report;
use super::mcp::{Convene, id_of, seat_of, step};
use super::options::{environment, launch_options};
use super::{doctor, headless};
use crate::config::doctor::{CheckupStatus, LOCAL_SERVERS, ProbeLevel};
use crate::config::is_model;
use crate::config::trust::lines;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::insight::{cut, group_digits, join_list, pluralize};
use crate::launch::environment::Environment;
use crate::launch::error::{RunError, each_once};
use crate::launch::material::numbered_evidence;
use crate::launch::plan::load_definition;
use crate::launch::prepare::{Opening, prepare};
use crate::sanitize::harmless_line;
use crate::tally::Rule;
use crate::workflow::{DEFAULT_PANEL, Template, split_participants};
use crate::yaml::Out;

/// Models to ask of each local server if the user names none.
const OF_SERVER: usize = 2;
const THREE_WAYS: &str = "name one: `--with ollama/llama3.2` (local and free: install ollama.com, `ollama pull \
    llama3.2`), `--with openai/MODEL` (set OPENAI_API_KEY first), or `--with claude-cli/` (a program you are \
    logged in to: also codex-cli/, gemini-cli/); `--rehearse` shows a round without any";

struct Panel {
    seats: Vec<String>,
    offered: Vec<String>,
}

pub fn run(args: &AskArgs, output: &mut Console) -> VerbResult {
    *output = Console::from_options(&args.common);
    let is_asked = is_on_terminal() && !output.is_for_scripts() && !args.yes && !args.rehearse;
    check(args)?;
    let mut set_up = environment(args.common.trust.trust, output)?;
    let panel = panel(args, &set_up)?;
    let run = RunArgs {
        batch: true,
        evidence: args.about.clone(),
        rehearse: args.rehearse,
        common: args.common.clone(),
        ..RunArgs::default()
    };
    headless::check_output_paths(&run)?;
    let mut options = launch_options(&run, &mut set_up)?;
    // The evidence is part of the definition, so that `--save-as` writes it too.
    let text = definition(args, &panel.seats, std::mem::take(&mut options.evidence))?;
    let file = args.save_as.as_ref().map_or("ask.yaml".to_owned(), |path| path.display().to_string());
    let plan = load_definition(text.clone(), file, &set_up.folders);
    let opening = plan.and_then(|plan| prepare(plan, &options, &set_up, &mut |notice| output.warn(notice)));
    // The person has not seen the generated definition, so places in it are useless.
    let unplaced = |problem| Diagnostic { place: None, ..problem };
    let mut opening = opening.map_err(|problems| each_once(problems.into_iter().map(unplaced)))?;
    if is_asked {
        for line in lines(&opening.needs, &set_up.trust) {
            output.note(&line);
        }
        let total = draft(&mut opening.session, &options, &set_up, &mut |_, _, _| {})?;
        let shown = summary(args, &panel, &opening, &total);
        let answer = ask(&format!("{shown}Ask them? [y/N] "));
        if !answer.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes")) {
            output.note("nothing was sent or saved");
            return Ok(ExitCode::Finished);
        }
    } else if let Some(said) = one_voice(&panel.seats) {
        output.note(&said);
    }
    if let Some(path) = &args.save_as {
        write_report(path, text.as_bytes(), output)?;
    }
    headless::run_inputs(
        vec![headless::HeadlessInput::New(Box::new(opening))],
        &run,
        &options,
        &set_up,
        None,
        output,
    )
}

fn check(args: &AskArgs) -> Result<(), Diagnostic> {
    let example =
        "roundtable ask \"Which cache first?\" in-process redis --with ollama/llama3.2,openai/gpt-5-mini";
    if args.question.as_deref().is_none_or(|question| question.trim().is_empty()) {
        return Err(Diagnostic::new("there is no question").hint(example));
    }
    if let Some(word) = args.question.as_deref().filter(|word| word.chars().all(char::is_alphanumeric))
        && !args.options.is_empty()
        && word.is_ascii()
    {
        let problem = Diagnostic::new(format!("the question would be the one word `{word}`"));
        return Err(problem.hint(format!("put the question in quotes: {example}")));
    }
    if let [option] = args.options.as_slice() {
        let problem = Diagnostic::new(format!("one option, `{option}`, is no choice"));
        return Err(problem.hint(format!("give each option as a separate word, or none: {example}")));
    }
    if let Some(path) = args.save_as.as_ref().filter(|path| path.exists()) {
        let problem = Diagnostic::new("--save-as does not overwrite a file");
        return Err(problem.with_file(&path.display().to_string()).hint("give a name that is free"));
    }
    Ok(())
}

/// Returns the participants: the named models, else those found on this machine.
fn panel(args: &AskArgs, set_up: &Environment) -> Result<Panel, RunError> {
    let catalog = set_up.catalog();
    let is_seat = |word: &String| {
        word.split_once('/').is_some_and(|(provider, _)| catalog.providers().contains(&provider))
    };
    // In `--with A B`, B is parsed as an option. If all options are models, the question is about models.
    let last = args.options.last().filter(|last| !args.with.is_empty() && is_seat(last));
    if let Some(model) = last.filter(|_| !args.options.iter().all(is_seat)) {
        let problem = Diagnostic::new(format!("`{model}` would be an option to vote on"));
        let hint = "separate models by commas: `--with A,B`; an option of such a name goes first";
        return Err(problem.hint(hint).into());
    }
    let seats: Vec<String> = args.with.iter().flat_map(|list| split_participants(list)).collect();
    let mut panel = Panel { seats, offered: Vec::new() };
    if panel.seats.is_empty() && args.rehearse {
        panel.seats = DEFAULT_PANEL.iter().map(|name| (*name).to_owned()).collect();
    } else if panel.seats.is_empty() && !is_on_terminal() {
        let problem = Diagnostic::new("without a terminal `ask` needs --with MODEL,...");
        return Err(problem.hint(THREE_WAYS).into());
    } else if panel.seats.is_empty() {
        panel = found(set_up)?;
    }
    if panel.seats.is_empty() {
        let ready = match panel.offered.as_slice() {
            [] => "no key is set, no program is found".to_owned(),
            offered => format!("ready to be named: {}", offered.join(", ")),
        };
        let problem = Diagnostic::new(format!("nobody to ask: no local server answers, {ready}"));
        return Err(problem.hint(THREE_WAYS).into());
    }
    if let [only] = panel.seats.as_slice()
        && is_model(only)
        && only != "human"
    {
        panel.seats.push(only.clone());
    }
    Ok(panel)
}

/// Finds the models of local servers and the configured model; paid services and programs are only suggested.
fn found(set_up: &Environment) -> Result<Panel, RunError> {
    let catalog = set_up.catalog();
    let local = LOCAL_SERVERS.map(str::to_owned);
    let checkups = doctor::checked(set_up, &local, ProbeLevel::Listing)?;
    let mut seats: Vec<String> = Vec::new();
    for checkup in checkups {
        let CheckupStatus::Answers(models) = &checkup.state else { continue };
        let chats = models.iter().filter(|model| !model.contains("embed")).take(OF_SERVER);
        seats.extend(chats.map(|model| format!("{}/{model}", checkup.provider)));
    }
    let configured = set_up.config.model.iter().map(|model| model.value.clone());
    let configured = configured.filter(|model| is_model(model) && !seats.contains(model)).collect::<Vec<_>>();
    seats.extend(configured);
    let is_ready = |name: &&str| match catalog.seat_program(name) {
        Some(program) => catalog.runnable(&program).is_ok(),
        None => catalog.service(name).is_ok_and(|service| service.has_key()),
    };
    let others =
        catalog.providers().into_iter().filter(|name| !LOCAL_SERVERS.contains(name)).filter(is_ready);
    Ok(Panel { seats, offered: others.map(str::to_owned).collect() })
}

fn one_voice(seats: &[String]) -> Option<String> {
    let first = seats.first().filter(|first| seats.len() > 1 && seats.iter().all(|seat| seat == *first))?;
    let count = seats.len();
    Some(format!("{count} seats, one model: `{first}` is asked {count} times and counts as one opinion"))
}

fn definition(
    args: &AskArgs,
    seats: &[String],
    evidence: Vec<Map<String, Value>>,
) -> Result<String, Diagnostic> {
    let rule = args.rule.as_deref().and_then(Rule::from_name);
    let kind = rule.and_then(|rule| rule.kinds().first().copied());
    if let Some(kind) =
        kind.filter(|kind| args.options.is_empty() && !matches!(*kind, "consent" | "estimate"))
    {
        let problem = Diagnostic::new(format!("there are no options for a {kind} to be counted"));
        return Err(problem.hint("give the options after the question, or leave --rule out"));
    }
    let asked = Convene {
        ballot: kind.map(str::to_owned),
        question: args.question.clone().unwrap_or_default(),
        options: args.options.clone(),
        rule: args.rule.clone(),
        strategy: args.strategy.clone(),
        ..Convene::default()
    };
    let mut definition = Map::from_iter([("id".to_owned(), id_of(&asked.question).into())]);
    let is_kept = |(key, value): &(String, Value)| key != "id" && (key != "type" || value != "round");
    definition.extend(step(&asked).into_iter().filter(is_kept));
    if let Some(text) = &args.background {
        definition.insert("exploration".to_owned(), Template::literal(text).into());
    }
    if let Some(earlier) = &args.supersedes {
        definition.insert("supersedes".to_owned(), earlier.as_str().into());
    }
    let seats: Result<Value, Diagnostic> = seats.iter().map(|entry| seat_of(entry)).collect();
    definition.insert("participants".to_owned(), seats?);
    if !evidence.is_empty() {
        let artifact = |(number, shown)| {
            let mut artifact = numbered_evidence(number, shown);
            // The other keys are set only for files that the program reads itself.
            artifact.retain(|key, _| ["id", "summary", "relevant", "content"].contains(&key.as_str()));
            artifact
        };
        definition.insert("artifacts".to_owned(), (1..).zip(evidence).map(artifact).collect());
    }
    Ok(Out::json_document(&Value::Object(definition), true))
}

/// Returns the summary: participants, question, options, material, cost, other available models.
fn summary(args: &AskArgs, panel: &Panel, opening: &Opening, total: &Total) -> String {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let seats: Vec<&str> = opening.header.participants.iter().map(|seat| seat.model.as_str()).collect();
    let rule = args.rule.as_deref().or(args.strategy.as_deref()).unwrap_or("majority");
    let options = match args.options.len() {
        0 => "none: each answers in its own words".to_owned(),
        count => format!("{count}, by {rule}: {}", args.options.join(" · ")),
    };
    let material: Vec<&str> =
        args.background.iter().map(|_| "background").chain(args.about.iter().map(String::as_str)).collect();
    let material = if material.is_empty() { "the question alone".to_owned() } else { join_list(material) };
    let tokens = format!("about {} tokens are sent", group_digits(total.tokens as usize));
    let cost = match (total.unknown.as_slice(), total.dollars > 0.0) {
        ([], false) => format!("nothing; {tokens}"),
        ([], true) => format!("up to ${:.4}; {tokens}", total.dollars),
        (unknown, _) => format!("unknown; {tokens}; no price is known of {}", unknown.join(", ")),
    };
    let more = match (one_voice(&panel.seats), panel.offered.as_slice()) {
        (Some(said), _) => said,
        (None, []) => "seats see no answer of another before all are in".to_owned(),
        (None, offered) => format!("also ready, with --with NAME/MODEL: {}", offered.join(", ")),
    };
    let rows = [
        ("Ask", format!("{}: {}", pluralize(seats.len(), "seat"), seats.join(", "))),
        ("Question", args.question.clone().unwrap_or_default()),
        ("Options", options),
        ("Material", material),
        ("Cost", cost),
        ("Note", more),
    ];
    let line = |(name, text): &(&str, String)| {
        format!("{name:10}{}\n", cut(&harmless_line(text), columns.saturating_sub(11)))
    };
    rows.iter().map(line).collect()
}
