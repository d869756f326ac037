package git

import (
	"context"
	"strings"
)

// noUpkeep keeps git from packing the repository behind our back, with the work tree held
// meanwhile.
const noUpkeep = "maintenance.auto=false"

// Upkeep has git pack the repository where it finds that this is due, unless the user has it
// not do so: a clone in which loops alone commit, which they do without it, grows else.
func Upkeep(ctx context.Context, o WorktreeOptions) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	wanted, err := r.git.Run(ctx, "config", "--type=bool", "maintenance.auto")
	if err != nil || strings.TrimSpace(string(wanted.Stdout)) == "false" {
		return err
	}
	_, err = r.git.Must(ctx, "maintenance", "run", "--auto", "--quiet")
	return err
}
