package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// toy is a target whose score is the product of the changes that it has.
type toy struct {
	factors map[string]float64 // by statement; 0: the run fails; below 0: it cannot be made
	have    []string
	clock   time.Time
	log     []string
}

func (y *toy) Run(_ context.Context, label, base string) (*kasoku.Recording, error) {
	y.clock = y.clock.Add(time.Minute)
	v := 1000.0
	for _, h := range y.have {
		v *= y.factors[h]
	}
	sc := &kasoku.Score{Value: v, Outcome: kasoku.Passed}
	if v == 0 {
		sc.Outcome = kasoku.Failed
	}
	rec := &kasoku.Recording{Run: kasoku.Run{ID: label, Label: label, Base: base, Score: sc}, Diagnosis: &kasoku.Diagnosis{}}
	for _, name := range []string{"good", "idle", "bad", "fatal", "odd", "risky"} {
		if _, ok := y.factors[name]; !ok || contains(y.have, name) {
			continue
		}
		fix := kasoku.Fix{Risk: kasoku.RiskNone, Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Do: name}}}
		if name == "risky" {
			fix.Risk = kasoku.RiskDurability
		}
		rec.Diagnosis.Findings = append(rec.Diagnosis.Findings, kasoku.Finding{ID: strings.ToUpper(name), Severity: kasoku.Problem, Fixes: []kasoku.Fix{fix}})
	}
	y.log = append(y.log, "run "+label)
	return rec, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (y *toy) Apply(_ context.Context, edits []kasoku.Edit) error {
	if y.factors[edits[0].Do] < 0 {
		return errors.New("it has no such thing")
	}
	y.have = append(y.have, edits[0].Do)
	return nil
}

func (y *toy) Undo(context.Context) error {
	y.have = y.have[:len(y.have)-1]
	return nil
}

func TestAutopilot(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "idle": 1.01, "bad": 0.5, "fatal": 0, "odd": -1, "risky": 3}}
	story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Now: func() time.Time { return y.clock }})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(y.have) != "[good]" || story.First != 1000 || story.Last != 1500 {
		t.Errorf("has %v, score %v → %v", y.have, story.First, story.Last)
	}
	outcomes := map[string]string{}
	for _, s := range story.Steps {
		outcomes[s.Finding.ID] = fmt.Sprint(s.Outcome, " ", len(s.Runs))
	}
	for id, want := range map[string]string{"GOOD": "kept 1", "IDLE": "taken back 2", "BAD": "taken back 1", "FATAL": "taken back 1", "ODD": "refused 0"} {
		if outcomes[id] != want {
			t.Errorf("%s: %s, want %s", id, outcomes[id], want)
		}
	}
	good := "" // the run that kept the change
	for _, s := range story.Steps {
		for _, r := range s.Runs {
			if want := cmp.Or(good, story.Start.Run.ID); r.Run.Base != want {
				t.Errorf("%s is a try upon %q, want %q", r.Run.ID, r.Run.Base, want)
			}
		}
		if s.Outcome == Kept {
			good = s.Runs[0].Run.ID
		}
	}
	if story.Start.Run.ID == "" || story.Start.Run.Base != "" || good == "" {
		t.Errorf("start %+v, kept %q", story.Start.Run, good)
	}
	if outcomes["RISKY"] != "" || len(story.Edits()) != 1 || !strings.Contains(story.Stopped, "no finding is left") {
		t.Errorf("outcomes %v, edits %v, stopped %q", outcomes, story.Edits(), story.Stopped)
	}
}

// TestAutopilotTime: no change is begun that would end too late.
func TestAutopilotTime(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "idle": 1.2, "bad": 1.2}}
	story, err := Autopilot(t.Context(), y, Pilot{For: 150 * time.Second, Now: func() time.Time { return y.clock }})
	if err != nil || len(story.Steps) != 1 || story.Stopped != "the time is over" {
		t.Errorf("%v: %d steps, %q", err, len(story.Steps), story.Stopped)
	}
}

// TestAutopilotStopped: what was not decided on is taken back.
func TestAutopilotStopped(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5}}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Autopilot(ctx, y, Pilot{For: time.Hour, Now: func() time.Time { return y.clock }, OnStep: func(int, *kasoku.Finding, []kasoku.Edit) { cancel() }})
	if !errors.Is(err, context.Canceled) || len(y.have) != 0 {
		t.Errorf("%v: has %v", err, y.have)
	}
}

// asked are answers of which one change makes others.
type asked struct {
	y    *toy
	kept int
}

func (a *asked) Keep(context.Context) error { a.kept++; return nil }
func (a *asked) Differences(context.Context) ([]string, error) {
	if a.y.have[len(a.y.have)-1] == "good" {
		return []string{"GET /list now comes in another order (3 of 9)"}, nil
	}
	return nil, nil
}

// TestAutopilotAnswers: a change that alters answers is taken back, whatever it gains.
func TestAutopilotAnswers(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "odd": 1.2}}
	held := &asked{y: y}
	story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Answers: held, Now: func() time.Time { return y.clock }})
	if err != nil || fmt.Sprint(y.have) != "[odd]" || len(story.Steps) != 2 || held.kept != 2 {
		t.Fatalf("%v: has %v, %+v", err, y.have, story.Steps)
	}
	if s := story.Steps[0]; s.Outcome != TakenBack || len(s.Runs) != 0 || s.Why != "answers differ: GET /list now comes in another order (3 of 9)" {
		t.Errorf("%+v", s)
	}
}
