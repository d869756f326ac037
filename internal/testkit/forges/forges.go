// Package forges is a stand-in of Gitea for tests: it answers what stig asks over a bare
// repository, and a judge merges, closes and reverts requests with git.
package forges

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Token is the token that the forge takes; Self is its account, and Writer may write too.
const (
	Token  = "t0ken"
	Self   = "stig-bot"
	Writer = "mara"
)

// Site is a forge with the repository team/dock, and the people on it.
type Site interface {
	// Begin makes the repository from the one at dir, whose remote it becomes, and returns the
	// token for it.
	Begin(dir string) (token string, err error)
	// Judge merges (merge, squash, rebase), closes or reverts a request, as Writer. byhand
	// squashes its branch beside the forge, part picks its last commit alone. fixup pushes a
	// commit to the branch, and update merges main into it.
	Judge(verb string, number int) error
	// Remark leaves a review of a request, or with a path a comment on its first line.
	Remark(number int, user, text, path string)
	// Status sets the result of the one job.
	Status(status string)
	// Text describes a request: title, state, files, body, comments.
	Text(number int) string
	Close()
}

// Forge is a stand-in.
type Forge struct {
	URL    string
	Bare   string // the repository
	server *httptest.Server

	lock     sync.Mutex
	pulls    []*pull
	statuses []map[string]any
	Asked    []string // method and path of every request
}

type pull struct {
	number      int
	title, body string
	branch      string
	state       string
	merged      bool
	merge       string
	reviews     []map[string]any
	comments    map[int][]map[string]any // by review
}

// New starts a forge whose repository will be at bare.
func New(bare string) *Forge {
	f := &Forge{Bare: bare}
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	f.URL = f.server.URL
	return f
}

// Close ends the forge.
func (f *Forge) Close() { f.server.Close() }

// Begin clones dir to Bare. Git reaches it by the address of the forge.
func (f *Forge) Begin(dir string) (token string, err error) {
	url := f.URL + "/team/dock.git"
	for _, argv := range [][]string{{"clone", "-q", "--bare", dir, f.Bare}, {"-C", dir, "remote", "add", "origin", url}, {"-C", dir, "config", "url." + f.Bare + ".insteadOf", url}} {
		if out, err := exec.Command("git", argv...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %q: %w: %s", argv, err, out)
		}
	}
	return Token, nil
}

func (f *Forge) serve(w http.ResponseWriter, r *http.Request) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.Asked = append(f.Asked, r.Method+" "+r.URL.Path)
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	if r.Header.Get("Authorization") != "token "+Token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	status, out := f.answer(r.Method, strings.TrimPrefix(r.URL.Path, "/api/v1/"), r.URL.Query().Get("page"), in)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (f *Forge) answer(method, path, page string, in map[string]any) (int, any) {
	rest, inside := strings.CutPrefix(path, "repos/team/dock")
	words := strings.Split(strings.Trim(rest, "/"), "/")
	switch {
	case path == "user":
		return 200, map[string]any{"login": Self}
	case !inside:
		return 404, map[string]any{"message": "not found"}
	case rest == "":
		return 200, map[string]any{"default_branch": "main"}
	case words[0] == "collaborators":
		if words[1] == Writer {
			return 200, map[string]any{"permission": "write"}
		}
		return 200, map[string]any{"permission": "read"}
	case words[0] == "commits":
		return 200, map[string]any{"statuses": f.statuses}
	case rest == "/pulls" && method == http.MethodGet:
		list := []any{}
		for _, p := range f.pulls {
			if p.state == "open" && page == "1" {
				list = append(list, f.json(p))
			}
		}
		return 200, list
	case rest == "/pulls":
		p := &pull{number: len(f.pulls) + 1, title: in["title"].(string), body: in["body"].(string), branch: in["head"].(string), state: "open", comments: map[int][]map[string]any{}}
		f.pulls = append(f.pulls, p)
		return 201, f.json(p)
	}
	number, _ := strconv.Atoi(words[1])
	p := f.pulls[number-1]
	switch {
	case len(words) == 2 && method == http.MethodPatch:
		if title, ok := in["title"].(string); ok {
			p.title = title
		}
		if body, ok := in["body"].(string); ok {
			p.body = body
		}
		return 201, f.json(p)
	case len(words) == 2:
		return 200, f.json(p)
	case len(words) == 3 && method == http.MethodPost:
		f.comment(p, Self, "COMMENT", "", in["comments"].([]any)[0].(map[string]any))
		return 200, nil
	case len(words) == 3:
		if page == "1" {
			return 200, p.reviews
		}
		return 200, []any{}
	}
	id, _ := strconv.Atoi(words[3])
	return 200, p.comments[id]
}

