package clone

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// ownerSize is the maximum length of the person's name in a session's name.
	ownerSize = 24
	// idSize is the minimum length of the session's id in its name.
	idSize = 4
)

// ActorFlaw returns why a name is invalid; "" if it is valid. @me and none are reserved: as
// assignees they mean the actor and nobody.
func ActorFlaw(name string) string {
	switch {
	case name == "@me" || name == "none":
		return fmt.Sprintf("@me and none are reserved; found %q", name)
	case strings.TrimSpace(name) == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl): // no trace could be addressed to it
		return fmt.Sprintf("must be one line that is not blank and has no control characters; found %q", name)
	}
	return ""
}

// Slug returns a person's name as it is used in names of sessions: of a-z, 0-9 and hyphens. ""
// if nothing of the name is left.
func Slug(person string) string {
	name := plain(person)
	return strings.Trim(name[:min(len(name), ownerSize)], "-")
}

// plain returns a text in lower case, with each run of other characters replaced by a hyphen.
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

// SessionName returns a name for a session: of its person, its host and the shortest prefix of
// its id that makes it unique. owner is a Slug.
func SessionName(owner, host, id string, taken func(name string) bool) string {
	begin := owner + "/" + plain(host) + "-"
	characters := strings.ReplaceAll(plain(id), "-", "")
	if timed := strings.Split(id, "-"); len(timed) == 5 && strings.HasPrefix(timed[2], "7") {
		// A UUID of version 7 starts with the time, which sessions of one day share.
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

// SubagentName returns the name of the n-th subagent of a session.
func SubagentName(session string, n int) string { return fmt.Sprintf("%s/%d", session, n) }

// IsSession reports whether a name is that of a session or of a subagent.
func IsSession(name string) bool {
	owner, rest, ok := strings.Cut(name, "/")
	return ok && owner != "" && owner == Slug(owner) && strings.Contains(rest, "-")
}

// IsSubagent reports whether a name is that of a subagent.
func IsSubagent(name string) bool { return IsSession(name) && strings.Count(name, "/") == 2 }

// ParentActor returns the session of a subagent, and other names unchanged.
func ParentActor(name string) string {
	if IsSubagent(name) {
		return name[:strings.LastIndexByte(name, '/')]
	}
	return name
}

// owner returns the Slug of the person behind a name.
func owner(name string) string {
	if IsSession(name) {
		before, _, _ := strings.Cut(name, "/")
		return before
	}
	return Slug(name)
}

// SamePerson reports whether two names belong to one person: the person and their sessions.
func SamePerson(a, b string) bool {
	return a != "" && (a == b || owner(a) == owner(b) && owner(a) != "" && (IsSession(a) || IsSession(b)))
}

// BelongsTo reports whether name is who's own or works for who: a person's sessions and their
// subagents, a session's subagents.
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

// MayTake reports whether who may take an issue assigned to name: their own, and for a session
// also those of its subagents and of its person.
func MayTake(who, name string) bool {
	return name == who || IsSession(who) && (BelongsTo(name, who) || !IsSession(name) && SamePerson(who, name))
}
