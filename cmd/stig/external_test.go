package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stig/internal/workspace"
)

// verified is a close reason with results at a commit.
const verified = "Verified: it answers. All acceptance criteria pass: 1/1 [true 0.0s] at "

// twoProjects is a directory with the clones api, with a remote, and web, whose issue web-1
// depends on another one.
type twoProjects struct {
	t   *testing.T
	dir string
	env []string
}

// newProjects creates both; edge is what web-1 depends on, and config is .stig.cue of web.
func newProjects(t *testing.T, edge, config string) *twoProjects {
	p := &twoProjects{t: t, dir: t.TempDir()}
	p.env = append(os.Environ(), append([]string{"HOME=" + p.dir, "XDG_STATE_HOME=" + filepath.Join(p.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(p.dir, "config"),
		"GIT_CONFIG_NOSYSTEM=1", "STIG_ACTOR=ann", "STIG_NOW=2026-11-20T09:00:00Z", "STIG_TRUST=1", "BEADS_DIR="}, forGit...)...)
	p.write(".gitconfig", "[user]\n\tname = ann\n\temail = ann@example.org\n")
	p.write("web/.beads/issues.jsonl", fmt.Sprintf(`{"id":"web-1","title":"Use it","status":"open","dependencies":[{"issue_id":"web-1","depends_on_id":%q,"type":"blocks"}]}`+"\n", edge))
	p.write("web/.stig.cue", config)
	p.write("api/.beads/issues.jsonl", `{"id":"api-1","title":"Auth","status":"open","updated_at":"2026-11-01T00:00:00Z"}`+"\n")
	p.run(`git init -q web; git -C web add .; git -C web commit -qm web; git init -q --bare -b main api.git; git init -q -b main api
		cd api; git add .; git commit -qm plan; git remote add origin ../api.git; git push -q origin main`)
	return p
}

func (p *twoProjects) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a script in the directory of both.
func (p *twoProjects) run(script string) {
	p.t.Helper()
	cmd := exec.Command("bash", "-ec", projectWords+script)
	cmd.Dir, cmd.Env = p.dir, p.env
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s\n%s", err, script, out)
	}
}

// projectWords are functions for scripts: issue writes the store of api, work commits a change
// of it, closed writes a close with the reason in $1, at the last commit if that ends with at.
const projectWords = `
issue() { printf '{"id":"%s","title":"Auth","updated_at":"2026-11-%s",%s}\n' "${ID:-api-1}" "${DAY:-02}T00:00:00Z" "$1" >"${STORE:-api}/.beads/issues.jsonl"; }
closed() { issue "\"status\":\"closed\",\"labels\":[\"${LABEL:-x}\"],\"close_reason\":\"$1\""; }
commit() { git -C api add -A; git -C api commit -qm "$1"; }
work() { echo "$RANDOM$RANDOM" >>api/auth; commit "${1:-work}"; }
head() { git -C api rev-parse --short=7 HEAD; }
push() { git -C api push -q origin "${1:-main}"; }
verified() { closed "` + verified + `$(head)${1:-}"; }
`

// stig runs a command in web and returns its output and exit code.
func (p *twoProjects) stig(args ...string) (string, int) {
	var out bytes.Buffer
	code := runInside(filepath.Join(p.dir, "web"), p.env, &out, &out, args...)
	return out.String(), code
}

