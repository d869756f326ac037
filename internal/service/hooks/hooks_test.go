package hooks

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHookOnServerThatHangs checks that a session waits for a server for a shorter time than a
// command does, and is told why it gets no briefing.
func TestHookOnServerThatHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a, dir := front(t)
	settings := `{"store":"mysql://mara@` + listener.Addr().String() + `/demo"}`
	if err := os.WriteFile(filepath.Join(dir, ".beads", "stig.json"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	hook, err := ParseHook("session-start", "claude")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	reply, err := AnswerHook(t.Context(), a, hook, []byte(`{"session_id":"5e55"}`))
	if took := time.Since(began); err != nil || took > 2*hookDial {
		t.Errorf("took %v, %v", took, err)
	}
	if !strings.Contains(string(reply), "cannot brief you: mysql://mara@"+listener.Addr().String()+"/demo: the server does not answer") {
		t.Errorf("replied %s", reply)
	}
}
