//go:build e2e

package forges

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Gitea is a real forge with the repository team/dock.
type Gitea struct {
	URL     string
	dir     string
	program string
	command *exec.Cmd
	token   string
}

// password is that of every account.
const password = "tide-and-gauge"

// StartGitea starts Gitea in a directory, with the accounts of the stand-in. The program lies in
// its source, from which it serves.
func StartGitea(program, dir string) (g *Gitea, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	who, err := user.Current()
	if err != nil {
		return nil, err
	}
	g = &Gitea{URL: fmt.Sprintf("http://127.0.0.1:%d", port), dir: dir, program: program}
	config := fmt.Sprintf(`RUN_USER = %[1]s
RUN_MODE = prod
WORK_PATH = %[2]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = %[4]s/
STATIC_ROOT_PATH = %[5]s
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = %[2]s/gitea.db
[security]
INSTALL_LOCK = true
PASSWORD_COMPLEXITY = off
[service]
DISABLE_REGISTRATION = true
[repository]
ROOT = %[2]s/repositories
[actions]
ENABLED = false
[log]
LEVEL = Error
`, who.Username, dir, port, g.URL, filepath.Dir(program))
	if err := os.WriteFile(g.config(), []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := g.admin("migrate"); err != nil {
		return nil, err
	}
	for _, name := range []string{"team", Self, Writer, "eve"} {
		if err := g.admin("admin", "user", "create", "--username", name, "--password", password, "--email", name+"@dock.example", "--must-change-password=false"); err != nil {
			return nil, err
		}
	}
	g.command = exec.Command(program, "web", "--config", g.config())
	g.command.Env = g.env()
	if err := g.command.Start(); err != nil {
		return nil, err
	}
	return g, g.found()
}

func (g *Gitea) config() string { return filepath.Join(g.dir, "app.ini") }

func (g *Gitea) env() []string {
	return append(os.Environ(), "HOME="+g.dir, "GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT=true", "GIT_CONFIG_NOSYSTEM=1")
}

func (g *Gitea) admin(argv ...string) error {
	command := exec.Command(g.program, append(argv, "--config", g.config())...)
	command.Env = g.env()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("gitea %s: %w: %s", argv[0], err, out)
	}
	return nil
}

