package beads

import "testing"

// TestOutcomeOf classifies close reasons, and whether work that depends on failure can start.
func TestOutcomeOf(t *testing.T) {
	for reason, want := range map[string]Outcome{
		"":       {},
		"Closed": {},
		"Verified: duplicate keys are refused. All acceptance criteria pass: 1/1": {},
		"Verified: the timeout error is gone":                                     {},
		"Duplicate ids are reported now":                                          {},
		"Invalid input is rejected":                                               {End: EndDone, Failed: true},
		"duplicate of q-7":                                                        {End: EndDuplicate},
		"Duplicate":                                                               {End: EndDuplicate},
		"Closed as duplicate (see q-7)":                                           {End: EndDuplicate},
		"dup q-7":                                                                 {End: EndDuplicate},
		"Unverified: duplicate of q-7, Exporter; waived by ann: it is done there": {End: EndDuplicate},
		"Superseded by q-9":    {End: EndDuplicate},
		"SUPERSEDED — see q-9": {End: EndDuplicate},
		"not planned":          {End: EndNotPlanned},
		"Unverified: not planned: the scope was cut; waived by ann": {End: EndNotPlanned},
		"Won't fix":                              {End: EndNotPlanned, Failed: true},
		"wontfix":                                {End: EndNotPlanned, Failed: true},
		"This is obsolete.":                      {End: EndNotPlanned},
		"Obsolete code was removed":              {},
		"No longer needed since q-3":             {End: EndNotPlanned},
		"Cancelled: the customer left":           {End: EndNotPlanned, Failed: true},
		"Failed: the fast path does not exist":   {End: EndFailed, Failed: true},
		"The spike failed":                       {Failed: true},
		"Ran for an hour, no error, 0 failed":    {},
		"Done: run 5 passes, one timeout before": {},
	} {
		if got := OutcomeOf(reason); got != want {
			t.Errorf("%q: %+v, want %+v", reason, got, want)
		}
	}
}
