package cli

import (
	"fmt"
	"time"
)

// Counts returns a function that shows progress in lines on a terminal, at most five times a
// second, starting after one second. It returns nil if there is no terminal or with --quiet.
func (a *App) Counts() func(done, of int) {
	if !a.Terminal || a.Quiet {
		return nil
	}
	next := a.Now().Add(time.Second)
	shown := false
	return func(done, of int) {
		now := a.Now()
		if done == of && shown {
			fmt.Fprintf(a.Err, "\r%d of %d lines\n", done, of)
		}
		if done < of && now.After(next) {
			fmt.Fprintf(a.Err, "\r%d of %d lines", done, of)
			next, shown = now.Add(200*time.Millisecond), true
		}
	}
}
