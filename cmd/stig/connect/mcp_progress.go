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

// progressTime is the interval of progress notifications: hosts give up on a call that is
// silent for long.
const progressTime = time.Second

// progress tells the client which check is running, at once and every second, until stop is
// called. If the client did not ask for progress, it only keeps the output of checks away from
// standard error.
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
			// An error means that the client is gone, which the connection notices itself.
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: latest.text()})
		}
	})
	return func() {
		close(end)
		telling.Wait()
	}
}

// lastCommand keeps the running command from the output of checks: the latest line that begins
// with "+ ".
type lastCommand struct {
	began chan struct{} // gets a value for each new command
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