// offers checks that web-1 is offered by every command, or by none, which then say why.
func (p *twoProjects) offers(why string) {
	p.t.Helper()
	ready, _ := p.stig("ready")
	next, _ := p.stig("next")
	briefing, _ := p.stig("orient", "web-1")
	check, _ := p.stig("check")
	deps, _ := p.stig("show", "web-1", "--deps")
	claim, code := p.stig("claim", "web-1")
	for _, said := range []struct {
		what    string
		text    string
		offered bool
	}{
		{"ready", ready, regexp.MustCompile(`(?m)^P\d  web-1`).MatchString(ready)},
		{"next", next, strings.Contains(next, "web-1")},
		{"orient", briefing, strings.Contains(briefing, "stig claim web-1`")},
		{"claim", claim, code == 0},
		{"check", check, !strings.Contains(check, "web-1: waits")},
		{"show", deps, !strings.Contains(deps, "): not done: ")},
	} {
		if said.offered != (why == "") {
			p.t.Errorf("%s: offered %v, want %v:\n%s", said.what, said.offered, why == "", said.text)
		}
		if said.what != "next" && !strings.Contains(said.text, why) {
			p.t.Errorf("%s: does not say %q:\n%s", said.what, why, said.text)
		}
	}
	if why == "" {
		return
	}
	if said, _ := p.stig("work", "--actor", "bo", "--once", "--", "touch", filepath.Join(p.dir, "started")); workspace.Exists(filepath.Join(p.dir, "started")) {
		p.t.Errorf("work started on it:\n%s", said)
	}
}

