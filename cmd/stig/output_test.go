package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"stig/schemas"
)

// printed are command lines that print JSON, run in order on the example store with real git.
// Together they print every kind.
func printed() []string {
	return []string{
		// reads
		`stig orient`, `stig orient --budget 2000`, `stig orient harbor-9fd.3`, `stig orient harbor-9fd.3 --depth shallow`,
		`stig orient harbor-9fd.3 --depth deep`, `stig orient harbor-9fd.3 --depth probe --budget 2000`, `stig orient harbor-4ke.5`,
		`stig review harbor-9fd.3`, `stig ready`, `stig ready --limit 1`, `stig next`, `stig next --claim --dry-run --actor mara`, `stig list`, `stig list --status blocked`, `stig blocked`, `stig count`, `stig count --by label`, `stig stats`, `stig dep tree harbor-9fd.3`, `stig plan`, `stig plan harbor-9fd`,
		`stig show harbor-q5v`, `stig show harbor-d3w`, `stig graph harbor-9fd`, `stig graph`, `stig graph harbor-9fd --to harbor-9fd.3`, `stig trajectory harbor-9fd.3`,
		`stig resolve --list`, `stig resolve --list --all`, `stig check`, `stig vet`, `stig lint`, `stig cycles`, `stig explain`,
		`stig explain signal-value`, `stig diff HEAD`, `stig signals get harbor-q5v --dates`, `stig signals get harbor-d3w --dates`,
		`stig schema`, `stig schema output`, `stig skill`, `stig version`, `stig doctor`, `stig retro`, `stig retro harbor-4ke`,
		`stig setup claude --print`, `stig trust --list`,
		// writes
		`stig edit harbor-d3w --defer 2026-12-01 --estimate 30m --external-ref gh-9`, `stig show harbor-d3w`,
		`stig trust --dry-run`, `stig trust`, `stig trust --list`, `stig edit harbor-d3w --defer none`, `stig claim harbor-d3w`, `stig release harbor-d3w --dry-run`, `stig release harbor-d3w`,
		`stig checkpoint harbor-d3w --surprise 0.9 --cynefin complex --done x --learned y --remains z --downstream none --dry-run`,
		`stig checkpoint harbor-d3w --surprise 0.9 --cynefin complex --done x --learned y --remains z --downstream none --commit`,
		`stig checkpoint harbor-d3w --learned w`,
		`sed -i '1s/"notes":"/&\\u003c!-- merged-estimate 2026-11-01 0123abcd --\\u003e\\nx\\n\\u003c!-- \/merged-estimate 2026-11-01 0123abcd --\\u003e\\n\\n/' .beads/issues.jsonl; stig orient harbor-4ke`,
		`stig checkpoint harbor-4ke --fold`,
		`stig signals set harbor-d3w surprise=0.4`, `stig signals init --dry-run`, `stig signals reconcile harbor-d3w`, `stig vet --fix`,
		`stig escalate harbor-d3w -m 'Which colour?' --option red --option blue --default 1 --after 24h`, `stig resolve --list`,
		`stig resolve harbor-d3w --option 1 --actor tove`, `stig escalate --wait harbor-d3w`, `stig resolve --list --all`,
		`stig orient harbor-d3w`, `stig create 'Paint the mast' --acceptance 'It is red.'`, `stig create 'Oil the winch' --dry-run`,
		`stig edit harbor-d3w --priority 1`, `stig edit harbor-d3w --title 'Paint the buoys'`, `stig edit harbor-d3w harbor-v6k --add-label paper --dry-run`,
		`echo '{"title":"Caulk the hull","name":"hull"}
			{"title":"Launch the boat","deps":["hull"]}' | stig create --from - --dry-run`,
		`stig create 'Paint the masts' | tee ../masts`, `stig close $(id masts) --duplicate-of harbor-d3w`, `stig create 'Coil the rope' | tee ../rope`, `stig delete $(id rope)`,
		`stig comment harbor-d3w -m 'paper will do'`, `stig search tide gauge`, `stig search pier --limit 1`, `stig recall tide gauge`, `stig recall --like harbor-d3w --limit 1`,
		`stig trace add harbor-d3w finding -m 'the gauge is read at noon' --field file=gauge.go --actor bo | tee ../trace`, `stig trace list harbor-d3w`, `stig digest harbor-d3w`, `stig rollup harbor-9fd --write --dry-run`, `stig trace show $(id trace)`,
		`stig trace add harbor-d3w query --to bo -m 'which gauge?' --actor mara >../none; stig inbox --actor bo`, `stig inbox --ack --all --actor bo --dry-run`, `stig inbox --acked --actor bo`, `stig work --once --no-close --actor cy --dry-run -- true`, `stig work --plan --actor cy -- true`, `stig work --until-empty --no-close --max-runs 1 --actor cy -- sh -c 'echo >a' >../night; sed -n 2p ../night`, `tail -n 1 ../night`,
		`stig work harbor-4ke.4 --once --actor cy -- sh -c 'sed s/2026-11/2026-12/ tides/2026-11.csv >tides/2026-12.csv' >../none; stig land`, `stig land --diff harbor-4ke.4`, `git stash -q >../none; stig land --all --dry-run; git stash pop -q >../none`, `stig land --revert harbor-4ke.4 --reason 'the gauge was wrong' --dry-run`, `stig worktree list`, `stig morning`, `echo 'projects: gone: path: "../gone"' >.stig.cue; stig morning --all`, `stig inbox --all --actor bo`, `stig resolve --list --all; rm .stig.cue`, `stig worktree rm harbor-m8t --dry-run`,
		`stig trace add harbor-v6k log -m 'half of the plan is drawn' --actor bo >../none; timeout 1 env stig trace list harbor-v6k --follow --json || :`,
		`stig watch --as post --timeout 500ms >../none 2>&1 || stig comment harbor-v6k -m 'seen' --actor bo >../none; stig watch --as post --until trace`, `stig schema traces`, `stig sweep --people --dry-run`, `stig dep add harbor-v6k --on harbor-d3w`, `stig dep rm harbor-v6k --on harbor-d3w --dry-run`,
		`stig swarm start harbor-d3w --force --agents 3 --actor mara`, `stig swarm deposit harbor-d3w --direction dry --actor tanwei`, `stig swarm finding harbor-d3w --idea paint --direction dry --details 'it dries' --actor tanwei --branch HEAD`,
		`stig swarm stop harbor-d3w --target dry --reason better_alternative --evidence 'rain' --actor suyuan`, `stig swarm probe harbor-d3w --subtask rain --actor suyuan --dry-run`, `stig swarm state harbor-d3w -m x --actor suyuan`, `stig swarm choose harbor-d3w --actor dongcha`, `stig swarm round harbor-d3w --dry-run --actor mara`, `stig swarm round harbor-d3w --actor mara`,
		`stig swarm round harbor-d3w --actor mara`, `stig swarm status harbor-d3w`, `stig swarm end harbor-d3w --actor mara`, `stig swarm report harbor-d3w`,
		`stig worker add tide --command 'cat >../none; echo OK' --actor mara --dry-run`, `stig worker add tide --command 'cat >../none; echo OK' --actor mara`, `stig worker status tide`, `stig worker pause tide --for 2h --why lunch --actor mara`, `stig worker pause --all --actor mara --dry-run`,
		`stig worker install tide --print`, `stig worker install tide --remove --dry-run --actor mara`, `stig dream tide --print`, `stig dream tide --actor mara -- echo 'Look at the gauge first.'`, `stig worker rm tide --file --actor mara`,
		`mkdir -p .stig/actors .git/stig; printf -- '---\nname: bo\nwatch: [paper]\n---\nBo.\n' >.stig/actors/bo.md; echo done >../runlog
			echo 'c2c4a2f2 {"id":"r-1","store":".beads/issues.jsonl","actor":"bo","task":"issue","issue":"harbor-v6k","started":"2026-11-20T08:00:00Z","ended":"2026-11-20T08:01:00Z","outcome":"closed","log":"../runlog"}' >.git/stig/runs-000001-20261120.jsonl; stig actor list`,
		`stig actor show bo`, `stig actor show mara`, `stig actor runs bo`, `stig actor log bo`, `stig actor say paused --for 1h --actor bo`, `stig actor say healthy --dry-run --actor mara`,
		`stig actor edit bo --role paper --actor mara`, `stig actor edit bo --role gauges --actor mara --dry-run`, `stig actor rename bo by --dry-run --actor mara`, `stig actor rename bo by --actor mara`,
		`stig propagate harbor-9fd.1 --to harbor-9fd.3 -m 'berth A2 is narrow'`,
		`stig create 'Grease the hinge' --acceptance "$(printf '~~~sh\ntrue\n~~~')" | tee ../hinge`, `stig verify $(id hinge) --plan`, `stig verify $(id hinge)`,
		`stig close $(id hinge) --reason 'the hinge of the gate turns' --dry-run`, `stig close $(id hinge) --reason 'the hinge of the gate turns'`,
		`stig close $(id hinge) harbor-v6k --reason 'the hinge of the gate turns'`, `stig close $(id hinge) --reason 'the gate opens by itself'`, `stig reopen $(id hinge) --reason 'the hinge squeaks again in the rain'`,
		`stig create 'Find the leak' --acceptance "$(printf '~~~sh\nfalse\n~~~')" | tee ../leak`, `stig verify $(id leak)`,
		`stig diff HEAD`, `stig check --against HEAD`, `stig trajectory harbor-d3w`,
		`stig log harbor-d3w`, `stig recover`, `stig recover --all`, `stig checkpoint harbor-d3w --surprise 0.7 --actor ole >../ole; stig undo --actor ole --dry-run`,
		`stig undo --actor ole`, `git stash -q; git stash drop -q; stig recover --all`, `stig recover harbor-d3w --apply --dry-run`, `stig recover --apply`, `stig recover --forget`,
		`stig log harbor-v6k --forget`,
		`for n in 1 2 3 4 5; do stig create "Turn key $n" >../key; stig close $(id key) --reason "key $n turns" --waive 'nobody hears it'; done >../keys
			stig retro --last 5`,
		`stig merge .beads/issues.jsonl .beads/issues.jsonl .beads/issues.jsonl -o other`, `stig merge .beads/issues.jsonl .beads/issues.jsonl .beads/issues.jsonl --dry-run`,
		`stig setup claude`, `stig setup git --check`, `stig setup claude --remove`, `stig setup codex`, `stig skill install`,
		`mkdir -p sub && cd sub && git init -q && stig init --prefix sub --dry-run`, `stig store copy .beads/issues.jsonl ../copy.jsonl --dry-run`, `stig store copy .beads/issues.jsonl ../copy.jsonl`,
	}
}

