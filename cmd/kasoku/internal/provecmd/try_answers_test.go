package provecmd

import (
	"testing"

	"github.com/kasoku/kasoku/prove"
)

// TestTrialVerdictAnswers: what gains and answers otherwise is no success.
func TestTrialVerdictAnswers(t *testing.T) {
	f := func(trial prove.Trial, want string) {
		t.Helper()
		if got := trialVerdict(&trial); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	const order = "GET /notifications now comes in another order (37 of 100)"
	f(prove.Trial{Known: true, Gain: 0.9, Asked: true, Differs: []string{order}}, "Faster, but "+order+". It was taken back.")
	f(prove.Trial{Known: true, Gain: 0.9, Asked: true, Differs: []string{order, "GET /: status 500, was 200"}}, "Faster, but "+order+", and 1 more. It was taken back.")
	f(prove.Trial{Differs: []string{order}}, "Answers differ: "+order+". It was taken back.")
	f(prove.Trial{Known: true, Gain: 0.9, Asked: true}, "90.0 % of the time of these statements goes. It was taken back.")
}
