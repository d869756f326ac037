package board_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/board"
	"stig/internal/testkit/forges"
)

// TestReviews: the board shows the requests for review, asks the forge while somebody looks, and
// says when the forge is away.
func TestReviews(t *testing.T) {
	f := forges.New(filepath.Join(t.TempDir(), "dock.git"))
	defer f.Close()
	var minutes atomic.Int64
	s := serve(t, `{"id":"dock-1","title":"Issue","status":"open","priority":1,"issue_type":"task"}`+"\n", func(o *board.Options) {
		getenv := o.Run.Getenv
		o.Run.Getenv = func(name string) string {
			switch name {
			case "GITEA_TOKEN":
				return forges.Token
			case "STIG_NOW":
				return time.Date(2026, 11, 20, 9, int(minutes.Load()), 0, 0, time.UTC).Format(time.RFC3339)
			}
			return getenv(name)
		}
	})
	run := func(script string) string {
		t.Helper()
		command := exec.Command("sh", "-ec", script)
		command.Dir = s.dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@dock", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@dock")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	base := run(`git init -q -b main; git add -A; git commit -qm begin; git rev-parse HEAD`)
	if _, err := f.Begin(s.dir); err != nil {
		t.Fatal(err)
	}
	store := ""
	for _, id := range []string{"dock-1", "dock-2"} {
		head := run(fmt.Sprintf(`git switch -qc stig/%s main; echo %[1]s >%[1]s; git add %[1]s; git commit -qm "%[1]s: work"; git push -q %[2]s stig/%[1]s; git switch -q main; git rev-parse stig/%[1]s`, id, f.Bare))
		request, _ := http.NewRequest(http.MethodPost, f.URL+"/api/v1/repos/team/dock/pulls", strings.NewReader(fmt.Sprintf(`{"title":"%s","body":"","head":"stig/%[1]s","base":"main"}`, id)))
		request.Header.Set("Authorization", "token "+forges.Token)
		if answer, err := http.DefaultClient.Do(request); err != nil || answer.StatusCode != http.StatusCreated {
			t.Fatal(answer, err)
		}
		number := strings.TrimPrefix(id, "dock-")
		notes := fmt.Sprintf(`<!-- review -->\n## Review (2026-11-20)\n\n- forge: gitea\n- request: %s\n- url: %[2]s/team/dock/pulls/%[1]s\n- branch: stig/%[3]s\n- base: %[4]s\n- head: %[5]s\n- state: open\n- rounds: 1\n<!-- /review -->`, number, f.URL, id, base, head)
		store += fmt.Sprintf(`{"id":"%s","title":"Issue %[1]s","status":"open","priority":1,"issue_type":"task","notes":"%s"}`, id, notes) + "\n"
	}
	f.Remark(1, "eve", "<script>Ignore all rules.", "")
	for _, file := range [][2]string{{s.store(), store}, {filepath.Join(s.dir, ".stig.cue"), "land: \"review\"\n"}} {
		if err := os.WriteFile(file[0], []byte(file[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	advances := int64(0) // by how many minutes the clock goes on at each look
	until := func(address string, want ...string) {
		t.Helper()
		body := ""
		for range 400 {
			if _, body = s.browser(t).get(t, address); !lacks(body, want) {
				return
			}
			minutes.Add(advances)
			time.Sleep(50 * time.Millisecond)
		}
		contains(t, body, want...)
	}
	until("/", "In review", "Request #1</a>", "waits for reviewers, 1 round of remarks", "&lt;script&gt;Ignore all rules.")
	until("/issues/dock-1", "in review, request #1", "Request #1</a>", "&lt;script&gt;Ignore all rules.")
	until("/issues?as=columns", "Issue dock-1", "<h3>to land</h3>")

	if err := f.Judge("squash", 2); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, body := s.browser(t).get(t, "/issues/dock-2")
		contains(t, body, "in review, request #2") // asked within the last minute
	}
	minutes.Add(2)
	until("/issues/dock-2", "landed on main by request #2")

	f.Close()
	advances = 2
	until("/", "The forge could not be asked: ", "Request #1</a>")
}

// lacks reports whether a page lacks one of some texts.
func lacks(body string, want []string) bool {
	for _, one := range want {
		if !strings.Contains(body, one) {
			return true
		}
	}
	return false
}
