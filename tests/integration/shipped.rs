//! The documents' own examples, shipped as definitions: each can be rehearsed at once.

use crate::program::Desk;

#[test]
fn items_run_a_few_at_a_time() {
    let desk = Desk::new();
    let of_most = |count: usize| {
        let text = format!(
            "goal: g\ninput: {{list: [1, 2, 3, 4, 5]}}\nsteps:\n  - {{id: e, type: each, of: input.list, \
             concurrency: {count}, steps: [{{id: ask, type: agent, agent: coder}}]}}\n"
        );
        desk.write("each.yaml", text);
        let lines = desk.run(["--batch", "--json", "each.yaml"]).lines();
        let mut running: usize = 0;
        let counts = lines.iter().filter(|line| line["step"].as_str().is_some_and(|id| id.len() == 3));
        let counts = counts.filter_map(|line| {
            match line["event"].as_str()? {
                "step_started" => running += 1,
                "step_finished" => running -= 1,
                _ => return None,
            }
            Some(running)
        });
        counts.max()
    };
    assert_eq!([of_most(1), of_most(2), of_most(5)], [Some(1), Some(2), Some(5)]);
}

#[test]
fn a_definition_that_cannot_be_used_is_named() {
    let desk = Desk::new();
    let used = |path: &str| format!("goal: g\nsteps:\n  - {{id: a, type: use, definition: {path}}}\n");
    desk.write("circle.yaml", used("other.yaml"));
    desk.write("other.yaml", used("circle.yaml"));
    desk.write("faulty.yaml", "steps: [{id: x, type: agent}]\n");
    let (x, y) = ("{id: x, type: agent, agent: coder, next: y}", "{id: y, type: agent, agent: coder}");
    desk.write("routes.yaml", format!("steps:\n  - {x}\n  - {y}\n"));
    desk.write(
        "led.yaml",
        "type: discussion\ntopic: t\nballot: {kind: choice, options: [a, b]}\nstrategy: delphi\n",
    );
    let few = "type: use, definition: few.yaml";
    desk.write("twice.yaml", format!("steps: [{{id: a, {few}}}, {{id: b, {few}}}]\n"));
    desk.write("few.yaml", format!("steps: [{y}]\n"));
    for (path, wanted) in [
        ("other.yaml", "use each other in a circle: main.yaml, other.yaml, circle.yaml, other.yaml"),
        ("missing.yaml", "`missing.yaml` cannot be used: "),
        ("/etc/hostname", "`/etc/hostname` cannot be used: "),
        ("faulty.yaml", "faulty.yaml:1:9: error: an agent step has no `agent`"),
        ("routes.yaml", "routes.yaml:2:5: error: step `x` has `next`, a route"),
        ("led.yaml", "led.yaml:1:1: error: a discussion has routes"),
    ] {
        desk.write("main.yaml", used(path));
        desk.run(["check", "main.yaml"]).code(2).says(wanted);
    }
    desk.write("main.yaml", used("twice.yaml"));
    desk.run(["--batch", "--save", "out.s2s", "main.yaml"]);
    desk.run(["verify", "out.s2s"]).code(0);
}