func (f *Forge) json(p *pull) map[string]any {
	head, _ := f.git("rev-parse", "refs/heads/"+p.branch)
	return map[string]any{"number": p.number, "html_url": fmt.Sprintf("%s/team/dock/pulls/%d", f.URL, p.number), "title": p.title, "body": p.body, "state": p.state,
		"draft": strings.HasPrefix(p.title, "WIP: "), "merged": p.merged, "merge_commit_sha": p.merge, "mergeable": true, "head": map[string]any{"ref": p.branch, "sha": head}}
}

// comment adds a review, with a comment on a line unless that is nil.
func (f *Forge) comment(p *pull, user, state, body string, line map[string]any) {
	id := len(p.reviews) + 1
	review := map[string]any{"id": id, "user": map[string]any{"login": user}, "body": body, "state": state, "updated_at": "2026-11-20T09:00:00Z", "comments_count": 0}
	if line != nil {
		review["comments_count"] = 1
		p.comments[id] = []map[string]any{{"id": 100*p.number + id, "user": map[string]any{"login": user}, "body": line["body"], "path": line["path"], "position": line["new_position"], "updated_at": "2026-11-20T09:00:00Z"}}
	}
	p.reviews = append(p.reviews, review)
}

// Remark leaves a review of a request, or with a path a comment on its first line.
func (f *Forge) Remark(number int, user, text, path string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if path == "" {
		f.comment(f.pulls[number-1], user, "REQUEST_CHANGES", text, nil)
		return
	}
	f.comment(f.pulls[number-1], user, "COMMENT", "", map[string]any{"path": path, "new_position": 1, "body": text})
}

// Status sets the result of the one job on all commits.
func (f *Forge) Status(status string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.statuses = []map[string]any{{"context": "check", "status": status, "description": "exit 1"}}
}

// Judge merges, closes or reverts a request.
func (f *Forge) Judge(verb string, number int) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := f.pulls[number-1]
	if verb == "close" {
		p.state = "closed"
		return nil
	}
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch verb {
	case "revert":
		return revert(f.Bare, dir, p.merge)
	case "byhand", "part", "fixup", "update":
		return byHand(f.Bare, dir, verb, p.branch)
	}
	script := map[string]string{
		"merge":  `git merge -q --no-ff -m "Merge request" "origin/$B"`,
		"squash": `git merge -q --squash "origin/$B" && git commit -qm "a squash"`,
		"rebase": `git rebase -q origin/main "origin/$B" && git branch -qf main && git switch -q main`,
	}[verb]
	p.merge, err = onMain(f.Bare, dir, script, "B="+p.branch)
	p.state, p.merged = "closed", err == nil
	return err
}

// revert reverts a commit on the main branch of a repository, as git revert does.
func revert(url, dir, commit string) error {
	_, err := onMain(url, dir, `if git rev-parse -q --verify "$M^2" >/dev/null; then git revert --no-edit -m 1 "$M"; else git revert --no-edit "$M"; fi`, "M="+commit)
	return err
}

// byHand brings a branch to the main branch without the forge, in one commit or only in part, or
// pushes to the branch.
func byHand(url, dir, verb, branch string) error {
	script := map[string]string{
		"byhand": `git merge -q --squash "origin/$B" && git commit -qm "by hand"`,
		"part":   `git cherry-pick "$(git rev-list --reverse --no-merges "main..origin/$B" | tail -1)"`,
		"fixup":  `git switch -q "$B"; echo fixed >fixup; git add fixup; git commit -qm "a fixup"; git push -q origin "$B"; git switch -q main`,
		"update": `git switch -q "$B"; git merge -q --no-edit main; git push -q origin "$B"; git switch -q main`,
	}[verb]
	_, err := onMain(url, dir, script, "B="+branch)
	return err
}

// onMain runs a script in a clone, pushes its main branch, and returns its commit.
func onMain(url, dir, script string, env ...string) (string, error) {
	command := exec.Command("bash", "-ec", `git clone -q "$URL" "$D/c"; cd "$D/c"; git config user.name mara; git config user.email mara@dock; `+script+`; git push -q origin HEAD:main; git rev-parse HEAD`)
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	command.Dir, command.Env = dir, append(own, append(env, "URL="+url, "D="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")...)
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", script, err, out)
	}
	lines := strings.Fields(string(out))
	return lines[len(lines)-1], nil
}

// Text describes a request.
func (f *Forge) Text(number int) string {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := f.pulls[number-1]
	files, _ := f.git("diff", "--name-only", "main..."+p.branch)
	text := fmt.Sprintf("%s\nstate: %s\nfiles: %s\n%s\n", p.title, p.state, strings.ReplaceAll(files, "\n", " "), p.body)
	for _, list := range p.comments {
		for _, c := range list {
			text += fmt.Sprintf("%s: %s\n", c["user"].(map[string]any)["login"], c["body"])
		}
	}
	return text
}

func (f *Forge) git(argv ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", filepath.Clean(f.Bare)}, argv...)...).Output()
	return strings.TrimSpace(string(out)), err
}
