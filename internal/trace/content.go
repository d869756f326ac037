package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stig/internal/visible"
)

// Content is the data of a trace, by the keys of its type's definition, and its body: the text
// without the block that is content.
//
// A repeated key is a list, and so are the keys that the type defines as lists. A fenced block
// of JSON is decoded if the type allows any JSON (completion).
func (t Trace) Content() (content map[string]any, body string) {
	kind, _ := KindOf(t.Type)
	content, body = map[string]any{}, t.Body
	for _, trailer := range t.Trailers {
		values := t.Values(trailer.Key)
		if len(values) == 1 && !slices.Contains(kind.Lists, trailer.Key) {
			content[trailer.Key] = values[0]
		} else {
			content[trailer.Key] = values
		}
	}
	if kind.Head != "" && t.Summary != "" {
		content[kind.Head] = t.Summary
	}
	if kind.Block == "" {
		return content, body
	}
	if block, found := firstBlock(t.Body); found {
		content[kind.Block], body = block.value(kind), block.around
	} else if kind.Type == Completion && t.Summary != "" {
		content[kind.Block] = t.Summary // a one-line result needs no block
	}
	return content, body
}

// Problem is something that a type's definition rejects.
type Problem struct {
	Key     string // key of the content
	Message string // begins with the key
}

// Problems returns what the type's definition rejects. An unknown type has no rules.
func (t Trace) Problems() (problems []Problem) {
	kind, _ := KindOf(t.Type)
	content, _ := t.Content()
	add := func(key, format string, args ...any) {
		problems = append(problems, Problem{key, key + ": " + fmt.Sprintf(format, args...)})
	}
	for _, key := range kind.Required {
		if _, there := content[key]; !there {
			add(key, "missing; %s needs %s", t.Type, kind.Needs())
		}
	}
	has := func(key string) bool { return content[key] != nil }
	if len(kind.Either) > 0 && !slices.ContainsFunc(kind.Either, has) {
		add(strings.Join(kind.Either, " or "), "missing; %s needs %s", t.Type, kind.Needs())
	}
	if level, there := content["level"]; there && len(kind.Levels) > 0 && !slices.Contains(kind.Levels, fmt.Sprint(level)) {
		add("level", "must be %s; found %q", strings.Join(kind.Levels, ", "), level)
	}
	for _, key := range slices.Sorted(mapKeys(content)) {
		list, many := content[key].([]string)
		switch {
		case many && !slices.Contains(kind.Lists, key) && slices.Contains(slices.Concat(kind.Required, kind.Either, kind.Names), key):
			add(key, "must be given once; found %d", len(list))
		case slices.Contains(kind.Names, key) && !many && !IsName(fmt.Sprint(content[key])):
			add(key, "must be the name of a trace such as t-k2qhn5rzvw; found %q", content[key])
		}
	}
	return problems
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// Draft is a trace to be made, as data.
type Draft struct {
	Type    string
	Summary string         // the first line, if it is not part of the content
	Content map[string]any // texts, numbers, booleans, lists of them; for a completion's result any JSON
	Body    string
}

// Trace builds the trace of a draft. The error says what the grammar of traces cannot hold, and
// what the type's definition rejects. The default level is "info".
func (d Draft) Trace() (Trace, error) {
	kind, known := KindOf(d.Type)
	if !known {
		return Trace{}, fmt.Errorf("type: must be one of %s; found %q", strings.Join(Types(), ", "), d.Type)
	}
	t := Trace{Type: d.Type, Version: version, Summary: strings.TrimSpace(d.Summary), Body: blankLinesCut(d.Body)}
	given := map[string]any{}
	if slices.Contains(kind.Required, "level") {
		given["level"] = "info"
	}
	maps.Copy(given, d.Content)
	if err := t.take(kind, given); err != nil {
		return Trace{}, err
	}
	t.Summary = cmp.Or(t.Summary, strings.Join(t.Values("file_name"), ", "))
	if problems := t.Problems(); len(problems) > 0 {
		return Trace{}, errors.New(problems[0].Message)
	}
	return t, t.writable()
}

// take puts content where its kind has it: into the first line, the block, and the trailers.
func (t *Trace) take(kind Kind, given map[string]any) error {
	if value, there := given[kind.Head]; there && kind.Head != "" {
		text, err := oneText(kind.Head, value)
		if err != nil {
			return err
		}
		t.Summary = text
		delete(given, kind.Head)
	}
	if value, there := given[kind.Block]; there && kind.Block != "" {
		block, err := blockOf(kind, value)
		if err != nil {
			return err
		}
		t.Body = strings.TrimSpace(block + "\n\n" + t.Body)
		if kind.Type == Completion {
			t.Summary = cmp.Or(t.Summary, kind.Block)
		}
		delete(given, kind.Block)
	}
	order := kind.trailers()
	for _, key := range slices.Concat(order, slices.DeleteFunc(slices.Sorted(mapKeys(given)), func(key string) bool { return slices.Contains(order, key) })) {
		texts, err := textsOf(key, given[key])
		if err != nil {
			return err
		}
		for _, text := range texts {
			t.Trailers = append(t.Trailers, Trailer{key, text})
		}
	}
	return nil
}

// writable returns why the trace would not be read back as given.
func (t Trace) writable() error {
	text := t.Text()
	switch again, err := Parse(text); {
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("the text must not hold NUL")
	case len(text) > MaxBytes:
		return fmt.Errorf("the text must be at most %d bytes; found %d: put it into a file, and name that", MaxBytes, len(text))
	case strings.TrimSpace(t.Summary) == "":
		return fmt.Errorf("summary: missing; the first line of a trace says what it is about")
	case err != nil:
		return err
	case again.Text() != text:
		return fmt.Errorf("the text would not be read back as written")
	}
	return nil
}

func oneText(key string, value any) (string, error) {
	texts, err := textsOf(key, value)
	if err != nil {
		return "", err
	}
	if len(texts) != 1 {
		return "", fmt.Errorf("%s: must be one text; found %d", key, len(texts))
	}
	return texts[0], nil
}

// textsOf returns the value of a trailer as one-line texts.
func textsOf(key string, value any) ([]string, error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case []string:
		return each(value, func(text string) ([]string, error) { return textsOf(key, text) })
	case []any:
		return each(value, func(item any) ([]string, error) { return textsOf(key, item) })
	case string:
		text := strings.TrimSpace(value)
		switch {
		case !trailerLine().MatchString(key + ": x"):
			return nil, fmt.Errorf("%s: must be letters a to z, digits, _ and -, beginning with a letter", key)
		case key == mark:
			return nil, fmt.Errorf("%s: is the name of a trace type and cannot be a key", key)
		case text == "":
			return nil, fmt.Errorf("%s: must not be empty", key)
		case strings.ContainsAny(text, "\n\r"):
			return nil, fmt.Errorf("%s: must be one line; longer text belongs in the body", key)
		}
		return []string{text}, nil
	case bool, float64, int, json.Number:
		return textsOf(key, fmt.Sprint(value))
	}
	return nil, fmt.Errorf("%s: must be a text, a number or a list of them", key)
}

func each[T any](items []T, texts func(T) ([]string, error)) (all []string, err error) {
	for _, item := range items {
		some, err := texts(item)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func blankLinesCut(text string) string {
	return strings.Trim(visible.LF(text), "\n")
}
