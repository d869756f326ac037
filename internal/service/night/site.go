package night

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/forge"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// Site is the repository on a forge to which work goes.
type Site struct {
	Default string // its default branch
	forge   forge.Forge
	app     *workspace.Run
	trees   git.WorktreeOptions
	store   beads.Place
	remote  string
	address string // to which git pushes
}

// OpenSite finds the forge of the store's repository and asks it for its default branch. The
// repository must be trusted, since its configuration chooses the forge.
func OpenSite(ctx context.Context, a *workspace.Run) (*Site, error) {
	found, err := a.Discover()
	if err != nil {
		return nil, err
	}
	store := found.Place()
	trees, err := a.Trees(store)
	if err == nil && trees == nil {
		err = workspace.Usage("land: not in a git repository", "")
	}
	if err != nil {
		return nil, err
	}
	code, err := a.Code(ctx, store)
	if err != nil {
		return nil, err
	}
	trust, err := a.TrustState(ctx, code)
	if err == nil {
		err = trust.Refused("")
	}
	if err != nil {
		return nil, err
	}
	s := &Site{app: a, trees: *trees, store: store, remote: cmp.Or(a.Config.Review.Remote, "origin")}
	if s.address, err = git.RemoteURL(ctx, s.trees, s.remote); err != nil {
		return nil, err
	}
	token, err := tokenOf(a)
	if err != nil {
		return nil, err
	}
	s.forge, err = forge.Of(forge.Options{Kind: forge.Kind(a.Config.Review.Forge), Remote: s.address, Token: token, GH: ghOf(a)})
	if err == nil {
		s.Default, err = s.forge.Default(ctx)
	}
	return s, err
}

// tokenFile has the token for Gitea and Forgejo, in the user's configuration directory.
const tokenFile = "stig/forge-token"

// tokenOf returns the token for Gitea and Forgejo; "" if there is none.
func tokenOf(a *workspace.Run) (string, error) {
	for _, name := range []string{"GITEA_TOKEN", "FORGEJO_TOKEN"} {
		if token := a.Getenv(name); token != "" {
			return token, nil
		}
	}
	dir, err := a.ConfigDir()
	if err != nil {
		return "", nil // no directory, no file
	}
	path := filepath.Join(dir, filepath.FromSlash(tokenFile))
	info, err := os.Stat(path)
	switch {
	case workspace.IsAbsent(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode().Perm()&0o077 != 0:
		return "", &fault.Error{Code: fault.Usage, Path: path, Reason: fmt.Sprintf("has a token: must have mode 0600; found %04o", info.Mode().Perm()), Hint: "type chmod 600 " + visible.Quoted(path)}
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// ghOf returns a function that runs gh.
func ghOf(a *workspace.Run) func(context.Context, []byte, ...string) ([]byte, error) {
	return func(ctx context.Context, stdin []byte, argv ...string) ([]byte, error) {
		result, err := process.Run(ctx, process.Command{Argv: append([]string{"gh"}, argv...), Env: a.Environ(), Stdin: stdin})
		if err == nil && result.Exit != 0 {
			err = fmt.Errorf("exit %d: %s", result.Exit, strings.TrimSpace(string(result.Stderr)))
		}
		return result.Stdout, err
	}
}

// Fetch fetches the default branch and returns its commit.
func (s *Site) Fetch(ctx context.Context) (string, error) {
	return git.FetchTo(ctx, s.trees, s.remote, s.Default, git.DefaultBranch)
}

// FetchRequest fetches the branch of an issue from the forge, where people may have pushed to
// it, and returns the name of its copy here; "" if the forge has nothing of it but what landed.
func (s *Site) FetchRequest(ctx context.Context, branch string, was signals.Review) (string, error) {
	tip, err := git.RemoteTip(ctx, s.trees, s.address, branch)
	if err != nil || tip == "" || tip == landedHead(was) {
		return "", err
	}
	into := git.RequestBranch(branch)
	_, err = git.FetchTo(ctx, s.trees, s.remote, branch, into)
	return into, err
}

// landedHead returns the commit of a request that landed, whose branch a later request may
// replace; "" for none.
func landedHead(r signals.Review) string {
	if r.State == signals.ReviewLanded || r.State == signals.ReviewReverted {
		return r.Head
	}
	return ""
}

// ReviewWork is what a request asks to review.
type ReviewWork struct {
	Issue, Title, Body string
	Branch             string
	Commit             string
	Was                signals.Review // the last request of the issue
	Upon               string         // the branch of the request that it is stacked upon; "" for the default branch
}

// Publish sends work to the forge, with the store of the branch to merge it into, and opens a
// draft request for it, or updates the open one. It may be repeated. Threads whose remarks were given
// to the worker are answered with the commit. Without any change the result is the zero value.
// Conflicts with the default branch are a *git.RejectedError; commits on the forge that the work
// lacks are a git.ErrMoved.
func (s *Site) Publish(ctx context.Context, w ReviewWork) (signals.Review, error) {
	base, copied := s.Default, git.DefaultBranch
	if w.Upon != "" {
		base, copied = w.Upon, git.RequestBranch(w.Upon)
	}
	tip, err := git.FetchTo(ctx, s.trees, s.remote, base, copied)
	if err != nil {
		return signals.Review{}, err
	}
	commit, err := git.Joined(ctx, s.trees, tip, base, w.Commit)
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		refused.Onto = copied
	}
	if err != nil || commit == tip {
		return signals.Review{}, err
	}
	next := w.Was
	if !w.Was.IsRequested() {
		next = signals.Review{}
	}
	if err := git.Push(ctx, s.trees, s.address, w.Branch, commit, landedHead(w.Was)); err != nil {
		return signals.Review{}, err
	}
	request, err := s.forge.Open(ctx, forge.Draft{Title: visible.OneLine(w.Issue + ": " + w.Title), Body: w.Body, Branch: w.Branch, Base: base})
	if err != nil {
		return signals.Review{}, err
	}
	next.Forge, next.Number, next.URL, next.Branch = string(s.forge.Kind()), request.Number, request.URL, w.Branch
	next.Upon = w.Upon
	if next.Base, next.State = tip, signals.ReviewOpen; next.Head != commit {
		now, err := s.app.Clock()
		if err != nil {
			return signals.Review{}, err
		}
		next.Head, next.Sent = commit, now.Format(time.RFC3339)
	}
	if request.Draft {
		next.State = signals.ReviewDraft
	}
	if err := s.answer(ctx, next); err != nil {
		return signals.Review{}, err
	}
	if next.Open = nil; next.Head == w.Was.Head { // the worker changed nothing, and later remarks are to be given
		next.Fed = ""
	}
	return next, nil
}

// isReply matches what stig answers to a thread. A person may use the account of stig's token.
var isReply = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Addressed in [0-9a-f]{40,64}\.$`) })

// answer answers the open threads of a review with its head, each once.
func (s *Site) answer(ctx context.Context, r signals.Review) error {
	if len(r.Open) == 0 {
		return nil
	}
	remarks, err := s.forge.Remarks(ctx, r.Number)
	if err != nil {
		return err
	}
	text := "Addressed in " + r.Head + "."
	done := map[string]bool{"": true}
	for _, one := range remarks {
		if one.Text == text {
			done[one.Thread] = true
		}
	}
	for _, one := range remarks {
		if slices.Contains(r.Open, keyOf(one.Key)) && !done[one.Thread] {
			done[one.Thread] = true
			if err := s.forge.Reply(ctx, r.Number, one, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOf shortens the key of a remark.
func keyOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}