// TestExternal checks when a dependency on an issue of another project counts as done: only if
// it is closed there by a verdict or a person, and its work is on the published branch.
func TestExternal(t *testing.T) {
	const api = `projects: api: path: "../api"`
	for _, test := range []struct {
		name, edge, config, script, why string
	}{
		{"open", "", api, ``, `api-1 has the status "open" there`},
		{"in progress", "", api, `issue '"status":"in_progress"'; commit x; push`, `api-1 has the status "in_progress" there`},
		{"verified and pushed", "", api, `work; verified; commit close; push`, ``},
		{"verified, close not committed", "", api, `work; push; verified`, ``},
		{"unpushed", "", api, `work; verified; commit close`, `commit`},
		{"only the close pushed", "", api, `git -C api switch -qc x; work; C=$(head); git -C api switch -q main; closed "` + verified + `$C"; commit close; push`, `is not on origin/main`},
		{"pushed to another branch", "", api, `git -C api switch -qc x; work; verified; commit close; push x`, `is not on origin/main`},
		{"uncommitted work", "", api, `echo y >api/auth; verified " with uncommitted changes"`, `api-1 is closed there, but not on origin/main`},
		{"uncommitted, then pushed", "", api, `verified " with uncommitted changes"; work; push`, ``},
		{"uncommitted work, close pushed", "", api, `echo y >api/auth; verified " with uncommitted changes"; git -C api commit -qm close .beads; push`, `what was uncommitted then is not on origin/main`},
		{"squashed", "", api, `git -C api switch -qc x; work; work; verified; C=$(head); git -C api switch -qf main; git -C api merge -q --squash x; commit squashed; closed "` + verified + `$C"; commit close; push`, ``},
		{"rebased", "", api, `git -C api switch -qc x; work; C=$(head); git -C api switch -q main; echo z >api/z; commit other; git -C api cherry-pick x >/dev/null; closed "` + verified + `$C"; commit close; push`, ``},
		{"waived by a person", "", api, `work; closed "Unverified: it answers. Waived: nobody can try it. By mara"; commit close; push`, ``},
		{"waived by an assistant", "", api, `closed "Unverified: it answers. Waived: nobody can try it. By claude/ab-12"; commit close; push`, `without a verdict or a person's waiver`},
		{"waived by nobody", "", api, `closed "Unverified: it answers. Waived: nobody can try it"; commit close; push`, `without a verdict or a person's waiver`},
		{"waived, unpushed", "", api, `closed "Unverified: it answers. Waived: nobody can try it. By mara"; commit close`, `api-1 is closed there, but not on origin/main`},
		{"closed by hand", "", api, `closed "done"; commit close; push`, `without a verdict or a person's waiver`},
		{"not planned", "", api, `closed "Not planned: no longer needed"; commit close; push`, `api-1 was closed there as not planned`},
		{"reverted", "", api, `work; verified; commit close; push; git -C api revert --no-edit HEAD~1 >/dev/null; push`, `on origin/main reverted its work`},
		{"merge reverted", "", api, `git -C api switch -qc x; work; git -C api switch -q main; git -C api merge -q --no-ff --no-edit x; verified; commit close; git -C api revert --no-edit -m 1 HEAD~1 >/dev/null; push`, `reverted its work`},
		{"close and work reverted", "", api, `verified " with uncommitted changes"; work; git -C api revert --no-edit HEAD >/dev/null; git -C api checkout -q HEAD~1 -- .beads; commit store; push`, `reverted its work`},
		{"uncommitted work, discarded", "", api, `verified " with uncommitted changes"`, `api-1 is closed there, but not on origin/main`},
		{"revert reverted", "", api, `work; verified; commit close; git -C api revert --no-edit HEAD~1 >/dev/null; git -C api revert --no-edit HEAD >/dev/null; push`, ``},
		{"reverted by a forge", "", api, `work "api-1: Auth (#3)"; verified; commit close; git -C api commit -q --allow-empty -m 'Revert "api-1: Auth (#3)"' -m 'Reverts org/api#3'; push`, `reverted its work`},
		{"reopened", "", api, `work; verified; commit close; push; DAY=03 issue '"status":"open"'`, `api-1 has the status "open" there`},
		{"reopened, pulled by nobody", "", api, `work; verified; commit close; DAY=03 issue '"status":"open"'; commit open; push; git -C api reset -q --hard HEAD~1`, `api-1 has the status "open" there`},
		{"closed, pulled by nobody", "", api, `work; verified; commit close; push; git -C api reset -q --hard HEAD~2`, ``},
		{"renamed", "", api, `work; ID=api-9 verified; commit close; push`, `there is no issue "api-1", and no closed issue with the label provides:api-1`},
		{"deleted", "", api, `issue '"status":"tombstone"'; commit close; push`, `api-1 has the status "tombstone" there`},
		{"on two lines", "", api, `work; verified; cat api/.beads/issues.jsonl >x; cat x >>api/.beads/issues.jsonl; commit close; push`, `api-1 is on several lines there`},
		{"damaged store", "", api, `work; verified; echo '<<<<<<< ours' >>api/.beads/issues.jsonl`, `project "api" cannot be read`},
		{"no clone", "", api, `mv api apix`, `project "api" is not here`},
		{"no store", "", api, `rm -r api/.beads`, `project "api" is not here`},
		{"not configured", "", ``, `work; verified; commit close; push`, `no project "api" is configured`},
		{"named by a glob", "", `projects: all: path: "../a*"`, `work; verified; commit close; push`, ``},
		{"configured in bd", "", ``, `work; verified; commit close; push; echo 'external_projects:
  api: ../api' >web/.beads/config.yaml`, ``},
		{"no remote", "", api, `git -C api remote remove origin; work; verified; commit close`, ``},
		{"no remote, on a branch", "", api, `git -C api remote remove origin; git -C api switch -qc x; work; verified; commit close`, `is not on main`},
		{"unknown remote", "", `projects: api: {path: "../api", remote: "upstream"}`, `work; verified; commit close; push`, `it has no remote "upstream"`},
		{"remote by URL", "", `projects: api: {path: "../api", remote: "../api.git"}`, `work; verified; commit close; push`, ``},
		{"nothing fetched", "", api, `work; verified; git -C api update-ref -d refs/remotes/origin/main`, `nothing of its remote origin was fetched or pushed`},
		{"no git", "", api, `verified; rm -rf api/.git`, `it is not in a git repository`},
		{"malformed", "external:api", api, ``, `it must be external:PROJECT:ID`},
		{"malformed, empty", "external::api-1", api, ``, `it must be external:PROJECT:ID`},
		{"capability", "external:api:auth-v2", api, `work; LABEL=provides:auth-v2 verified; commit close; push`, ``},
		{"capability, unpushed", "external:api:auth-v2", api, `work; LABEL=provides:auth-v2 verified; commit close`, `is not on origin/main`},
		{"capability of an open issue", "external:api:auth-v2", api, `issue '"status":"open","labels":["provides:auth-v2"]'; commit x; push`, `no closed issue with the label provides:auth-v2`},
		{"command", "external:api:auth-v2", `gate: external: "api:auth-v2": "test -f ../released"`, `touch released`, ``},
		{"command fails", "external:api:auth-v2", `gate: external: "api:auth-v2": "test -f ../released"`, `work; LABEL=provides:auth-v2 verified; commit close; push`, `its command fails: test -f ../released`},
	} {
		t.Run(test.name, func(t *testing.T) {
			edge := test.edge
			if edge == "" {
				edge = "external:api:api-1"
			}
			p := newProjects(t, edge, test.config)
			p.run(test.script)
			p.offers(test.why)
		})
	}
}