// found waits for the server and creates the repository and a token.
func (g *Gitea) found() error {
	var err error
	for range 300 {
		if err = g.call("team", http.MethodGet, "version", nil, nil); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	var token struct {
		Text string `json:"sha1"`
	}
	for _, step := range []func() error{
		func() error {
			return g.call("team", http.MethodPost, "user/repos", map[string]any{"name": "dock", "default_branch": "main"}, nil)
		},
		func() error {
			return g.repo("team", http.MethodPut, "/collaborators/"+Self, map[string]any{"permission": "write"}, nil)
		},
		func() error {
			return g.repo("team", http.MethodPut, "/collaborators/"+Writer, map[string]any{"permission": "write"}, nil)
		},
		func() error {
			return g.call(Self, http.MethodPost, "users/"+Self+"/tokens", map[string]any{"name": "stig", "scopes": []string{"all"}}, &token)
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	g.token = token.Text
	return nil
}

// Close ends the server.
func (g *Gitea) Close() {
	_ = g.command.Process.Kill()
	_, _ = g.command.Process.Wait()
}

// Begin makes the repository from the one at dir, whose remote it becomes, and returns the
// token for it.
func (g *Gitea) Begin(dir string) (token string, err error) {
	url := strings.Replace(g.URL, "http://", "http://"+Self+":"+password+"@", 1) + "/team/dock.git"
	for _, argv := range [][]string{{"remote", "add", "origin", url}, {"push", "-q", "origin", "main"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, argv...)...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", argv[0], err, out)
		}
	}
	return g.token, nil
}

func (g *Gitea) repo(as, method, path string, in, out any) error {
	return g.call(as, method, "repos/team/dock"+path, in, out)
}

func (g *Gitea) call(as, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), method, g.URL+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth(as, password)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

type giteaPull struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	State  string `json:"state"`
	Merge  string `json:"merge_commit_sha"`
	Head   struct {
		SHA string `json:"sha"`
		Ref string `json:"ref"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

// Judge does something with a request, as Writer.
func (g *Gitea) Judge(verb string, number int) error {
	at := fmt.Sprintf("/pulls/%d", number)
	in := map[string]any{"Do": verb}
	switch verb {
	case "close":
		return g.repo(Writer, http.MethodPatch, at, map[string]any{"state": "closed"}, nil)
	case "merge", "squash", "rebase":
	case "edited":
		in = map[string]any{"Do": "squash", "MergeTitleField": "a squash", "MergeMessageField": "in other words"}
	default:
		return g.beside(verb, number)
	}
	var err error
	for range 600 { // Gitea first finds out whether it can be merged
		if err = g.repo(Writer, http.MethodPost, at+"/merge", in, nil); err == nil {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}

// beside deletes a branch, or does with git what Gitea does not know of.
func (g *Gitea) beside(verb string, number int) error {
	var p giteaPull
	if err := g.repo(Writer, http.MethodGet, fmt.Sprintf("/pulls/%d", number), nil, &p); err != nil {
		return err
	}
	issue, _, _ := strings.Cut(strings.TrimPrefix(p.Title, "WIP: "), ":")
	branch := "stig/" + issue
	if verb == "delete" {
		return g.repo(Writer, http.MethodDelete, "/branches/"+branch, nil, nil)
	}
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	url := strings.Replace(g.URL, "http://", "http://"+Writer+":"+password+"@", 1) + "/team/dock.git"
	return beside(url, dir, verb, branch, p.Merge)
}

// Remark leaves a review of a request, or with a path a comment on its first line.
func (g *Gitea) Remark(number int, user, text, path string) {
	in := map[string]any{"event": "REQUEST_CHANGES", "body": text}
	if user != Writer {
		in["event"] = "COMMENT"
	}
	if path != "" {
		in = map[string]any{"event": "COMMENT", "comments": []any{map[string]any{"path": path, "new_position": 1, "body": text}}}
	}
	if err := g.repo(user, http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", number), in, nil); err != nil {
		panic(err)
	}
}

// Change changes the last remark of Writer.
func (g *Gitea) Change(verb string, number int, text string) {
	at := fmt.Sprintf("/pulls/%d/reviews", number)
	var reviews, lines []struct {
		ID   int
		User struct{ Login string }
	}
	err := g.repo(Writer, http.MethodGet, at, nil, &reviews)
	last := len(reviews) - 1
	for err == nil && reviews[last].User.Login != Writer {
		last--
	}
	if err == nil {
		at += fmt.Sprintf("/%d", reviews[last].ID)
		err = g.repo(Writer, http.MethodGet, at+"/comments", nil, &lines)
	}
	switch {
	case err != nil:
	case verb == "dismiss":
		err = g.repo("team", http.MethodPost, at+"/dismissals", map[string]any{"message": "over"}, nil)
	case verb == "delete":
		err = g.repo(Writer, http.MethodDelete, at, nil, nil)
	case verb == "resolve":
		err = g.repo(Writer, http.MethodPost, fmt.Sprintf("/pulls/comments/%d/resolve", lines[0].ID), nil, nil)
	case verb == "edit":
		err = g.repo(Writer, http.MethodPatch, fmt.Sprintf("/issues/comments/%d", lines[0].ID), map[string]any{"body": text}, nil)
	}
	if err != nil {
		panic(err)
	}
}

// Status sets the result of the one job of all open requests.
func (g *Gitea) Status(status string) {
	for page := 1; ; page++ {
		var list []giteaPull
		err := g.repo(Self, http.MethodGet, fmt.Sprintf("/pulls?state=open&limit=50&page=%d", page), nil, &list)
		for _, p := range list {
			if err == nil {
				err = g.repo(Self, http.MethodPost, "/statuses/"+p.Head.SHA, map[string]any{"state": status, "context": "check", "description": "exit 1"}, nil)
			}
		}
		if err != nil {
			panic(err)
		}
		if len(list) == 0 {
			return
		}
	}
}

// Text describes a request.
func (g *Gitea) Text(number int) string {
	var p giteaPull
	var files []struct {
		Name string `json:"filename"`
	}
	var reviews []struct {
		ID int `json:"id"`
	}
	at := fmt.Sprintf("/pulls/%d", number)
	for path, out := range map[string]any{at: &p, at + "/files": &files, at + "/reviews": &reviews} {
		if err := g.repo(Self, http.MethodGet, path, nil, out); err != nil {
			return err.Error()
		}
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	text := fmt.Sprintf("%s\nstate: %s\nbase: %s\nfiles: %s\n%s\n", p.Title, p.State, p.Base.Ref, strings.Join(names, " "), p.Body)
	for _, r := range reviews {
		var comments []struct {
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
			} `json:"user"`
		}
		if err := g.repo(Self, http.MethodGet, fmt.Sprintf("%s/reviews/%d/comments", at, r.ID), nil, &comments); err != nil {
			return err.Error()
		}
		for _, c := range comments {
			text += c.User.Login + ": " + c.Body + "\n"
		}
	}
	return text
}
