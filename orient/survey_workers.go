package orient

// Worker is an actor whose loop runs, or was kept from it.
type Worker struct {
	Name  string `json:"name"`
	State string `json:"state"`           // as below
	Issue string `json:"issue,omitempty"` // in hand
	Why   string `json:"why,omitempty"`   // of the state, one line
}

// The states of a worker. Those that were said (paused, draining, maintenance) are
// the names of package live.
const (
	WorkerWorking = "working" // at an issue
	WorkerWaiting = "waiting" // for work
	WorkerEnded   = "ended"   // its loop was killed at an issue
)

// words says what a worker does, and what to type where somebody has to do something.
func (w Worker) words() string {
	text := w.State
	switch {
	case w.State == WorkerWorking:
		text = "works on " + w.Issue
	case w.State == WorkerWaiting:
		text = "waits for work"
	case w.State == WorkerEnded:
		return "its loop ended at " + w.Issue + " (`stig sweep`)"
	case w.Issue != "":
		text += ", at " + w.Issue
	}
	if w.Why != "" {
		text += ": " + title(w.Why)
	}
	return text
}

// workersPart lists who works by a loop now, and which loops were paused.
func (s *Survey) workersPart(w *page) {
	if len(s.Workers) == 0 {
		return
	}
	w.heading("Workers")
	for _, worker := range s.Workers {
		w.linef("- %s %s", oneLine(worker.Name), worker.words())
	}
}
