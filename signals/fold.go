package signals

import "stig/notes"

// FoldEstimates takes the merged estimates out of a document and lists them.
// Where there is none the document stays as it is.
func FoldEstimates(d *notes.Doc) (*notes.Doc, []MergedEstimate, error) {
	taken := MergedEstimates(d)
	if len(taken) == 0 {
		return d, nil, nil
	}
	var spans []notes.Span
	for _, s := range d.Sections() {
		if _, ok := MergedDate(s.Name); ok {
			spans = append(spans, s.Span)
		}
	}
	result, err := removeLines(d, spans)
	return result, taken, err
}
