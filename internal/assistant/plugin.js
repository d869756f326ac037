// stig setup opencode wrote this file, and replaces it; do not edit it.

import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

// ask runs stig hook EVENT and gives its reply; nothing where stig is not in PATH.
function ask(event, said, env = {}) {
  return new Promise((resolve) => {
    let text = ""
    const child = spawn("stig", ["hook", event, "--host", "opencode"], {
      cwd: said.cwd,
      env: { ...process.env, ...env },
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

const specific = (reply) => reply.hookSpecificOutput ?? {}

// The tools of OpenCode that write, and those that do not; others are of MCP servers.
const writing = /^(bash|edit|write|multiedit|patch|apply_patch)$/
const reading = /^(read|grep|glob|list|ls|lsp|webfetch|websearch|codesearch|task|todowrite|todoread|skill|question|stig_.*)$/

export const Stig = async ({ client, directory }) => {
  const started = new Map() // by session, a promise of what it reads first and of its name
  const parents = new Map() // of the sessions of subagents
  const reminded = new Set()

  // eventOf is an event as stig reads it: a subagent is one of its parent's session.
  const eventOf = (id, more) => {
    const parent = parents.get(id)
    return { session_id: parent ?? id, ...(parent ? { agent_id: id } : {}), cwd: directory, ...more }
  }

  // start begins a session, or a subagent, once.
  const start = (id) => {
    if (!started.has(id)) started.set(id, parents.has(id) ? startAgent(id) : startSession(id))
    return started.get(id)
  }
  const startSession = async (id) => {
    const file = join(tmpdir(), "stig-" + randomUUID())
    const reply = await ask("session-start", eventOf(id), { STIG_ENV_FILE: file })
    const text = await readFile(file, "utf8").catch(() => "")
    await rm(file, { force: true })
    return { briefing: specific(reply).additionalContext, actor: /^export STIG_ACTOR=([a-z0-9/-]+)$/m.exec(text)?.[1] }
  }
  const startAgent = async (id) => {
    const { actor } = await start(parents.get(id))
    return { briefing: specific(await ask("subagent-start", eventOf(id))).additionalContext, actor }
  }

  return {
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID) return // no session: a title or a summary
      const { briefing } = await start(sessionID)
      if (briefing) system.push(briefing)
    },

    "shell.env": async ({ sessionID }, { env }) => {
      if (!sessionID) return // a terminal, where a person types
      const { actor } = await start(sessionID)
      if (actor) env.STIG_ACTOR = actor
    },

    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      if (reading.test(tool)) return
      const name = writing.test(tool) ? tool : "mcp_" + tool
      const reply = specific(await ask("pre-tool-use", eventOf(sessionID, { tool_name: name, tool_input: args })))
      if (reply.permissionDecision === "deny") throw new Error(reply.permissionDecisionReason)
    },

    "tool.execute.after": async ({ tool, sessionID }, result) => {
      if (reading.test(tool)) return
      const said = specific(await ask("post-tool-use", eventOf(sessionID, { hook_event_name: "PostToolUse", tool_name: tool })))
      if (!said.additionalContext) return
      if (typeof result.output === "string") result.output += "\n\n" + said.additionalContext
      else result.content?.push({ type: "text", text: said.additionalContext }) // of an MCP server
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      await ask("pre-compact", eventOf(sessionID))
      started.delete(sessionID)
    },

    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.info?.id
      if (type === "session.created" && properties.info.parentID) parents.set(id, properties.info.parentID)
      if (parents.has(id)) return
      if (type === "session.deleted") await ask("session-end", eventOf(id))
      if (type !== "session.idle") return
      const reply = await ask("stop", eventOf(id, { stop_hook_active: reminded.has(id) }))
      reminded.delete(id)
      if (reply.decision !== "block") return
      reminded.add(id)
      await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: reply.reason }] } })
    },
  }
}
