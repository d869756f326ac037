package gate

import (
	"context"
	"errors"
	"io"
	"time"
)

// Job is what Verify is to run, and where.
type Job struct {
	Issue    string   // its id: names logs and the verdict, and is STIG_ISSUE to the checks
	Criteria string   // the text that Checks come from
	Checks   []Check  // what Plan made of Criteria
	Root     string   // the directory to run in: the root of the repository
	Without  []string // files whose change leaves a verdict fresh, such as the store; see Git.Tree

	Env  []string // the environment to inherit from, as NAME=value
	Pass []string // names to inherit although they look like credentials

	Timeout, Deadline time.Duration // of one check and of all; 0 is DefaultTimeout and DefaultDeadline
	KeepGoing         bool          // go on after a failure
	AllowDestructive  bool          // run what destroys in a fence that is marked verify

	Actor    string
	Out      io.Writer // gets the commands and their output as it comes
	Terminal bool      // Out is a terminal: it gets a line with the elapsed time too
	Logs     string    // the directory for whole outputs; "" keeps none
	Now      func() time.Time
}

// Limits of a Job that names none.
const (
	DefaultTimeout  = 10 * time.Minute
	DefaultDeadline = 30 * time.Minute
)

// Verify runs the checks of a job, one at a time and in order. A check that
// fails is a verdict that did not pass, and no error.
func Verify(ctx context.Context, j Job) (*Verdict, error) {
	return nil, errors.New("checks cannot be run yet")
}
