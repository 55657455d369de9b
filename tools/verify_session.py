#!/usr/bin/env python3
"""Verifies a roundtable session file, independently of roundtable.

Written from docs/SESSION_FORMAT.md, and the rules of docs/TALLIES.md, alone. Needs PyYAML and PyNaCl.

    verify_session.py [--expect HASH] [--receipt RECEIPT|FILE] FILE

Exit codes: 0 whole and consistent · 2 no session, or rules this program does not know · 6 torn or damaged.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import sys
from collections import Counter
from fractions import Fraction

import yaml
from nacl.bindings import (
    crypto_aead_aes256gcm_decrypt,
    crypto_scalarmult,
    crypto_scalarmult_base,
)
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

NOT_CHECKED = [
    "tallies of rankings, rules over the order of scores, several winners, the choice among ties, orders, strength",
    "that `outcome` and `ballot` follow from the replies",
    "steps, agents' work items, questions and approvals, and that the definition leads to them",
    "names in answers and their redaction",
    "the limits on memory",
    "what no file can prove: what a provider received, discarded runs, clocks, a complete rewrite without `--expect`",
]
KNOWN = {"format": (3,)}
SUITE = "hpke-x25519-sha256-aes256gcm"
END = re.compile(rb"^hash: ([0-9a-f]{64})\n", re.MULTILINE)
START = b"---\nseq: 0\n"


class Damage(Exception):
    """The file is not what it was when it was written."""


class Refused(Exception):
    """Not a session, or one with rules this program does not know."""


def sha256(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


# Documents


class Document:
    def __init__(self, number, offset, line, body, found):
        self.number, self.offset, self.line, self.body, self.hash = number, offset, line, body, found
        self.event = None

    def damage(self, why):
        return Damage(f"document {self.number} (line {self.line}, byte {self.offset}): {why}")


def split(data):
    """Returns the complete documents and the bytes after the last of them."""
    documents, offset, line = [], 0, 1
    for end in END.finditer(data):
        body = data[offset : end.start()]
        documents.append(Document(len(documents), offset, line, body, end[1].decode()))
        line += data.count(b"\n", offset, end.end())
        offset = end.end()
    return documents, data[offset:]


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(document, text):
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if getattr(event, "anchor", None):
                raise document.damage("anchor or alias")
        value = yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise document.damage(f"not readable as YAML: {error}") from None
    if not isinstance(value, dict):
        raise document.damage("no keys")
    return value


def read(data):
    """Returns the documents with their events, and the torn tail. Raises the first damage."""
    documents, tail = split(data)
    previous = "0" * 64
    for document in documents:
        if sha256(document.body) != document.hash:
            raise document.damage("hash mismatch")
        event = parse(document, document.body)
        if event.get("prev") != previous:
            raise document.damage("`prev` is not the hash of the previous document")
        if event.get("seq") != document.number:
            raise document.damage(f"`seq` is {event.get('seq')}, expected {document.number}")
        if document.number == 0:
            check_versions(document, event)
        document.event, previous = event, document.hash
    return documents, tail


def check_versions(document, header):
    if header.get("event") != "session_opened":
        raise document.damage("the first event is not `session_opened`")
    for key, known in KNOWN.items():
        if header.get(key) not in known:
            raise Refused(f"`{key}: {header.get(key)}` is unknown to this program")


# Seals


def bound_to(purpose, session, round_, participant, snapshot_sha256, opened_sha256):
    out = purpose
    for text in (session, round_, participant, snapshot_sha256, opened_sha256):
        out += len(text.encode()).to_bytes(8, "big") + text.encode()
    return out


def signed_ballot(names, public_key, event):
    """What a remote seat signs of its ballot."""
    out = bound_to(b"roundtable ballot 3", *names)
    sealed = hashlib.sha256(base64.b64decode(event["sealed"], validate=True)).digest()
    for part in (*map(bytes.fromhex, (public_key, event["commitment"], event["enc"])), sealed):
        out += len(part).to_bytes(8, "big") + part
    return out


def signed_failure(names, public_key, attempt, event):
    """What a remote seat signs of a failure: the id of the delivery first."""
    delivery = bound_to(b"roundtable delivery 3", *names)
    for text in (public_key, str(attempt)):
        delivery += len(text).to_bytes(8, "big") + text.encode()
    session, round_, seat, *_ = names
    out, timed_out = b"roundtable failed 3", "true" if event.get("timed_out") else "false"
    for text in (hashlib.sha256(delivery).hexdigest(), session, round_, seat, event["reason"], timed_out, str(event["tries"])):
        out += len(text.encode()).to_bytes(8, "big") + text.encode()
    return out


def in_order(data, required, optional):
    """What a program writes of an object: its keys in order, without those that have their default."""
    kept = {key: data[key] for key in required} | {key: value for key, value in data.items() if key in optional}
    order = {key: place for place, key in enumerate([*required, *optional])}
    return {key: kept[key] for key in sorted(kept, key=order.get) if key not in optional or kept[key] != optional[key]}


def as_programs_write(record):
    """The record of an answer that a program asked for, as it is written before it is sealed."""
    replies = [in_order(reply, ["text"], {"finish": "complete", "limit": None, "reason": None})
               for reply in record["replies"]]
    record = record | {"replies": replies}
    if record.get("tokens") is not None:
        record["tokens"] = in_order(record["tokens"], ["input", "output", "cached"],
                                    {"thinking": 0, "cost_nano_usd": None})
    optional = {"served": None, "replies": [], "failed": None, "tokens": None, "dropped": [], "declined": 0}
    written = in_order(record, ["origin", "model", "tries", "latency_ms"], optional)
    order = ["origin", "model", "served", "replies", "failed", "tries", "latency_ms", "tokens", "dropped", "declined"]
    return {key: written[key] for key in order if key in written}


def is_signed(key, message, signature):
    try:
        return bool(VerifyKey(bytes.fromhex(key)).verify(message, bytes.fromhex(signature)))
    except (BadSignatureError, ValueError):
        return False


def hpke_key(secret, enc, public, info):
    """Key and nonce of the first message of HPKE (RFC 9180) in base mode, with the suite of the seal."""
    mac = lambda key, data: hmac.digest(key, data, "sha256")
    kem, suite = b"KEM\0\x20", b"HPKE\0\x20\0\1\0\2"
    extract = lambda salt, of, label, text: mac(salt, b"HPKE-v1" + of + label + text)
    expand = lambda key, of, label, info, size: mac(
        key, size.to_bytes(2, "big") + b"HPKE-v1" + of + label + info + b"\1")[:size]
    shared = expand(extract(b"", kem, b"eae_prk", secret), kem, b"shared_secret", enc + public, 32)
    context = b"\0" + extract(b"", suite, b"psk_id_hash", b"") + extract(b"", suite, b"info_hash", info)
    secret = extract(shared, suite, b"secret", b"")
    return expand(secret, suite, b"key", context, 32), expand(secret, suite, b"base_nonce", context, 12)


def open_seal(key, event, names):
    """Returns the commitment's nonce and the record's bytes."""
    try:
        key, sealed = bytes.fromhex(key), base64.b64decode(event["sealed"], validate=True)
        enc, aad = bytes.fromhex(event["enc"]), bytes.fromhex(event["commitment"])
        secret = crypto_scalarmult(key, enc)  # Refuses points of low order.
        key, nonce = hpke_key(secret, enc, crypto_scalarmult_base(key), bound_to(b"roundtable seal 3", *names))
        plain = crypto_aead_aes256gcm_decrypt(sealed, aad, nonce, key)
    except Exception as error:
        raise Damage(f"the seal does not open under the published key ({error})") from None
    length = int.from_bytes(plain[32:40], "big")
    end = 40 + length
    padded = max(8192, 1 << (end - 1).bit_length())
    if len(plain) != padded or any(plain[end:]) or padded > 262144:
        raise Damage("the sealed text has another length, or something in its padding")
    return plain[:32], plain[40:end]


def commitment(nonce, record):
    return sha256(b"\0" + nonce + record)


def same(a, b):
    """Compares values; numbers are rounded to six decimal places in the file."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b or float in (type(a), type(b)) and abs(a - b) <= 1e-6