// refused are command lines that print an error.
func refused() []string {
	return []string{
		`stig orient harbor-x`, `stig escalate --wait harbor-k9p --timeout 1ms`, `stig no-such-command`, `stig claim harbor-4ke.1`, `stig checkpoint harbor-t3c --surprise 3`,
	}
}

// TestOutputIsPublished validates all JSON output against the definition of its kind. It fails
// for a kind without a definition, for one that no command here prints, and for a key that the
// definition lacks.
func TestOutputIsPublished(t *testing.T) {
	t.Parallel()
	published := definitions(t, schemas.Output)
	exact := definitions(t, regexp.MustCompile(`(?m)^\t+\.\.\.\n`).ReplaceAllString(schemas.Output, ""))
	p := branched(t)
	home, seen := t.TempDir(), map[string]bool{}
	for _, line := range append(printed(), refused()...) {
		out := p.prints(line, "HOME="+home, "XDG_STATE_HOME=", "STIG_NOW=2026-11-20T09:00:00Z")
		kind, err := holdsTo(published, out)
		if err == nil {
			_, err = holdsTo(exact, out)
		}
		if err != nil {
			t.Errorf("%s: %s: %v\n%.2000s", line, kind, err, out)
		}
		if (kind == "error") != slices.Contains(refused(), line) {
			t.Errorf("%s: %.300s", line, out)
		}
		seen[kind] = true
	}
	seen["notification"] = true // in notify_events.txtar
	for _, kind := range kindsIn(t) {
		if !seen[kind] {
			t.Errorf("no command here prints %q", kind)
		}
	}
}

