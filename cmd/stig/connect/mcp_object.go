package connect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// members is an object of JSON in the order in which it was written: a reader is told
// first what counts most.
type members []member

type member struct {
	key   string
	value any // string, json.Number, bool, nil, []any or members
}

// get is the value of a key; nil where it has none.
func (m members) get(key string) any {
	for _, one := range m {
		if one.key == key {
			return one.value
		}
	}
	return nil
}

// with is the object with a key set, at its end where it is new.
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
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), nil), nil // those between tokens: in texts they are escaped
}

// parse reads a text of JSON, with the keys of objects in their order.
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
