package beads

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Value is what a line holds under one key before and after a change: decoded text, any other
// value as raw bytes, "" if the key is absent.
type Value struct {
	Key           Key
	Before, After string
}

// Values lists the changed keys, in the order of the line.
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

// records parses the line before and after; a new issue had no keys before.
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

// shown formats a value for people.
func (r *Record) shown(k Key) string {
	raw := r.Raw(k)
	if _, ok := unquote(raw); ok {
		return r.Text(k)
	}
	return string(raw)
}

// Missing returns the keys, in the order of the line, to which the change gave a value that the
// issue no longer holds; now is the issue as somebody else wrote it since, nil if it is gone.
// It compares values, not bytes: times to the second (bd keeps no more), lists by the elements
// that the change added or removed. It ignores the id of a comment, the creation time of a
// dependency and updated_at, which each program sets itself. hold decides whether the current
// notes keep the change; without hold they are compared whole.
func (c Change) Missing(now *Record, hold func(before, after, now string) bool) ([]Key, error) {
	if now == nil {
		return []Key{ID}, nil
	}
	before, after, err := c.records()
	if err != nil {
		return nil, err
	}
	var missing []Key
	for _, k := range keysOf(after, before) {
		if k == ClosedAt && after.Has(k) && now.Has(k) {
			continue
		}
		if k == Notes && hold != nil && hold(before.Text(k), after.Text(k), now.Text(k)) {
			continue
		}
		if k != UpdatedAt && !holds(before.value(k), after.value(k), now.value(k)) {
			missing = append(missing, k)
		}
	}
	return missing, nil
}

// keysOf returns the keys of several records, each once.
func keysOf(records ...*Record) []Key {
	keys := make([]Key, 0, len(records[0].members))
	for _, r := range records {
		for _, m := range r.members {
			if k := Key(memberKey(r.line, m)); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// value decodes the value of a key: nil if absent, null, false or empty, since programs write
// or omit those at will.
func (r *Record) value(k Key) any {
	raw := r.Raw(k)
	if raw == nil {
		return nil
	}
	if _, isText := unquote(raw); isText {
		return plain(r.Text(k))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return string(raw) // unreachable: the line was parsed
	}
	if list, ok := v.([]any); v == false || ok && len(list) == 0 {
		return nil
	}
	return v
}

// plain normalizes a text for comparison: times to the second, "" as nil.
func plain(text string) any {
	if t, ok := parseTime([]byte(text)); ok {
		return t.UTC().Truncate(time.Second).Format(time.RFC3339)
	}
	if text == "" {
		return nil
	}
	return text
}

// holds reports whether now keeps what changed between before and after.
func holds(before, after, now any) bool {
	old, wasList := before.([]any)
	list, isList := after.([]any)
	if !wasList && !isList {
		return reflect.DeepEqual(before, after) || reflect.DeepEqual(after, now)
	}
	there, _ := now.([]any)
	return HoldsEdit(elements(old), elements(list), elements(there))
}

// HoldsEdit reports whether has contains every element that is has and was lacks, and none that
// was has and is lacks.
func HoldsEdit(was, is, has []string) bool {
	for _, e := range is {
		if !slices.Contains(was, e) && !slices.Contains(has, e) {
			return false
		}
	}
	for _, e := range was {
		if !slices.Contains(is, e) && slices.Contains(has, e) {
			return false
		}
	}
	return true
}

// elements keys the elements of a list by their identity: a dependency by target and type, a
// comment by author and text, anything else by its whole value.
func elements(list []any) (names []string) {
	for _, e := range list {
		object, _ := e.(map[string]any)
		var parts []any
		switch {
		case object["depends_on_id"] != nil:
			parts = []any{object["depends_on_id"], object["type"]}
		case object["author"] != nil && object["text"] != nil:
			text, _ := object["text"].(string)
			parts = []any{object["author"], strings.TrimSpace(text)}
		default:
			parts = []any{e}
		}
		name, err := json.Marshal(parts)
		if err != nil {
			continue // decoded values can always be encoded
		}
		names = append(names, string(name))
	}
	return names
}
