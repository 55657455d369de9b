#!/usr/bin/env bash
# Fuzzes every target, or those named, for SECONDS each (default 1800), two at a time, and says what
# it found. Needs a nightly toolchain; cargo-fuzz is installed under target/tools when it is missing.
# Building takes about twelve minutes of processor time: every crate is built with the sanitizer.
#
#   fuzz/run.sh                       all targets, half an hour each
#   SECONDS_EACH=60 fuzz/run.sh reply stream
#
# What breaks lies in target/fuzz/found/TARGET. Keep it: copy it to target/fuzz/corpus/TARGET/found-NAME,
# mend the program, and `fuzz/corpus.py pack TARGET target/fuzz/corpus/TARGET 60000`.
set -euo pipefail
cd "$(dirname "$0")/.."
each=${SECONDS_EACH:-1800}
targets=${*:-definition persona session reply grammar stream yaml ballots seal remote}
if ! cargo +nightly --version > /dev/null 2>&1; then
  echo "no nightly toolchain: cargo test replays the corpus and random changes of it instead"
  exit 0
fi
tools=$PWD/target/tools
if [ ! -x "$tools/bin/cargo-fuzz" ]; then
  CARGO_TARGET_DIR=$tools/build cargo install --quiet --locked --root "$tools" cargo-fuzz@0.13.2
fi
export PATH=$tools/bin:$PATH
for target in $targets; do
  cargo +nightly fuzz build --target-dir target/fuzz "$target"
done

one() {
  mkdir -p "target/fuzz/corpus/$1" "target/fuzz/found/$1"
  python3 fuzz/corpus.py unpack "$1" "target/fuzz/seeds/$1"
  if cargo +nightly fuzz run --target-dir target/fuzz "$1" "target/fuzz/corpus/$1" "target/fuzz/seeds/$1" -- \
    -max_total_time="$each" -max_len=50000 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="target/fuzz/found/$1/" > "target/fuzz/$1.log" 2>&1; then
    echo "$1: $(sed -n 's/stat::number_of_executed_units: *//p' "target/fuzz/$1.log") inputs, nothing found"
  else
    echo "$1: FOUND something, see target/fuzz/found/$1 and target/fuzz/$1.log"
    return 1
  fi
}
export -f one
export each
echo $targets | tr ' ' '\n' | xargs -P 2 -I {} bash -c 'one {}'
