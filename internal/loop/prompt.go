package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/assistant"
	"stig/internal/clone"
	"stig/internal/service"
)

// promptOf returns the standard input of the command: who it is, the briefing, and how the run
// ends. What the actor learned is at the end of the briefing.
func (l *loop) promptOf(ctx context.Context, r *Run) (string, error) {
	var text strings.Builder
	if body := l.profile.Opening(); body != "" {
		text.WriteString(body + "\n\n")
	}
	text.WriteString(l.terms(r) + l.waitingFor())
	switch r.Task {
	case taskInbox:
		return text.String(), nil
	case taskHeartbeat:
		fmt.Fprintf(&text, "\n## Heartbeat\n\n%s\n", l.profile.Section(clone.Heartbeat))
		return text.String(), nil
	}
	o, err := service.Orient(ctx, l.fresh(ctx, ""), service.OrientRequest{ID: r.Issue, Loop: true})
	if err != nil {
		return "", err
	}
	text.WriteString("\n" + o.Markdown())
	return text.String(), nil
}

// terms returns the rules of the run, in terms that every assistant knows.
func (l *loop) terms(r *Run) string {
	var text strings.Builder
	fmt.Fprintf(&text, "## This run\n\nYou are %s, started by stig work for run %s", l.name, r.ID)
	if r.Issue != "" {
		fmt.Fprintf(&text, ", attempt %d at %s", r.Attempt, r.Issue)
	}
	text.WriteString(".\n\n")
	switch {
	case r.Issue == "":
		under := map[string]string{taskHeartbeat: "Heartbeat", taskInbox: "Waiting for you"}[r.Task]
		text.WriteString("- No issue is claimed: leave traces, for example with stig trace add.\n")
		if l.trees != nil {
			text.WriteString("- The current directory is a work tree that is removed afterwards: no file is kept.\n")
		}
		text.WriteString("- Do what is listed under " + under + ", then end.\n")
		return text.String()
	case l.trees == nil:
		text.WriteString("- Work in the current directory.\n")
	default:
		text.WriteString("- The current directory is a work tree of your own, on branch " + r.Branch + ". Work only there.\n" +
			"- Commit your work there. stig commits what you leave uncommitted when you end.\n")
	}
	if r.Holder != "" {
		text.WriteString("- Others do this issue at the same time, each on a branch of their own. One solution lands.\n")
	}
	end := "When you end with exit code 0"
	if l.assistant() != "" {
		end = "When you end"
	}
	if l.NoClose {
		text.WriteString("- Do not close the issue: somebody reviews your work first.\n")
	} else {
		text.WriteString("- Do not close the issue. " + end + ", stig merges your work, runs the\n  acceptance criteria on the result, and closes the issue if they pass.\n")
	}
	for _, line := range r.found {
		text.WriteString("- " + line + "\n")
	}
	if r.lack != "" {
		text.WriteString("- Note: " + r.lack + ".\n")
	}
	fmt.Fprintf(&text, "- Before you end, say what you did: stig checkpoint %s --done … --learned … --remains ….\n", r.Issue)
	fmt.Fprintf(&text, "- Does a person have to decide? Type stig escalate %s -m QUESTION, then end.\n", r.Issue)
	if l.assistant() == "" { // an assistant's model does not choose the exit code of its program
		text.WriteString("- If you cannot work now, for example because of a rate limit, end with exit code 75.\n")
	}
	return text.String()
}

// assistant returns the host whose program the command starts; "" for any other program, such
// as a script.
func (l *loop) assistant() assistant.Host {
	words := l.Command
	if l.ofFile { // a shell command line
		words = strings.Fields(l.profile.Command)
	}
	if len(words) > 0 {
		if name := assistant.Host(filepath.Base(words[0])); slices.Contains(assistant.Hosts(), name) {
			return name
		}
	}
	return l.Host
}
