package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitea is a repository on Gitea or Forgejo. A draft has a title that begins with draftMark.
type gitea struct{ api }

const draftMark = "WIP: "

func (f *gitea) Kind() Kind { return Gitea }

func (f *gitea) Open(ctx context.Context, d Draft) (Request, error) {
	title := titleOf(d)
	d.Title = draftMark + title
	return f.open(ctx, d, nil, func(r Request) string {
		if strings.HasPrefix(r.Title, draftMark) {
			return d.Title
		}
		return title
	})
}

func (f *gitea) MarkReady(ctx context.Context, r Request) error {
	return f.call(ctx, http.MethodPatch, f.repo("/pulls/%d", r.Number), map[string]any{"title": strings.TrimPrefix(r.Title, draftMark)}, nil)
}

// giteaReview is a review, and giteaComment a comment of one.
type giteaReview struct {
	ID        int64     `json:"id"`
	User      giteaUser `json:"user"`
	Body      string    `json:"body"`
	State     string    `json:"state"`
	Dismissed bool      `json:"dismissed"`
	Comments  int       `json:"comments_count"`
}

type giteaComment struct {
	ID       int64      `json:"id"`
	Review   int64      `json:"pull_request_review_id"`
	User     giteaUser  `json:"user"`
	Body     string     `json:"body"`
	Path     string     `json:"path"`
	Line     int        `json:"position"`          // 0 for a line that the change deletes
	OldLine  int        `json:"original_position"` // 0 for another one
	Resolver *giteaUser `json:"resolver"`
}

type giteaUser struct {
	Login string `json:"login"`
}

func (f *gitea) Remarks(ctx context.Context, number int) (list []Remark, err error) {
	reviews, err := listed[giteaReview](ctx, &f.api, f.repo("/pulls/%d/reviews", number), "")
	if err != nil {
		return nil, err
	}
	withdrawn, err := f.withdrawn(ctx, number, reviews)
	if err != nil {
		return nil, err
	}
	var comments []giteaComment
	for _, r := range reviews {
		if r.State == "PENDING" || withdrawn[r.ID] {
			continue
		}
		if r.Body != "" && r.State != "APPROVED" {
			list = append(list, Remark{Key: fmt.Sprintf("r%d %s", r.ID, r.Body), Author: r.User.Login, Text: r.Body})
		}
		if r.Comments == 0 {
			continue
		}
		var some []giteaComment
		if err := f.call(ctx, http.MethodGet, f.repo("/pulls/%d/reviews/%d/comments", number, r.ID), nil, &some); err != nil {
			return nil, err
		}
		comments = append(comments, some...)
	}
	list = append(list, unresolved(comments)...)
	return list, f.trust(ctx, list, f.mayWrite)
}

// withdrawn returns the reviews that somebody dismissed, or whose author approved later. Gitea
// also calls a review dismissed when its author requests further changes.
func (f *gitea) withdrawn(ctx context.Context, number int, reviews []giteaReview) (map[int64]bool, error) {
	is := map[int64]bool{}
	if !slices.ContainsFunc(reviews, func(r giteaReview) bool { return r.Dismissed }) {
		return is, nil
	}
	type event struct {
		Type   string `json:"type"`
		Review int64  `json:"review_id"`
	}
	events, err := listed[event](ctx, &f.api, f.repo("/issues/%d/timeline", number), "")
	for _, e := range events {
		is[e.Review] = is[e.Review] || e.Type == "dismiss_review"
	}
	approved := map[string]bool{}
	for _, r := range slices.Backward(reviews) {
		approved[r.User.Login] = approved[r.User.Login] || r.State == "APPROVED"
		is[r.ID] = r.Dismissed && (is[r.ID] || approved[r.User.Login])
	}
	return is, err
}

// unresolved returns the comments of unresolved threads, in order. Gitea has a thread for each
// line that a review comments on, and resolves its first comment.
func unresolved(comments []giteaComment) (list []Remark) {
	slices.SortStableFunc(comments, func(a, b giteaComment) int { return cmp.Compare(a.ID, b.ID) })
	at := func(c giteaComment) string { return fmt.Sprintf("%s:%d", c.Path, cmp.Or(c.Line, -c.OldLine)) }
	resolved := map[string]bool{}
	for _, c := range comments {
		thread := fmt.Sprint(c.Review, at(c))
		resolved[thread] = resolved[thread] || c.Resolver != nil
	}
	for _, c := range comments {
		if !resolved[fmt.Sprint(c.Review, at(c))] {
			list = append(list, Remark{Key: fmt.Sprintf("c%d %s", c.ID, c.Body), Thread: at(c), Author: c.User.Login, Text: c.Body, Path: c.Path, Line: cmp.Or(c.Line, c.OldLine), old: c.Line == 0})
		}
	}
	return list
}

// mayWrite reports whether somebody may write to the repository. Gitea tells administrators of
// the repository. Others can list who may be assigned: these may write, unless they are in a team
// of the organization that may only read code.
func (f *gitea) mayWrite(ctx context.Context, name string) (bool, error) {
	may, denied := f.api.mayWrite(ctx, name)
	if !errors.Is(denied, status(http.StatusForbidden)) {
		return may, denied
	}
	var teams []struct {
		Units map[string]string `json:"units_map"`
	}
	err := f.call(ctx, http.MethodGet, f.repo("/teams"), nil, &teams)
	if err != nil && !errors.Is(err, status(http.StatusMethodNotAllowed)) { // a person's repository has no teams
		return false, err
	}
	var users []giteaUser
	if err := f.call(ctx, http.MethodGet, f.repo("/assignees"), nil, &users); err != nil {
		return false, err
	}
	listed := slices.ContainsFunc(users, func(u giteaUser) bool { return u.Login == name })
	for _, team := range teams {
		if listed && !writes(team.Units["repo.code"]) {
			return false, denied
		}
	}
	return listed, nil
}

// giteaJob is the path of a job of Gitea's own CI, in the address of a status.
var giteaJob = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/actions/runs/\d+/jobs/(\d+)$`) })

func (f *gitea) Checks(ctx context.Context, head string) (c Checks, err error) {
	list, err := listed[commitStatus](ctx, &f.api, f.repo("/commits/%s/status", head), "statuses")
	for i, s := range list {
		if at := giteaJob().FindStringSubmatch(s.URL); at != nil && s.failed() && f.isOf(ctx, at[1], head) {
			list[i].Description = cmp.Or(f.tail(ctx, at[1]), s.Description)
		}
	}
	c.add(list)
	return c, err
}

// isOf reports whether a job is one of a commit: older versions count the jobs of a run.
func (f *gitea) isOf(ctx context.Context, job, head string) bool {
	var answer struct {
		Head string `json:"head_sha"`
	}
	err := f.call(ctx, http.MethodGet, f.repo("/actions/jobs/%s", job), nil, &answer)
	return err == nil && answer.Head == head
}

func (f *gitea) Reply(ctx context.Context, number int, to Remark, text string) error {
	side := "new_position"
	if to.old {
		side = "old_position"
	}
	return f.call(ctx, http.MethodPost, f.repo("/pulls/%d/reviews", number), map[string]any{
		"event": "COMMENT", "comments": []map[string]any{{"path": to.Path, side: to.Line, "body": text}},
	}, nil)
}
