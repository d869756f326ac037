package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/internal/gate"
)

// Each check has the line at which it begins; testdata/criteria.txtar shows the rest, with its
// class.
func TestLinesOfPlan(t *testing.T) {
	for text, want := range map[string][]string{
		"":                             nil,
		"The tide table is complete.":  nil,
		"- a\n- `go vet ./...` passes": {"2 go vet ./..."},
		"1. It passes:\n\n   ```sh\n   go test ./...\n   ```":                       {"4 go test ./..."},
		"npm test works, `go vet ./...` too\n\n```sh\nls\n```\nthen pytest tests/.": {"1 npm test", "1 go vet ./...", "4 ls", "6 pytest tests/"},
		"```sh\r\ngo vet ./...\r\nls\r\n```\r\n`make all`\r\n":                      {"2 go vet ./...\nls", "5 make all"},
		"> run\n> `make x`\n\n| a | b |\n|---|---|\n| `make y` | ok |":              {"2 make x", "6 make y"},
		"```console\n$ cat <<EOF\n> a\n> EOF\na\n$ go test \\\n    ./...\nok\n```":  {"2 cat <<EOF\na\nEOF\ngo test \\\n    ./..."},
	} {
		var got []string
		for _, check := range gate.Plan(text) {
			got = append(got, fmt.Sprintf("%d %s", check.Line, check.Text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

// Destructive commands never run, however they are wrapped; what only looks destructive stays a
// check.
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
		{"ssh tide.example 'rm -rf x'", "rm -r"},
		{"ssh -p 22 tide.example rm -rf x", "rm -r"},
		{"docker exec c rm -rf x", "rm -r"},
		{"docker run --rm -v .:/w alpine sh -c 'rm -rf /w'", "rm -r"},
		{"poetry run twine upload x", "poetry run twine upload"},
		{"nix develop -c git push", "git push"},
		{"npx rimraf dist", "rimraf"},
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
			if check.Origin == gate.Span && check.Class == gate.Mention {
				continue // not run for another reason
			}
			if (found != "") != (c.want != "") {
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
		if check := gate.Plan(text)[0]; check.Broken != want || want && check.Class != gate.Refused {
			t.Errorf("%q: broken %v, class %s", text, check.Broken, check.Class)
		}
	}
}

// FuzzPlan asserts that a plan is in the order of the text, the same each time,
// shows nothing that is not in the text, and gives a reason for all that it
// does not run.
func FuzzPlan(f *testing.F) {
	for _, c := range invented(f) {
		f.Add(c.text)
	}
	f.Add("```sh\n" + strings.Repeat("eval ", 40) + "\n```")
	f.Add("`" + strings.Repeat("sudo ", 40) + "x`")
	f.Fuzz(func(t *testing.T, text string) {
		line := 0
		checks := gate.Plan(text)
		for _, check := range checks {
			if (check.Class == gate.Runnable) != (check.Reason == "") || check.Line < line {
				t.Fatalf("%+v after line %d of %q", check, line, text)
			}
			if check.Origin == gate.Prose && check.Class != gate.Manual && !check.Broken {
				t.Fatalf("prose to run: %+v", check)
			}
			if check.Broken && check.Class != gate.Refused {
				t.Fatalf("broken: %+v", check)
			}
			for word := range strings.FieldsSeq(check.Text) {
				if !check.Broken && !strings.Contains(text, strings.Trim(word, "\r")) && !strings.ContainsAny(text, "\x00\t\x1b\\") {
					t.Fatalf("%q is not in %q", word, text)
				}
			}
			line = check.Line
		}
		if !slices.Equal(checks, gate.Plan(text)) {
			t.Fatalf("another plan for %q", text)
		}
	})
}
