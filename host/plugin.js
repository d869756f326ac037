// stig setup opencode wrote this file, and replaces it; do not edit it.

import { spawn } from "node:child_process"

// ask runs a hook of stig and gives its reply; nothing where stig is not in PATH.
function ask(event, said) {
  return new Promise((resolve) => {
    let text = ""
    const child = spawn("stig", ["hook", event, "--host", "opencode"], {
      cwd: said.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 10000,
    })
    child.on("error", () => resolve({}))
    child.on("close", () => {
      try {
        resolve(JSON.parse(text))
      } catch {
        resolve({})
      }
    })
    child.stdout.on("data", (part) => (text += part))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(said))
  })
}

// The tools of OpenCode that write, and those that do not; others are of MCP servers.
const writing = /^(bash|edit|write|multiedit|patch|apply_patch)$/
const reading = /^(read|grep|glob|list|ls|lsp|webfetch|websearch|codesearch|task|todowrite|todoread|skill|question|stig_.*)$/

export const Stig = async ({ client, directory }) => {
  const briefings = new Map() // a promise for each session
  const reminded = new Set()
  const subagents = new Set() // their sessions
  const said = (session, more) => ({ session_id: session, cwd: directory, ...more })
  const specific = (reply) => reply.hookSpecificOutput ?? {}

  return {
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || subagents.has(sessionID)) return // no session: a title or a summary
      if (!briefings.has(sessionID)) {
        briefings.set(sessionID, ask("session-start", said(sessionID)))
      }
      const text = specific(await briefings.get(sessionID)).additionalContext
      if (text) system.push(text)
    },

    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      if (reading.test(tool)) return
      const name = writing.test(tool) ? tool : "mcp_" + tool
      const reply = specific(await ask("pre-tool-use", said(sessionID, { tool_name: name, tool_input: args })))
      if (reply.permissionDecision === "deny") throw new Error(reply.permissionDecisionReason)
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      await ask("pre-compact", said(sessionID))
      briefings.delete(sessionID)
    },

    event: async ({ event }) => {
      if (event.type === "session.created" && event.properties.info.parentID) subagents.add(event.properties.info.id)
      const id = event.properties.sessionID
      if (event.type !== "session.idle" || subagents.has(id)) return
      const reply = await ask("stop", said(id, { stop_hook_active: reminded.has(id) }))
      reminded.delete(id)
      if (reply.decision !== "block") return
      reminded.add(id)
      await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: reply.reason }] } })
    },
  }
}
