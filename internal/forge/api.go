package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/visible"
)

// caller sends one request to a forge: in is its JSON, nil for none, and the answer is decoded
// into out unless that is nil.
type caller func(ctx context.Context, method, path string, in, out any) error

// errAbsent is wrapped by a caller's error for what does not exist or may not be seen.
var errAbsent = errors.New("not found")

// api is what GitHub and Gitea have in common.
type api struct {
	at      place
	call    caller
	trusted map[string]bool // by author
	self    string          // the account that asks
}

// repo returns the path of something of the repository.
func (f *api) repo(format string, args ...any) string {
	return "repos/" + url.PathEscape(f.at.owner) + "/" + url.PathEscape(f.at.name) + fmt.Sprintf(format, args...)
}

func (f *api) Default(ctx context.Context) (string, error) {
	var answer struct {
		Branch string `json:"default_branch"`
	}
	err := f.call(ctx, http.MethodGet, f.repo(""), nil, &answer)
	return answer.Branch, err
}

// pull is a request as both forges write it.
type pull struct {
	Number    int    `json:"number"`
	URL       string `json:"html_url"`
	Title     string `json:"title"`
	State     string `json:"state"`
	Draft     bool   `json:"draft"`
	Merged    bool   `json:"merged"`
	Merge     string `json:"merge_commit_sha"`
	Mergeable *bool  `json:"mergeable"` // null while unknown
	Node      string `json:"node_id"`
	Head      struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	} `json:"head"`
}

func (p pull) request() Request {
	r := Request{Number: p.Number, URL: p.URL, Title: p.Title, State: StateOpen, Draft: p.Draft, Head: p.Head.SHA, node: p.Node}
	switch {
	case p.Merged:
		r.State, r.Merge = StateMerged, p.Merge
	case p.State != "open":
		r.State = StateClosed
	default:
		r.Conflicts = p.Mergeable != nil && !*p.Mergeable
	}
	return r
}

func (f *api) Request(ctx context.Context, number int) (Request, error) {
	var p pull
	err := f.call(ctx, http.MethodGet, f.repo("/pulls/%d", number), nil, &p)
	return p.request(), err
}

// open creates a request with title and further keys, or updates the open one of the branch.
// keep returns the new title of an existing request.
func (f *api) open(ctx context.Context, d Draft, more map[string]any, keep func(Request) string) (Request, error) {
	found, err := f.openOf(ctx, d.Branch)
	if err != nil {
		return Request{}, err
	}
	in := map[string]any{"title": d.Title, "body": d.Body}
	var p pull
	if found.Number != 0 {
		in["title"] = keep(found)
		err = f.call(ctx, http.MethodPatch, f.repo("/pulls/%d", found.Number), in, &p)
		return p.request(), err
	}
	in["head"], in["base"] = d.Branch, d.Base
	for key, value := range more {
		in[key] = value
	}
	err = f.call(ctx, http.MethodPost, f.repo("/pulls"), in, &p)
	return p.request(), err
}

// openOf returns the open request of a branch of the repository; the zero value for none.
func (f *api) openOf(ctx context.Context, branch string) (Request, error) {
	for page := 1; page <= mostPages; page++ {
		var list []pull
		if err := f.call(ctx, http.MethodGet, f.repo("/pulls?state=open&limit=%d&per_page=%[1]d&page=%d", perPage, page), nil, &list); err != nil {
			return Request{}, err
		}
		for _, p := range list {
			if p.Head.Ref == branch {
				return p.request(), nil
			}
		}
		if len(list) == 0 {
			break
		}
	}
	return Request{}, nil
}

const (
	perPage   = 50
	mostPages = 40
)

// mayWrite reports whether somebody may write to the repository; false if that cannot be
// known.
func (f *api) mayWrite(ctx context.Context, name string) (bool, error) {
	if known, ok := f.trusted[name]; ok || name == "" {
		return known, nil
	}
	var answer struct {
		Permission string `json:"permission"`
	}
	err := f.call(ctx, http.MethodGet, f.repo("/collaborators/%s/permission", url.PathEscape(name)), nil, &answer)
	if err != nil && !errors.Is(err, errAbsent) {
		return false, err
	}
	switch answer.Permission {
	case "write", "maintain", "admin", "owner":
		f.trusted[name] = true
	default:
		f.trusted[name] = false
	}
	return f.trusted[name], nil
}

// account returns the name of the account that asks.
func (f *api) account(ctx context.Context) (string, error) {
	if f.self != "" {
		return f.self, nil
	}
	var answer struct {
		Login string `json:"login"`
	}
	err := f.call(ctx, http.MethodGet, "user", nil, &answer)
	f.self = answer.Login
	return f.self, err
}

// known sets who wrote a remark.
func (f *api) known(ctx context.Context, r *Remark) error {
	self, err := f.account(ctx)
	if r.Own = r.Author == self; err == nil && !r.Own {
		r.Trusted, err = f.mayWrite(ctx, r.Author)
	}
	return err
}

// mostAnswer is the maximum size of an answer, in bytes.
const mostAnswer = 16 << 20

// httpCall returns a caller for an HTTP interface.
func httpCall(base, token string) caller {
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, method, path string, in, out any) error {
		var body io.Reader
		if in != nil {
			text, err := json.Marshal(in)
			if err != nil {
				return err
			}
			body = bytes.NewReader(text)
		}
		request, err := http.NewRequestWithContext(ctx, method, base+path, body)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "token "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = &fault.Error{Code: fault.Store, Path: request.URL.Host, Reason: "the forge cannot be reached", Cause: failed.Err}
		}
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
		switch {
		case err != nil:
			return err
		case response.StatusCode >= 300:
			return refused(method, path, response.StatusCode, text)
		case out == nil:
			return nil
		}
		return json.Unmarshal(text, out)
	}
}

// refused returns the error of an answer with a status that is no success.
func refused(method, path string, status int, text []byte) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // else the status says enough
	path, _, _ = strings.Cut(path, "?")
	err := &fault.Error{Code: fault.Store, Path: "forge", Reason: fmt.Sprintf("%s %s: answered %d %s", method, path, status, visible.OneLine(cmp.Or(said.Message, http.StatusText(status))))}
	if status == http.StatusNotFound || status == http.StatusForbidden {
		err.Err = errAbsent
	}
	return err
}
