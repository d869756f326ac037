// Package service holds the use cases that several front ends share: functions that take a
// run and a request, call the library that knows the subject, and give a result. Commands,
// the MCP server, the hooks of assistants, the board and the worker loop call them.
//
// It keeps no state, and knows no flag, stream or text layout.
//
//	ready, err := service.Ready(ctx, a, "")
package service
