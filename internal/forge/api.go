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
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/fault"
	"stig/internal/visible"
)

// caller sends one request to a forge: in is its JSON, nil for none, and the answer is decoded
// into out unless that is nil.
type caller func(ctx context.Context, method, path string, in, out any) error

// status is an HTTP status that is no success. A caller's error wraps it.
type status int

func (s status) Error() string { return http.StatusText(int(s)) }

// api is what GitHub and Gitea have in common.
type api struct {
	at      place
	call    caller
	trusted map[string]bool // by author
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
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Title  string `json:"title"`
	State  string `json:"state"`
	Draft  bool   `json:"draft"`
	Merged bool   `json:"merged"`
	Merge  string `json:"merge_commit_sha"`
	Node   string `json:"node_id"`
	Head   struct {
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
	in := map[string]any{"title": d.Title, "body": d.Body, "base": d.Base}
	var p pull
	if found.Number != 0 {
		in["title"] = keep(found)
		err = f.call(ctx, http.MethodPatch, f.repo("/pulls/%d", found.Number), in, &p)
		return p.request(), err
	}
	in["head"] = d.Branch
	for key, value := range more {
		in[key] = value
	}
	err = f.call(ctx, http.MethodPost, f.repo("/pulls"), in, &p)
	return p.request(), err
}

func (f *api) Retarget(ctx context.Context, number int, base string) error {
	return f.call(ctx, http.MethodPatch, f.repo("/pulls/%d", number), map[string]any{"base": base}, nil)
}

// openOf returns the open request of a branch of the repository; the zero value for none.
func (f *api) openOf(ctx context.Context, branch string) (Request, error) {
	list, err := listed[pull](ctx, f, f.repo("/pulls?state=open"), "")
	for _, p := range list {
		if p.Head.Ref == branch {
			return p.request(), err
		}
	}
	return Request{}, err
}

const (
	perPage   = 50 // the most that Gitea gives
	mostPages = 40
)

// listed returns the items of all pages of a list, which has a key in the answers, or is the
// answers themselves.
func listed[T any](ctx context.Context, f *api, path, key string) (all []T, err error) {
	mark := "?"
	if strings.Contains(path, mark) {
		mark = "&"
	}
	for page := 1; page <= mostPages; page++ {
		var answer json.RawMessage
		if err := f.call(ctx, http.MethodGet, fmt.Sprintf("%s%slimit=%d&per_page=%[3]d&page=%d", path, mark, perPage, page), nil, &answer); err != nil {
			return nil, err
		}
		var keyed map[string]json.RawMessage
		if key != "" {
			if err := json.Unmarshal(answer, &keyed); err != nil {
				return nil, err
			}
			answer = keyed[key]
		}
		var some []T
		if err := json.Unmarshal(answer, &some); err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		all = append(all, some...)
	}
	return all, nil
}

// mayWrite reports whether somebody may write to the repository. An account that does not exist
// may not; any other refusal to answer is an error.
func (f *api) mayWrite(ctx context.Context, name string) (bool, error) {
	var answer struct {
		Permission string `json:"permission"`
	}
	err := f.call(ctx, http.MethodGet, f.repo("/collaborators/%s/permission", url.PathEscape(name)), nil, &answer)
	if errors.Is(err, status(http.StatusNotFound)) {
		return false, nil
	}
	return writes(answer.Permission), err
}

// writes reports whether a permission includes writing.
func writes(permission string) bool {
	return slices.Contains([]string{"write", "maintain", "admin", "owner"}, permission)
}

// trust sets which remarks are of authors who may write to the repository.
func (f *api) trust(ctx context.Context, list []Remark, mayWrite func(context.Context, string) (bool, error)) error {
	for i := range list {
		name := list[i].Author
		may, known := f.trusted[name]
		if !known && name != "" {
			var err error
			if may, err = mayWrite(ctx, name); err != nil {
				return fmt.Errorf("it is unknown whether %s may write to the repository: %w", visible.OneLine(name), err)
			}
			f.trusted[name] = may
		}
		list[i].Trusted = may
	}
	return nil
}

// commitStatus is a result on a commit, the last one of its context.
type commitStatus struct {
	Context     string `json:"context"`
	State       string `json:"state"`  // on GitHub
	Status      string `json:"status"` // on Gitea
	Description string `json:"description"`
	URL         string `json:"target_url"`
}

func (s commitStatus) result() string { return cmp.Or(s.State, s.Status) }

func (s commitStatus) failed() bool { return s.result() == "failure" || s.result() == "error" }

// add adds the results on a commit.
func (c *Checks) add(list []commitStatus) {
	c.Jobs += len(list)
	for _, s := range list {
		c.Pending = c.Pending || s.result() == "pending"
		if s.failed() {
			c.Failed = append(c.Failed, Job{Name: s.Context, URL: s.URL, Tail: s.Description})
		}
	}
}

const (
	tailLines = 40
	tailBytes = 3000
)

// stamp is the time before each line of a log.
var stamp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\x{FEFF}?\d{4}-\d\d-\d\dT[0-9:.]+Z `) })

// tail returns the last lines of the step of a job that failed; "" if the forge has no log.
func (f *api) tail(ctx context.Context, job string) string {
	var log []byte
	if err := f.call(ctx, http.MethodGet, f.repo("/actions/jobs/%s/logs", url.PathEscape(job)), nil, &log); err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(stamp().ReplaceAllString(line, ""), "\r")
	}
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "##[error]") || strings.Contains(line, "❌") { // later steps clean up
			lines = lines[:i+1]
			break
		}
	}
	text := strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	return strings.ToValidUTF8(text[max(0, len(text)-tailBytes):], "")
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
		}
		return decoded(text, out)
	}
}

// decoded decodes an answer into out; a *[]byte gets it as it is.
func decoded(text []byte, out any) error {
	switch out := out.(type) {
	case nil:
		return nil
	case *[]byte:
		*out = text
		return nil
	}
	return json.Unmarshal(text, out)
}

// refused returns the error of an answer that is no success.
func refused(method, path string, code int, text []byte) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // else the status says enough
	path, _, _ = strings.Cut(path, "?")
	return &fault.Error{Code: fault.Store, Path: "forge", Reason: fmt.Sprintf("%s %s: answered %d %s", method, path, code, visible.OneLine(cmp.Or(said.Message, http.StatusText(code)))), Err: status(code)}
}
