package connect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// members is a JSON object that keeps the order of its keys: what matters most comes first.
type members []member

type member struct {
	key   string
	value any // string, json.Number, bool, nil, []any or members
}

// get returns the value of a key, nil if it is absent.
func (m members) get(key string) any {
	for _, one := range m {
		if one.key == key {
			return one.value
		}
	}
	return nil
}

// with returns the object with a key set; a new key goes to the end.
func (m members) with(key string, value any) members {
	m = slices.Clone(m)
	for i := range m {
		if m[i].key == key {
			m[i].value = value
			return m
		}
	}
	return append(m, member{key, value})
}

// MarshalJSON writes the keys in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(one.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(one.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), nil), nil // between tokens only: strings have them escaped
}

// parse parses JSON and keeps the order of keys.
func parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := members{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			object = append(object, member{key.(string), v})
		}
		_, err = d.Token()
		return object, err
	}
	return token, nil
}
