package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
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

// standIn answers paths with JSON, and keeps what was sent.
type standIn struct {
	answers map[string]string         // "METHOD path" → JSON, or a status such as 403; absent for 404. Further pages are "METHOD path 2"
	sent    map[string]map[string]any // the last body of each
}

// list matches the list of an answer, which is empty on a page after the last one.
var list = regexp.MustCompile(`(?s)\[.*\]`)

func (s *standIn) answer(method, path string, body []byte) (string, int) {
	path, query, _ := strings.Cut(path, "?")
	key := method + " " + path
	var in map[string]any
	if json.Unmarshal(body, &in) == nil {
		s.sent[key] = in
	}
	text, ok := s.answers[key]
	if page := regexp.MustCompile(`\bpage=(\d+)`).FindStringSubmatch(query); ok && page != nil && page[1] != "1" {
		if text, ok = s.answers[key+" "+page[1]]; !ok {
			return list.ReplaceAllString(s.answers[key], "[]"), http.StatusOK
		}
	}
	if !ok {
		return "", http.StatusNotFound
	}
	if code, err := strconv.Atoi(text); err == nil {
		return `{"message": "as it says"}`, code
	}
	return text, http.StatusOK
}

func (s *standIn) gh(_ context.Context, stdin []byte, argv ...string) ([]byte, error) {
	if !slices.Equal(argv[:4], []string{"api", "--hostname", "github.com", "--method"}) {
		return nil, errors.New("unexpected arguments: " + strings.Join(argv, " "))
	}
	text, code := s.answer(argv[4], argv[5], stdin)
	if code != http.StatusOK {
		return nil, fmt.Errorf("gh: %s (HTTP %d)", http.StatusText(code), code)
	}
	return []byte(text), nil
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text, code := s.answer(r.Method, strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/"), body)
	if r.Header.Get("Authorization") != "token t0ken" {
		code = http.StatusUnauthorized
	}
	w.WriteHeader(code)
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

const open = `{"number": 7, "node_id": "PR_7", "title": "dock-1: Lay", "state": "open", "draft": true, "html_url": "https://github.com/team/dock/pull/7", "head": {"ref": "stig/dock-1", "sha": "abc"}}`

// jobLog is a log in which the failed step is not the last one.
var jobLog = "\ufeff2026-11-20T09:00:00.0000000Z ##[group]Run make test\r\n" + strings.Repeat("2026-11-20T09:00:01.0000000Z ok\n", 100) +
	"2026-11-20T09:00:02.0000000Z planks: too short\n2026-11-20T09:00:02.0000000Z ##[error]Process completed with exit code 1.\n2026-11-20T09:00:03.0000000Z Post job cleanup.\n"

// TestGitHub keeps what GitHub is asked; it was not run on the real service.
func TestGitHub(t *testing.T) {
	f, s := githubOf(t, map[string]string{
		"GET repos/team/dock":       `{"default_branch": "trunk"}`,
		"GET repos/team/dock/pulls": `[]`, "POST repos/team/dock/pulls": open, "PATCH repos/team/dock/pulls/7": open,
		"GET repos/team/dock/pulls/7":                       `{"number": 7, "state": "closed", "merged": true, "merge_commit_sha": "def", "head": {"ref": "stig/dock-1", "sha": "abc"}}`,
		"GET repos/team/dock/collaborators/mara/permission": `{"permission": "maintain"}`,
		"GET repos/team/dock/collaborators/eve/permission":  `{"permission": "read"}`,
		"POST graphql": `{"data": {"repository": {"pullRequest": {
			"reviews": {"nodes": [{"id": "R1", "body": "oak", "state": "CHANGES_REQUESTED", "author": {"login": "mara"}}, {"id": "R2", "body": "old", "state": "DISMISSED", "author": {"login": "mara"}}, {"id": "R3", "body": "hi", "state": "COMMENTED", "author": {"login": "ghost"}}, {"id": "R4", "body": "fine", "state": "APPROVED", "author": {"login": "mara"}}]},
			"reviewThreads": {"nodes": [{"id": "T1", "isResolved": false, "path": "planks", "line": 3, "comments": {"nodes": [{"id": "C1", "body": "short", "author": {"login": "eve"}}, {"id": "C2", "body": "done", "author": null}]}},
				{"id": "T2", "isResolved": true, "comments": {"nodes": [{"id": "C3", "body": "over", "author": {"login": "mara"}}]}}]}}}}}`,
	})
	ctx := t.Context()
	if branch, err := f.Default(ctx); branch != "trunk" || err != nil {
		t.Error(branch, err)
	}
	r, err := f.Open(ctx, Draft{Title: "dock-1: Lay", Body: "why", Branch: "stig/dock-1", Base: "trunk"})
	if sent := s.sent["POST repos/team/dock/pulls"]; err != nil || r.Number != 7 || !r.Draft || sent["draft"] != true || sent["head"] != "stig/dock-1" || sent["base"] != "trunk" {
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
	list := remarksOf(t, f, "mara oak trusted", "ghost hi", "eve short", " done")
	if err := f.Reply(ctx, 7, list[2], "Addressed in abc."); err != nil || s.sent["POST graphql"]["variables"].(map[string]any)["id"] != "T1" {
		t.Error(err, s.sent["POST graphql"])
	}
	for _, code := range []string{"403", "429", "500"} { // nobody becomes a stranger because of that
		f, s := githubOf(t, maps.Clone(s.answers))
		s.answers["GET repos/team/dock/collaborators/eve/permission"] = code
		if _, err := f.Remarks(ctx, 7); err == nil || !strings.Contains(err.Error(), "unknown whether eve may write") {
			t.Error(code, err)
		}
	}
}

// remarksOf compares the remarks on request 7 with a list.
func remarksOf(t *testing.T, f Forge, want ...string) []Remark {
	t.Helper()
	list, err := f.Remarks(t.Context(), 7)
	var got []string
	for _, m := range list {
		word := m.Author + " " + m.Text
		if m.Trusted {
			word += " trusted"
		}
		got = append(got, word)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	return list
}

func TestGitHubChecks(t *testing.T) {
	runs := `{"check_runs": [{"id": 1, "name": "a", "status": "completed", "conclusion": "success"}, {"id": 2, "name": "b", "status": "completed", "conclusion": "failure", "app": {"slug": "github-actions"}},
		{"id": 3, "name": "c", "status": "completed", "conclusion": "failure", "app": {"slug": "scanner"}, "output": {"summary": "2 holes"}}]}`
	f, s := githubOf(t, map[string]string{
		"GET repos/team/dock/commits/abc/check-runs": runs,
		"GET repos/team/dock/commits/abc/status":     `{"statuses": [{"context": "d", "state": "success"}, {"context": "e", "state": "error", "description": "no disk"}]}`,
		"GET repos/team/dock/actions/jobs/2/logs":    jobLog,
	})
	checksOf(t, f, 5, false, "b: planks: too short\n##[error]Process completed with exit code 1.", "c: 2 holes", "e: no disk")
	delete(s.answers, "GET repos/team/dock/actions/jobs/2/logs")
	s.answers["GET repos/team/dock/commits/abc/check-runs 2"] = `{"check_runs": [{"id": 4, "name": "late", "status": "queued"}]}`
	checksOf(t, f, 6, true, "b: concluded: failure", "c: 2 holes", "e: no disk")
	s.answers["GET repos/team/dock/commits/abc/status"] = "403"
	if _, err := f.Checks(t.Context(), "abc"); err == nil {
		t.Error("without an answer there are no failed jobs")
	}
}

// checksOf compares the last two lines of the failed jobs of commit abc with a list.
func checksOf(t *testing.T, f Forge, jobs int, pending bool, want ...string) {
	t.Helper()
	c, err := f.Checks(t.Context(), "abc")
	var got []string
	for _, job := range c.Failed {
		lines := strings.Split(job.Tail, "\n")
		if len(lines) > tailLines {
			t.Errorf("%d lines of %s", len(lines), job.Name)
		}
		got = append(got, job.Name+": "+strings.Join(lines[max(0, len(lines)-2):], "\n"))
	}
	slices.Sort(got)
	if err != nil || c.Jobs != jobs || c.Pending != pending || !slices.Equal(got, want) {
		t.Errorf("%d jobs, pending %v, %q, %v; want %d, %v, %q", c.Jobs, c.Pending, got, err, jobs, pending, want)
	}
}

func TestGitea(t *testing.T) {
	f, s := giteaOf(t, map[string]string{
		"GET repos/team/dock/pulls": `[]`, "POST repos/team/dock/pulls": strings.Replace(open, "dock-1: Lay", "WIP: dock-1: Lay", 1), "PATCH repos/team/dock/pulls/7": open,
		"GET repos/team/dock/commits/abc/status": `{"statuses": [{"context": "a", "status": "failure", "description": "Failing after 2s", "target_url": "/team/dock/actions/runs/3/jobs/9"}, {"context": "b", "status": "pending"},
			{"context": "c", "status": "error", "description": "of another commit", "target_url": "/team/dock/actions/runs/3/jobs/1"}]}`,
		"GET repos/team/dock/actions/jobs/9":      `{"head_sha": "abc"}`,
		"GET repos/team/dock/actions/jobs/1":      `{"head_sha": "def"}`,
		"GET repos/team/dock/actions/jobs/9/logs": jobLog,
		"GET repos/team/dock/actions/jobs/1/logs": jobLog,
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
	checksOf(t, f, 3, true, "a: planks: too short\n##[error]Process completed with exit code 1.", "c: of another commit")
	if _, err := f.Request(ctx, 99); !errors.Is(err, status(http.StatusNotFound)) {
		t.Error(err)
	}
	if _, err := Of(Options{Remote: "https://code.example/team/dock"}); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Error(err)
	}
}

func TestGiteaRemarks(t *testing.T) {
	const review = "repos/team/dock/pulls/7/reviews"
	f, s := giteaOf(t, map[string]string{
		"GET " + review: `[{"id": 1, "user": {"login": "mara"}, "body": "oak", "state": "REQUEST_CHANGES", "comments_count": 4}, {"id": 2, "user": {"login": "mara"}, "body": "old", "state": "REQUEST_CHANGES", "dismissed": true},
			{"id": 7, "user": {"login": "eve"}, "body": "replaced", "state": "REQUEST_CHANGES", "dismissed": true}, {"id": 8, "user": {"login": "bo"}, "body": "taken back", "state": "REQUEST_CHANGES", "dismissed": true}, {"id": 9, "user": {"login": "bo"}, "state": "APPROVED"},
			{"id": 3, "user": {"login": "eve"}, "body": "hi", "state": "COMMENT"}, {"id": 4, "user": {"login": "mara"}, "body": "fine", "state": "APPROVED"}, {"id": 5, "user": {"login": "mara"}, "body": "later", "state": "PENDING"}]`,
		"GET " + review + " 2": `[{"id": 6, "user": {"login": "mara"}, "state": "COMMENT", "comments_count": 1}]`,
		"GET " + review + "/1/comments": `[{"id": 13, "pull_request_review_id": 1, "user": {"login": "mara"}, "body": "answered", "path": "a", "position": 1}, {"id": 12, "pull_request_review_id": 1, "user": {"login": "mara"}, "body": "resolved", "path": "a", "position": 1, "resolver": {"login": "mara"}},
			{"id": 14, "pull_request_review_id": 1, "user": {"login": "mara"}, "body": "short", "path": "b", "original_position": 2}, {"id": 15, "pull_request_review_id": 1, "user": {"login": "mara"}, "body": "long", "path": "b", "position": 2}]`,
		"GET " + review + "/6/comments":                     `[{"id": 20, "pull_request_review_id": 6, "user": {"login": "mara"}, "body": "again", "path": "a", "position": 1}]`,
		"GET repos/team/dock/issues/7/timeline":             `[{"type": "review", "review_id": 7}, {"type": "dismiss_review", "review_id": 2}]`,
		"POST " + review:                                    `{}`,
		"GET repos/team/dock/collaborators/mara/permission": `{"permission": "write"}`,
		"GET repos/team/dock/collaborators/eve/permission":  `{"permission": "read"}`,
	})
	all := []string{"mara oak trusted", "eve replaced", "eve hi", "mara short trusted", "mara long trusted", "mara again trusted"}
	list := remarksOf(t, f, all...)
	for i, want := range map[int]string{3: "old_position", 4: "new_position"} { // of a deleted line, and of a new one
		err := f.Reply(t.Context(), 7, list[i], "Addressed in abc.")
		if comment := s.sent["POST "+review]["comments"].([]any)[0].(map[string]any); err != nil || comment[want] != 2.0 || comment["path"] != "b" {
			t.Error(err, s.sent)
		}
	}

	// a token that may not ask about permissions can list who may be assigned
	for _, name := range []string{"mara", "eve"} {
		s.answers["GET repos/team/dock/collaborators/"+name+"/permission"] = "403"
	}
	s.answers["GET repos/team/dock/assignees"], s.answers["GET repos/team/dock/teams"] = `[{"login": "mara"}]`, "405"
	fresh := func() Forge { f, _ := giteaOf(t, s.answers); return f }
	remarksOf(t, fresh(), all...)
	s.answers["GET repos/team/dock/teams"] = `[{"units_map": {"repo.code": "write"}}]`
	remarksOf(t, fresh(), all...)
	for _, teams := range []string{`[{"units_map": {"repo.code": "write"}}, {"units_map": {"repo.code": "read", "repo.pulls": "write"}}]`, "403", "500"} {
		s.answers["GET repos/team/dock/teams"] = teams
		if _, err := fresh().Remarks(t.Context(), 7); err == nil || !strings.Contains(err.Error(), "unknown whether mara may write") {
			t.Error(teams, err)
		}
	}
}

// TestLongTitle checks that a title is as short as forges demand.
func TestLongTitle(t *testing.T) {
	answers := func(list string) map[string]string {
		return map[string]string{"GET repos/team/dock/pulls": list, "POST repos/team/dock/pulls": `{"number": 1}`, "PATCH repos/team/dock/pulls/1": `{"number": 1}`}
	}
	for _, open := range []func(*testing.T, map[string]string) (Forge, *standIn){githubOf, giteaOf} {
		for key, list := range map[string]string{"POST repos/team/dock/pulls": "[]", "PATCH repos/team/dock/pulls/1": `[{"number": 1, "state": "open", "head": {"ref": "b"}}]`} {
			f, s := open(t, answers(list))
			if _, err := f.Open(t.Context(), Draft{Title: strings.Repeat("long ", 100), Branch: "b", Base: "main"}); err != nil {
				t.Fatal(err)
			}
			if title, _ := s.sent[key]["title"].(string); len([]rune(title)) > 255 || !strings.Contains(title, "long long") {
				t.Errorf("%s: a title of %d characters: %s", key, len([]rune(title)), title)
			}
		}
	}
}
