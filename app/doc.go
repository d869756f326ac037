// Package app holds the services of stig: functions that take a request and give
// a result. Commands, the MCP server and the hooks of assistants call them, and so
// will a board and a worker loop.
//
// An App is one run: where the store is, who acts, the clock, the environment, and
// the function that is told warnings and hints. Package app knows no flag, no
// stream and no text layout; it reads no environment variable and no clock but
// those that it is given.
//
//	file, err := a.Open()
//	rows, err := a.ReadyRows(file, actor)
package app
