package beads

import "fmt"

// ParseRecord tokenises one line, given without its line end. The error says
// where the line is no JSON object, by 1-based byte column.
func ParseRecord(line []byte) (*Record, error) {
	r, bad := parseRecord(line, 1)
	if bad != nil {
		return nil, fmt.Errorf("column %d: %s", bad.offset+1, bad.message)
	}
	return r, nil
}
