// Package working holds the service of stig work: a loop that runs a command for one
// issue after another, and lands what passes the gate. Package work decides; this one
// starts programs, writes the store and keeps the run records.
package working