// TestExternalRecorded checks that a claim records what was done elsewhere: a reader without the
// other project relies on it, and one who sees that it was undone waits again.
func TestExternalRecorded(t *testing.T) {
	p := newProjects(t, "external:api:api-1", `projects: api: path: "../api"`)
	p.run("work; verified; commit close; push")
	p.offers("")
	if said, _ := p.stig("show", "web-1", "--deps"); !regexp.MustCompile(`external:api:api-1 Auth \(blocks, in another store\): done at [0-9a-f]{7}\n`).MatchString(said) {
		t.Errorf("show does not say that it is done:\n%s", said)
	}
	said, _ := p.stig("show", "web-1")
	if !regexp.MustCompile(`## .external:api:api-1. \(2026-11-20\)\napi-1 at [0-9a-f]{7}\n`).MatchString(said) {
		t.Errorf("the claim recorded nothing:\n%s", said)
	}
	p.stig("release", "web-1")
	p.run("mv api away")
	p.offers("")
	p.stig("release", "web-1")
	p.run(`mv away api; DAY=03 issue '"status":"open"'`)
	p.offers(`recorded as done on 2026-11-20, but api-1 has the status "open" there`)
	if check, _ := p.stig("check"); !strings.Contains(check, "[external-stale]") {
		t.Errorf("check does not report it:\n%s", check)
	}
	if said, code := p.stig("claim", "web-1", "--despite-external", "the stub will do"); code != 0 {
		t.Errorf("a reason does not override it:\n%s", said)
	}
}

// TestExternalUntrusted checks that the commands of a repository that is not trusted do not run.
func TestExternalUntrusted(t *testing.T) {
	p := newProjects(t, "external:api:v2", `gate: external: "api:v2": "touch ../started"`)
	p.env = append(p.env, "STIG_TRUST=")
	p.offers("its command in gate.external is not run")
	if workspace.Exists(filepath.Join(p.dir, "started")) {
		t.Error("it ran")
	}
}

// TestExternalBriefing checks that a briefing has what the issue of the other project left, also
// below an epic that depends on it.
func TestExternalBriefing(t *testing.T) {
	p := newProjects(t, "external:api:api-1", `projects: api: path: "../api"`)
	p.run(`echo '{"id":"web-1.1","title":"Part","status":"open","dependencies":[{"issue_id":"web-1.1","depends_on_id":"web-1","type":"parent-child"}]}' >>web/.beads/issues.jsonl`)
	var out bytes.Buffer
	if code := runInside(filepath.Join(p.dir, "api"), p.env, &out, &out, "checkpoint", "api-1", "--surprise", "0.1",
		"--done", "the endpoint", "--learned", "tokens last an hour", "--remains", "none", "--downstream", "none"); code != 0 {
		t.Fatal(out.String())
	}
	for _, id := range []string{"web-1", "web-1.1"} {
		briefing, _ := p.stig("orient", id)
		for _, part := range []string{"- api-1 Auth (from project api, open)", "tokens last an hour"} {
			if !strings.Contains(briefing, part) {
				t.Errorf("%s: no %q in\n%s", id, part, briefing)
			}
		}
	}
}
