package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"stig/internal/beads"
	"stig/internal/visible"
)

// credentials reports secrets in every text of the issue. It never repeats a secret:
// diagnostics end up in logs.
func credentials(s *subject) {
	for _, t := range suspects(s.record) {
		for _, found := range visible.Secrets(t.text) {
			const hint = "revoke it where it was issued, then remove it from the %s: git still has it"
			if t.name == string(beads.Notes) {
				line, column := s.doc.Position(found.Start)
				s.add(RuleSecret, line, column, "this looks like "+found.Kind, fmt.Sprintf(hint, t.name))
				continue
			}
			s.add(RuleSecret, 0, 0, fmt.Sprintf("%s: contains what looks like %s", t.name, found.Kind), fmt.Sprintf(hint, t.name))
		}
	}
}

// NewCredentials returns the credentials that an edit introduced into the texts of an issue, as
// "description: contains what looks like a GitHub token".
func NewCredentials(c beads.Change) (said []string) {
	was := map[string]bool{}
	each := func(line []byte, visit func(what, value string)) {
		r, err := beads.ParseRecord(line)
		if err != nil {
			return // a new issue has no line before
		}
		for _, t := range suspects(r) {
			for _, found := range visible.Secrets(t.text) {
				visit(fmt.Sprintf("%s: contains what looks like %s", t.name, found.Kind), t.text[found.Start:found.End])
			}
		}
	}
	each(c.Before, func(_, value string) { was[value] = true })
	each(c.After, func(what, value string) {
		if !was[value] && !slices.Contains(said, what) {
			said = append(said, what)
		}
	})
	return said
}

// named is one text of an issue, and its place: "comments 2 text".
type named struct{ name, text string }

// suspects returns the texts of an issue that may contain a credential; nil if no mark of one
// is in its line.
func suspects(r *beads.Record) []named {
	if !visible.MayHoldSecret(r.Bytes()) {
		return nil
	}
	var value any
	if json.Unmarshal(r.Bytes(), &value) != nil {
		return nil // vet reports it
	}
	return texts(nil, "", value)
}

// texts appends the strings in a JSON value, in the order of their keys.
func texts(list []named, name string, value any) []named {
	below := func(key string) string {
		if name == "" {
			return key
		}
		return name + " " + key
	}
	switch value := value.(type) {
	case string:
		return append(list, named{name, value})
	case []any:
		for i, v := range value {
			list = texts(list, below(fmt.Sprint(i+1)), v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			list = texts(list, below(key), value[key])
		}
	}
	return list
}
