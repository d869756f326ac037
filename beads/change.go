package beads

// Value is what a changed line holds under one key before and after: a text as
// it reads, any other value as its bytes stand, "" where the key is absent.
type Value struct {
	Key           Key
	Before, After string
}

// Values lists what the change changes, in the order of the line.
func (c Change) Values() ([]Value, error) {
	before, after, err := c.records()
	if err != nil {
		return nil, err
	}
	var values []Value
	for _, k := range keysOf(after, before) {
		if v := (Value{k, before.shown(k), after.shown(k)}); v.Before != v.After {
			values = append(values, v)
		}
	}
	return values, nil
}

// records reads the line before and after; a new issue had no keys before.
func (c Change) records() (before, after *Record, err error) {
	before = &Record{}
	if len(c.Before) > 0 {
		if before, err = ParseRecord(c.Before); err != nil {
			return nil, nil, err
		}
	}
	after, err = ParseRecord(c.After)
	return before, after, err
}

// shown is a value for people to read.
func (r *Record) shown(k Key) string {
	raw := r.Raw(k)
	if _, ok := unquote(raw); ok {
		return r.Text(k)
	}
	return string(raw)
}
