package beads

// Memory is what bd remembers beside the issues, as bd remember KEY VALUE left it.
type Memory struct{ Key, Value string }

// Memories gives the memories of the store, in file order. Errors are those of
// Issue.Record.
func (f *Snapshot) Memories() (list []Memory, err error) {
	for _, other := range f.others {
		line, err := other.AppendLine(nil)
		if err != nil {
			return nil, err
		}
		record, bad := parseRecord(line)
		if bad != nil {
			return nil, other.gone()
		}
		if record.Text("_type") == "memory" {
			list = append(list, Memory{record.Text("key"), record.Text("value")})
		}
	}
	return list, nil
}
