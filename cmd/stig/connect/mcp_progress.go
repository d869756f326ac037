package connect

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// progressTime is how often a client is told that checks are running: hosts give up on
// a call that says nothing for long.
const progressTime = time.Second

// progress tells the client what runs, at once and every second, until it is stopped.
// Of a client that did not ask it only keeps the output of checks from the error stream.
func (s *server) progress(ctx context.Context, r *mcp.CallToolRequest, run *workspace.Run) (stop func()) {
	latest := &lastCommand{began: make(chan struct{}, 1)}
	run.Progress = latest
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	end := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticker := time.NewTicker(progressTime)
		defer ticker.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-end:
				return
			case <-latest.began:
			case <-ticker.C:
			}
			// A client that cannot be told is gone, and the connection knows.
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: latest.text()})
		}
	})
	return func() {
		close(end)
		telling.Wait()
	}
}

// lastCommand keeps the command that runs, of what checks print: the latest line that
// begins with "+ ".
type lastCommand struct {
	began chan struct{} // gets one where there is a new one
	mu    sync.Mutex
	line  string
}

func (l *lastCommand) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if command, is := strings.CutPrefix(string(line), "+ "); is {
			l.mu.Lock()
			l.line = clip(strings.TrimSpace(command), 200)
			l.mu.Unlock()
			select {
			case l.began <- struct{}{}:
			default:
			}
		}
	}
	return len(b), nil
}

func (l *lastCommand) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return visible.Text(l.line)
}
