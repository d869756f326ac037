package lint

// againstRules are about changes to the store since an earlier version.
var againstRules = []Rule{{
	ID: RuleByHand, Severity: Error,
	Summary: "an issue was closed without the gate",
	Why:     "stig close runs the acceptance criteria of an issue, and says in the close reason what passed, who waived them and why, how the children of an epic were closed, or why nobody will do it. An issue that was closed in another way is an unproven claim, and those who wait for it start to build on it.",
	Example: `{"status":"closed","close_reason":"Done"} where main has {"status":"open"}`,
	Fix:     "Reopen it and type stig close ID, or stig close ID --waive WHY if there is nothing to run.",
}, {
	ID: RuleForged, Severity: Error,
	Summary: "the results in a close reason do not match the criteria of the issue",
	Why:     "stig close names the checks that it ran. If the criteria have no such check, neither now nor at the revision, or require one that the reason leaves out, somebody typed the reason by hand, or edited the criteria for the close and restored them. A waiver has no results that passed, and an epic has as many children as its reason says.",
	Example: `"Verified: … All acceptance criteria pass: 1/1 [true 0.0s] at 1a2b3c4" on criteria that ask for go test ./...`,
	Fix:     "Reopen it and type stig close ID, which runs the present criteria.",
}, {
	ID: RuleUntried, Severity: Warning,
	Summary: "a waiver was written by hand",
	Why:     "stig close --waive first runs what the criteria have to run, and puts the outcome and the name of who waived into the reason. Somebody typed a waiver without that into the store.",
	Example: `"Unverified: … Waived: only the frost can show it." on criteria that ask for go test ./...`,
	Fix:     "Reopen it and type stig close ID --waive WHY.",
}, {
	ID: RuleImpossible, Severity: Error,
	Summary: "a close reason names an impossible commit",
	Why:     "stig close writes the commit at which the checks ran. 0000000 is not a commit, nor is a word; and an issue in a commit was not closed before the first one.",
	Example: `"Verified: … All acceptance criteria pass: 1/1 [go test ./... 3.1s] at 0000000"`,
	Fix:     "Reopen it and type stig close ID, which runs the criteria.",
}, {
	ID: RuleNoCommit, Severity: Info,
	Summary: "a close reason names a commit that git does not have here",
	Why:     "A branch that was squashed or rebased leaves its commits behind, and a shallow clone lacks old ones. Nothing here then shows what the checks ran on.",
	Example: `"… at 1a2b3c4" where git cat-file -e 1a2b3c4 fails`,
	Fix:     "Fetch the whole history, or run the checks again: stig check --against REV --verify",
}, {
	ID: RuleGate, Severity: Error,
	Summary: "the checks of a closed issue do not pass here",
	Why:     "stig check --against REV --verify runs the criteria of every issue that was closed since REV again, where those who closed them have no control. Where work lands by review, it also runs those of issues that commits since REV name. A check that fails there was never shown to work, works only elsewhere, or was broken since.",
	Example: "go test ./... exits with 1 on the server for an issue whose reason says that it passed",
	Fix:     "Type stig verify ID to see it fail; fix the work, or reopen the issue: stig reopen ID --reason …",
}, {
	ID: RuleCheckWeakened, Severity: Warning,
	Summary: "an issue passes because its checks changed with its work",
	Why:     "Scripts that criteria run, and existing tests with what they expect, decide what passes. A script whose output a criterion judges is the work. stig check --against REV --verify also runs the criteria with the scripts and tests of REV: if they fail, the work passes because its checks changed. That may be right, but somebody has to review it. Where work lands by review, this is an error: change the check first, in a request of its own.",
	Example: "check.sh exits with 0 now, and with 1 as it was on main",
	Fix:     "Review what changed in them: git diff REV... -- FILE; if a check was weakened, restore it and type stig reopen ID --reason …",
}, {
	ID: RuleGateSet, Severity: Warning,
	Summary: "a setting that decides what passes the gate changed",
	Why:     "Who may waive, which credentials checks get, what they run in, and how work lands is for the project to decide, not for the branch whose issues they let pass. Whoever reviews the branch should see it.",
	Example: `.stig.cue has gate: waivers: "anyone" where main has none`,
	Fix:     "Check that it was intended, or revert it: git diff REV... -- .stig.cue",
}, {
	ID: RuleVanished, Severity: Error,
	Summary: "an issue, a memory or another line is gone from the store",
	Why:     "Programs that rewrite the whole file drop what they cannot read, including lines that are not issues, and a wrong merge keeps one side only. A tracker deletes an issue by leaving a line that says so.",
	Example: "main has a line with the id demo-1, and this store has none, or one that was created at another time",
	Fix:     "Restore the line from git, with another id if its own is taken; delete an issue with the tracker that created it.",
}, {
	ID: RuleDeleted, Severity: Warning,
	Summary: "an issue was deleted",
	Why:     "Nobody works on a deleted issue, and it blocks nothing: issues that waited for it may start although what they need was never done.",
	Example: `{"status":"tombstone"} where main has {"status":"open"}`,
	Fix:     "Check that it was intended, and that nothing waits for it any more.",
}, {
	ID: RuleSection, Severity: Error,
	Summary: "a section or a signal is gone from the notes of an issue",
	Why:     "Sections are what workers leave for each other. Programs that decode the notes into a struct of their own and encode it again drop them silently.",
	Example: "main has <!-- checkpoint-context --> in the notes of demo-1, and this store does not",
	Fix:     "Restore it: stig diff REV shows what it was.",
}, {
	ID: RuleUnsaid, Severity: Warning,
	Summary: "a comment is gone or was edited",
	Why:     "Comments and traces are what workers leave for each other, and are append-only. What somebody read and relied on is no longer there.",
	Example: `main has {"comments":[{"author":"ann","text":"The smith has the key."}]}, and this store does not`,
	Fix:     "Restore it: stig diff REV shows what it was. Say in a new comment what no longer holds.",
}, {
	ID: RuleWeakened, Severity: Warning,
	Summary: "acceptance criteria are gone or were changed",
	Why:     "An issue closes when its criteria pass. Whoever changes the criteria of their own work changes what done means; that needs a second pair of eyes.",
	Example: "main requires go test ./... and go vet ./..., this store only go vet ./...",
	Fix:     "Check that they require no less than before: stig diff REV",
}, {
	ID: RuleEdge, Severity: Warning,
	Summary: "a dependency that ordered work is gone",
	Why:     "Without the row the issue counts as ready before what it needs is done, or is missing from its epic.",
	Example: `main has {"issue_id":"demo-2","depends_on_id":"demo-1","type":"blocks"}, and this store does not`,
	Fix:     "If that was not intended: stig dep add A --on B",
}, {
	ID: RuleBackwards, Severity: Warning,
	Summary: "a signal moved backwards without a reason",
	Why:     "Work that goes back, such as progress from verifying to exploring or lost confidence, is news for everybody who builds on it: a state estimate left since then, with its date, is the reason. Without one, an old version probably overwrote a newer one.",
	Example: "| progress | exploring | 2026-11-02 | where main has | progress | verifying | 2026-11-01 |",
	Fix:     "stig checkpoint ID --done … --learned … with the reason, or set the signal back.",
}, {
	ID: RuleTrail, Severity: Error,
	Summary: "a question or an answer was edited or removed",
	Why:     "Questions and answers record what was decided, by whom and when. They are append-only: work was done by the words that are gone.",
	Example: "main has ## Resolved (2026-11-01) with other words in <!-- escalation-context -->",
	Fix:     "Restore the words, and add what has changed as a new question or answer.",
}}
