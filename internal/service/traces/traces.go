// Package traces provides the services for what workers leave on issues for others: leaving and
// finding traces, the inbox (what concerns an actor and is not acknowledged), and watching a
// store for events.
//
// An inbox is not a mailbox. Its items are derived from the store at each call and identified
// by their content, so that none is lost or reported twice. Events caused by stig come from the
// journal, edit by edit, with their actor. Changes by other programs are found by comparing
// lines, so two of their edits in a row look like one.
//
// Package trace knows the format of a trace. This package parses no flags and prints nothing.
//
//	added, err := traces.Add(ctx, a, traces.AddRequest{Drafts: drafts})
package traces
