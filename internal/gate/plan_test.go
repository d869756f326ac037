package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/internal/gate"
)

// here is a machine with a few programs, an executable in the repository and
// one variable; cargo and others of the well-known ones are not on it.
func here(word string) bool {
	return slices.Contains([]string{
		"go", "git", "npm", "make", "rm", "sort", "grep", "curl", "cat", "bash", "sh", "docker", "kubectl", "ls",
		"terraform", "find", "xargs", "sudo", "tee", "dd", "env", "psql", "timeout", "mktemp", "sleep", "wc", "awk", "seq",
		"./scripts/tide.sh", "tools/gauge", "$HOME",
	}, word)
}

// planCases are criteria and what Plan makes of them: "origin class line text; reason", of
// which the reason may be given by its beginning.
var planCases = []struct {
	name, text string
	want       []string
}{
	{"nothing", "", nil},
	{"prose without a command", "The tide table is complete.", nil},

	{"shell fences", "```bash\ncd tools && make\n```\n\n~~~sh\ngo vet ./...\n~~~\n```zsh title=x\nls -l\n```\n```shell\nls\n```",
		[]string{"fence run 2 cd tools && make", "fence run 6 go vet ./...", "fence run 9 ls -l", "fence run 12 ls"}},
	{"verify fence", "```verify\nfor i in 1 2; do\n  ./scripts/tide.sh $i\ndone\n```", []string{"fence run 2 for i in 1 2; do\n  ./scripts/tide.sh $i\ndone"}},
	{"here-document stays whole", "```sh\ncat <<EOF | grep tide\nhigh tide\nEOF\n```", []string{"fence run 2 cat <<EOF | grep tide\nhigh tide\nEOF"}},
	{"fence in a list", "1. It passes:\n\n   ```sh\n   go test ./...\n   ```", []string{"fence run 4 go test ./..."}},
	{"fence without info", "```\ngo test ./...\n```\n```\nlevel: high\n```\n```\n{\"a\": 1}\n```\n```\nif (x) {\n```",
		[]string{"fence run 2 go test ./...", `fence skipped 5 level: high; no info string, and "level:" is no program here`,
			`fence skipped 8 {"a": 1}; `, "fence skipped 11 if (x) {; does not parse as shell"}},
	{"other info", "```ts\nnpm test\n```", []string{`fence skipped 2 npm test; info string "ts" is not one of a shell: verify`}},
	{"console", "```console\n$ cd tools\n$ cat <<EOF\n> a\n> EOF\na\n$ go test \\\n    ./...\nok\n```",
		[]string{"fence run 2 cd tools\ncat <<EOF\na\nEOF\ngo test \\\n    ./..."}},
	{"console that goes on", "```shellsession\n$ for f in a b; do\n> cat $f\n> done\na\n$ ls a\\\\\nok\n$ go vet ./...\nok\n```",
		[]string{"fence run 2 for f in a b; do\ncat $f\ndone\nls a\\\\\ngo vet ./..."}},
	{"console that does not parse", "```console\n$ ls )\nok\n```", []string{"fence skipped 2 ls ); does not parse"}},
	{"console without prompt", "```shell-session\ngo test\n```", []string{`fence skipped 2 go test; no line begins with the prompt "$ "`}},
	{"fence of a test", "```sh\n[[ -s go.sum ]]\n```", []string{"fence run 2 [[ -s go.sum ]]"}},
	{"fence whose first command is here", "```\ngo vet ./...\nlevel high --now\n```", []string{"fence run 2 go vet ./...\nlevel high --now"}},
	{"fence of comments", "```sh\n# later\n```", []string{"fence skipped 2 # later; holds no command"}},
	{"fence that is no shell", "```bash\nif true; then\n```", []string{"fence skipped 2 if true; then; does not parse as shell"}},
	{"fence with a missing program", "```bash\ngo build ./...\ncargo test\n```", []string{"fence missing-program 2 go build ./...\ncargo test; cargo: not found"}},
	{"function without a name", "```\n()0\n```", []string{"fence skipped 2 ()0; no info string, and \"0\" is no program here"}},
	{"fence with a function", "```sh\ncheck() { ls; }\ncheck\n```", []string{"fence run 2 check() { ls; }\ncheck"}},

	{"spans", "- `go test ./...` passes\n- Run `npm run lint && make check`.\n- [ ] `./scripts/tide.sh`\n- `$ go vet ./...` is clean",
		[]string{"span run 1 go test ./...", "span run 2 npm run lint && make check", "span run 3 ./scripts/tide.sh", "span run 4 go vet ./..."}},
	{"one word", "`go` and `tools/gauge` and `README.md`", []string{"span skipped 1 go; one word", "span skipped 1 tools/gauge; one word", "span skipped 1 README.md; one word"}},
	{"no shell", "`func main() {`", []string{"span skipped 1 func main() {; does not parse as shell"}},
	{"unknown program", "`level high --now` and `go test ./... | level high`",
		[]string{`span skipped 1 level high --now; "level" is no program here`, `span skipped 1 go test ./... | level high; "level" is no program here`}},
	{"unknown in a substitution", "`grep x $(level high)`", []string{`span skipped 1 grep x $(level high); "level" is no program here`}},
	{"well-known but missing", "`cargo clippy -- -D warnings` and `go test ./... && pytest -q`",
		[]string{"span missing-program 1 cargo clippy -- -D warnings; cargo: not found", "span missing-program 1 go test ./... && pytest -q; pytest: not found"}},
	{"absent executable", "`./scripts/none.sh`", []string{`span skipped 1 ./scripts/none.sh; "./scripts/none.sh" is no program here`}},
	{"relative to another directory", "`cd tools && ./absent --check`", []string{"span run 1 cd tools && ./absent --check"}},
	{"placeholders", "`go test ./{pkg}`, `curl \"http://localhost/{id}\"`, `npm run …`, `make ...`, `ls 2026-YYYY`, `git log \"<rev>\"`, `ls $LEVEL`",
		[]string{`span skipped 1 go test ./{pkg}; placeholder "{pkg}"`, `span skipped 1 curl "http://localhost/{id}"; placeholder "{id}"`,
			`span skipped 1 npm run …; placeholder "…"`, `span skipped 1 make ...; placeholder "..."`, `span skipped 1 ls 2026-YYYY; placeholder "YYYY"`,
			`span skipped 1 git log "<rev>"; placeholder "<rev>"`, "span skipped 1 ls $LEVEL; $LEVEL is not set and has no default"}},
	{"no placeholders", "`go vet ./cmd/...`, `git diff main...HEAD`, `ls $HOME`, `ls ${LEVEL:-low}`, `L=1; ls $L`, `awk '{print $1}' f`, `grep -q '<tide> high' f`, `find . -name x -exec cat {} +`, `for f in a b; do cat $f; done`",
		[]string{"span run 1 go vet ./cmd/...", "span skipped 1 git diff main...HEAD; judged by its output", "span run 1 ls $HOME", "span run 1 ls ${LEVEL:-low}", "span run 1 L=1; ls $L",
			"span run 1 awk '{print $1}' f", "span run 1 grep -q '<tide> high' f", "span run 1 find . -name x -exec cat {} +", "span run 1 for f in a b; do cat $f; done"}},
	{"lines of other languages", "`return nil`, `let x = 5`, `export default`, `echo done`, `cd tools`",
		[]string{"span skipped 1 return nil; checks nothing", "span skipped 1 let x = 5; does not parse", "span skipped 1 export default; checks nothing",
			"span skipped 1 echo done; checks nothing", "span skipped 1 cd tools; checks nothing"}},
	{"builtins that check", "`test -f go.mod`, `[ -d notes ]`, `[[ -s go.sum ]]`, `! grep -r TODO notes`",
		[]string{"span run 1 test -f go.mod", "span run 1 [ -d notes ]", "span run 1 [[ -s go.sum ]]", "span run 1 ! grep -r TODO notes"}},
	{"English", "Results `sort by date`, and `make sure`", []string{`span skipped 1 sort by date; "sort by" may be English`, `span skipped 1 make sure; "make sure" may be English`}},

	{"denied", "Never run `make all`. It is not `go generate ./...`; use `make x` instead of `make y` or `make z`.",
		[]string{`span skipped 1 make all; mentioned after "Never"`, `span skipped 1 go generate ./...; mentioned after "not"`, `span skipped 1 make x; mentioned after "use"`,
			`span skipped 1 make y; mentioned after "instead of"`, `span skipped 1 make z; mentioned after "instead of"`}},
	{"denied in bold over a line", "This must **never**\n`make all`.", []string{`span skipped 2 make all; mentioned after "never"`}},
	{"not denied", "It must not regress: `go test ./...` passes.\n\nNo, not.\n\n`go vet ./...` is clean; builds without warnings with `go build ./...`",
		[]string{"span run 1 go test ./...", "span run 5 go vet ./...", "span run 5 go build ./..."}},
	{"printed and replaced", "The help prints `go test ./...`, it replaces `make test`; the output of `ls -l`",
		[]string{`span skipped 1 go test ./...; mentioned after "help prints"`, `span skipped 1 make test; mentioned after "it replaces"`,
			`span skipped 1 ls -l; mentioned after "output of"`}},
	{"value of a flag", "Start it with --exec `make all`.", []string{`span skipped 1 make all; mentioned after "with --exec"`}},
	{"gone", "`make all` must not be used, `make old` is removed", []string{`span skipped 1 make all; mentioned before "must not be"`, `span skipped 1 make old; mentioned before "is removed"`}},
	{"gone, in a padded span", "`` make old `` is removed", []string{`span skipped 1 make old; mentioned before "is removed"`}},
	{"meant to fail", "`go vet ./bad` fails; `./scripts/tide.sh --bad` exits with code 2; `make x` exits 0",
		[]string{`span skipped 1 go vet ./bad; expected to fail: "fails"`, `span skipped 1 ./scripts/tide.sh --bad; expected to fail: "exits with code 2"`, "span run 1 make x"}},
	{"another item's words do not count", "- never\n- `go test ./...`", []string{"span run 2 go test ./..."}},

	{"prose", "Verification: go test ./... succeeds and cargo clippy -- -D warnings passes.\nWe go on. Make sure it runs.",
		[]string{"prose skipped 1 go test ./...; prose is never run", "prose skipped 1 cargo clippy -- -D warnings; prose is never run"}},
	{"order of the text", "npm test works, `go vet ./...` too\n\n```sh\nls\n```\nthen pytest tests/.",
		[]string{"prose skipped 1 npm test; prose", "span run 1 go vet ./...", "fence run 4 ls", "prose skipped 6 pytest tests/; prose"}},
	{"CRLF", "```sh\r\ngo vet ./...\r\nls\r\n```\r\n`make all`\r\n", []string{"fence run 2 go vet ./...\nls", "span run 5 make all"}},
}

