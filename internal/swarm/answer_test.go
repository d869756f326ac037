package swarm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stig/internal/swarm"
)

// said formats what an output says, an operation a line.
func said(output, prompt string) string {
	var lines []string
	for _, a := range swarm.ReadAnswer(output, prompt) {
		o := a.Operation
		if a.Err != nil {
			lines = append(lines, "refused: "+a.Err.Error())
			continue
		}
		words := []string{string(o.Kind)}
		for _, word := range append([]string{o.Direction, o.Target, o.Reason, o.Evidence, o.Subtask, o.Idea, o.Perspective, o.Details, o.Branch, o.Exploring, o.Claimed, o.Note}, o.AgreesWith...) {
			if word != "" {
				words = append(words, word)
			}
		}
		if o.Amount > 0 {
			words = append(words, fmt.Sprint(o.Amount))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

// The two forms of a report, wherever a program prints them.
func TestReadAnswer(t *testing.T) {
	const finding, seed = `{"core_idea":"lru","details":"It hits."}`, `{"type":"round_complete","round":1,"report":{"direction":"cache","findings":[{"coreIdea":"lru","details":"It hits.","agreesWith":["mru"]}]},"summary":"done"}`
	const found = "finding cache lru It hits."
	asText, _ := json.Marshal(map[string]any{"type": "result", "total_cost_usd": 1, "result": "Here it is:\n" + seed})
	for name, c := range map[string]struct{ output, prompt, want string }{
		"ours":        {`{"round_complete":{"direction":"cache","findings":[` + finding + `]}}`, "", found},
		"seed":        {seed, "", found + " mru"},
		"after prose": {"thinking {\nmy answer: " + seed + "\nbye", "", found + " mru"},
		"in a fence":  {"```json\n" + seed + "\n```\n", "", found + " mru"},
		"over lines":  {strings.ReplaceAll(seed, ",", ",\n "), "", found + " mru"},
		"other order": {`{"report":{"direction":"cache","findings":[` + finding + `]},"type":"ROUND_COMPLETE"}`, "", found},
		"other case":  {`{"Type":"roundComplete","Report":{"Direction":"cache","Findings":[{"CoreIdea":"lru","Details":"It hits."}]}}`, "", found},
		"flat":        {`{"type":"round_complete","round":2,"direction":"cache","findings":[` + finding + `]}`, "", found},
		"as a result": {string(asText), "", found + " mru"},
		"one idea":    {`{"round_complete":{"findings":[{"core_idea":"a","details":"d","agrees_with":"b"}]}}`, "", "finding a d b"},
		"the last":    {strings.ReplaceAll(seed, "lru", "old") + "\n" + seed, "", found + " mru"},
		"twice": {`{"round_complete":{"direction":"d","findings":[` + finding + `],"operations":[{"operation":"update_finding","params":{"finding":{"coreIdea":"lru","details":"It hits."}}}]}}`, "",
			"finding d lru It hits."},
		"the example":            {"I read:\n" + seed, "example: " + seed, ""},
		"the example, an answer": {"I read:\n" + seed + "\n" + `{"round_complete":{"operations":[{"operation":"deposit","direction":"d"}]}}`, seed, "deposit d"},
		"empty":                  {`{"round_complete":{}}`, "", ""},
		"a message":              {`{"type":"blackboard_operation","operation":"deposit_pheromone","params":{"direction":"d"},"summary":"s"}` + "\n" + seed, "", "deposit d\n" + found + " mru"},
		"no JSON":                {`SendMessage({ type: "round_complete", round: 1 })`, "", "refused: the output has no JSON object of that name; see How to answer"},
		"cut":                    {seed[:60], "", "refused: the output has no JSON object of that name; see How to answer"},
		"no list":                {`{"round_complete":{"findings":{}}}`, "", "refused: must be a list"},
		"no object":              {`{"round_complete":["deposit"]}`, "", "refused: must be a JSON object"},
		"silence":                {"nothing to say", "", ""},
	} {
		if got := said(c.output, c.prompt); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// Each item of a report counts separately, with the keys that its kind allows, by our names and
// by those of the seed.
func TestOperationNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"operation":"deposit","direction":"d","amount":0.5}`:                                                                        "deposit d 0.5",
		`{"operation":"DEPOSIT_PHEROMONE","params":{"direction":"d"}}`:                                                                "deposit d",
		`{"operation":"send_stop_signal","params":{"targetDirection":"d","reason":"better_alternative","evidence":"e"}}`:              "stop d better_alternative e",
		`{"operation":"claimSubtask","params":{"description":"s"}}`:                                                                   "probe s",
		`{"operation":"update_finding","params":{"finding":{"coreIdea":"i","perspective":"p","details":"t","agreesWith":["a","b"]}}}`: "finding i p t a b",
		`{"operation":"update_agent_state","params":{"updates":{"current.exploringDirection":"d","note":"n"}}}`:                       "state d n",
		`{"operation":"transition_role","params":{"newRole":"DEBATER"}}`:                                                              "refused: role: is drawn when a round is settled, and cannot be set",
		`{"operation":"deposit","direction":"d","task":"t"}`:                                                                          "refused: task: unknown key of deposit; must be direction, amount",
		`{"operation":"finding","core_idea":"i","commit":"HEAD"}`:                                                                     "refused: commit: unknown key of finding; must be core_idea, direction, perspective, details, branch, agrees_with",
		`{"operation":"update_agent_state","params":{"updates":{"stats.pheromoneDeposits":9}}}`:                                       "refused: statspheromonedeposits: unknown key of state; must be exploring, claimed, note",
		`{"operation":"deposit","direction":"d","amount":"much"}`:                                                                     "refused: amount: must not be a string",
		`{"operation":"settle"}`: `refused: operation: must be deposit, stop, probe, finding, state; found "settle"`,
		`{"params":{}}`:          `refused: operation: must be deposit, stop, probe, finding, state; found ""`,
		`["deposit"]`:            "refused: must be a JSON object",
		`{"operation":"deposit_pheromone","params":"d"}`: "refused: params: must be a JSON object",
	} {
		if got := said(`{"round_complete":{"operations":[`+text+`]}}`, ""); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// Reading an output of any bytes ends, and soon.
func FuzzReadAnswer(f *testing.F) {
	f.Add(`{"type":"round_complete","report":{"findings":[{}],"operations":[{"operation":"stop","params":{"finding":{}}}]}}`)
	f.Fuzz(func(t *testing.T, output string) {
		for _, a := range swarm.ReadAnswer(output, "") {
			_ = a.Operation.Normal().Validate()
		}
	})
}

// Objects within objects without end are given up.
func TestReadAnswerIsBounded(t *testing.T) {
	for _, line := range []string{"{\"a\":\n", "{\"a\":[\n{", "{\n", "{\"round_complete\":\n", `"{\"round_complete\":`} {
		_ = swarm.ReadAnswer(strings.Repeat(line, (512<<10)/len(line)), "")
	}
}

// The names of agents are taken in any case, and as reports show them.
func TestNamesInAnyCase(t *testing.T) {
	state := swarm.Replay(begin(3, func(o *swarm.Operation) { o.Agents = []string{"TANWEI", "Ann", "suyuan"} }).list)
	for name, want := range map[string]string{"TanWei": "tanwei", "tanwei": "tanwei", "TANWEI": "tanwei", "TanWei (探微者)": "tanwei", "探微者": "tanwei", "ann": "Ann", "SUYUAN": "suyuan"} {
		if a := state.Agent(name); a == nil || a.Name != want {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := state.Agent("dongcha"); a != nil {
		t.Errorf("%+v", a)
	}
	if err := (&swarm.Operation{Kind: swarm.Start, Swarm: "s-1", Agent: "mara", Agents: []string{"TanWei", "tanwei"}}).ValidateStart(); err == nil {
		t.Error("one agent by two names is taken for two")
	}
}
