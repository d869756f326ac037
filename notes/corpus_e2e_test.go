//go:build e2e

package notes_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/internal/testkit/sample"
	"stig/notes"
)

// corpus calls f with every notes text of the real stores in STIG_CORPUS. Lines that are not
// JSON belong to damaged stores, which package beads tests.
func corpus(t *testing.T, f func(place, text string)) {
	for _, store := range sample.Corpus(t, "*.jsonl") {
		file, err := os.Open(store)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var issue struct{ ID, Notes, Description string }
			if json.Unmarshal(lines.Bytes(), &issue) == nil {
				f(filepath.Base(store)+" "+issue.ID, issue.Notes)
				f(filepath.Base(store)+" "+issue.ID+" description", issue.Description)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
}

// What people and programs have written must survive reading and rewriting.
func TestCorpus(t *testing.T) {
	texts, sections, found := 0, 0, 0
	corpus(t, func(place, text string) {
		texts++
		d := notes.Parse(text)
		checkDoc(t, text, d)
		checkMarkdown(t, text)
		checkShortcuts(t, place, text)
		if n := len(d.Malformed()); n > 0 {
			t.Logf("%s: %d malformed: %v", place, n, d.Malformed()[0])
			return
		}
		for _, s := range d.Sections() {
			sections++
			live := d.Named(s.Name)[len(d.Named(s.Name))-1]
			same, err := d.Replace(live.Name, d.Body(live))
			if err != nil || same.Text() != text {
				t.Errorf("%s: replacing section %q by itself changes it (%v)", place, s.Name, err)
			}
			table := d.Table(s)
			if table == nil {
				if strings.Contains(d.Body(s), "|--") {
					t.Errorf("%s: no table found in section %q", place, s.Name)
				}
				continue
			}
			found++
			checkTable(t, d, s, table)
		}
	})
	t.Logf("%d texts, %d sections, %d tables", texts, sections, found)
	if texts == 0 || sections == 0 || found == 0 {
		t.Error("the corpus holds nothing to test")
	}
}

// checkShortcuts compares the shortcuts that avoid a block tree with the tree: a fence after
// the text forces one, and changes nothing before it.
func checkShortcuts(t *testing.T, place, text string) {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		d, slow := notes.Parse(text), notes.Parse(text+"\n\n```\n```\n")
		if !reflect.DeepEqual(d.Sections(), slow.Sections()) || !reflect.DeepEqual(d.Malformed(), slow.Malformed()) {
			t.Errorf("%s: with a fence behind it other sections: %v, %v", place, d.Sections(), slow.Sections())
			return
		}
		for _, s := range d.Sections() {
			if !reflect.DeepEqual(d.Table(s), slow.Table(s)) {
				t.Errorf("%s: with a fence behind it another table in %s", place, s.Name)
			}
		}
	}
}
