package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestPlaceOf(t *testing.T) {
	for remote, want := range map[string]place{
		"https://github.com/team/dock.git":             {"https://github.com", "github.com", "team", "dock"},
		"git@github.com:team/dock.git":                 {"https://github.com", "github.com", "team", "dock"},
		"ssh://git@code.example:2222/team/dock":        {"https://code.example", "code.example", "team", "dock"},
		"http://bot:secret@code.example:3000/a/b.git/": {"http://code.example:3000", "code.example", "a", "b.git"},
		"https://code.example/forge/team/dock":         {"https://code.example/forge", "code.example", "team", "dock"},
	} {
		want.name = strings.TrimSuffix(want.name, ".git")
		if got, err := placeOf(remote); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", remote, got, err, want)
		}
	}
	for _, remote := range []string{"", "/srv/dock.git", "../dock", "file:///srv/team/dock", "https://code.example/dock", "https://bot:secret@code.example/dock"} {
		if _, err := placeOf(remote); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", remote, err)
		}
	}
}

// standIn answers paths with JSON, and keeps what was asked.
type standIn struct {
	answers map[string]string // "METHOD path" → JSON; "404" for nothing there
	asked   []string
	sent    map[string]map[string]any // the last body of each
}

func (s *standIn) answer(method, path string, body []byte) (string, bool) {
	path, _, _ = strings.Cut(path, "?")
	key := method + " " + path
	s.asked = append(s.asked, key)
	var in map[string]any
	if json.Unmarshal(body, &in) == nil {
		s.sent[key] = in
	}
	text, ok := s.answers[key]
	return text, ok && text != "404"
}

func (s *standIn) gh(_ context.Context, stdin []byte, argv ...string) ([]byte, error) {
	if !slices.Equal(argv[:4], []string{"api", "--hostname", "github.com", "--method"}) {
		return nil, errors.New("unexpected arguments: " + strings.Join(argv, " "))
	}
	text, ok := s.answer(argv[4], argv[5], stdin)
	if !ok {
		return nil, errors.New("gh: Not Found (HTTP 404)")
	}
	return []byte(text), nil
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, max(r.ContentLength, 0))
	_, _ = r.Body.Read(body)
	text, ok := s.answer(r.Method, strings.TrimPrefix(r.URL.Path, "/api/v1/"), body)
	if !ok || r.Header.Get("Authorization") != "token t0ken" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(text))
}

func githubOf(t *testing.T, answers map[string]string) (Forge, *standIn) {
	s := &standIn{answers: answers, sent: map[string]map[string]any{}}
	f, err := Of(Options{Remote: "git@github.com:team/dock.git", GH: s.gh})
	if err != nil || f.Kind() != GitHub {
		t.Fatal(f, err)
	}
	return f, s
}