# Rounds


# Tallies

# The share of first places that wins: more than it, or just as many.
SHARES = {"plurality": 0, "majority": Fraction(1, 2), "supermajority": Fraction(2, 3), "weighted-majority": Fraction(1, 2), "unanimous": 0}
COUNTED = {"choice": [*SHARES], "approval": ["approval"], "score": ["score"], "consent": ["consent"], "estimate": ["median"]}
ROUNDED = Fraction(1, 10**6)


def exact(number):
    return Fraction(str(number))


def has_share(rule, most, total, is_tie, terms):
    share = exact(terms.get("threshold", SHARES[rule]))
    if rule == "supermajority":
        return most >= share * total
    return most > share * total or (rule == "majority" and is_tie and most == share * total)


def quantile(values, quarters):
    """The values around the place with so many quarters of the weight below it."""
    below, wanted = 0, sum(weight for _, weight in values) * quarters / 4
    for at, (value, weight) in enumerate(values):
        below += weight
        if below >= wanted:
            return value, values[at + 1][0] if below == wanted and at + 1 < len(values) else value


def recount(form, rule, terms, ballots, may_block):
    """Returns the score of each option, and the options that win, several if tied. `ballots` are weights and marks."""
    kind, scores = form["kind"], Counter({option: Fraction(0) for option in form.get("options", [])})
    if kind == "estimate":
        cards = form.get("cards", [])
        place = cards.index if cards else exact
        for weight, mark in ballots:
            scores[place(mark)] += weight
        values = sorted((value, weight) for value, weight in scores.items() if weight)
        name = (lambda value: cards[value]) if cards else (lambda value: value)
        middle = quantile(values, 2) if values else ()
        if not cards:
            middle = [sum(middle) / 2] * bool(middle)
        return {name(value): weight for value, weight in scores.items()}, list(dict.fromkeys(map(name, middle)))
    if kind == "consent":
        heads = Counter(stance for _, (stance, _) in ballots)
        passes = heads and not heads["block"] and not may_block
        return {stance: heads[stance] for stance in ("support", "stand-aside", "block")}, ["support"] * bool(passes)
    weights = Counter()
    for weight, mark in ballots:
        marks = mark if kind == "score" else {option: 1 for option in (mark if kind == "approval" else [mark])}
        for option, number in marks.items():
            scores[option] += weight * exact(number)
            weights[option] += weight
    if kind == "score":
        scores = {option: scores[option] / weights[option] if weights[option] else Fraction(0) for option in scores}
    most = max((scores[option] for option in scores if weights[option]), default=0)
    leaders = [option for option in scores if weights[option] and scores[option] == most]
    if rule == "unanimous" and (len(ballots) < 2 or most != sum(scores.values())):
        leaders = []
    if kind == "choice" and not has_share(rule, most, sum(scores.values()), len(leaders) > 1, terms):
        leaders = []
    return scores, leaders