func TestPlan(t *testing.T) {
	for _, c := range planCases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, check := range gate.Plan(c.text) {
				line := fmt.Sprintf("%s %s %d %s", check.Origin, check.Class, check.Line, check.Text)
				if check.Reason != "" {
					line += "; " + check.Reason
				}
				if (check.Class == gate.Runnable) != (check.Reason == "") {
					t.Errorf("class %q with reason %q", check.Class, check.Reason)
				}
				got = append(got, line)
			}
			same := slices.EqualFunc(got, c.want, func(got, want string) bool {
				if strings.Contains(want, "; ") {
					return strings.HasPrefix(got, want)
				}
				return got == want
			})
			if !same {
				t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// What destroys is never run, in whatever it is wrapped; what only looks like
// it does not lose its check.
func TestDestructive(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"rm -rf build/", "rm -r outside a temporary directory"},
		{"rm -fr /tmp/x /tmp/../etc", "rm -r"},
		{"rm --recursive --force $DIR", "rm -r"},
		{"git push origin main", "git push"},
		{"git -C sub -c a=b push", "git push"},
		{"git reset --hard HEAD~1", "git reset --hard"},
		{"git clean -fdx", "git clean -fdx"},
		{"kubectl -n harbor delete pod x", "kubectl delete"},
		{"docker system prune -af", "docker system prune"},
		{"docker image prune", "docker image prune"},
		{"docker compose down -v", "docker compose down -v"},
		{"terraform apply -auto-approve", "terraform apply"},
		{"terraform -chdir=x destroy", "terraform destroy"},
		{"dd if=/dev/zero of=x", "dd"},
		{"mkfs.ext4 /dev/sda1", "mkfs.ext4"},
		{"cat x > /dev/sda", "writes to /dev/sda"},
		{"cat x | sudo tee /dev/nvme0n1", "writes to /dev/nvme0n1"},
		{"cat x | tee /dev/nvme0n1", "writes to /dev/nvme0n1"},
		{"make all && git push", "git push"},
		{"x=$(git push)", "git push"},
		{"sudo -u root rm -rf /x", "rm -r"},
		{"env A=1 timeout 5 git push", "git push"},
		{"find . -name x -delete", "find -delete"},
		{"find . -type d -exec rm -rf {} +", "rm -r"},
		{"ls | xargs rm -rf", "rm -r"},
		{"bash -euc 'git push'", "git push"},
		{"eval 'rm -rf x'", "rm -r"},
		{"npm publish", "npm publish"},
		{"trap 'rm -rf build' EXIT; make", "rm -r"},
		{"p='git push'; $p origin", "git push"},
		{"bash <<EOF\nrm -rf x\nEOF", "rm -r"},
		{"sh <<<'git push'", "git push"},
		{"echo 'rm -rf x' | sh", "rm -r"},
		{"ssh tide.example 'rm -rf x'", "rm -r"},
		{"ssh -p 22 tide.example rm -rf x", "rm -r"},
		{"docker exec c rm -rf x", "rm -r"},
		{"docker run --rm -v .:/w alpine sh -c 'rm -rf /w'", "rm -r"},
		{"poetry run twine upload x", "twine upload"},
		{"nix develop -c git push", "git push"},
		{"npx rimraf dist", "rimraf"},
		{"python3 -c 'import shutil; shutil.rmtree(\"x\")'", "python3 removes"},
		{"aws ec2 terminate-instances --instance-ids i", "aws terminate-instances"},
		{"gcloud compute instances delete x", "gcloud delete"},
		{"helm -n x uninstall y", "helm uninstall"},
		{"rsync -a --delete x/ y/", "rsync --delete"},
		{"time git push", "git push"},
		{"if true; then git push; fi", "git push"},
		{"f() { git push; }; f", "git push"},
		{"d=$(mktemp -d); d=/; rm -rf $d", "rm -r"},
		{"d=$(mktemp -d); for d in /*; do rm -rf $d; done", "rm -r"},
		{"d=/; rm -rf $d; d=$(mktemp -d)", "rm -r"},
		{"d=/$(mktemp -d); rm -rf $d", "rm -r"},
		{"d=$(mktemp -d); rm -rf $d/../x", "rm -r"},
		{"cat <(git push)", "git push"},
		{"mvn clean deploy", "mvn clean deploy"},
		{"nix store gc", "nix store gc"},
		{strings.Repeat("eval ", 60) + "x", "commands within commands"},
		{"prisma migrate reset --force", "prisma migrate reset"},
		{"psql -c 'DROP TABLE tide'", "psql with a statement that deletes"},
		{"pkill -f server", "pkill"},

		{"rm -f ~/.local/share/tide/x.db", "removes ~/.local"},
		{"rm $HOME/.tide/key", "removes $HOME/.tide/key"},
		{"mv ~/tide /tmp/tide", "removes ~/tide"},
		{"cp x /etc/hosts", "writes to /etc/hosts"},
		{"make x > ~/.profile", "writes to ~/.profile"},
		{"bash -c 'ls >> /etc/hosts'", "writes to /etc/hosts"},
		{"curl -fsX DELETE https://tide.example/x", "curl with the method DELETE"},
		{"bd cleanup --force", "bd cleanup --force"},

		{"curl -X DELETE http://localhost:80/x", ""},
		{"cp ~/x y", ""},
		{"mv x /tmp/x", ""},
		{"d=$(mktemp -d); make x > \"$d/out\"", ""},
		{"rm -f x", ""},
		{"d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT; ls $d", ""},
		{"trap 'echo done' EXIT; ls", ""},
		{"echo 'rm -rf x' | grep rm", ""},
		{"grep 'git push' notes", ""},
		{"npm run release-notes", ""},
		{"python3 -c 'print(1)'", ""},
		{"aws s3 ls", ""},
		{"rsync -a x/ y/", ""},
		{"rm -rf /tmp/tide", ""},
		{"d=$(mktemp -d); ls $d; rm -rf \"$d\"", ""},
		{"rm -r \"$TMPDIR/x\"", ""},
		{"git log --grep push", ""},
		{"git push --dry-run", ""},
		{"cargo test publish", ""},
		{"npm publish --dry-run", ""},
		{"kubectl delete pod x --dry-run=client", ""},
		{"kubectl delete pod x --dry-run=server", ""},
		{"terraform apply --help", ""},
		{"docker run --rm x ls", ""},
		{"terraform plan", ""},
		{"kubectl get pods", ""},
		{"psql -c 'select 1'", ""},
		{"ls >/dev/null 2>&1", ""},
	} {
		for _, text := range []string{"```verify\n" + c.script + "\n```", "```bash\n" + c.script + "\n```", "`" + c.script + "`"} {
			check := gate.Plan(text)[0]
			found := ""
			if check.Class == gate.Refused {
				found = check.Reason
			}
			if check.Origin == gate.Span && check.Class == gate.Manual {
				continue // not run for another reason
			}
			if !strings.HasPrefix(found, c.want) || c.want == "" && found != "" {
				t.Errorf("%s: class %s, reason %q, want %q", text, check.Class, check.Reason, c.want)
			}
			if check.Verify != strings.HasPrefix(text, "```verify") {
				t.Errorf("%s: Verify is %v", text, check.Verify)
			}
		}
	}
}

