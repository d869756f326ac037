package assistant

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// errOneWay refuses an edit that could not be undone to the byte.
var errOneWay = errors.New("stig could not take its hooks out again and leave the file as it is, so it puts none in")

// Install adds the hooks that are missing to the text of a settings file; nil
// stands for a file that is not there. All else keeps its bytes, and a hook of
// stig that is there is left as it is. It gives the names of the events it
// added to. Remove undoes it to the byte.
//
// Errors: fault.Store when the text is not JSON, with comments or without,
// or has something else where hooks belong.
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

// Missing gives the names of the events that stig does not answer yet. Errors
// are those of Install.
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

// Remove takes stig's hooks out of the text of a settings file, and what was
// made for them. It gives nil when Install made the whole file, and the names
// of the events that it took something from. Errors are those of Install.
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

// takeOut takes stig's handlers from those of an event, and the groups that
// have no other. Left reports whether the array is to stay.
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

// missing gives the hooks that no handler of stig answers.
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

// groupOf gives the handlers of a group.
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

// onlyVersion reports whether nothing is left but the version that was written
// for the hooks, which stands after them.
func (s Settings) onlyVersion(root *members) bool {
	return s.version != 0 && root.len() == 1 && root.last("version") == 0
}

// install puts hooks in, each at the end of what stands at its place: some
// hosts tell the handlers that a person has approved by their number.
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
