package signals

import "stig/notes"

// IsMerged reports whether a section of that name holds a merged estimate.
func IsMerged(name string) bool {
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
		if IsMerged(s.Name) {
			spans = append(spans, s.Span)
		}
	}
	result, err := removeLines(d, spans)
	return result, taken, err
}
