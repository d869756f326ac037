// Package upgrade asks whether there is a later release of stig. It sends one request, and
// with it nothing about the user, the machine or the version that runs.
//
//	latest, err := upgrade.Latest(ctx, "https://api.github.com/repos/OWNER/stig/releases/latest")
package upgrade

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stig/fault"
	"stig/visible"
)

// wait is how long Latest waits for a whole answer.
const wait = 10 * time.Second

const maxAnswer = 1 << 20

// Release is a release as its server describes it. All of it is somebody's text.
type Release struct {
	Version string `json:"latest"` // without the v of its tag
	Date    string `json:"date"`   // a day, "" where it is not said
	Page    string `json:"page"`   // a URL, "" as well
	Notes   string `json:"notes"`  // what is new, "" as well
}

// Latest asks for the latest release at a URL that answers as the interfaces of GitHub,
// Gitea and Forgejo do. A redirect is not followed, since that is a second request.
func Latest(ctx context.Context, at string) (Release, error) {
	where, err := url.Parse(at)
	if err != nil || where.Host == "" || where.Scheme != "https" && where.Scheme != "http" {
		return Release{}, &fault.Error{Code: fault.Usage, Reason: "the address to ask is not a URL that begins with https:// or http://"} // it may hold a token
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	answer, err := get(ctx, at)
	if err != nil {
		return Release{}, unanswered(ctx, where.Host, err)
	}
	release, err := read(answer)
	if err != nil {
		return Release{}, unanswered(ctx, where.Host, err)
	}
	return release, nil
}

func get(ctx context.Context, at string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "stig") // GitHub refuses a request without one
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if to, err := response.Location(); err == nil {
		return nil, fmt.Errorf("redirects to %s, which is not followed", to.Redacted())
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if len(answer) > maxAnswer {
		return nil, errors.New("the answer is larger than 1 MiB")
	}
	return answer, err
}

func read(answer []byte) (Release, error) {
	var said struct {
		Tag       string `json:"tag_name"`
		Page      string `json:"html_url"`
		Published string `json:"published_at"`
		Body      string `json:"body"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || said.Tag == "" {
		return Release{}, errors.New(`the answer is not a release as JSON, with a "tag_name"`)
	}
	day, _, _ := strings.Cut(said.Published, "T")
	return Release{strings.TrimPrefix(said.Tag, "v"), day, said.Page, strings.TrimSpace(visible.LF(said.Body))}, nil
}

// unanswered is the error of a request that got no release. It does not repeat the URL, which
// may hold a token.
func unanswered(ctx context.Context, host string, err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", wait)
	}
	return &fault.Error{Code: fault.Store, Reason: host + ": " + err.Error(), Hint: "nothing was changed; ask again later, or name another address with --url", Err: err}
}

// IsNewer reports whether version a is later than b. Versions are compared as Semantic
// Versioning does it, but that all pre-releases of a version are equal.
func IsNewer(a, b string) bool {
	of, than := numbers(a), numbers(b)
	for i := range of {
		if c := cmp.Compare(of[i], than[i]); c != 0 {
			return c > 0
		}
	}
	return false
}

// numbers are the three numbers of a version, and 1 for a release or 0 for a pre-release.
func numbers(version string) (n [4]int) {
	version, _, _ = strings.Cut(version, "+")
	core, _, early := strings.Cut(version, "-")
	for i, part := range strings.SplitN(core, ".", 3) {
		n[i], _ = strconv.Atoi(part) // what is no number comes first
	}
	if !early {
		n[3] = 1
	}
	return n
}
