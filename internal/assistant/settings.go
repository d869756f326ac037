package assistant

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// errOneWay is returned instead of an edit that could not be undone byte for byte.
var errOneWay = errors.New("nothing added: removing stig's entries again would not restore the file")

// Install adds the missing hooks to the text of a settings file; a nil source means that the
// file does not exist. All other bytes are kept, and an existing hook of stig is left as it is.
// added lists the events that hooks were added to. Remove restores source byte for byte.
//
// Errors: fault.Store if source is not JSON, with or without comments, or has another value
// where hooks belong.
func (s Settings) Install(source []byte) (text []byte, added []string, err error) {
	if s.plugin != "" {
		return s.installPlugin(source)
	}
	d, err := s.read(source)
	if err != nil {
		return nil, nil, err
	}
	missing := s.missing(d)
	if len(missing) == 0 {
		return source, nil, nil
	}
	for _, h := range missing {
		added = append(added, h.event)
	}
	text = s.install(d, source, missing)
	before, _, err := s.Remove(source)
	if err != nil {
		return nil, nil, err
	}
	after, _, err := s.Remove(text)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(before, after) || (before == nil) != (after == nil) {
		return nil, nil, errOneWay
	}
	return text, added, nil
}

// Missing returns the events that no hook of stig answers yet. Errors: those of Install.
func (s Settings) Missing(source []byte) ([]string, error) {
	if s.plugin != "" {
		return s.missingPlugin(source), nil
	}
	d, err := s.read(source)
	if err != nil {
		return nil, err
	}
	var events []string
	for _, h := range s.missing(d) {
		events = append(events, h.event)
	}
	return events, nil
}

// Remove removes stig's hooks, and what was created for them, from the text of a settings file.
// text is nil if Install created the whole file; removed lists the events that hooks were
// removed from. Errors: those of Install.
func (s Settings) Remove(source []byte) (text []byte, removed []string, err error) {
	if s.plugin != "" {
		return s.removePlugin(source)
	}
	d, err := s.read(source)
	if err != nil {
		return nil, nil, err
	}
	if d.hooks == nil {
		return source, nil, nil
	}
	keep := true
	for i := d.hooks.len() - 1; i >= 0; i-- {
		member := d.hooks.Members[i]
		array, ok := member.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		taken, left := s.takeOut(elements{array})
		if taken {
			removed = append(removed, member.Name.Value.(hujson.Literal).String())
		}
		if !left {
			keep = cut(d.hooks, i)
		}
	}
	slices.Reverse(removed)
	switch {
	case len(removed) == 0:
		return source, nil, nil
	case keep:
		return d.pack(), removed, nil
	}
	at := d.root.last("hooks")
	if cut(d.root, at) && !(at == 0 && s.onlyVersion(d.root)) {
		return d.pack(), removed, nil
	}
	return d.leftover(), removed, nil
}

// takeOut removes stig's handlers from those of an event, and the groups that become empty.
// left reports whether the array is kept.
func (s Settings) takeOut(c elements) (taken, left bool) {
	left = true
	for i := c.len() - 1; i >= 0; i-- {
		if s.ownHandler(c.Elements[i]) {
			taken, left = true, cut(c, i)
			continue
		}
		inner, ok := groupOf(c.Elements[i])
		if s.flat || !ok {
			continue
		}
		stays := true
		for j := inner.len() - 1; j >= 0; j-- {
			if s.ownHandler(inner.Elements[j]) {
				taken, stays = true, cut(inner, j)
			}
		}
		if !stays {
			left = cut(c, i)
		}
	}
	return taken, left
}

// missing returns the hooks that no handler of stig answers.
func (s Settings) missing(d *document) (list []hook) {
	for _, h := range s.hooks {
		if !s.answers(d, h) {
			list = append(list, h)
		}
	}
	return list
}

func (s Settings) answers(d *document, h hook) bool {
	if d.hooks == nil {
		return false
	}
	event := d.hooks.find(h.event)
	if event == nil {
		return false
	}
	for _, e := range event.Value.(*hujson.Array).Elements {
		if group, ok := groupOf(e); s.ownHandler(e) || ok && slices.ContainsFunc(group.Elements, s.ownHandler) {
			return true
		}
	}
	return false
}

func (s Settings) ownHandler(v hujson.Value) bool {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	key := "command"
	if s.shells {
		key = "bash"
	}
	command := members{object}.find(key)
	if command == nil {
		return false
	}
	literal, ok := command.Value.(hujson.Literal)
	return ok && s.own(literal.String())
}

// groupOf returns the handlers of a group; false if v is not a group.
func groupOf(v hujson.Value) (elements, bool) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return elements{}, false
	}
	hooks := members{object}.find("hooks")
	if hooks == nil {
		return elements{}, false
	}
	array, ok := hooks.Value.(*hujson.Array)
	return elements{array}, ok
}

// onlyVersion reports whether only the version remains that install wrote after the hooks.
func (s Settings) onlyVersion(root *members) bool {
	return s.version != 0 && root.len() == 1 && root.last("version") == 0
}

// install adds hooks, each at the end of its array or object: some hosts identify the handlers
// that a person has approved by their index.
func (s Settings) install(d *document, source []byte, missing []hook) []byte {
	if d.root == nil {
		var text bytes.Buffer
		text.Write(d.mark)
		text.Write(style{eol: "\n", unit: "  "}.layOut(s.whole(missing), "", false))
		if source == nil {
			text.WriteString("\n")
		}
		return text.Bytes()
	}
	style := styleOf(d.text, d.root.Object)
	if d.hooks == nil {
		style.put(*d.root, d.indent(&d.value), "hooks", s.events(missing))
		return d.pack()
	}
	hooks := d.root.find("hooks")
	for _, h := range missing {
		event := d.hooks.find(h.event)
		if event == nil {
			style.put(*d.hooks, d.indent(hooks), h.event, listOf(s.entry(h)))
			continue
		}
		style.put(elements{event.Value.(*hujson.Array)}, d.indent(event), "", s.entry(h))
	}
	return d.pack()
}
