package workers

import (
	"github.com/spf13/cobra"

	"stig/internal/workspace"
)

// aboveZero refuses flags that the command has and that were given as 0, which stands for what
// holds without them.
func aboveZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String() == "0s") {
			return workspace.Usage("--"+name+": must be above 0; found 0", "")
		}
	}
	return nil
}
