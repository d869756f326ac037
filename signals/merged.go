package signals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"stig/internal/visible"
	"stig/notes"
)

// MergedSection begins the names of the sections that hold a state estimate of
// the other side of a merge. Its date and a hash of its text follow, so that
// merges in another order give the same names.
const MergedSection = "merged-estimate"

// undated stands in a name for a date that is not known.
const undated = "0000-00-00"

// MergedEstimate is what the other side of a merge had found out: a state
// estimate that did not become the live one, or signals that did not.
type MergedEstimate struct {
	Name string // of its section
	Date string // YYYY-MM-DD, "" where it is not known
	Text string // with its heading, trimmed, with LF line ends
}

// MergedEstimateName is the name of the section for an estimate of that date
// (YYYY-MM-DD, or "" where it is not known) with that text, heading included.
func MergedEstimateName(date, text string) string {
	date = cmp.Or(date, undated)
	sum := sha256.Sum256([]byte(mergedText(text)))
	return MergedSection + " " + date + " " + hex.EncodeToString(sum[:4])
}

func mergedText(text string) string {
	return strings.TrimSpace(visible.LF(text))
}

// MergedEstimates lists the merged estimates in a document in their order.
func MergedEstimates(d *notes.Doc) (list []MergedEstimate) {
	for _, s := range d.Sections() {
		if date, ok := mergedDate(s.Name); ok {
			list = append(list, MergedEstimate{Name: s.Name, Date: date, Text: mergedText(d.Body(s))})
		}
	}
	return list
}

// mergedDate reads the date in the name of a merged estimate, and reports
// whether the name is one. A text that somebody edited keeps its name, so the
// hash is not compared.
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

// isMerged reports whether a section of that name holds a merged estimate.
func isMerged(name string) bool {
	_, is := mergedDate(name)
	return is
}

// FoldEstimates takes the merged estimates out of a document and lists them.
// Where there is none the document stays as it is.
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
