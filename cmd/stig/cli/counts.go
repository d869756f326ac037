package cli

import (
	"fmt"
	"time"
)

// Counts gives a function that says on a terminal how many lines are done, at most five
// times a second and from the first second on. Elsewhere it is nil.
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
