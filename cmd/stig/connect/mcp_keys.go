package connect

// Keys of results that several tools return, or that are many. A key that may be null has no
// type, because some hosts refuse union types.

func surveyKeys() []param {
	return []param{
		{"as", text, "", false}, {"scale", text, "", false}, {"counts", object, "of all issues", false}, {"attention", rows, "what to look at first", false},
		{"attention_counts", rows, "", false}, {"in_progress", rows, "", false}, {"inbox", integer, "items in your inbox", false}, {"workers", rows, "whose loops run, wait or are paused", false}, {"to_land", text, "finished issues that the checkout lacks", false}, {"ready", rows, "", false}, {"epics", rows, "", false},
		{"convergence", rows, "", false}, {"critical_path", texts, "", false}, {"omitted", rows, "", false}, {"next", rows, "what to call next, and why", false},
	}
}

// briefingKeys returns the keys of a briefing that a survey does not have.
func briefingKeys() []param {
	return []param{
		{"issue", object, "", false}, {"depth", text, "", false}, {"depth_from", text, "", false}, {"signals", anything, "null without a signal table", false}, {"assessed", boolean, "", false},
		{"violations", rows, "", false}, {"alerts", rows, "", false}, {"notices", texts, "", false}, {"epic", anything, "", false}, {"related", rows, "", false}, {"escalation", object, "", false}, {"held", object, "who works on it in another work tree", false},
		{"state", text, "state of the issue for you", false}, {"holds", texts, "why you cannot take it", false}, {"conditions", texts, "", false}, {"missing", texts, "", false}, {"elsewhere", rows, "what it depends on in other projects", false},
		{"checkpoint", object, "the state that the last worker left", false}, {"also_learned", rows, "", false}, {"evidence", object, "", false}, {"swarm", object, "", false}, {"divergence", anything, "", false},
		{"description", text, "", false}, {"design", text, "", false}, {"comments", rows, "", false}, {"traces", rows, "the last summary, and the traces after it", false}, {"acceptance", object, "how to tell that it is done", false},
		{"notes", text, "", false}, {"children", object, "", false}, {"closed_dependencies", rows, "what it is built on", false}, {"farther_dependencies", texts, "", false},
		{"upstream_evidence", object, "", false}, {"upstream_findings", rows, "what was found there", false}, {"open_blockers", rows, "what it waits for", false}, {"dependents", rows, "what waits for it", false},
		{"seen_before", rows, "", false}, {"known", rows, "", false}, {"discover", rows, "", false}, {"probe", object, "", false}, {"directive", text, "how to go about it", false},
		{"learned", text, "from earlier work, in the actor's file", false},
	}
}

func verdictKeys() []param {
	return []param{
		{"id", text, "", false}, {"passed", boolean, "", false}, {"closed", boolean, "", false}, {"checks", rows, "each with its result", false},
		{"not_run", rows, "code that was not run, and why", false}, {"tree_changed", boolean, "a check changed tracked files", false},
		{"counts", object, "passed, failed, not_run, manual", false}, {"ignored", texts, "files that git ignores and a fresh checkout lacks", false},
		{"reused", boolean, "they passed on this tree before", false}, {"criteria_hash", text, "", false}, {"criteria_changed", boolean, "since they were committed", false},
		{"criteria_edited", object, "", false}, {"changed", rows, "signals that closing set", false}, {"tree", anything, "what was checked", false},
		{"escalated", boolean, "", false}, {"dry_run", boolean, "", false}, {"already", boolean, "it was closed before", false}, {"close_reason", text, "", false},
		{"reason_not_kept", text, "", false}, {"told", texts, "", false}, {"unblocked", texts, "what can be started now", false}, {"nearer", integer, "", false}, {"epic", anything, "", false},
		{"alerts", rows, "", false}, {"error", object, "why it stopped", false},
	}
}
