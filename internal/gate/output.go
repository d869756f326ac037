package gate

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"stig/internal/visible"
)

// screen shows the output of the checks. On a terminal it keeps a line with the elapsed time
// below the output.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	within bool // the last written line is incomplete
	timed  bool // the time line is there
}

// clearLine clears the cursor's line.
const clearLine = "\r\x1b[K"

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	if err := s.untime(); err != nil {
		return 0, err
	}
	s.within = b[len(b)-1] != '\n'
	return s.out.Write(b)
}

// finish completes the last line, and removes the time.
func (s *screen) finish() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.within {
		return s.untime()
	}
	s.within = false
	_, err := io.WriteString(s.out, "\n")
	return err
}

// untime removes the time line.
func (s *screen) untime() error {
	if !s.timed {
		return nil
	}
	s.timed = false
	_, err := io.WriteString(s.out, clearLine)
	return err
}

// tick shows the elapsed time, unless a line is being written.
func (s *screen) tick(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.within {
		return
	}
	s.timed = true
	// The output itself reports when nothing can be written any more.
	_, _ = io.WriteString(s.out, clearLine+text)
}

// tickTime is how often the elapsed time is shown.
const tickTime = time.Second

// timing shows text periodically until it is stopped.
func (s *screen) timing(text func() string) (stop func()) {
	end := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(tickTime)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				s.tick(text())
			}
		}
	})
	return func() {
		close(end)
		ticking.Wait()
	}
}

// echo is a script as it is shown before it runs: "+ " before its first line, as a shell traces
// what it runs, "> " before the others.
func echo(script string) string {
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	for i, line := range lines {
		lines[i] = "> " + visible.Text(line)
	}
	lines[0] = "+" + lines[0][1:]
	return strings.Join(lines, "\n")
}

const (
	tailLines = 20
	tailBytes = 8 << 10
)

// lastLines is the end of what is kept of an output, as text.
func lastLines(output []byte) string {
	output = bytes.TrimSuffix(output, []byte("\n"))
	output = output[max(0, len(output)-tailBytes):]
	start := len(output)
	for range tailLines {
		if start = bytes.LastIndexByte(output[:start], '\n'); start < 0 {
			break
		}
	}
	return strings.ToValidUTF8(string(output[start+1:]), "\uFFFD")
}

func quotedText(text string) string { return `"` + text + `"` }
