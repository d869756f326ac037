package visible

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// Secret is one credential in a text: its kind, such as "a GitHub token", and its byte range.
type Secret struct {
	Kind       string
	Start, End int
}

// Secrets lists the credentials in a text in order. If two overlap the first counts. Most texts
// take one pass, without regular expressions.
func Secrets(text string) (all []Secret) {
	for _, n := range candidates([]byte(text)) {
		k := kinds()[n]
		for _, at := range k.pattern.FindAllStringSubmatchIndex(text, -1) {
			start, end := at[len(at)-2], at[len(at)-1]
			if k.real == nil || k.real(text[start:end]) {
				all = append(all, Secret{k.name, start, end})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Secret) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	end := 0
	return slices.DeleteFunc(all, func(f Secret) bool {
		overlaps := f.Start < end
		end = max(end, f.End)
		return overlaps
	})
}

// HoldsSecret reports whether a text contains a credential.
func HoldsSecret(text string) bool { return len(Secrets(text)) > 0 }

// MayHoldSecret reports whether Secrets must examine a text, or the texts in a line of JSON:
// false means that there is none. It allocates nothing unless there is a mark.
func MayHoldSecret(text []byte) bool { return len(candidates(text)) > 0 }

// HideSecrets replaces each credential in a text by its kind.
func HideSecrets(text string) string {
	var b strings.Builder
	last := 0
	for _, f := range Secrets(text) {
		b.WriteString(text[last:f.Start] + "[" + f.Kind + ", omitted]")
		last = f.End
	}
	return b.String() + text[last:]
}

// candidates lists the kinds, by number, whose marks a text contains.
func candidates(text []byte) (list []int) {
	var held uint64
	all := marks()
	for at := range len(text) - 1 {
		for both := all.first[text[at]] & all.second[text[at+1]]; both != 0; both &= both - 1 {
			if m := all.marks[bits.TrailingZeros64(both)]; m.standsIn(text, at-m.offset) {
				held |= 1 << m.kind
			}
		}
	}
	for n := range kinds() {
		if held&(1<<n) != 0 {
			list = append(list, n)
		}
	}
	return list
}

// standsIn reports whether a mark begins at a position.
func (m mark) standsIn(text []byte, start int) bool {
	if start < 0 || start+len(m.text) > len(text) {
		return false
	}
	if m.fold {
		return bytes.EqualFold(text[start:start+len(m.text)], m.text)
	}
	return bytes.Equal(text[start:start+len(m.text)], m.text)
}
