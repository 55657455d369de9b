"""Compares tools/verify_session.py with `roundtable verify`, file by file.

Both read every stored session, freshly made ones and damaged copies; the damage is the same in every run.
Usage: session_verifier_check.py ROUNDTABLE
"""

import base64
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from nacl.bindings import (
    crypto_aead_aes256gcm_encrypt,
    crypto_scalarmult,
    crypto_scalarmult_base,
)

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import verify_session as independent  # noqa: E402

DOCUMENT_END = re.compile(rb"(?m)^hash: [0-9a-f]{64}\n")
ROUNDTABLE = str(pathlib.Path(sys.argv[1]).resolve())


def make_sessions(folder, environment):
    """Runs the example sessions and the scenarios, without a person and without a provider."""
    examples = sorted((ROOT / "sessions").glob("*.yaml"))
    runs = [(ROOT, [*map(str, examples), "--rehearse", "--save", str(folder)])]
    for example in (example for example in examples if "\nanswers:" in example.read_text()):
        runs.append((ROOT, [str(example), "--save", str(folder / f"{example.stem}-answered.s2s")]))
    for scenario in sorted((ROOT / "tests/scenarios").iterdir()):
        answers = ["--answers", "answers.yaml"] if (scenario / "answers.yaml").exists() else []
        file = folder / f"{scenario.name}.s2s"
        runs.append((scenario, ["definition.yaml", *answers, "--save", str(file)]))
    bare = folder / "bare.yaml"
    bare.write_text("question: Which?\nparticipants: [openai/gpt-5-mini, human, {name: ana, model: human}]\n")
    runs.append((folder, [str(bare), "--rehearse", "--save", str(folder / "bare.s2s")]))
    for directory, arguments in runs:
        command = [ROUNDTABLE, "--batch", "--quiet", *arguments]
        subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    return sorted(folder.glob("*.s2s"))


def state_by_roundtable(file, environment):
    run = subprocess.run([ROUNDTABLE, "verify", str(file)], env=environment, capture_output=True, text=True)
    if run.returncode == 0:
        return "whole"
    if run.returncode == 2:
        return "refused"
    assert run.returncode == 6, f"{file}: exit code {run.returncode}: {run.stderr}"
    findings = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    torn = ("bytes of a torn write follow the last complete document", "the file contains no complete document")
    return "torn" if all(finding.endswith(torn) for finding in findings) else "damaged"


def state_by_independent(data):
    try:
        return independent.verify(data)[0]
    except independent.Refused:
        return "refused"


def documents_of(data):
    ends = [0, *(end.end() for end in DOCUMENT_END.finditer(data))]
    return [data[start:end] for start, end in zip(ends, ends[1:])]


