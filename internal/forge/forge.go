// Package forge opens requests for review on a forge and reads what becomes of them: GitHub by
// its program gh, Gitea and Forgejo by their HTTP interface. It never approves, dismisses,
// resolves or merges. It knows nothing about issues and stores.
//
//	f, err := forge.Of(forge.Options{Remote: "https://code.example/team/harbor.git", Token: token})
//	request, err := f.Open(ctx, forge.Draft{Title: "harbor-1: Lay the planks", Branch: "stig/harbor-1", Base: "main"})
package forge

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
)

// Forge is one repository on a forge.
type Forge interface {
	Kind() Kind
	// Default returns the default branch.
	Default(ctx context.Context) (string, error)
	// Open creates a draft request, or updates the open request of the same branch.
	Open(ctx context.Context, d Draft) (Request, error)
	MarkReady(ctx context.Context, r Request) error
	// Retarget sets the branch into which a request is to be merged.
	Retarget(ctx context.Context, number int, base string) error
	Request(ctx context.Context, number int) (Request, error)
	// Remarks lists submitted reviews, except approvals, and the comments of unresolved threads,
	// in order. It fails if it is unknown whether an author may write to the repository.
	Remarks(ctx context.Context, number int) ([]Remark, error)
	Checks(ctx context.Context, head string) (Checks, error)
	// Reply answers a thread.
	Reply(ctx context.Context, number int, to Remark, text string) error
}

// Kind is the program that a forge runs.
type Kind string

const (
	GitHub Kind = "github"
	Gitea  Kind = "gitea" // or Forgejo
)

// Draft is a request to open.
type Draft struct {
	Title, Body  string
	Branch, Base string // from and to
}

// titleOf returns the title of a draft as forges take it: of at most 255 characters.
func titleOf(d Draft) string { return visible.Clipped(d.Title, 250) }

// State is the state of a request.
type State string

const (
	StateOpen   State = "open"
	StateClosed State = "closed" // without a merge
	StateMerged State = "merged"
)

// Request is a request for review.
type Request struct {
	Number int
	URL    string
	Title  string
	State  State
	Draft  bool
	Head   string // commit
	Merge  string // the commit that merged it; "" for none

	node string // GitHub's other name of it
}

// Remark is a review, or a comment of an unresolved thread.
type Remark struct {
	Key     string // changes when the remark is edited
	Thread  string // "" for a review
	Author  string
	Trusted bool // the author may write to the repository
	Text    string
	Path    string // file of a thread
	Line    int

	old bool // Line is of the file before the change
}

// Checks are the jobs of a commit.
type Checks struct {
	Jobs    int // how many there are
	Pending bool
	Failed  []Job
}

// Job is a failed job.
type Job struct {
	Name, URL string
	Tail      string // the last lines of the failed step, or a description
}

// Options name a repository on a forge.
type Options struct {
	Kind   Kind   // "" means GitHub for github.com and Gitea for other hosts
	Remote string // address from which git fetches
	Token  string // for Gitea
	// GH runs gh with arguments and standard input, and returns its output.
	GH func(ctx context.Context, stdin []byte, argv ...string) ([]byte, error)
}

// Of returns the repository of a remote.
func Of(o Options) (Forge, error) {
	at, err := placeOf(o.Remote)
	if err != nil {
		return nil, err
	}
	if o.Kind == "" {
		if o.Kind = Gitea; at.host == "github.com" {
			o.Kind = GitHub
		}
	}
	switch {
	case o.Kind == GitHub:
		return &github{api{at: at, call: ghCall(o.GH, at.host), trusted: map[string]bool{}}}, nil
	case o.Token == "":
		return nil, &fault.Error{Code: fault.Usage, Reason: at.host + ": no token for the forge", Hint: "set GITEA_TOKEN, or write the token to stig/forge-token in your configuration directory with mode 0600"}
	}
	return &gitea{api{at: at, call: httpCall(at.web+"/api/v1/", o.Token), trusted: map[string]bool{}}}, nil
}

// place is where a repository is.
type place struct{ web, host, owner, name string }

// placeOf reads the address of a remote: a URL, or HOST:OWNER/NAME as ssh takes it.
func placeOf(remote string) (place, error) {
	text := remote
	if host, rest, ok := strings.Cut(text, ":"); ok && !strings.Contains(text, "://") && !strings.Contains(host, "/") {
		text = "ssh://" + host + "/" + strings.TrimPrefix(rest, "/")
	}
	u, err := url.Parse(text)
	names := []string{}
	if err == nil {
		names = strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
	}
	if err != nil || u.Hostname() == "" || len(names) < 2 || u.Scheme != "ssh" && u.Scheme != "http" && u.Scheme != "https" {
		return place{}, &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("remote %q: must be the address of a repository on a forge", visibleRemote(remote)), Hint: "type git remote -v, and name another one with review: remote in .stig.cue"}
	}
	p := place{host: u.Hostname(), owner: names[len(names)-2], name: names[len(names)-1], web: u.Scheme + "://" + u.Host}
	if u.Scheme == "ssh" {
		p.web = "https://" + u.Hostname()
	}
	p.web += strings.TrimSuffix("/"+path.Join(names[:len(names)-2]...), "/")
	return p, nil
}

// visibleRemote returns an address without user and password.
func visibleRemote(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return remote
}