class Round:
    """What the events of one round say so far."""

    def __init__(self, opened, found):
        self.opened, self.session, self.hash = opened, opened["session"], found
        self.seats = opened["seats"]
        self.offered, self.seals, self.answers, self.state = [], {}, [], {}
        self.key, self.closed, self.seal_to = None, False, opened["seal"]

    def names(self, seat):
        """What a seal is bound to."""
        return (self.session, self.opened["round"], seat, self.opened["snapshot_sha256"], self.hash)


RECORDED = ("origin", "model", "served", "replies", "failed", "tries", "latency_ms", "tokens", "dropped", "declined")


class Checker:
    """Goes through the events once, in order, and collects what is wrong."""

    def __init__(self, documents):
        self.documents, self.header = documents, documents[0].event
        self.rounds, self.sealed = {}, {}
        self.remote = {seat["name"]: seat["remote"] for seat in self.header["participants"] if "remote" in seat}
        self.invitations, self.refused, self.retried = {}, Counter(), Counter()
        # Keys of workers stand in the header, keys of links come when they are taken.
        pinned = {seat["name"]: seat.get("remote", {}).get("key") for seat in self.header["participants"]}
        self.keys = {seat: key for seat, key in pinned.items() if key}
        self.points, self.settled = {}, set()  # Conflicts and questions by id.
        self.findings, self.counts = [], Counter()

    def run(self):
        session = self.header["session"]
        self.check_header()
        for document in self.documents:
            event, self.hash = document.event, document.hash
            kind = event.get("event")
            if kind == "session_forked":
                session = event["session"]
            try:
                self.require(event.get("session") == session, "`session` is another one")
                self.require(document is self.documents[-1] or kind != "session_closed", "events follow the end")
                getattr(self, f"on_{kind}", lambda event: None)(event)
            except Damage as damage:
                self.findings.append(str(document.damage(f"{kind}: {damage}")))
            except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
                self.findings.append(str(document.damage(f"{kind}: a value is missing or has another shape: {error!r}")))
        return self.findings

    def require(self, holds, why):
        if not holds:
            raise Damage(why)

    @staticmethod
    def is_reached(seat):
        """Whether `remote` says what the model of a seat says."""
        model, remote = seat["model"], seat.get("remote")
        if not model.startswith("remote/") or seat.get("scripted"):
            return remote is None
        if remote is None:
            return False
        door, *rest = model.removeprefix("remote/").split("/", 2)
        key, worker = remote.get("key"), rest[0] if rest else None
        keys = {"link": key is None, "inbox": key is None, "nats": key is not None}
        return (remote["door"] == door and remote.get("worker") == worker and keys.get(door, False)
                and (key is None or re.fullmatch("[0-9a-f]{64}", key) is not None)
                and (worker is not None) == (door == "nats"))

    def check_header(self):
        header = self.header
        texts = [("definition", header["definition"], header["definition_sha256"])]
        texts += [(f"persona `{p['name']}`", p["text"], p["sha256"]) for p in header.get("personas", [])]
        self.findings += [f"header: hash of {what}" for what, text, found in texts if sha256(text) != found]
        self.personas = {persona["name"]: persona["text"] for persona in header.get("personas", [])}
        key = header.get("table_key") if self.remote else "00" * 32
        if not re.fullmatch("[0-9a-f]{64}", key or "") or (not self.remote and "table_key" in header):
            self.findings.append("header: `table_key` and remote seats need each other")
        if any(not self.is_reached(seat) for seat in header["participants"]):
            self.findings.append("header: `remote` belongs to seats of a model `remote/…`, ")
        if pseudonyms := header.get("pseudonyms"):
            key = lambda name: sha256(f"roundtable pseudonym 1\n{pseudonyms['seed']}\n{name}")
            order = sorted(pseudonyms["names"], key=key)
            if pseudonyms["names"] != {name: f"participant-{number}" for number, name in enumerate(order, 1)}:
                self.findings.append("header: pseudonyms do not follow from their seed")

    def on_round_opened(self, event):
        self.require(sha256(event["snapshot"]) == event["snapshot_sha256"], "hash of the snapshot")
        self.require(len(event["snapshot"].encode()) == event["snapshot_bytes"], "`snapshot_bytes`")
        self.require(len(set(event["seats"])) == len(event["seats"]), "a seat is named twice")
        self.rounds[event["round"]] = Round(event, self.hash)
        self.check_seal_to(event)
        self.counts["rounds"] += 1

    def check_seal_to(self, event):
        self.require(event["seal"]["suite"] == SUITE, "`seal`")

    def on_work_item_offered(self, event):
        if "round" not in event:
            return self.check_agent_prompt(event)
        round_ = self.rounds[event["round"]]
        opened = round_.opened
        tail = self.personas[event.get("persona", "")]
        tail += ("\n" if tail else "") + "Now answer in the form described at the beginning.\n"
        prompt = opened["rules"] + "\n" + opened["snapshot"] + event["address"] + "\n" + tail
        self.require(sha256(prompt) == event["prompt_sha256"], "hash of the prompt")
        self.require(event["context_sha256"] == opened["snapshot_sha256"], "`context_sha256` is not the snapshot's")
        self.require(not round_.seals, "a prompt after the first seal")
        self.require(round_.seats[len(round_.offered)] == event["participant"], "not the next seat in roster order")
        round_.offered.append(event["participant"])
        self.counts["prompts"] += 1

    def check_agent_prompt(self, event):
        if has_float(event["input"]):
            return  # Languages write such numbers differently.
        text = json.dumps(event["input"], ensure_ascii=False, separators=(",", ":"))
        self.require(sha256(text) == event["context_sha256"], "hash of the input")
        if "prompt" in event:
            self.require(sha256(event["prompt"]) == event["prompt_sha256"], "hash of the prompt")
            self.counts["prompts"] += 1

    def on_ballot_sealed(self, event):
        round_, seat = self.rounds[event["round"]], event["participant"]
        self.require(round_.offered == round_.seats, "a seal before every seat has its prompt")
        self.require(seat in round_.seats and seat not in round_.seals, "no seat, or sealed twice")
        self.require(not round_.closed, "a seal after the close")
        self.require(round_.state.get(seat) != "excused", "a seal of an excused seat")
        self.check_signature(round_, event)
        round_.seals[seat], round_.state[seat] = event, "sealed"
        sealed = sha256(base64.b64decode(event["sealed"], validate=True))
        door, key = self.remote.get(seat, {}).get("door"), self.keys.get(seat)
        self.sealed[(round_.session, event["round"], seat)] = (door, key, round_.hash, event["commitment"], sealed)

    def check_signature(self, round_, event):
        seat = event["participant"]
        if seat not in self.remote:
            return self.require("signature" not in event, f"`{seat}` is no remote seat")
        names = round_.names(seat)
        message = signed_ballot(names, round_.seal_to["public_key"], event)
        if self.is_sealed_here(seat):
            return self.require("signature" not in event, f"the ballots of `{seat}` are not signed")
        signed = is_signed(self.keys.get(seat, ""), message, event.get("signature", ""))
        self.require(signed, f"the ballot of `{seat}` is not signed with the key that the seat joined with")
        self.counts["signatures"] += 1

    def is_sealed_here(self, seat):
        return self.remote[seat]["door"] == "inbox"

    def on_seat_invited(self, event):
        seat = event["participant"]
        self.require(seat in self.remote, f"`{seat}` is no remote seat")
        open_ = [round_ for round_ in self.rounds.values() if not round_.closed]
        self.require(not any(seat in round_.seals for round_ in open_), f"`{seat}` has sealed in the open round")
        self.invitations[seat] = (event["invitation"], event["expires"])
        self.keys.pop(seat, None)

    def on_seat_joined(self, event):
        seat, (invitation, expires) = event["participant"], self.invitations[event["participant"]]
        self.require(not self.is_sealed_here(seat), f"`{seat}` does not seal its ballots itself")
        self.require(event["invitation"] == invitation and event["at"] <= expires, "no such invitation")
        self.require(seat not in self.keys and len(bytes.fromhex(event["key"])) == 32, "a second key, or none")
        self.keys[seat] = event["key"]

    def on_envelope_refused(self, event):
        round_, seat = self.rounds[event["round"]], event["participant"]
        self.require(seat in self.remote and seat in round_.seats, "no such remote seat")
        self.refused[(event["round"], seat)] += 1
        self.require(self.refused[(event["round"], seat)] <= 8, "more than eight of a seat and round")

    def on_seat_failed(self, event):
        round_ = self.rounds[event["round"]]
        if round_.closed and event["participant"] in round_.seals:
            return self.fail_at_reveal(round_, event["participant"])
        if "signature" in event:
            self.check_failure(round_, event)
        self.leave(event, "failed")

    def check_failure(self, round_, event):
        seat = event["participant"]
        names = round_.names(seat)
        attempt = self.retried[(event["round"], seat)] + 1
        message = signed_failure(names, round_.seal_to["public_key"], attempt, event)
        signed = is_signed(self.keys.get(seat, ""), message, event["signature"])
        self.require(signed and len(event["reason"].encode()) <= 200,
                     f"the failure of `{seat}` is not signed with its key")

    def on_seat_excused(self, event):
        self.leave(event, "excused")

    def fail_at_reveal(self, round_, seat):
        """A sealed answer that does not open, or is no record of its seat, fails the seat."""
        try:
            self.open_record(round_, seat)
        except (Damage, ValueError, KeyError, TypeError):
            round_.seals.pop(seat)
            round_.state[seat] = "failed"
            return
        raise Damage(f"`{seat}` is said to have failed, and its sealed answer opens")

    def open_record(self, round_, seat):
        """Returns the commitment's nonce and the record of a sealed answer."""
        seal = round_.seals[seat]
        nonce, text = open_seal(round_.key, seal, round_.names(seat))
        self.require(commitment(nonce, text) == seal["commitment"], "the record does not match its commitment")
        record = json.loads(text)
        if seat in self.remote and self.remote[seat]["door"] != "link":
            plain = json.dumps(as_programs_write(record), ensure_ascii=False, separators=(",", ":"))
            self.require(plain.encode() == text, "the record has not the form of a program's answer")
        elif seat in self.remote:
            replies = [{"text": reply["text"]} for reply in record["replies"]]
            person = {"origin": "person", "model": record["model"], "replies": replies, "tries": 1,
                      "latency_ms": record["latency_ms"]}
            plain = json.dumps(person, ensure_ascii=False, separators=(",", ":"))
            known = record["model"] == "human/browser" and len(replies) == 1
            known = known and type(replies[0]["text"]) is str and type(record["latency_ms"]) is int
            self.require(known and plain.encode() == text, "the record has not the form of one person's answer")
        return nonce, record

    def leave(self, event, state):
        round_, seat = self.rounds[event["round"]], event["participant"]
        self.require(seat in round_.seats and seat not in round_.seals, "no seat, or it is sealed")
        round_.state[seat] = state

    def on_seat_retried(self, event):
        self.retried[(event["round"], event["participant"])] += 1
        self.rounds[event["round"]].state.pop(event["participant"], None)

    def on_key_lost(self, event):
        round_ = self.rounds[event["round"]]
        for seat in event["participants"]:
            self.require(round_.seals.pop(seat, None), f"`{seat}` has no seal")
            round_.state.pop(seat)

    def on_seats_asked_again(self, event):
        self.check_seal_to(event)
        self.rounds[event["round"]].seal_to = event["seal"]

    def on_round_asked_again(self, event):
        round_ = self.rounds[event["round"]]
        for seat in [seat for seat, state in round_.state.items() if state == "failed"]:
            round_.state.pop(seat)

    def on_round_closed(self, event):
        round_ = self.rounds[event["round"]]
        self.require(not round_.closed, "closed twice")
        self.require(("key" in event) or not round_.seals, "no key for the seals")
        missing = [seat for seat in round_.seats if seat not in round_.state]
        key = bytes.fromhex(event["key"])
        self.require(key[0] & 7 == 0 and key[31] & 0xC0 == 0x40, "the key is not in its one form")
        public = crypto_scalarmult_base(key).hex()
        self.require(public == round_.seal_to["public_key"], "the key is not that of the public key")
        self.require(sorted(event.get("missing", [])) == sorted(missing), "`missing` is not the seats without an end")
        round_.key, round_.closed = event.get("key"), True

    def on_answer_revealed(self, event):
        round_, seat = self.rounds[event["round"]], event["participant"]
        self.require(round_.closed, "an answer before the close")
        sealed = [seat for seat in round_.seats if seat in round_.seals]
        self.require(sealed[len(round_.answers)] == seat, "not the next sealed seat in roster order")
        round_.answers.append(event)
        nonce, record = self.open_record(round_, seat)
        self.require(nonce.hex() == event["nonce"], "`nonce` is not the one that was sealed")
        for key in RECORDED:
            shown, kept = event.get(key), record.get(key)
            if key == "replies":
                shown = [{k: v for k, v in reply.items() if k != "reason"} for reply in shown or []] or None
            self.require(same(kept, shown), f"`{key}` is not what was sealed")
        self.counts["seals"] += 1

    def on_ideas_merged(self, event):
        answers = [answer for answer in self.rounds[event["round"]].answers if answer["outcome"] == "answered"]
        lists = {answer["participant"]: answer["ballot"].get("ideas", answer["ballot"].get("findings"))
                 for answer in answers}
        ideas = {f"{name}#{number}" for name, found in lists.items() for number in range(1, len(found) + 1)}
        placed = [idea for option in event["options"] for idea in option["from"]]
        placed += [aside["idea"] for aside in event.get("set_aside", [])]
        self.require(len(placed) == len(set(placed)), "an idea has two places")
        self.require(set(placed) == ideas, "the merge does not hold every idea of the round, or others")
        ids = [option["id"] for option in event["options"]]
        self.require(len(ids) == len(set(ids)), "two options have one id")

    def blocks(self, round_):
        """Returns the change that each block of a consent round asks for, by seat."""
        if round_.opened["ballot"]["kind"] != "consent":
            return {}
        found = {}
        for answer in round_.answers:
            stance, change = answer["ballot"]["consent"] if isinstance(answer.get("ballot"), dict) else (None, None)
            if stance == "block" or answer.get("may_block"):
                found[answer["participant"]] = change
        return found

    def on_conflict_opened(self, event):
        seat, before = event.get("participant"), self.points.get(event["id"])
        is_theirs = before and seat and (before.get("step"), before.get("participant")) == (event["step"], seat)
        self.require(not before or (is_theirs and event["id"] not in self.settled), "the id is taken")
        if seat:
            blocks = self.blocks(self.rounds[event["round"]])
            self.require(seat in blocks and blocks[seat] == event.get("minimum_change"), "no such block in the round")
        self.points[event["id"]] = event

    def on_conflict_resolved(self, event):
        self.settle(event)
        if "round" in event:
            self.require(not self.blocks(self.rounds[event["round"]]), "the round has a block")

    def on_question_opened(self, event):
        self.require(event["id"] not in self.points, "the id is taken")
        self.points[event["id"]] = event

    def on_question_answered(self, event):
        self.settle(event)

    def settle(self, event):
        known = event["id"] in self.points or event["id"] in self.header["definition"]
        self.require(known and event["id"] not in self.settled, "not open")
        self.settled.add(event["id"])

    def on_tally_made(self, event):
        open_ = [point for point in self.points.values() if point["id"] not in self.settled]
        named = {point.get("participant") for point in open_ if point.get("round") == event["round"]}
        missing = self.blocks(self.rounds[event["round"]]).keys() - named
        self.require(not missing, f"no conflict for the block of {', '.join(sorted(missing))}")
        round_ = self.rounds[event["round"]]
        self.require(round_.closed, "a tally before the close")
        self.require(len(round_.answers) == len(round_.seals), "a sealed answer is not revealed")
        states, outcomes = Counter(round_.state.values()), Counter(answer["outcome"] for answer in round_.answers)
        expected = {"asked": len(round_.seats), "sealed": len(round_.seals), "missing": len(round_.seats) - len(round_.state)}
        expected |= {key: outcomes[key] for key in ("answered", "abstained", "invalid", "refused")}
        expected |= {key: states[key] for key in ("failed", "excused")}
        expected |= {key: round_.opened.get(key) for key in ("rule", "quorum", "act_at")}
        took_part = outcomes["answered"] + outcomes["abstained"]
        expected["quorum_met"] = took_part >= event["quorum"]
        lots = [answer for answer in round_.answers if answer["origin"] == "placeholder"]
        expected["placeholders"] = len(lots) or None
        is_held_as_one = self.header.get("rehearse") or len(lots) == len(round_.seats)
        expected["rehearsal"] = bool(lots and is_held_as_one) or None
        if expected["placeholders"] and not self.header.get("rehearse"):
            self.require(not event["decided"], "placeholders decide nothing")
        for key, value in expected.items():
            self.require(event.get(key) == value, f"`{key}` is {event.get(key)}, expected {value}")
        self.check_count(round_, event)
        self.counts["counts of seats"] += 1

    def check_count(self, round_, event):
        form, rule = round_.opened["ballot"], event.get("rule")
        if form["kind"] not in COUNTED or rule not in [None, *COUNTED[form["kind"]]]:
            return
        weight = {seat["name"]: exact(seat.get("weight", 1)) for seat in self.header["participants"]}
        cast = [answer for answer in round_.answers if answer["outcome"] == "answered"]
        ballots = [(weight[answer["participant"]], next(iter(answer["ballot"].values()))) for answer in cast]
        may_block = any(answer.get("may_block") for answer in round_.answers)
        scores, leaders = recount(form, rule or COUNTED[form["kind"]][0], event.get("terms", {}), ballots, may_block)
        names = exact if form["kind"] == "estimate" and not form.get("cards") else str
        shown = {names(option): exact(score) for option, score in event.get("scores", {}).items()}
        agrees = shown.keys() == scores.keys() and all(abs(shown[option] - scores[option]) <= ROUNDED for option in shown)
        self.require(agrees, "`scores` are not those of the ballots")
        winners = [names(option) for option in event.get("winners", [])]
        if not rule or not event["quorum_met"] or event.get("placeholders") and not event.get("rehearsal"):
            self.require(not winners, "nothing is decided, and there are winners")
        elif event.get("settled") not in (None, "rehearsal"):
            self.require(len(winners) == 1 and winners[0] in leaders, "the winner is not one of those that tie")
        elif not event.get("settled") and "choose" not in event.get("terms", {}):
            same = names is str and sorted(winners) == sorted(leaders)
            near = names is exact and len(winners) == len(leaders) and all(abs(a - b) <= ROUNDED for a, b in zip(winners, leaders))
            self.require(same or near, f"the winners are {winners}, expected {leaders}")
        self.counts["tallies"] += 1


