// Package service provides the use cases that several front ends share: functions that take a
// run and a request, call the library for the subject, and return a result. Commands, the MCP
// server, the hooks of assistants, the board and the worker loop call them.
//
// It keeps no state and knows nothing of flags, streams or text layout.
//
//	ready, err := service.Ready(ctx, a, "")
package service
