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

// Token is the token that the forge takes. Self is its account; it and Writer may write.
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
	// Judge does something with a request, as Writer: merge, squash, rebase, edited (a squash
	// with a message of its own), close, delete (its branch), or what git does beside the forge.
	// fixup pushes a commit to its branch, and update merges main into it.
	Judge(verb string, number int) error
	// Remark leaves a review of a request, or with a path a comment on its first line.
	Remark(number int, user, text, path string)
	// Change changes the last remark of Writer: dismiss or delete a review, resolve or edit a
	// comment on a line.
	Change(verb string, number int, text string)
	// Status sets the result of the one job of all open requests.
	Status(status string)
	// Text describes a request: title, state, files, body, comments.
	Text(number int) string
	Close()
}

// Forge is a stand-in.
type Forge struct {
	URL  string
	Bare string // the repository
	// Served is called once a request such as "POST /pulls" took effect, before its answer is
	// sent; nil for nothing.
	Served func(request string)
	server *httptest.Server

	lock     sync.Mutex
	pulls    []*pull
	statuses map[string][]any // by commit
}

type pull struct {
	number      int
	title, body string
	branch      string
	base        string
	state       string
	merged      bool
	merge       string
	reviews     []map[string]any
	comments    map[int][]map[string]any // by review
	last        int                      // review
	timeline    []any
}