def has_float(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, float) or any(map(has_float, inner))


# Command line


def check_receipt(given, checker):
    text = open(given, encoding="utf-8").read() if os.path.exists(given) else given
    try:
        receipt = json.loads(text)
        seat = tuple(receipt[key] for key in ("session", "round", "participant"))
        found = tuple(map(receipt.get, ("door", "key", "opened_sha256", "commitment", "sealed_sha256")))
    except (ValueError, KeyError, TypeError):
        return ["receipt: not readable"]
    if seat not in checker.sealed or seat[2] not in checker.remote:
        return [f"receipt: no seal of a remote seat `{seat[2]}` in round `{seat[1]}` of session `{seat[0]}`"]
    if found != checker.sealed[seat]:
        return [f"receipt: another door, key, opening or answer than the seal of `{seat[2]}` in round `{seat[1]}`"]
    round_ = next(round_ for round_ in checker.rounds.values() if (round_.session, round_.opened["round"]) == seat[:2])
    if round_.closed and seat[2] not in [answer["participant"] for answer in round_.answers]:
        return [f"receipt: the answer of `{seat[2]}` in round `{seat[1]}` is not revealed"]
    return []


def verify(data, expect=None, receipt=None):
    """Returns the state (`whole`, `torn` or `damaged`), the findings and what held."""
    if not data.startswith(START[: len(data)]):
        raise Refused("not a roundtable session")
    try:
        documents, tail = read(data)
    except Damage as damage:
        return "damaged", [str(damage)], []
    findings = [f"{len(tail)} bytes of a torn write follow the last complete document"] if tail else []
    if not documents:
        return "torn", findings + ["no complete document"], []
    held = [f"hash chain intact ({len(documents)} documents), last hash {documents[-1].hash}"]
    checker = Checker(documents)
    wrong = checker.run()
    if expect and expect not in (document.hash for document in documents):
        wrong.append(f"hash {expect} is not in the file")
    if receipt:
        wrong += check_receipt(receipt, checker)
    held += [f"{number} {what} checked" for what, number in checker.counts.items()]
    return ("damaged" if wrong else "torn" if tail else "whole"), findings + wrong, held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--expect", metavar="HASH")
    parser.add_argument("--receipt", metavar="RECEIPT|FILE")
    given = parser.parse_args()
    try:
        with open(given.file, "rb") as file:
            state, findings, held = verify(file.read(), given.expect, given.receipt)
    except (OSError, Refused) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for word, lines in (("FAILED", findings), ("ok", held), ("not checked:", NOT_CHECKED)):
        for line in lines:
            print(f"{word:7} {line}")
    print(state)
    return 0 if state == "whole" else 6


if __name__ == "__main__":
    sys.exit(main())
