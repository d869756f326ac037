package cli

import (
	"fmt"
	"time"
)

// Counts gives a function that says on a terminal how much of something is done, at most
// five times a second and from the first second on. Elsewhere it is nil.
func (a *App) Counts(what string) func(done, of int) {
	if !a.Terminal || a.Quiet {
		return nil
	}
	next := a.Now().Add(time.Second)
	shown := false
	return func(done, of int) {
		now := a.Now()
		if done == of && shown {
			fmt.Fprintf(a.Err, "\r%d of %d %ss\n", done, of, what)
		}
		if done < of && now.After(next) {
			fmt.Fprintf(a.Err, "\r%d of %d %ss", done, of, what)
			next, shown = now.Add(200*time.Millisecond), true
		}
	}
}
