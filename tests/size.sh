#!/usr/bin/env bash
# Prints the production lines of each room beside its ceiling and its aim, both from tests/size.tsv,
# and the size of all else. Production lines are those of src/**/*.rs, comments too, without test files,
# each file up to its inline test module. tests/integration/tidy.rs counts alike and holds the ceilings.
#
#   tests/size.sh
#   UPDATE_CEILINGS=1 tests/size.sh    sets each ceiling to today's lines, rounded up to the next 100, here and
#                                      in CONTRIBUTING.md
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - <<'END'
import collections, json, os, pathlib, re

def count(paths):
    return sum(path.read_bytes().count(b"\n") for path in paths if path.is_file())

def production(path):
    inside = path.relative_to("src")
    if path.name.endswith("tests.rs") or path.name.startswith("test_") or "tests" in inside.parts:
        return 0
    if path.name in ("testing.rs", "properties.rs"):
        return 0
    lines = path.read_text().splitlines()
    for number, (line, following) in enumerate(zip(lines, lines[1:])):
        if line.strip() == "#[cfg(test)]" and re.fullmatch(r"\s*mod \w+ \{", following):
            return number
    return len(lines)

root = pathlib.Path()
now = collections.Counter()
for path in root.glob("src/**/*.rs"):
    parts = path.relative_to("src").parts
    now[parts[0] if len(parts) > 1 else "files"] += production(path)
table = root / "tests/size.tsv"
head, *rows = table.read_text().splitlines()
rows = {room: (int(ceiling), int(aim)) for room, ceiling, aim in (row.split("\t") for row in rows)}
if os.environ.get("UPDATE_CEILINGS"):
    rows = {room: (-(-now[room] // 100) * 100, aim) for room, (_, aim) in rows.items() if now[room]}
    lines = [f"{room}\t{ceiling}\t{aim}" for room, (ceiling, aim) in rows.items()]
    table.write_text("\n".join([head, *lines]) + "\n")
    page = root / "CONTRIBUTING.md"
    shown = "".join(f"| `{room}` | {ceiling} | {aim} |\n" for room, (ceiling, aim) in rows.items())
    page.write_text(re.sub(r"(\| module \| ceiling \| aim \|\n\|.*\n)(\|.*\n)+", lambda found: found[1] + shown, page.read_text()))

print(f"{'room':<14}{'lines':>8}{'ceiling':>9}{'aim':>8}")
for room in [*rows, *sorted(now.keys() - rows.keys())]:
    ceiling, aim = rows.get(room, (0, 0))
    print(f"{room:<14}{now[room]:>8,}{ceiling:>9,}{aim:>8,}{'  over' if now[room] > ceiling else ''}")
ceilings, aims = (sum(row[i] for row in rows.values()) for i in (0, 1))
print(f"{'all':<14}{sum(now.values()):>8,}{ceilings:>9,}{aims:>8,}")

keys = set()
def names(node):
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            keys.update(node["properties"])
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        names(child)
schema = root / "docs/definition.schema.json"
names(json.loads(schema.read_text()))
print()
tests, most_tests = count(root.glob("tests/**/*.rs")), 20_000
print(f"test lines in tests/**/*.rs  {tests:>8,}  of {most_tests:,} at most")
print(f"fixtures, lines              {count(root.glob('tests/fixtures/**/*')):>8,}")
print(f"words in docs/*.md           {sum(len(p.read_text().split()) for p in root.glob('docs/*.md')):>8,}")
print(f"lines of the JSON Schema     {count([schema]):>8,}")
print(f"definition keys              {len(keys):>8,}")
print(f"packages in Cargo.lock       {(root / 'Cargo.lock').read_text().count('[[package]]'):>8,}")
if tests > most_tests:
    raise SystemExit("too many test lines: say each promise once, at the cheapest place where it can fail")
END
