package connect

import (
	"fmt"
	"strings"
	"time"

	"stig/app"
	"stig/beads"
	"stig/jsonl"
)

// files looks at what stands beside the store, and at what its file system can
// do for a write. It says nothing of what is as it should be.
func (d *doctor) files() {
	kept, err := jsonl.Leftovers(d.store)
	if err != nil {
		d.failed("kept", err)
	}
	for _, k := range kept {
		path := app.Shortest(k.Path)
		d.todo("kept", fmt.Sprintf("%s (%d bytes, %s): a version of the store by another program, which a write had replaced",
			path, k.Size, k.Modified.UTC().Format(time.DateOnly)),
			"type stig recover --all to see what the store does not hold of it; stig recover --apply puts back what is lost, stig recover --forget removes the file")
	}
	if d.store.Mode == beads.Dolt {
		return
	}
	if names, err := jsonl.HardLinks(d.store); err == nil && names > 1 {
		d.todo("links", fmt.Sprintf("the store is one file with %d names (hard links): a write replaces it under this name only", names),
			"make the other names symbolic links: ln -sf "+app.Shortest(d.store.Path)+" OTHER")
	}
	if unkept, err := jsonl.UnkeptAttributes(d.store); err == nil && len(unkept) > 0 {
		d.todo("attributes", "a write cannot keep these attributes of the store: "+strings.Join(unkept, ", "), "see what they are: getfattr -d -m - "+d.store.Path)
	}
	if can, err := jsonl.CanExchange(d.store); err == nil && !can {
		d.todo("disk", app.Weakness(d.store), "keep the repository on a local disk")
	}
}
