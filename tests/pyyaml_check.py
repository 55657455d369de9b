"""Compares YAML texts with the values they should hold, as PyYAML reads them.

Input: JSON lines {"yaml": text, "value": what it holds}, one file. Every text is read by the C loader
if PyYAML has it, and every STRIDE-th one by the pure loader too (all, if there is no C loader). Prints
the first differences and how many texts each loader read; exit code 1 if any differs.
"""

import json
import sys

import yaml

STRIDE = 8


def main(path):
    loaders = {"pure": yaml.SafeLoader}
    if hasattr(yaml, "CSafeLoader"):
        loaders["c"] = yaml.CSafeLoader
    read = dict.fromkeys(loaders, 0)
    wrong = 0
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            case = json.loads(line)
            for name, loader in loaders.items():
                if name == "pure" and len(loaders) > 1 and number % STRIDE:
                    continue
                read[name] += 1
                try:
                    value = yaml.load(case["yaml"], Loader=loader)
                    same = value == case["value"] and repr(value) == repr(case["value"])
                except (yaml.YAMLError, ValueError) as error:
                    value, same = f"{type(error).__name__}: {error}", False
                if not same:
                    wrong += 1
                    if wrong <= 5:
                        print(f"case {number}, {name} loader:\n  wanted {ascii(case['value'])[:2000]}")
                        print(f"  found  {ascii(value)[:2000]}\n  in     {ascii(case['yaml'])[:2000]}")
    print(" ".join(f"{name}={count}" for name, count in sorted(read.items())), f"wrong={wrong}")
    return 1 if wrong or not all(read.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
