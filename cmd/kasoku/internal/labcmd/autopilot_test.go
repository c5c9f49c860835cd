package labcmd

import (
	"testing"

	"github.com/kasoku/kasoku/prove"
)

// TestStoryVerdict: where nothing was kept, what runs differ is no gain.
func TestStoryVerdict(t *testing.T) {
	s := &prove.Story{First: 1.61, Last: 1.9, Steps: []prove.Step{{Outcome: prove.TakenBack}}}
	if got, want := storyVerdict(s), "Score 1.9: 1 change tried, 0 kept."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Steps[0].Outcome = prove.Kept
	if got, want := storyVerdict(s), "Score 1.61 → 1.9, × 1.18: 1 change tried, 1 kept."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
