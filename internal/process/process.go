// Package process starts all other programs: git, checks, editors, a tracker, notifiers.
//
// It is the only package that does, so that ending a program and its descendants is done in one
// place: Run waits for a program in a process group of its own and ends the rest of the group,
// Supervise does so for one that works for hours, and keeps a log of it, Foreground gives the
// terminal to one that talks to a person, and Detach starts one that outlives us.
//
// The package does not know why a program is run or whether it may be: it takes command,
// directory and environment as they are.
//
//	result, err := process.Run(ctx, process.Command{Argv: []string{"go", "vet", "./..."}, Dir: root})
//	if err == nil && result.Exit != 0 {
//		fmt.Printf("%s", result.Stderr)
//	}
package process
