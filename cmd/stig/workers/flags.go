package workers

import (
	"github.com/spf13/cobra"

	"stig/internal/workspace"
)

// aboveZero returns an error if one of the flags was given as 0, because 0 means that it was
// not given.
func aboveZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String() == "0s") {
			return workspace.Usage("--"+name+": must be above 0; found 0", "")
		}
	}
	return nil
}
