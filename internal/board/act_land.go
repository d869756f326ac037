package board

import (
	"context"
	"net/url"
	"strings"

	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// undo takes back the viewer's answer to the question of the form.
func undo(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	_, err := service.UndoAnswer(ctx, a, id, form.Get("question"))
	return "undone", err
}

// take lands the work on an issue, with what it builds on.
func take(ctx context.Context, a *workspace.Run, id string, _ url.Values) (string, error) {
	return land(ctx, a, night.LandRequest{IDs: []string{id}})
}

// takeAll lands all work.
func takeAll(ctx context.Context, a *workspace.Run, _ string, _ url.Values) (string, error) {
	return land(ctx, a, night.LandRequest{All: true})
}

func land(ctx context.Context, a *workspace.Run, r night.LandRequest) (string, error) {
	done, err := night.Land(ctx, a, r)
	if err != nil {
		return "", err
	}
	if len(done.Issues) == 0 && done.To == done.From {
		return "", &fault.Error{Code: fault.Conflict, Reason: "nothing is left to land", Hint: "reload the page"}
	}
	return "landed " + visible.Counted(len(done.Issues), "issue") + " on " + done.Branch, nil
}

// sendBack reverts the work on an issue and reopens it, with the remark for whoever does it
// next.
func sendBack(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	if strings.TrimSpace(form.Get("text")) == "" {
		return "", workspace.Usage("the remark is empty", "say in the form what is wrong")
	}
	done, err := night.Revert(ctx, a, night.RevertRequest{ID: id, Reason: form.Get("text")})
	if err != nil {
		return "", err
	}
	if len(done.BuiltOn) > 0 {
		a.Warn("built on it: %s", strings.Join(done.BuiltOn, ", "))
	}
	return "sent back", nil
}
