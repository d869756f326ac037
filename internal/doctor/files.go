package doctor

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// files examines the files beside the store, and what its file system supports for a write. It
// reports only problems.
func (e *examination) files() {
	if e.store.Mode == beads.Server {
		return
	}
	kept, err := jsonl.Leftovers(e.store)
	if err != nil {
		e.failed("kept", err)
	}
	for _, k := range kept {
		path := workspace.Shortest(k.Path)
		e.todo("kept", fmt.Sprintf("%s (%d bytes, %s): another program's version of the store, which a write replaced",
			path, k.Size, k.Modified.UTC().Format(time.DateOnly)),
			"type stig recover --all to see what the store lacks of it; stig recover --apply restores what is lost, stig recover --forget removes the file")
	}
	if e.store.Mode == beads.BD {
		return
	}
	if names, err := jsonl.HardLinks(e.store); err == nil && names > 1 {
		e.todo("links", fmt.Sprintf("the store is one file with %d names (hard links): a write replaces it under this name only", names),
			"replace the other names with symbolic links: ln -sf "+workspace.Shortest(e.store.Path)+" OTHER")
	}
	if unkept, err := jsonl.UnkeptAttributes(e.store); err == nil && len(unkept) > 0 {
		e.todo("attributes", "a write cannot keep these attributes of the store: "+strings.Join(unkept, ", "), "list them with getfattr -d -m - "+e.store.Path)
	}
	if can, err := jsonl.CanExchange(e.store); err == nil && !can {
		e.todo("disk", workspace.Weakness(e.store), "keep the repository on a local disk")
	}
}
