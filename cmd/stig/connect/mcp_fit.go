package connect

import (
	"fmt"
	"unicode/utf8"
)

// resultLimit is how many characters the object of a result has at most. A host puts
// all of it before the model.
const resultLimit = 8000

// bound is how long texts and lists may be.
type bound struct{ text, list int }

// bounds are tried in their order: long texts are cut before lists lose what stands at
// their end, which counts least.
func bounds() (all []bound) {
	for _, list := range []int{60, 40, 25, 15, 10, 6, 3, 1} {
		for _, text := range []int{2000, 800, 300} {
			all = append(all, bound{text, list})
		}
	}
	return append(all, bound{100, 1}, bound{40, 0})
}

// fit gives an object as at most so many characters of JSON: as it is, else with the
// longest texts and lists that leave room, and what was done to it under left_out.
func fit(object members, most int) ([]byte, error) {
	text, err := object.MarshalJSON()
	if err != nil || utf8.RuneCount(text) <= most {
		return text, err
	}
	for _, b := range bounds() {
		said := fmt.Sprintf("the whole has %d characters: texts are cut to %d characters and lists to their first %d; ask for less", utf8.RuneCount(text), b.text, b.list)
		if short, err := cut(object, b).(members).with("left_out", said).MarshalJSON(); err != nil || utf8.RuneCount(short) <= most {
			return short, err
		}
	}
	return members{{"schema_version", object.get("schema_version")}, {"kind", object.get("kind")}, {"left_out", "all of it is too long; ask for less"}}.MarshalJSON()
}

// cut bounds the texts and lists in a value.
func cut(value any, b bound) any {
	switch value := value.(type) {
	case string:
		return clip(value, b.text)
	case []any:
		list := []any{}
		for _, v := range value[:min(len(value), b.list)] {
			list = append(list, cut(v, b))
		}
		return list
	case members:
		object := members{}
		for _, m := range value {
			object = append(object, member{m.key, cut(m.value, b)})
		}
		return object
	}
	return value
}

// clip is the beginning of a text of so many characters, and how many follow.
func clip(text string, most int) string {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d more characters)", string([]rune(text)[:most]), n-most)
}
