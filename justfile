# What people do here often. .ci/run runs the checks without just.

set positional-arguments
set shell := ["bash", "-euo", "pipefail", "-c"]

# list the recipes
default:
    @just --list

# all tests
test:
    go test ./...

# what takes servers, a browser, kills and load too, for a short while
e2e:
    bash .ci/run others e2e

# tests under the race detector
race:
    bash .ci/run race

# formatting, vet, staticcheck
lint:
    bash .ci/run format vet staticcheck

# every fuzz target, for so long each
fuzz time="20s":
    FUZZTIME="$1" bash .ci/run fuzz

# writers, readers and kills on one store, for so long, and what was lost
stress time="60s":
    #!/usr/bin/env bash
    set -euo pipefail
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    go build -o "$tmp/stig" ./cmd/stig
    go test -tags e2e ./cmd/stig -count=1 -timeout=0 -v -run '^TestStress' -stress "$1" -stig "$tmp/stig"

# what git and other programs take from the store beside writers, so long each,
# and what stig recover puts back; STIG_TEST_BD names a bd before 1.0 to try too
losses time="10s":
    #!/usr/bin/env bash
    set -euo pipefail
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    go build -o "$tmp/stig" ./cmd/stig
    go test -tags e2e ./cmd/stig -count=1 -timeout=0 -v -run '^TestLosses' -losses "$1" -stig "$tmp/stig"

# ten worker loops on 300 issues, killed at random, and the judge of the morning
overnight size="30x10" seed="1" store="file":
    go test -tags e2e ./cmd/stig -count=1 -timeout=0 -v -run '^TestOvernight$' -overnight "$1" -overnight-seed "$2" -overnight-store "$3"

# stores on a file, MariaDB and Dolt side by side: claims and checkpoints a second
load workers="1,8,32,64" issues="10000" time="20s":
    #!/usr/bin/env bash
    set -euo pipefail
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    go build -o "$tmp/stig" ./cmd/stig
    go test -tags e2e ./internal/testkit/load -count=1 -timeout=0 -v -run '^TestRates$' -load-workers "$1" -load-issues "$2" -load-time "$3" -stig "$tmp/stig"

# so many writes on each server, killed and cut off, and what was lost
breaks writes="10000":
    go test -tags e2e ./internal/testkit/load -count=1 -timeout=0 -v -run '^(TestKilled|TestCut|TestWires)$' -load-writes "$1"

# stress, losses, a night of workers, stores on servers and fuzzing, for long
long:
    bash .ci/long

# bring generated and golden files up to date
golden:
    bash .ci/run golden

# how long commands take on generated stores, beside grep, jq and cp
bench sizes="160,10000,100000" rounds="7":
    #!/usr/bin/env bash
    set -euo pipefail
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    go build -o "$tmp/stig" ./cmd/stig
    # in $tmp: tests keep their stores in memory otherwise
    TMPDIR="$tmp" go test -tags e2e ./cmd/stig -count=1 -timeout=0 -v -run '^TestSpeed$' -speed "$1" -speed-rounds "$2" -stig "$tmp/stig"

# the inner loops, so often each: two such files are compared by benchstat
loops count="1":
    go test -run '^$' -bench . -benchmem -count "$1" ./internal/beads ./internal/store/jsonl ./notes ./cue ./signals ./dag ./internal/lint ./orient

# everything a change must pass
ci:
    bash .ci/run

# the README's session (its console blocks) on a copy of the example store
demo:
    #!/usr/bin/env bash
    set -euo pipefail
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    go build -o "$tmp/bin/stig" ./cmd/stig
    cp -R examples/harbor "$tmp/harbor"
    awk '/^```console/ { on = 1; next } /^```/ { on = 0 } on && sub(/^\$ /, "")' README.md > "$tmp/session"
    test -s "$tmp/session"
    export PATH="$tmp/bin:$PATH" XDG_STATE_HOME="$tmp/state" STIG_ACTOR=mara STIG_NOW=2026-11-20T09:00:00Z
    cd "$tmp/harbor"
    git init -q
    git add .
    git -c user.name=mara -c user.email=mara@harbor.example commit -q -m "Open the port"
    while read -r command <&3; do
        printf '\n$ %s\n' "$command"
        bash -c "$command" || echo "exit $?"
    done 3< "$tmp/session"

# check one issue's signals: just schema-vet-issue harbor-4ke.5 -C examples/harbor
schema-vet-issue ID *FLAGS:
    #!/usr/bin/env bash
    set -euo pipefail
    go run ./cmd/stig vet "$@"
    command -v cue > /dev/null || { echo "cue is not installed: checked by stig alone"; exit; }
    json=$(go run ./cmd/stig signals get "$@" --json)
    case $json in *'"confidence"'*) table='#SignalTableEvidence' ;; *) table='#SignalTable' ;; esac
    cue vet -c -d "$table" schemas/stigmergic-workflow/schema.cue json: - <<< "$json"
