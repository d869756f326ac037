package signals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"stig/internal/visible"
	"stig/notes"
)

// MergedSection begins the names of sections with a state estimate from the other side of a
// merge. A date and a hash of the text follow, so that merges in another order give the same
// names.
const MergedSection = "merged-estimate"

// undated replaces an unknown date in a name.
const undated = "0000-00-00"

// MergedEstimate is what the other side of a merge had found out: a state estimate, or signals,
// that did not become the live ones.
type MergedEstimate struct {
	Name string // name of its section
	Date string // YYYY-MM-DD, "" if unknown
	Text string // with its heading, trimmed, with LF line endings
}

// MergedEstimateName is the name of the section for an estimate with that date (YYYY-MM-DD, or
// "" if unknown) and text, including its heading.
func MergedEstimateName(date, text string) string {
	date = cmp.Or(date, undated)
	sum := sha256.Sum256([]byte(mergedText(text)))
	return MergedSection + " " + date + " " + hex.EncodeToString(sum[:4])
}

func mergedText(text string) string {
	return strings.TrimSpace(visible.LF(text))
}

// MergedEstimates lists the merged estimates in a document, in order.
func MergedEstimates(d *notes.Doc) (list []MergedEstimate) {
	for _, s := range d.Sections() {
		if date, ok := mergedDate(s.Name); ok {
			list = append(list, MergedEstimate{Name: s.Name, Date: date, Text: mergedText(d.Body(s))})
		}
	}
	return list
}

// mergedDate parses the date in the name of a merged estimate, and reports whether the name is
// one. It does not compare the hash, since an edited text keeps its name.
func mergedDate(name string) (date string, ok bool) {
	rest, ok := strings.CutPrefix(name, MergedSection+" ")
	date, hash, cut := strings.Cut(rest, " ")
	sum, err := hex.DecodeString(hash)
	if !ok || !cut || err != nil || len(sum) != 4 {
		return "", false
	}
	if date == undated {
		return "", true
	}
	return date, IsDate(date)
}

// isMerged reports whether a section with that name is a merged estimate.
func isMerged(name string) bool {
	_, is := mergedDate(name)
	return is
}

// FoldEstimates removes the merged estimates from a document and lists them. Without any the
// document is unchanged.
func FoldEstimates(d *notes.Doc) (*notes.Doc, []MergedEstimate, error) {
	taken := MergedEstimates(d)
	if len(taken) == 0 {
		return d, nil, nil
	}
	var spans []notes.Span
	for _, s := range d.Sections() {
		if isMerged(s.Name) {
			spans = append(spans, s.Span)
		}
	}
	result, err := removeLines(d, spans)
	return result, taken, err
}
