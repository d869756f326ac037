package clone

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// ownerSize is how many characters of a person's name stand in a session's.
	ownerSize = 24
	// idSize is how many characters of a session's id are enough if no other begins so.
	idSize = 4
)

// ActorFlaw says why a name is not allowed; "" if it is. @me and none are reserved: in an
// assignee they stand for who acts and for nobody.
func ActorFlaw(name string) string {
	switch {
	case name == "@me" || name == "none":
		return fmt.Sprintf("@me and none are reserved; found %q", name)
	case strings.TrimSpace(name) == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl): // no trace could be for it
		return fmt.Sprintf("must be one line that is not blank and has no control characters; found %q", name)
	}
	return ""
}

// Slug is a person's name in the characters that a session's name has: a-z, 0-9 and
// the hyphen; "" where none of the name is left.
func Slug(person string) string {
	name := plain(person)
	return strings.Trim(name[:min(len(name), ownerSize)], "-")
}

// plain is a text in small letters, with a hyphen for each run of other characters.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}

// SessionName names a session of a person by its host and the beginning of its id, as long
// as it takes to differ from the names that are taken. owner is a Slug.
func SessionName(owner, host, id string, taken func(name string) bool) string {
	begin := owner + "/" + plain(host) + "-"
	characters := strings.ReplaceAll(plain(id), "-", "")
	if timed := strings.Split(id, "-"); len(timed) == 5 && strings.HasPrefix(timed[2], "7") {
		// A UUID of version 7 begins with the time, which sessions of one day share.
		characters = plain(timed[4]) + plain(timed[3])
	}
	characters = cmp.Or(characters, "0")
	for size := idSize; size < len(characters); size++ {
		if name := begin + characters[:size]; !taken(name) {
			return name
		}
	}
	return begin + characters
}

// SubagentName names the subagent of a session that it started as its number n.
func SubagentName(session string, n int) string { return fmt.Sprintf("%s/%d", session, n) }

// IsSession reports whether a name is that of a session or of a subagent.
func IsSession(name string) bool {
	owner, rest, ok := strings.Cut(name, "/")
	return ok && owner != "" && owner == Slug(owner) && strings.Contains(rest, "-")
}

// IsSubagent reports whether a name is that of a subagent.
func IsSubagent(name string) bool { return IsSession(name) && strings.Count(name, "/") == 2 }

// ParentActor gives the session that a name belongs to: that of a subagent, else the name.
func ParentActor(name string) string {
	if IsSubagent(name) {
		return name[:strings.LastIndexByte(name, '/')]
	}
	return name
}

// owner gives the person of a name as it stands in names of sessions.
func owner(name string) string {
	if IsSession(name) {
		before, _, _ := strings.Cut(name, "/")
		return before
	}
	return Slug(name)
}

// SamePerson reports whether two names are those of one person, and of sessions that
// work for them.
func SamePerson(a, b string) bool {
	return a != "" && (a == b || owner(a) == owner(b) && owner(a) != "" && (IsSession(a) || IsSession(b)))
}

// BelongsTo reports whether a name is who's own, or that of a session that works for who;
// if who is a session, its own or that of its subagents.
func BelongsTo(name, who string) bool {
	switch {
	case name == "" || who == "":
		return false
	case name == who:
		return true
	case IsSession(who):
		return strings.HasPrefix(name, who+"/")
	}
	return IsSession(name) && owner(name) == Slug(who)
}

// MayTake reports whether who may take what is assigned to name: its own issues, and for a
// session those of its subagents and those that its person left to it.
func MayTake(who, name string) bool {
	return name == who || IsSession(who) && (BelongsTo(name, who) || !IsSession(name) && SamePerson(who, name))
}
