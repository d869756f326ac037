// Package traces holds the services about what workers leave on issues for others: adding
// traces and finding them again, what concerns an actor and was not acknowledged (the
// inbox), and what happens in a store as it happens (watch).
//
// An inbox is no mailbox: its items are derived from the store at each call and named by
// what they are, so that none is lost and none is told twice. Events that stig caused are
// taken from the journal, edit by edit, with who made it; what other programs wrote is
// found by comparing lines, so that two of their edits in a row look like one.
//
// The package does not know how a trace reads: package trace does. It parses no flag and
// prints nothing.
//
//	added, err := traces.Add(ctx, a, traces.AddRequest{Drafts: drafts})
package traces
