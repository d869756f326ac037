package lint

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
)

// across reports problems that only several issues together show; it reads only the index.
func across(f *beads.Snapshot) []Diagnostic {
	return append(leftOpen(f), twins(f)...)
}

// few is the maximum number of ids that a message names.
const few = 3

// firstFew returns the ids of the first few issues, and the number of the others.
func firstFew(f *beads.Snapshot, indices []int) string {
	var ids []string
	for _, i := range indices[:min(few, len(indices))] {
		ids = append(ids, f.At(i).ID)
	}
	if more := len(indices) - few; more > 0 {
		ids = append(ids, fmt.Sprintf("%d more", more))
	}
	return strings.Join(ids, ", ")
}

// passing reports whether an issue is not lasting work: nobody misses it when it is gone.
func passing(is *beads.Issue) bool { return is.Ephemeral || is.Template || is.Channel || is.IsPinned() }

// leftOpen reports closed epics with unclosed children.
func leftOpen(f *beads.Snapshot) (found []Diagnostic) {
	open := map[int][]int{}
	for i := range f.All() {
		is := f.At(i)
		if beads.IsClosed(is.Status) || is.Status == "" || passing(is) {
			continue
		}
		for _, dep := range is.Deps {
			if !dag.Contains(dep.Type) {
				continue
			}
			epic, there := f.Index(dep.On)
			if !there || epic == i || f.At(epic).Status != beads.StatusClosed {
				continue
			}
			if list := open[epic]; len(list) == 0 || list[len(list)-1] != i {
				open[epic] = append(list, i)
			}
		}
	}
	for epic, children := range open {
		is := f.At(epic)
		found = append(found, breach(f, RuleLeftOpen, is.ID, is.Line,
			fmt.Sprintf("closed, but %d of its children are not: %s", len(children), firstFew(f, children)),
			fmt.Sprintf("close those that are done, or type stig reopen %s --reason …", is.ID)))
	}
	return found
}

// twins reports unclosed issues with the same title.
func twins(f *beads.Snapshot) (found []Diagnostic) {
	seed := maphash.MakeSeed()
	first := map[uint64]int{}
	more := map[uint64][]int{}
	var order []uint64
	var plain []byte
	for i := range f.All() {
		is := f.At(i)
		if beads.IsClosed(is.Status) || passing(is) {
			continue
		}
		if plain = appendPlain(plain[:0], is.Title); len(plain) == 0 {
			continue
		}
		sum := maphash.Bytes(seed, plain)
		if _, twice := first[sum]; !twice {
			first[sum] = i
			continue
		}
		if more[sum] == nil {
			order = append(order, sum)
		}
		more[sum] = append(more[sum], i)
	}
	for _, sum := range order {
		is := f.At(first[sum])
		found = append(found, breach(f, RuleTwins, is.ID, is.Line,
			fmt.Sprintf("same title as %s: %s", firstFew(f, more[sum]), opening(is.Title)),
			fmt.Sprintf("if they are duplicates: stig close %s --duplicate-of %s", f.At(more[sum][0]).ID, is.ID)))
	}
	return found
}

// appendPlain appends a title without case, extra blanks, and punctuation after words, none of
// which distinguishes issues.
func appendPlain(plain []byte, title string) []byte {
	for word := range strings.FieldsSeq(title) {
		if word = strings.TrimRight(word, ".,;:!?"); word != "" && len(plain) > 0 {
			plain = append(plain, ' ')
		}
		for _, r := range word {
			plain = utf8.AppendRune(plain, unicode.ToLower(r))
		}
	}
	return plain
}
