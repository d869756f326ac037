// Package inboxes holds the services that list what concerns an actor, and that
// acknowledge it. Package inbox finds it; this one gives it the store, the live state
// and the clock.
package inboxes
