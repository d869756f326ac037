//go:build e2e

package forges

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Protect protects the main branch by a JSON object, as the owner of the repository.
func (g *Gitea) Protect(rule map[string]any) error {
	return g.repo("team", http.MethodPost, "/branch_protections", rule, nil)
}

// Ready marks a request ready for review.
func (g *Gitea) Ready(number int) error {
	at := fmt.Sprintf("/pulls/%d", number)
	var p giteaPull
	if err := g.repo(Writer, http.MethodGet, at, nil, &p); err != nil {
		return err
	}
	return g.repo(Writer, http.MethodPatch, at, map[string]any{"title": strings.TrimPrefix(p.Title, "WIP: ")}, nil)
}

// Approve approves a request, as Writer.
func (g *Gitea) Approve(number int) error {
	return g.repo(Writer, http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", number), map[string]any{"event": "APPROVED", "body": "Good."}, nil)
}

// Pass sets the result of a job on the head of a request to success.
func (g *Gitea) Pass(number int, job string) error {
	var p giteaPull
	if err := g.repo(Self, http.MethodGet, fmt.Sprintf("/pulls/%d", number), nil, &p); err != nil {
		return err
	}
	return g.repo(Self, http.MethodPost, "/statuses/"+p.Head.SHA, map[string]any{"state": "success", "context": job}, nil)
}

// Merge merges a request as Writer, once Gitea knows whether it can be merged.
func (g *Gitea) Merge(number int) (err error) {
	for range 100 {
		err = g.repo(Writer, http.MethodPost, fmt.Sprintf("/pulls/%d/merge", number), map[string]any{"Do": "squash"}, nil)
		if err == nil || !strings.Contains(err.Error(), "try again later") {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}