// prints returns the output of a command line with --json, run in bash if it needs a shell.
func (p *pipeline) prints(line string, env ...string) string {
	args, plain := plainArgs(line)
	if !plain {
		out, _ := p.shell(p.dir, `
			stig() { command stig --json "$@"; }
			id() { sed -E 's/.*"id":"([^"]+)".*/\1/' ../$1; }
			{ `+line+`; } 2>/dev/null`, env...)
		return out
	}
	var out strings.Builder
	runInside(p.dir, slices.Concat(p.env, env), &out, io.Discard, slices.Insert(args, 0, "--json")...)
	return out.String()
}

func definitions(t *testing.T, source string) cue.Value {
	t.Helper()
	v := cuecontext.New().CompileString(source, cue.Filename("output.cue")).LookupPath(cue.ParsePath("#Kinds"))
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// holdsTo validates one printed object against the definition of its kind.
func holdsTo(kinds cue.Value, out string) (kind string, err error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal([]byte(out), &head); err != nil {
		return "", err
	}
	definition := kinds.LookupPath(cue.MakePath(cue.Str(head.Kind)))
	if err := definition.Err(); err != nil {
		return head.Kind, err
	}
	value := definition.Unify(cuecontext.New().CompileString(out))
	return head.Kind, value.Validate(cue.Concrete(true), cue.Final())
}

// kindsIn lists the kinds that the sources print.
func kindsIn(t *testing.T) (kinds []string) {
	t.Helper()
	var files []string
	root := os.DirFS(fromHere("..", ".."))
	for _, pattern := range []string{"cmd/stig/*.go", "cmd/stig/*/*.go", "internal/workspace/*.go", "internal/service/*.go"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	kinds = append(kinds, "event") // built in two steps
	calls := regexp.MustCompile(`(?:PrintJSON|PrintEdit|EditOutput|output)\(("[a-z]+"|[^ "]+),`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range calls.FindAllStringSubmatch(readFile(t, "..", "..", file), -1) {
			if kind, err := strconv.Unquote(m[1]); err == nil {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) < 30 {
		t.Fatalf("the sources print %d kinds only: %q", len(kinds), kinds)
	}
	return kinds
}

// TestPublishedDefinitionsCatch checks that unpublished keys are found.
func TestPublishedDefinitionsCatch(t *testing.T) {
	published := definitions(t, schemas.Output)
	for out, want := range map[string]string{
		`{"schema_version":1,"kind":"version","version":"1"}`:                "",
		`{"schema_version":1,"kind":"version","version":"1","more":"later"}`: "",
		`{"schema_version":2,"kind":"version","version":"1"}`:                "schema_version",
		`{"schema_version":1,"kind":"version","version":1}`:                  "version",
		`{"schema_version":1,"kind":"version"}`:                              "version",
		`{"schema_version":1,"kind":"weather"}`:                              "weather",
		`{"kind":"version","version":"1"}`:                                   "schema_version",
	} {
		_, err := holdsTo(published, out)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", out, err, want)
		}
	}
}
