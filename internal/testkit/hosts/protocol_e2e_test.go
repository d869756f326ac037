//go:build e2e && linux

package hosts_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// protocol is how a host talks to its model.
type protocol struct {
	path    string                                            // part of the path of its requests
	entries func(said map[string]any) []entry                 // of the conversation in a request
	answer  func(w http.ResponseWriter, text string, c *call) // the model's
}

type object = map[string]any

var protocols = []protocol{
	{"/v1/messages", anthropicEntries, answerAnthropic},
	{"/v1/responses", responsesEntries, answerResponses},
	{"/chat/completions", chatEntries, answerChat},
	{":streamGenerateContent", geminiEntries, answerGemini},
	{":generateContent", geminiEntries, answerGeminiAtOnce},
}

// send writes a server-sent event; event may be "".
func send(w io.Writer, event string, data any) {
	if event != "" {
		fmt.Fprintf(w, "event: %s\n", event)
	}
	fmt.Fprintf(w, "data: %s\n\n", compact(data))
}

func stream(w http.ResponseWriter) http.ResponseWriter {
	w.Header().Set("Content-Type", "text/event-stream")
	return w
}

func objects(v any) (list []object) {
	all, _ := v.([]any)
	for _, one := range all {
		if o, ok := one.(object); ok {
			list = append(list, o)
		}
	}
	return list
}

func text(v any) string {
	t, _ := v.(string)
	return t
}

// texts returns the texts of a content, which is one text or a list of parts.
func texts(content any) string {
	all := text(content)
	for _, part := range objects(content) {
		all += text(part["text"])
	}
	return all
}

func anthropicEntries(said object) (list []entry) {
	for _, message := range objects(said["messages"]) {
		if message["role"] != "user" {
			continue
		}
		list = append(list, entry{user: texts(message["content"])})
		for _, block := range objects(message["content"]) {
			if block["type"] == "tool_result" {
				list = append(list, entry{result: true})
			}
		}
	}
	return list
}

func answerAnthropic(w http.ResponseWriter, said string, c *call) {
	stream(w)
	usage := object{"input_tokens": 10, "output_tokens": 10}
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": said}, "end_turn"
	if c != nil {
		block = object{"type": "tool_use", "id": "toolu_" + serial(), "name": c.name, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": compact(c.args)}, "tool_use"
	}
	message := object{"id": "msg_" + serial(), "type": "message", "role": "assistant", "model": "stand-in", "content": []any{}, "stop_reason": nil, "usage": usage}
	send(w, "message_start", object{"type": "message_start", "message": message})
	send(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	send(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	send(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	send(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": usage})
	send(w, "message_stop", object{"type": "message_stop"})
}

func responsesEntries(said object) (list []entry) {
	for _, item := range objects(said["input"]) {
		switch {
		case item["role"] == "user":
			list = append(list, entry{user: texts(item["content"])})
		case strings.HasSuffix(text(item["type"]), "_call_output"):
			list = append(list, entry{result: true})
		}
	}
	return list
}

func answerResponses(w http.ResponseWriter, said string, c *call) {
	stream(w)
	id := "resp_" + serial()
	item := object{"type": "message", "role": "assistant", "id": "msg_" + serial(), "content": []any{object{"type": "output_text", "text": said}}}
	if c != nil {
		item = object{"type": "function_call", "id": "fc_" + serial(), "call_id": "call_" + serial(), "name": c.name, "arguments": compact(c.args)}
		if c.namespace != "" {
			item["namespace"] = c.namespace
		}
	}
	send(w, "response.created", object{"type": "response.created", "response": object{"id": id}})
	send(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	if c == nil {
		send(w, "response.output_text.delta", object{"type": "response.output_text.delta", "output_index": 0, "delta": said})
	}
	send(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	usage := object{"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
	send(w, "response.completed", object{"type": "response.completed", "response": object{"id": id, "usage": usage}})
}

func chatEntries(said object) (list []entry) {
	for _, message := range objects(said["messages"]) {
		switch message["role"] {
		case "user":
			list = append(list, entry{user: texts(message["content"])})
		case "tool":
			list = append(list, entry{result: true})
		}
	}
	return list
}

func answerChat(w http.ResponseWriter, said string, c *call) {
	stream(w)
	delta, reason := object{"role": "assistant", "content": said}, "stop"
	if c != nil {
		function := object{"name": c.name, "arguments": compact(c.args)}
		delta, reason = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": "call_" + serial(), "type": "function", "function": function}}}, "tool_calls"
	}
	chunk := func(delta object, reason any) object {
		return object{"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": "stand-in", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	send(w, "", chunk(delta, nil))
	last := chunk(object{}, reason)
	last["usage"] = object{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
	send(w, "", last)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func geminiEntries(said object) (list []entry) {
	for _, content := range objects(said["contents"]) {
		if content["role"] != "user" {
			continue
		}
		for _, part := range objects(content["parts"]) {
			_, result := part["functionResponse"]
			list = append(list, entry{user: text(part["text"]), result: result})
		}
	}
	return list
}

func geminiAnswer(said string, c *call) object {
	part := object{"text": said}
	if c != nil {
		part = object{"functionCall": object{"name": c.name, "args": c.args}}
	}
	return object{
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
	}
}

func answerGemini(w http.ResponseWriter, said string, c *call) {
	send(stream(w), "", geminiAnswer(said, c))
}

// answerGeminiAtOnce answers the Gemini CLI's classifier, which expects JSON.
func answerGeminiAtOnce(w http.ResponseWriter, _ string, _ *call) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, compact(geminiAnswer(`{"complexity_reasoning":"simple","complexity_score":1}`, nil)))
}
