package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"stig/internal/fault"
	"stig/internal/visible"
)

// github is a repository on GitHub.
type github struct{ api }

// ghCall returns a caller that asks by gh api.
func ghCall(gh func(context.Context, []byte, ...string) ([]byte, error), host string) caller {
	return func(ctx context.Context, method, path string, in, out any) error {
		argv := []string{"api", "--hostname", host, "--method", method, path}
		var stdin []byte
		if in != nil {
			var err error
			if stdin, err = json.Marshal(in); err != nil {
				return err
			}
			argv = append(argv, "--input", "-")
		}
		text, err := gh(ctx, stdin, argv...)
		if err != nil {
			said := &fault.Error{Code: fault.Store, Path: "gh", Reason: visible.OneLine(err.Error()), Hint: "gh must be installed and signed in: type gh auth status"}
			if found := ghStatus().FindStringSubmatch(err.Error()); found != nil {
				code, _ := strconv.Atoi(found[1])
				said.Err = status(code)
			}
			return said
		}
		return decoded(text, out)
	}
}

// ghStatus is how gh tells the status of an answer.
var ghStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bHTTP (\d{3})\b`) })

func (f *github) Kind() Kind { return GitHub }

func (f *github) Open(ctx context.Context, d Draft) (Request, error) {
	d.Title = titleOf(d)
	return f.open(ctx, d, map[string]any{"draft": true}, func(Request) string { return d.Title })
}

// graph sends a query of GitHub's other interface.
func (f *github) graph(ctx context.Context, query string, variables map[string]any, out any) error {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	err := f.call(ctx, http.MethodPost, "graphql", map[string]any{"query": query, "variables": variables}, &answer)
	switch {
	case err != nil:
		return err
	case len(answer.Errors) > 0:
		return &fault.Error{Code: fault.Store, Path: "forge", Reason: visible.OneLine(answer.Errors[0].Message)}
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer.Data, out)
}

func (f *github) MarkReady(ctx context.Context, r Request) error {
	return f.graph(ctx, `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }`, map[string]any{"id": r.node}, nil)
}

const remarksQuery = `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) {
  reviews(last: 100) { nodes { id body state author { login } } }
  reviewThreads(last: 100) { nodes { id isResolved path line comments(last: 50) { nodes { id body author { login } } } } }
} } }`

type githubRemark struct {
	ID     string `json:"id"`
	Body   string `json:"body"`
	State  string `json:"state"`
	Author struct {
		Login string `json:"login"`
	} `json:"author"`
}

func (f *github) Remarks(ctx context.Context, number int) (list []Remark, err error) {
	var answer struct {
		Repository struct {
			PullRequest struct {
				Reviews struct{ Nodes []githubRemark }
				Threads struct {
					Nodes []struct {
						ID       string `json:"id"`
						Resolved bool   `json:"isResolved"`
						Path     string `json:"path"`
						Line     int    `json:"line"`
						Comments struct{ Nodes []githubRemark }
					}
				} `json:"reviewThreads"`
			}
		}
	}
	if err := f.graph(ctx, remarksQuery, map[string]any{"owner": f.at.owner, "name": f.at.name, "number": number}, &answer); err != nil {
		return nil, err
	}
	key := func(r githubRemark) string { return r.ID + " " + r.Body }
	for _, r := range answer.Repository.PullRequest.Reviews.Nodes {
		if r.Body != "" && (r.State == "COMMENTED" || r.State == "CHANGES_REQUESTED") {
			list = append(list, Remark{Key: key(r), Author: r.Author.Login, Text: r.Body})
		}
	}
	for _, t := range answer.Repository.PullRequest.Threads.Nodes {
		for _, c := range t.Comments.Nodes {
			if !t.Resolved {
				list = append(list, Remark{Key: key(c), Thread: t.ID, Author: c.Author.Login, Text: c.Body, Path: t.Path, Line: t.Line})
			}
		}
	}
	return list, f.trust(ctx, list, f.mayWrite)
}

// checkRun is a job, or a check of another program.
type checkRun struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	URL        string `json:"html_url"`
	Output     struct {
		Summary string `json:"summary"`
	} `json:"output"`
	App struct {
		Slug string `json:"slug"`
	} `json:"app"`
}

func (f *github) Checks(ctx context.Context, head string) (c Checks, err error) {
	statuses, err := listed[commitStatus](ctx, &f.api, f.repo("/commits/%s/status", head), "statuses")
	if err != nil {
		return c, err
	}
	c.add(statuses)
	runs, err := listed[checkRun](ctx, &f.api, f.repo("/commits/%s/check-runs", head), "check_runs")
	fails := []string{"failure", "timed_out", "cancelled", "action_required", "startup_failure"}
	for _, r := range runs {
		c.Jobs++
		switch {
		case r.Status != "completed":
			c.Pending = true
		case slices.Contains(fails, r.Conclusion):
			job := Job{Name: r.Name, URL: r.URL, Tail: cmp.Or(r.Output.Summary, "concluded: "+r.Conclusion)}
			if r.App.Slug == "github-actions" {
				job.Tail = cmp.Or(f.tail(ctx, strconv.FormatInt(r.ID, 10)), job.Tail)
			}
			c.Failed = append(c.Failed, job)
		}
	}
	return c, err
}

func (f *github) Reply(ctx context.Context, _ int, to Remark, text string) error {
	return f.graph(ctx, `mutation($id: ID!, $body: String!) { addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $id, body: $body}) { clientMutationId } }`,
		map[string]any{"id": to.Thread, "body": text}, nil)
}
