package connect

import (
	"fmt"
	"unicode/utf8"
)

// resultLimit is the maximum size of a result object, in characters. A host gives all of it to
// the model.
const resultLimit = 8000

// bound limits the length of texts and lists.
type bound struct{ text, list int }

// bounds returns the bounds to try, in order: long texts are cut before lists lose their last
// elements, which matter least.
func bounds() (all []bound) {
	for _, list := range []int{60, 40, 25, 15, 10, 6, 3, 1} {
		for _, text := range []int{2000, 800, 300} {
			all = append(all, bound{text, list})
		}
	}
	return append(all, bound{100, 1}, bound{40, 0})
}

// fit returns object as JSON of at most most characters. If it is too long, fit cuts texts and
// lists as little as possible, and says so under left_out.
func fit(object members, most int) ([]byte, error) {
	text, err := object.MarshalJSON()
	if err != nil || utf8.RuneCount(text) <= most {
		return text, err
	}
	for _, b := range bounds() {
		said := fmt.Sprintf("the full result has %d characters; texts are cut to %d characters and lists to their first %d; ask for less", utf8.RuneCount(text), b.text, b.list)
		if short, err := cut(object, b).(members).with("left_out", said).MarshalJSON(); err != nil || utf8.RuneCount(short) <= most {
			return short, err
		}
	}
	return members{{"schema_version", object.get("schema_version")}, {"kind", object.get("kind")}, {"left_out", "the result is too long; ask for less"}}.MarshalJSON()
}

// cut shortens the texts and lists in a value to a bound.
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

// clip returns the first most characters of text, and how many follow.
func clip(text string, most int) string {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d more characters)", string([]rune(text)[:most]), n-most)
}
