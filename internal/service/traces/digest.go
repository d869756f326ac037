package traces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// DigestBudget is the default limit of a digest in characters.
const DigestBudget = 12000

// DigestRequest asks for what was left on an issue since its last summary. With Command, that
// program reads the digest and prints the summary.
type DigestRequest struct {
	Issue   string
	Budget  int // limit in characters; 0 means DigestBudget
	Command []string
	DryRun  bool
}

// Digest is what was left, and its summary if one was requested.
type Digest struct {
	ID       string
	Title    string
	Digest   trace.Digest
	Markdown string
	Added    *Added // nil if no program was run
}

// MakeDigest returns the digest of an issue. With a command it leaves the command's output as
// the summary: the first line is the summary, the rest the body. If the command fails or prints
// nothing, nothing is left (fault.Found).
func MakeDigest(ctx context.Context, a *workspace.Run, r DigestRequest) (*Digest, error) {
	r.Budget = cmp.Or(r.Budget, DigestBudget)
	if r.Budget < 200 {
		return nil, workspace.Usage(fmt.Sprintf("--budget: must be at least 200 characters; found %d", r.Budget), "")
	}
	d, err := digestOf(a, r)
	if err != nil || len(r.Command) == 0 {
		return d, err
	}
	if d.Digest.Newest == "" {
		return nil, &fault.Error{Code: fault.Found, ID: d.ID, Reason: "nothing was left since the last summary", Hint: "type stig trace list " + d.ID}
	}
	text, err := printed(ctx, a, r.Command, d.Markdown)
	if err != nil {
		return nil, err
	}
	summary, body, _ := strings.Cut(text, "\n")
	d.Added, err = Add(ctx, a, AddRequest{DryRun: r.DryRun, Drafts: []Draft{{
		Issue: d.ID, Type: trace.Summary, Body: body,
		Content: map[string]any{"summary_text": summary, "covers": d.Digest.Newest, "count": d.Digest.Count},
	}}})
	return d, err
}

func digestOf(a *workspace.Run, r DigestRequest) (*Digest, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	issue, record, err := file.FindRecord(r.Issue)
	if err != nil {
		return nil, err
	}
	list := trace.Of(record)
	trace.Sort(list)
	d := &Digest{ID: issue.ID, Title: issue.Title, Digest: trace.DigestOf(list)}
	title := visible.Clipped(visible.OneLine(issue.Title), r.Budget/4) // the rest is for the traces
	head := fmt.Sprintf("# What was left on %s: %s\n\n%s", issue.ID, title, visible.Counted(d.Digest.Total, "trace"))
	if d.Digest.Since != "" {
		head += " since the summary that covers " + d.Digest.Since
	}
	head += "\n\n"
	d.Markdown = workspace.Visible(head + d.Digest.Markdown(r.Budget-utf8.RuneCountInString(head)))
	return d, nil
}

// mostPrinted is the most bytes of a summary that are read: more than a line of the store can
// have.
const mostPrinted = 16 << 20

// printed runs a program with text on standard input and returns what it prints.
func printed(ctx context.Context, a *workspace.Run, argv []string, text string) (string, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &process.Short{Most: mostPrinted, Stop: stop}
	result, err := process.Run(ctx, process.Command{Argv: argv, Dir: a.Dir, Env: a.Environ(), Stdin: []byte(text), Stdout: out})
	if errors.Is(err, process.ErrNotFound) {
		return "", workspace.Usage(argv[0]+": no such program", "nothing was written")
	}
	if err != nil {
		return "", err
	}
	said := strings.TrimSpace(out.String())
	switch {
	case result.Exit != 0:
		return "", &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("%s ended with exit code %d, and nothing was written: %s", argv[0], result.Exit, visible.OneLine(string(result.Stderr)))}
	case said == "":
		return "", &fault.Error{Code: fault.Found, Reason: argv[0] + " printed nothing, and nothing was written"}
	}
	return said, nil
}
