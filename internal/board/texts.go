package board

import (
	"html/template"
	"strings"

	"stig/internal/workspace"
)

const (
	// mostTexts is how much HTML the long texts of a page are, in bytes, so that a page stays
	// below 100 kB; mostText is how much of one text is shown.
	mostTexts = 48 << 10
	mostText  = 8 << 10
)

// Markdown shows a text of an issue: the beginning of a long one, unless the address asks
// for the whole.
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
		shown += `<p class="more">… the text goes on: ` + template.HTMLEscapeString(v.elsewhere()) + "</p>"
	}
	return template.HTML(shown) // HTML makes it safe to show
}

// Plain shows output and diffs: the beginning of long ones.
func (v *view) Plain(text string) string {
	most := mostText
	if v.IsWhole() {
		most = MostHTML
	}
	if most = min(most, max(v.room, 256)); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "\n… (there is more)"
	}
	v.room -= len(text)
	return workspace.Visible(text)
}

// IsWhole reports whether the address asks for whole texts.
func (v *view) IsWhole() bool { return v.query.Get("whole") != "" }

// Whole is the address of this page with whole texts.
func (v *view) Whole() string { return v.at("whole", "yes") }

func (v *view) elsewhere() string {
	if v.IsWhole() {
		return "stig show prints all of it"
	}
	return "the page of its issue shows more"
}