// New starts a forge whose repository will be at bare.
func New(bare string) *Forge {
	f := &Forge{Bare: bare, statuses: map[string][]any{}}
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
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	if r.Header.Get("Authorization") != "token "+Token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	status, out := f.answer(r.Method, strings.TrimPrefix(r.URL.Path, "/api/v1/"), r.URL.Query().Get("page"), in)
	if f.Served != nil {
		f.Served(r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1/repos/team/dock"))
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (f *Forge) answer(method, path, page string, in map[string]any) (int, any) {
	rest, inside := strings.CutPrefix(path, "repos/team/dock")
	words := strings.Split(strings.Trim(rest, "/"), "/")
	switch {
	case !inside:
		return 404, map[string]any{"message": "not found"}
	case rest == "":
		return 200, map[string]any{"default_branch": "main"}
	case words[0] == "collaborators": // the account is no administrator
		return 403, map[string]any{"message": "Only admins can query all permissions"}
	case rest == "/teams":
		return 405, map[string]any{"message": "repo is not owned by an organization"}
	case rest == "/assignees":
		return 200, []any{account(Self), account(Writer)}
	case words[0] == "commits":
		if page == "1" {
			return 200, map[string]any{"statuses": f.statuses[words[1]]}
		}
		return 200, map[string]any{"statuses": nil}
	case rest == "/pulls" && method == http.MethodGet:
		list := []any{}
		for _, p := range f.pulls {
			if p.state == "open" && page == "1" {
				list = append(list, f.json(p))
			}
		}
		return 200, list
	case rest == "/pulls":
		p := &pull{number: len(f.pulls) + 1, title: in["title"].(string), body: in["body"].(string), branch: in["head"].(string), base: in["base"].(string), state: "open", comments: map[int][]map[string]any{}}
		f.pulls = append(f.pulls, p)
		return 201, f.json(p)
	}
	number, _ := strconv.Atoi(words[min(1, len(words)-1)])
	if number < 1 || number > len(f.pulls) {
		return 404, map[string]any{"message": "not found"}
	}
	p := f.pulls[number-1]
	switch {
	case words[0] == "issues" && page == "1":
		return 200, p.timeline
	case words[0] == "issues":
		return 200, []any{}
	case len(words) == 2 && method == http.MethodPatch:
		if title, ok := in["title"].(string); ok {
			p.title = title
		}
		if body, ok := in["body"].(string); ok {
			p.body = body
		}
		if base, ok := in["base"].(string); ok {
			p.base = base
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
	draft := strings.HasPrefix(p.title, "WIP: ")
	return map[string]any{"number": p.number, "html_url": fmt.Sprintf("%s/team/dock/pulls/%d", f.URL, p.number), "title": p.title, "body": p.body, "state": p.state,
		"draft": draft, "mergeable": !draft, "merged": p.merged, "merge_commit_sha": p.merge, "head": map[string]any{"ref": p.branch, "sha": f.head(p)}}
}

// head returns the commit of a request, and keeps it as the forge does.
func (f *Forge) head(p *pull) string {
	kept := fmt.Sprintf("refs/pull/%d/head", p.number)
	if head, err := f.git("rev-parse", "--verify", "refs/heads/"+p.branch); err == nil && p.state == "open" {
		_, _ = f.git("update-ref", kept, head)
	}
	head, _ := f.git("rev-parse", kept)
	return head
}

func account(name string) map[string]any { return map[string]any{"login": name} }

// comment adds a review, with a comment on a line unless that is nil.
func (f *Forge) comment(p *pull, user, state, body string, line map[string]any) {
	p.last++
	for _, r := range p.reviews { // as Gitea does
		if state == "REQUEST_CHANGES" && r["state"] == state && r["user"].(map[string]any)["login"] == user {
			r["dismissed"] = true
		}
	}
	review := map[string]any{"id": p.last, "user": account(user), "body": body, "state": state, "comments_count": 0}
	if line != nil {
		review["comments_count"] = 1
		p.comments[p.last] = []map[string]any{{"id": 100*p.number + p.last, "pull_request_review_id": p.last, "user": account(user), "body": line["body"], "path": line["path"], "position": line["new_position"]}}
	}
	p.reviews = append(p.reviews, review)
}

// Remark leaves a review of a request, or with a path a comment on its first line.
func (f *Forge) Remark(number int, user, text, path string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := f.pulls[number-1]
	switch {
	case path != "":
		f.comment(p, user, "COMMENT", "", map[string]any{"path": path, "new_position": 1, "body": text})
	case user == Writer:
		f.comment(p, user, "REQUEST_CHANGES", text, nil)
	default:
		f.comment(p, user, "COMMENT", text, nil)
	}
}

// Change changes the last remark of Writer.
func (f *Forge) Change(verb string, number int, text string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := f.pulls[number-1]
	last := len(p.reviews) - 1
	for p.reviews[last]["user"].(map[string]any)["login"] != Writer {
		last--
	}
	switch lines := p.comments[p.reviews[last]["id"].(int)]; verb {
	case "dismiss":
		p.reviews[last]["dismissed"] = true
		p.timeline = append(p.timeline, map[string]any{"type": "dismiss_review", "review_id": p.reviews[last]["id"]})
	case "delete":
		p.reviews = slices.Delete(p.reviews, last, last+1)
	case "resolve":
		lines[0]["resolver"] = account(Writer)
	case "edit":
		lines[0]["body"] = text
	}
}

// Status sets the result of the one job of all open requests.
func (f *Forge) Status(status string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, p := range f.pulls {
		if p.state == "open" {
			f.statuses[f.head(p)] = []any{map[string]any{"context": "check", "status": status, "description": "exit 1"}}
		}
	}
}

// Judge does something with a request.
func (f *Forge) Judge(verb string, number int) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	p := f.pulls[number-1]
	f.head(p)
	if verb == "close" {
		p.state = "closed"
		return nil
	}
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script := map[string]string{
		"merge":  `git merge -q --no-ff -m "Merge request" "origin/$B"`,
		"squash": `git merge -q --squash "origin/$B" && git commit -qm "a squash"`,
		"edited": `git merge -q --squash "origin/$B" && git commit -qm "a squash in other words"`,
		"rebase": `git rebase -q origin/main "origin/$B" && git branch -qf main && git switch -q main`,
		"delete": `git push -q origin --delete "$B"`,
	}[verb]
	if strings.HasPrefix(p.title, "WIP: ") && script != "" && verb != "delete" {
		return fmt.Errorf("request %d is a draft, which cannot be merged", number)
	}
	if script == "" {
		return beside(f.Bare, dir, verb, p.branch, p.merge)
	}
	tip, err := onMain(f.Bare, dir, script, "B="+p.branch)
	if err != nil {
		return err
	}
	p.state = "closed"
	if verb != "delete" {
		p.merge, p.merged = tip, true
	}
	return nil
}

// beside does with git what the forge does not know of. merge is the commit that merged the
// branch; "" means the last one that changed the file of the issue, else the last one.
func beside(url, dir, verb, branch, merge string) error {
	find := `N=${B##*-}; : "${M:=$(git rev-list -1 --first-parent HEAD -- "file-$N")}" "${M:=HEAD}"; git rev-parse -q --verify "$M^2" >/dev/null && P="-m 1"; `
	script := map[string]string{
		"byhand":  `git merge -q --squash "origin/$B" && git commit -qm "by hand"`,
		"mergeby": `git merge -q --no-ff -m "by hand" "origin/$B"`,
		"trailer": `git merge -q --squash "origin/$B"; echo more >>"file-${B##*-}"; git add -A; git log --format=%B "HEAD..origin/$B" | git commit -qF -`,
		"part":    `git cherry-pick "$(git rev-list --reverse --no-merges "main..origin/$B" | tail -1)"`,
		"revert":  find + `git revert --no-edit $P "$M"`,
		"github":  find + `git revert --no-commit $P "$M"; git commit -qm "Revert \"a title\"" -m "Reverts team/dock#$((N-100))"`, // as its button does
		"reapply": find + `git revert --no-edit "$(git log -1 --format=%H --grep="This reverts commit $M")"`,
		"fixup":   `git switch -q "$B"; echo fixed >fixup; git add fixup; git commit -qm "a fixup"; git push -q origin "$B"; git switch -q main`,
		"update":  `git switch -q "$B"; git merge -q --no-edit main; git push -q origin "$B"; git switch -q main`,
		"forced":  `git switch -q -c forced "origin/$B"; git commit -q --amend -m "forced"; git push -q -f origin "forced:$B"; git switch -q main`,
	}[verb]
	_, err := onMain(url, dir, script, "B="+branch, "M="+merge, "P=")
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
	files, _ := f.git("diff", "--name-only", p.base+"..."+f.head(p))
	text := fmt.Sprintf("%s\nstate: %s\nbase: %s\nfiles: %s\n%s\n", p.title, p.state, p.base, strings.ReplaceAll(files, "\n", " "), p.body)
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