// Only a fence that is marked as shell was meant to be run.
func TestBroken(t *testing.T) {
	for text, want := range map[string]bool{
		"```verify\nif x; then\n```":    true,
		"```bash\necho 'x\n```":         true,
		"```zsh\n)\n```":                true,
		"```console\n$ if x; then\n```": true,
		"```\nif x; then\n```":          false,
		"```json\n{\n```":               false,
		"```sh\n# later\n```":           false,
		"```sh\nls\n```":                false,
		"`if x; then`":                  false,
	} {
		if check := gate.Plan(text)[0]; check.Broken != want || want && check.Class != gate.Manual {
			t.Errorf("%q: broken %v, class %s", text, check.Broken, check.Class)
		}
	}
}

func TestPrograms(t *testing.T) {
	for _, name := range []string{"go", "cargo", "npm", "pytest", "just", "kubectl"} {
		if check := gate.Plan("`"+name+" test`")[0]; check.Class == gate.Manual {
			t.Errorf("%s is skipped where it is missing", name)
		}
	}
}

// FuzzPlan asserts that a plan is in the order of the text, the same each time,
// shows nothing that is not in the text, and gives a reason for all that it
// does not run. A machine that has every program takes the most for commands.
func FuzzPlan(f *testing.F) {
	for _, c := range planCases {
		f.Add(c.text)
	}
	for _, c := range invented(f) {
		f.Add(c.text)
	}
	f.Add("```sh\n" + strings.Repeat("eval ", 40) + "\n```")
	f.Add("`" + strings.Repeat("sudo ", 40) + "x`")
	f.Fuzz(func(t *testing.T, text string) {
		{
			line := 0
			checks := gate.Plan(text)
			for _, check := range checks {
				if (check.Class == gate.Runnable) != (check.Reason == "") || check.Line < line {
					t.Fatalf("%+v after line %d of %q", check, line, text)
				}
				if check.Origin == gate.Prose && check.Class != gate.Manual {
					t.Fatalf("prose to run: %+v", check)
				}
				if check.Broken && check.Class != gate.Manual || check.Broken && check.Origin != gate.Fence {
					t.Fatalf("broken: %+v", check)
				}
				for word := range strings.FieldsSeq(check.Text) {
					if !strings.Contains(text, strings.Trim(word, "\r")) && !strings.ContainsAny(text, "\x00\t") {
						t.Fatalf("%q is not in %q", word, text)
					}
				}
				line = check.Line
			}
			if !slices.Equal(checks, gate.Plan(text)) {
				t.Fatalf("another plan for %q", text)
			}
		}
	})
}