def damaged_copies(data, dice):
    """Yields what a copy suffered, and the copy."""
    documents = documents_of(data)
    for bit in (0, 3, 5, 7):
        place = dice.randrange(10, len(data))
        yield f"bit {bit} of byte {place} flipped", data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
    yield "first byte changed", b"+" + data[1:]
    yield "a digit of the last hash changed", data[:-3] + b"g" + data[-2:]
    place = data.index(b"hash: ") + 8
    yield "a digit of the first hash changed", data[:place] + b"g" + data[place + 1 :]
    inside = dice.randrange(1, len(documents) - 1)
    before = sum(map(len, documents[:inside]))
    cuts = (0, 2, 7, len(documents[0]) // 2, before, before + 4, before + len(documents[inside]) - 30, len(data) - 1)
    for place in cuts:
        yield f"cut at byte {place}", data[:place]
    for tail in (b"\0", b"\0" * 4096, b"\n", b"---\nseq: 999", b"hash: " + b"0" * 64, b"hash: " + b"0" * 64 + b"\n"):
        yield f"{len(tail)} bytes {tail[:12]} appended", data + tail
    first, second = documents[inside - 1 : inside + 1]
    for what, instead in (("swapped", second + first), ("doubled", first + second + second), ("dropped", first)):
        yield f"document {inside} {what}", b"".join(documents[: inside - 1]) + instead + b"".join(documents[inside + 1 :])
    yield f"zeros before document {inside}", data[:before] + b"\0\0" + data[before:]
    yield "the last document doubled", data + documents[-1]


def chained(documents):
    """Hashes the documents anew, as somebody who edits a file would."""
    previous, out = "0" * 64, b""
    for number, document in enumerate(documents):
        body = re.sub(rb"(?m)^prev: .*$", f'prev: "{previous}"'.encode(), document[: DOCUMENT_END.search(document).start()], count=1)
        body = re.sub(rb"(?m)^seq: .*$", b"seq: %d" % number, body, count=1)
        previous = independent.sha256(body)
        out += body + f"hash: {previous}\n".encode()
    return out


# An event, what in it is changed, and to what; nothing: the event is left out.
FORGERIES = (
    ("session_opened", rb"definition: \|\n  ", rb"definition: |\n  # "),
    ("round_opened", rb"snapshot: \|\n  participant", rb"snapshot: |\n  Participant"),
    ("work_item_offered", rb'prompt_sha256: "?\w{4}', b'prompt_sha256: "0000'),
    ("ballot_sealed", rb'commitment: "?\w{4}', b'commitment: "0000'),
    ("round_opened", rb'public_key: "?\w{4}', b'public_key: "0000'),
    ("round_opened", rb"suite: hpke", b"suite: hpki"),
    ("ballot_sealed", rb'enc: "?\w{4}', b'enc: "0000'),
    ("ballot_sealed", rb'sealed: "....', b'sealed: "AAAA'),
    ("round_closed", rb'key: "?\w{4}', b'key: "0000'),
    ("answer_revealed", rb"tries: 1", b"tries: 2"),
    ("answer_revealed", rb'nonce: "?\w{4}', b'nonce: "0000'),
    ("tally_made", rb"\nanswered: ", rb"\nanswered: 1"),
    ("tally_made", rb"\nquorum: ", rb"\nquorum: 1"),
    ("answer_revealed", None, None),
    ("ballot_sealed", None, None),
    ("work_item_offered", None, None),
)


def forgeries(data):
    """Yields copies with one value changed and a chain that fits."""
    documents = documents_of(data)
    for event, old, new in FORGERIES:
        pattern = re.compile(rb"^event: %s\n(?s:.*)^(round|format): " % event.encode(), re.MULTILINE)
        place = next((place for place, document in enumerate(documents) if pattern.search(document)), None)
        if place is None:  # Not every session has every event; main() sees to it that one has.
            continue
        changed = [] if old is None else [re.sub(old, new, documents[place], count=1)]
        assert changed != [documents[place]], f"nothing to change in {event}"
        yield f"{event}: {new or 'left out'}", chained(documents[:place] + list(map(quoted, changed)) + documents[place + 1 :])


def tally_forgeries(data):
    """Yields copies of a session with another score, and another winner, in each tally that both count."""
    documents = documents_of(data)
    for place, document in enumerate(documents):
        if b"\nevent: tally_made\n" not in document or not re.search(rb"\nrule: (majority|approval|consent|score|median)\n", document):
            continue
        for old, new in ((rb"(\nscores:\n  .*: )\d", rb"\g<1>9"), (rb"(\nwinners:\n  - )(.*)", rb"\1other")):
            if re.search(old, document):
                changed = re.sub(old, new, document, count=1)
                yield f"{old.decode()} in document {place}", chained([*documents[:place], changed, *documents[place + 1 :]])


def quoted(document):
    """Quotes hex that was changed to begin with zeros."""
    return re.sub(rb'(nonce|enc|key|commitment|prompt_sha256|signature): "0000(\w+)"?', rb'\1: "0000\2"', document)


def remote_forgeries(data):
    """Yields copies of a session with remote seats, with other signatures, keys and sealers."""
    documents = documents_of(data)
    for event, old, new in (
        (b"ballot_sealed", rb'\nsignature: "?\w{4}', b'\nsignature: "0000'),
        (b"ballot_sealed", rb"\nsignature: .*", b""),
        (b"seat_joined", rb'\nkey: "?\w{4}', b'\nkey: "0000'),
        (b"seat_joined", rb"(?s).*", b""),
    ):
        for place, document in enumerate(documents):
            if b"\nevent: %s\n" % event in document and re.search(old, document):
                changed = quoted(re.sub(old, new, document, count=1))
                yield f"{event.decode()}, {old.decode()}: {new.decode()}", chained([*documents[:place], *[changed] * bool(changed), *documents[place + 1 :]])


def check_vectors():
    """Checks the test vector of the document."""
    text = (ROOT / "docs/SESSION_FORMAT.md").read_text().split("## Test vectors")[1]
    document = independent.split(text.split("```yaml\n")[1].split("```")[0].encode())[0][0]
    assert independent.sha256(document.body) == document.hash


def check_signatures():
    """Checks the vector of the seal with its signatures."""
    vector = json.loads((ROOT / "src/remote/vector.json").read_text())
    names = [vector["binding"][key] for key in ("session", "round", "participant", "snapshot_sha256", "opened_sha256")]
    bound, unhex = independent.bound_to(b"roundtable seal 3", *names), bytes.fromhex
    secret = crypto_scalarmult(unhex(vector["ephemeral_key"]), unhex(vector["public_key"]))
    key, nonce = independent.hpke_key(secret, unhex(vector["enc"]), unhex(vector["public_key"]), bound)
    record = vector["record"].encode()
    plain = unhex(vector["commitment_nonce"]) + len(record).to_bytes(8, "big") + record
    sealed = crypto_aead_aes256gcm_encrypt(plain + bytes(8192 - len(plain)), unhex(vector["commitment"]), nonce, key)
    assert independent.sha256(sealed) == vector["sealed_sha256"]
    event = {"commitment": vector["commitment"], "enc": vector["enc"], "sealed": base64.b64encode(sealed)}
    assert independent.open_seal(vector["key"], event, names) == (unhex(vector["commitment_nonce"]), record)
    message = independent.signed_ballot(names, vector["public_key"], vector | {"sealed": base64.b64encode(sealed)})
    assert independent.is_signed(vector["seat_key"], message, vector["signature"])
    assert not independent.is_signed(vector["seat_key"], message[:-1] + b"x", vector["signature"])
    offer = b"roundtable offer 3" + unhex(independent.sha256(vector["offer"]))
    assert independent.is_signed(vector["table_key"], offer, vector["offer_signature"])
    delivery = independent.bound_to(b"roundtable delivery 3", *names)
    for part in (vector["public_key"].encode(), b"1"):
        delivery += len(part).to_bytes(8, "big") + part
    assert independent.sha256(delivery) == vector["delivery"]


def main():
    check_vectors()
    check_signatures()
    # The tests leave a session with a remote seat.
    stored = [*sorted((ROOT / "sessions").glob("*.s2s")), ROOT / "target/tmp/oracles/remote.s2s"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": folder / "home", "ROUNDTABLE_MODEL": "rehearsal"}
        (folder / "fresh").mkdir()
        fresh = make_sessions(folder / "fresh", environment)
        assert len(fresh) > 40, f"only {len(fresh)} sessions were made"
        cases = [(str(file), file.read_bytes(), {"whole"}) for file in stored + fresh]
        dice = random.Random(1)
        for file in stored[::9] + fresh[::9]:
            cases += [(f"{file.name}: {what}", data, None) for what, data in damaged_copies(file.read_bytes(), dice)]
        tried = set()
        for file in [*stored, *(file for file in fresh if file.name.startswith("retries-and-errors"))]:
            name, data = file.name, file.read_bytes()
            assert chained(documents_of(data)) == data
            changed = list(forgeries(data))
            tried |= {what for what, _ in changed}
            forged = [*changed, *remote_forgeries(data), *tally_forgeries(data)]
            cases += [(f"{name}: {what}", copy, {"damaged"}) for what, copy in forged]
        assert len(tried) == len(FORGERIES), f"of {len(FORGERIES)} forgeries only these were tried: {sorted(tried)}"
        seen, wrong = {}, 0
        for what, data, expected in cases:
            copy = folder / "copy.s2s"
            copy.write_bytes(data)
            states = state_by_roundtable(copy, environment), state_by_independent(data)
            seen[states[1]] = seen.get(states[1], 0) + 1
            if states[0] != states[1] or (expected and states[0] not in expected):
                wrong += 1
                print(f"{what}: roundtable says {states[0]}, the independent verifier {states[1]}", file=sys.stderr)
    print(f"{len(cases)} files ({len(stored)} stored, {len(fresh)} new, the others damaged): {seen}; {wrong} differ")
    return 1 if wrong or min(seen.get(state, 0) for state in ("whole", "torn", "damaged", "refused")) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
