package board

import (
	"html/template"
	"strings"

	"stig/internal/workspace"
)

const (
	// mostTexts limits the HTML of long texts on a page, in bytes, so that a page stays below
	// 100 kB. mostText limits one text.
	mostTexts = 48 << 10
	mostText  = 8 << 10
)

// Markdown renders a text of an issue: the beginning of a long one, unless IsWhole.
func (v *view) Markdown(text string) template.HTML {
	most := mostText
	if v.IsWhole() {
		most = MostHTML
	} else if most = min(most, v.room); most <= 0 {
		return template.HTML(`<p class="more">` + template.HTMLEscapeString(v.elsewhere()) + "</p>")
	}
	shown, more := HTML(text, most)
	v.room -= len(shown)
	if more {
		shown += `<p class="more">… truncated: ` + template.HTMLEscapeString(v.elsewhere()) + "</p>"
	}
	return template.HTML(shown) // HTML makes it safe
}

// roomFor returns how many bytes of a long plain text a page has room for.
func (v *view) roomFor() int {
	most := mostText
	if v.IsWhole() {
		most = MostHTML
	}
	return min(most, max(v.room, 256))
}

// Plain returns output as text: the beginning of a long one.
func (v *view) Plain(text string) string {
	if most := v.roomFor(); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "\n… (there is more)"
	}
	v.room -= len(text)
	return workspace.Visible(text)
}

// IsWhole reports whether the query asks for full texts.
func (v *view) IsWhole() bool { return v.query.Get("whole") != "" }

// Whole returns the address of this page with full texts.
func (v *view) Whole() string { return v.at("whole", "yes") }

func (v *view) elsewhere() string {
	if v.IsWhole() {
		return "stig show prints the whole text"
	}
	return "the issue's page shows more"
}
