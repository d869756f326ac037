package worktree

import (
	"context"
	"strings"

	"stig/git"
	"stig/shell"
)

// Stranded is what to type where the branch of an issue has commits that no other branch
// has, to bring them to the branch that loops work from, else to the one that is checked out;
// "" where it has none. What git cannot tell is no hindrance.
func Stranded(ctx context.Context, g git.Client, issue string) (remedy string) {
	branch := BranchOf(issue, Usual)
	says := func(argv ...string) (string, bool) {
		text, err := g.Must(ctx, argv...)
		return strings.TrimSpace(text), err == nil
	}
	if alone, ok := says("rev-list", "-1", "refs/heads/"+branch, "--not", "--exclude="+branch, "--branches"); !ok || alone == "" {
		return ""
	}
	push := "git push . " + shell.Quoted(branch+":"+Usual)
	if _, is := says("merge-base", "--is-ancestor", "refs/heads/"+Usual, "refs/heads/"+branch); is {
		return push
	}
	dir := ""
	if list, ok := says("worktree", "list", "--porcelain"); ok {
		before, _, found := strings.Cut(list, "\nbranch refs/heads/"+branch+"\n")
		if at := strings.LastIndex("\n"+before, "\nworktree "); found && at >= 0 {
			dir, _, _ = strings.Cut(before[at+len("worktree "):], "\n")
		}
	}
	if _, there := says("rev-parse", "--verify", "--quiet", "refs/heads/"+Usual); there && dir != "" {
		return "git -C " + shell.Quoted(dir) + " merge " + Usual + " && " + push
	}
	return "git merge " + shell.Quoted(branch)
}
