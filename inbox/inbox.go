// Package inbox finds in a store what concerns one actor and was not acknowledged:
// traces and mentions, answers, feedback, what became ready, what was reopened.
//
// Items are derived from the store at each call, and named by what they are, so that
// none is lost with a mailbox and none is told twice. The package opens no store and
// keeps no acknowledgements; they are given to it.
package inbox
