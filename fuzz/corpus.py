#!/usr/bin/env python3
"""The corpus between its two forms: `tests/corpus/TARGET.txt`, an input a line, escaped, as tests and
people read it, and a folder of files, as the fuzzers do.

corpus.py unpack TARGET FOLDER          every input as a file
corpus.py pack TARGET FOLDER BYTES      the smallest inputs of a folder, up to so many bytes, and what
                                        begins with `found-`, which was found broken once, in any case
"""

import hashlib
import pathlib
import sys

ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
HOME = pathlib.Path(__file__).resolve().parent.parent / "tests/corpus"


def escaped(data):
    return "".join(ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\x{b:02x}") for b in data)


def read(line):
    return line.encode("latin-1").decode("unicode_escape").encode("latin-1")


def main():
    verb, target, folder = sys.argv[1:4]
    packed = HOME / f"{target}.txt"
    folder = pathlib.Path(folder)
    if verb == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for line in packed.read_text("ascii").splitlines():
            data = read(line)
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
        return
    files = [(not path.name.startswith("found-"), path.stat().st_size, path) for path in folder.iterdir()]
    lines, room = [], int(sys.argv[4])
    for is_new, _, path in sorted(files):
        line = escaped(path.read_bytes())
        if len(line) < room or not is_new:
            lines.append(line)
            room -= len(line) + 1
    packed.parent.mkdir(exist_ok=True)
    packed.write_text("".join(line + "\n" for line in lines), "ascii")


main()
