package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// gitea is a repository on Gitea or Forgejo. A draft has a title that begins with draftMark.
type gitea struct{ api }

const draftMark = "WIP: "

func (f *gitea) Kind() Kind { return Gitea }

func (f *gitea) Open(ctx context.Context, d Draft) (Request, error) {
	title := d.Title
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
	Updated   string    `json:"updated_at"`
	Comments  int       `json:"comments_count"`
}

type giteaComment struct {
	ID       int64      `json:"id"`
	User     giteaUser  `json:"user"`
	Body     string     `json:"body"`
	Path     string     `json:"path"`
	Line     int        `json:"position"`
	Updated  string     `json:"updated_at"`
	Resolver *giteaUser `json:"resolver"`
}

type giteaUser struct {
	Login string `json:"login"`
}

func (f *gitea) Remarks(ctx context.Context, number int) (list []Remark, err error) {
	var reviews []giteaReview
	for page := 1; page <= mostPages; page++ {
		var some []giteaReview
		if err := f.call(ctx, http.MethodGet, f.repo("/pulls/%d/reviews?limit=%d&page=%d", number, perPage, page), nil, &some); err != nil {
			return nil, err
		}
		if reviews = append(reviews, some...); len(some) == 0 {
			break
		}
	}
	var comments []giteaComment
	for _, r := range reviews {
		if r.State == "PENDING" || r.Dismissed {
			continue
		}
		if r.Body != "" {
			list = append(list, Remark{Key: fmt.Sprintf("r%d %s", r.ID, r.Updated), Author: r.User.Login, Text: r.Body, Blocks: r.State == "REQUEST_CHANGES"})
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
	list = append(list, threadsOf(comments)...)
	for i := range list {
		if err := f.known(ctx, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// threadsOf returns the comments of unresolved threads: Gitea has one for a line of a file, and
// resolves its first comment.
func threadsOf(comments []giteaComment) (list []Remark) {
	slices.SortStableFunc(comments, func(a, b giteaComment) int { return int(a.ID - b.ID) })
	resolved := map[string]bool{}
	thread := func(c giteaComment) string { return c.Path + ":" + strconv.Itoa(c.Line) }
	for _, c := range comments {
		resolved[thread(c)] = resolved[thread(c)] || c.Resolver != nil
	}
	for _, c := range comments {
		if !resolved[thread(c)] {
			list = append(list, Remark{Key: fmt.Sprintf("c%d %s", c.ID, c.Updated), Thread: thread(c), Author: c.User.Login, Text: c.Body, Path: c.Path, Line: c.Line})
		}
	}
	return list
}

func (f *gitea) Checks(ctx context.Context, head string) (c Checks, err error) {
	var answer struct {
		Statuses []struct {
			Context     string `json:"context"`
			Status      string `json:"status"`
			Description string `json:"description"`
			URL         string `json:"target_url"`
		} `json:"statuses"`
	}
	if err := f.call(ctx, http.MethodGet, f.repo("/commits/%s/status?limit=%d", head, perPage), nil, &answer); err != nil {
		return c, err
	}
	for _, s := range answer.Statuses {
		switch s.Status {
		case "pending":
			c.Pending = true
		case "failure", "error":
			c.Failed = append(c.Failed, Job{Name: s.Context, URL: s.URL, Tail: s.Description})
		}
	}
	return c, nil
}

func (f *gitea) Reply(ctx context.Context, number int, to Remark, text string) error {
	return f.call(ctx, http.MethodPost, f.repo("/pulls/%d/reviews", number), map[string]any{
		"event": "COMMENT", "comments": []map[string]any{{"path": to.Path, "new_position": to.Line, "body": text}},
	}, nil)
}
