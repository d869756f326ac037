// Package traces has the commands about what workers leave on issues: flags, one
// call of a service, and how its result is printed.
package traces
