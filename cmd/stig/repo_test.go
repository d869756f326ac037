package main

import (
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// repo makes the directory a git repository on branch main, and commits what is there: repo
// [name]. A name is also the identity for later commits there; without one, git has no
// identity.
func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: repo [name]")
	}
	commit := []string{"commit", "-q", "-m", "begin"}
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main"))
	if len(args) == 1 {
		config, err := os.OpenFile(ts.MkAbs(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
		ts.Check(err)
		_, err = fmt.Fprintf(config, "[user]\n\tname = %s\n\temail = %[1]s@example.org\n", args[0])
		ts.Check(err)
		ts.Check(config.Close())
	} else {
		commit = append([]string{"-c", "user.name=m", "-c", "user.email=m@example.org"}, commit...)
	}
	ts.Check(ts.Exec("git", "add", "."))
	ts.Check(ts.Exec("git", commit...))
}