func giteaOf(t *testing.T, answers map[string]string) (Forge, *standIn) {
	s := &standIn{answers: answers, sent: map[string]map[string]any{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	f, err := Of(Options{Remote: server.URL + "/team/dock.git", Token: "t0ken"})
	if err != nil || f.Kind() != Gitea {
		t.Fatal(f, err)
	}
	return f, s
}

const open = `{"number": 7, "node_id": "PR_7", "title": "dock-1: Lay", "state": "open", "draft": true, "mergeable": false, "html_url": "https://github.com/team/dock/pull/7", "head": {"ref": "stig/dock-1", "sha": "abc"}}`

// TestGitHub keeps what GitHub is asked; it was not run on the real service.
func TestGitHub(t *testing.T) {
	f, s := githubOf(t, map[string]string{
		"GET repos/team/dock":       `{"default_branch": "trunk"}`,
		"GET repos/team/dock/pulls": `[]`, "POST repos/team/dock/pulls": open, "PATCH repos/team/dock/pulls/7": open,
		"GET repos/team/dock/pulls/7":                        `{"number": 7, "state": "closed", "merged": true, "merge_commit_sha": "def", "head": {"ref": "stig/dock-1", "sha": "abc"}}`,
		"GET repos/team/dock/commits/abc/check-runs":         `{"check_runs": [{"name": "a", "status": "completed", "conclusion": "success"}, {"name": "b", "status": "completed", "conclusion": "failure"}, {"name": "c", "status": "in_progress"}]}`,
		"GET repos/team/dock/collaborators/mara/permission":  `{"permission": "maintain"}`,
		"GET repos/team/dock/collaborators/eve/permission":   `{"permission": "read"}`,
		"GET repos/team/dock/collaborators/ghost/permission": "404",
		"GET user": `{"login": "stig-bot"}`,
		"POST graphql": `{"data": {"repository": {"pullRequest": {
			"reviews": {"nodes": [{"id": "R1", "body": "oak", "state": "CHANGES_REQUESTED", "author": {"login": "mara"}}, {"id": "R2", "body": "old", "state": "DISMISSED", "author": {"login": "mara"}}, {"id": "R3", "body": "hi", "state": "COMMENTED", "author": {"login": "ghost"}}]},
			"reviewThreads": {"nodes": [{"id": "T1", "isResolved": false, "path": "planks", "line": 3, "comments": {"nodes": [{"id": "C1", "body": "short", "author": {"login": "eve"}}, {"id": "C2", "body": "done", "author": {"login": "stig-bot"}}]}},
				{"id": "T2", "isResolved": true, "comments": {"nodes": [{"id": "C3", "body": "over", "author": {"login": "mara"}}]}}]}}}}}`,
	})
	ctx := t.Context()
	if branch, err := f.Default(ctx); branch != "trunk" || err != nil {
		t.Error(branch, err)
	}
	r, err := f.Open(ctx, Draft{Title: "dock-1: Lay", Body: "why", Branch: "stig/dock-1", Base: "trunk"})
	if sent := s.sent["POST repos/team/dock/pulls"]; err != nil || r.Number != 7 || !r.Draft || !r.Conflicts || sent["draft"] != true || sent["head"] != "stig/dock-1" || sent["base"] != "trunk" {
		t.Errorf("%+v, %v; sent %v", r, err, sent)
	}
	if err := f.MarkReady(ctx, r); err != nil || s.sent["POST graphql"]["variables"].(map[string]any)["id"] != "PR_7" {
		t.Error(err, s.sent["POST graphql"])
	}
	s.answers["GET repos/team/dock/pulls"] = "[" + open + "]"
	if r, err := f.Open(ctx, Draft{Title: "new", Branch: "stig/dock-1"}); err != nil || r.Number != 7 || s.sent["PATCH repos/team/dock/pulls/7"]["title"] != "new" {
		t.Errorf("an open request is not updated: %+v, %v", r, err)
	}
	if r, err := f.Request(ctx, 7); err != nil || r.State != StateMerged || r.Merge != "def" {
		t.Errorf("%+v, %v", r, err)
	}
	if c, err := f.Checks(ctx, "abc"); err != nil || !c.Pending || len(c.Failed) != 1 || c.Failed[0].Name != "b" {
		t.Errorf("%+v, %v", c, err)
	}
	list, err := f.Remarks(ctx, 7)
	var got []string
	for _, m := range list {
		word := m.Author + " " + m.Text
		if m.Trusted {
			word += " trusted"
		}
		if m.Own {
			word += " own"
		}
		got = append(got, word)
	}
	if want := []string{"mara oak trusted", "ghost hi", "eve short", "stig-bot done own"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if err := f.Reply(ctx, 7, list[2], "Addressed in abc."); err != nil || s.sent["POST graphql"]["variables"].(map[string]any)["id"] != "T1" {
		t.Error(err, s.sent["POST graphql"])
	}
}

func TestGitea(t *testing.T) {
	f, s := giteaOf(t, map[string]string{
		"GET repos/team/dock/pulls": `[]`, "POST repos/team/dock/pulls": strings.Replace(open, "dock-1: Lay", "WIP: dock-1: Lay", 1), "PATCH repos/team/dock/pulls/7": open,
		"GET repos/team/dock/collaborators/mara/permission": `{"permission": "write"}`,
		"GET user": `{"login": "stig-bot"}`,
	})
	ctx := t.Context()
	r, err := f.Open(ctx, Draft{Title: "dock-1: Lay", Branch: "stig/dock-1", Base: "main"})
	if sent := s.sent["POST repos/team/dock/pulls"]; err != nil || sent["title"] != "WIP: dock-1: Lay" {
		t.Errorf("%+v, %v; sent %v", r, err, sent)
	}
	if err := f.MarkReady(ctx, r); err != nil || s.sent["PATCH repos/team/dock/pulls/7"]["title"] != "dock-1: Lay" {
		t.Error(err, s.sent)
	}
	s.answers["GET repos/team/dock/pulls"] = "[" + open + "]"
	if _, err := f.Open(ctx, Draft{Title: "dock-1: Lay", Branch: "stig/dock-1"}); err != nil || s.sent["PATCH repos/team/dock/pulls/7"]["title"] != "dock-1: Lay" {
		t.Error("a request that is ready became a draft again", err, s.sent)
	}
	list := threadsOf([]giteaComment{{ID: 2, Path: "a", Line: 1, Resolver: new(giteaUser)}, {ID: 3, Path: "a", Line: 1}, {ID: 1, Path: "b", Line: 2, Body: "short"}})
	if len(list) != 1 || list[0].Text != "short" || list[0].Thread != "b:2" {
		t.Errorf("%+v", list)
	}
	if _, err := f.Request(ctx, 99); !errors.Is(err, errAbsent) {
		t.Error(err)
	}
	if _, err := Of(Options{Remote: "https://code.example/team/dock"}); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Error(err)
	}
}
