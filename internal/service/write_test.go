package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes the store hold an issue for each id.
func write(t *testing.T, dir string, ids ...string) {
	t.Helper()
	var text strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&text, `{"id":%q,"title":"about %s","status":"open","priority":1,"issue_type":"task","comments":[{"id":1,"author":"ben","text":"said of %s"}]}`+"\n", id, id, id)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
