package git

import (
	"context"
	"os"
	"strings"

	"stig/internal/visible"
)

// StrandedWork is what to type where the branch of an issue has commits that no other branch
// has, to bring them to the branch that loops work from, else to the one that is checked out;
// "" where it has none. What git cannot tell is no hindrance.
func StrandedWork(ctx context.Context, g Client, issue string) (remedy string) {
	branch := BranchOf(issue, WorkBranch)
	says := asker(ctx, g)
	if alone, ok := says("rev-list", "-1", "refs/heads/"+branch, "--not", "--exclude="+branch, "--exclude="+leftoversBranch(branch, "*"), "--branches"); !ok || alone == "" {
		return ""
	}
	push := "git push . " + visible.Quoted(branch+":"+WorkBranch)
	if _, is := says("merge-base", "--is-ancestor", "refs/heads/"+WorkBranch, "refs/heads/"+branch); is {
		return push
	}
	dir := dirOf(branch, says)
	_, missing := os.Stat(dir) // somebody may have removed it, and git does not know
	if _, there := says("rev-parse", "--verify", "--quiet", "refs/heads/"+WorkBranch); there && missing == nil {
		return "git -C " + visible.Quoted(dir) + " merge " + WorkBranch + " && " + push
	}
	return "git merge " + visible.Quoted(branch)
}

// DiscardWork is what to type to throw the work away that is on the branch of an issue.
func DiscardWork(ctx context.Context, g Client, issue string) string {
	branch, remove := BranchOf(issue, WorkBranch), ""
	if dir := dirOf(branch, asker(ctx, g)); dir != "" {
		remove = "git worktree remove -f -f " + visible.Quoted(dir) + " && "
	}
	return remove + "git branch -D " + visible.Quoted(branch)
}

// asker gives what git says to a command, and whether it ended well.
func asker(ctx context.Context, g Client) func(argv ...string) (string, bool) {
	return func(argv ...string) (string, bool) {
		text, err := g.Must(ctx, argv...)
		return strings.TrimSpace(text), err == nil
	}
}

// dirOf is the work tree in which a branch is checked out, as git knows it; "" for none.
func dirOf(branch string, says func(argv ...string) (string, bool)) (dir string) {
	list, _ := says("worktree", "list", "--porcelain")
	before, _, found := strings.Cut(list+"\n", "\nbranch refs/heads/"+branch+"\n")
	if at := strings.LastIndex("\n"+before, "\nworktree "); found && at >= 0 {
		dir, _, _ = strings.Cut(before[at+len("worktree "):], "\n")
	}
	return dir
}
