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
	decided []string     // outcomes
	drift   float64      // that each run scores more than the one before
	check   string       // whose advice on its pool it is
	sure    kasoku.Level // of that
}

func (y *toy) Run(_ context.Context, label, base string) (*kasoku.Recording, error) {
	y.clock = y.clock.Add(time.Minute)
	v := 1000.0
	for _, h := range y.have {
		v *= y.factors[h]
	}
	v += y.drift * float64(len(y.log))
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
	if _, ok := y.factors["SET GLOBAL pool = 2"]; ok && !contains(y.have, "SET GLOBAL pool = 2") {
		rec.Advice = []kasoku.Advice{{ID: "MYS-07", SetGlobal: "SET GLOBAL slow_query_log = ON;", Confidence: kasoku.Confidence{Level: kasoku.High}},
			{ID: y.check, SetGlobal: "SET GLOBAL pool = 2;", Confidence: kasoku.Confidence{Level: y.sure}}}
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

func (y *toy) Decided(_ context.Context, s *Story) error {
	y.decided = append(y.decided, s.Steps[len(s.Steps)-1].Outcome)
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

// TestAutopilotLeast: with two runs a side a change is kept only where each run with it scores
// more than each without, and not for what runs differ.
func TestAutopilotLeast(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "bad": 0.97}, drift: 40}
	story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Least: 2, Now: func() time.Time { return y.clock }})
	if err != nil || fmt.Sprint(y.have) != "[good]" {
		t.Fatalf("%v: has %v", err, y.have)
	}
	if s := story.Steps[0]; len(s.Runs) != 2 || !strings.Contains(s.Why, "2 runs against 2") {
		t.Errorf("%+v", s)
	}
	odd := []*kasoku.Recording{scored(1000), scored(1300)}
	if p := (&pilot{Pilot: Pilot{Least: 2, MinGain: 0.05}, now: odd}); p.verdict(&Step{Before: 1150, After: 1300, Runs: []*kasoku.Recording{scored(1250), scored(1350)}}, nil) != TakenBack {
		t.Error("kept although a run without it scored more than one with it")
	}
	if fmt.Sprint(y.decided) != "[kept taken back]" {
		t.Errorf("decided %v", y.decided)
	}
}

// TestAutopilotSettings: of the advice on settings that is tried, after the problems, whose check says that a
// score shows it; the slow log is not, nor what is not sure.
func TestAutopilotSettings(t *testing.T) {
	f := func(check string, sure kasoku.Level, want string) {
		t.Helper()
		y := &toy{factors: map[string]float64{"good": 1.5, "SET GLOBAL pool = 2": 2}, check: check, sure: sure}
		story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Now: func() time.Time { return y.clock }})
		if err != nil || fmt.Sprint(y.have) != want {
			t.Fatalf("%v: has %v, %+v", err, y.have, story.Steps)
		}
	}
	f("MYS-23", kasoku.Medium, "[good SET GLOBAL pool = 2]")
	f("MYS-23", kasoku.Low, "[good]")
	f("MYS-25", kasoku.Medium, "[good SET GLOBAL pool = 2]") // where the tables are not known, this one proposes the pool
	f("MYS-16", kasoku.High, "[good]")
}

// TestKeyOf: the same indexes in another order are the same change.
func TestKeyOf(t *testing.T) {
	a, b := kasoku.Edit{Kind: kasoku.EditIndex, Do: "CREATE INDEX a ON t (x)"}, kasoku.Edit{Kind: kasoku.EditIndex, Do: "CREATE INDEX b ON t (y)"}
	if keyOf([]kasoku.Edit{a, b}) != keyOf([]kasoku.Edit{b, a}) || keyOf([]kasoku.Edit{a}) == keyOf([]kasoku.Edit{b}) {
		t.Error("two orders are two changes, or two indexes one")
	}
}

// TestAutopilotConfirm: what gained because the host became quiet is not kept.
func TestAutopilotConfirm(t *testing.T) {
	for _, c := range []struct {
		factor, drift float64
		have, runs    string
	}{
		{1, 100, "[]", "[run start run start run 1-good run 1-good run 1-good-without]"},
		{3, 100, "[good]", "[run start run start run 1-good run 1-good run 1-good-without]"},
	} {
		y := &toy{factors: map[string]float64{"good": c.factor}, drift: c.drift}
		story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Least: 2, Confirm: true, Now: func() time.Time { return y.clock }})
		if err != nil || fmt.Sprint(y.have) != c.have || fmt.Sprint(y.log[:5]) != c.runs {
			t.Errorf("×%g: %v: has %v, %v", c.factor, err, y.have, y.log)
		}
		if s := story.Steps[0]; (s.Outcome == Kept) != (c.factor > 1) || !strings.Contains(s.Why, "2 runs against 3") {
			t.Errorf("×%g: %s: %s", c.factor, s.Outcome, s.Why)
		}
	}
}

func scored(v float64) *kasoku.Recording {
	return &kasoku.Recording{Run: kasoku.Run{Score: &kasoku.Score{Value: v, Outcome: kasoku.Passed}}}
}

// TestAutopilotEarlier: what was tried before is not tried again, and stands in the story.
func TestAutopilotEarlier(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "idle": 1.01, "bad": 0.5, "odd": -1}}
	o := Pilot{For: time.Hour, Now: func() time.Time { return y.clock }}
	first, err := Autopilot(t.Context(), y, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Earlier = first
	again, err := Autopilot(t.Context(), y, o)
	if err != nil || again.First != 1000 || again.Last != 1500 || again.Steps[0].Outcome != Kept {
		t.Fatalf("%v: score %v → %v, %+v", err, again.First, again.Last, again.Steps)
	}
	for _, s := range again.Steps[len(first.Steps):] {
		t.Errorf("tried again: %s", s.Finding.ID)
	}
}

// TestAutopilotFailed: a first run that failed is nothing to gain on.
func TestAutopilotFailed(t *testing.T) {
	y := &toy{factors: map[string]float64{"good": 1.5, "fatal": 0}, have: []string{"fatal"}}
	story, err := Autopilot(t.Context(), y, Pilot{For: time.Hour, Now: func() time.Time { return y.clock }})
	if err != nil || len(story.Steps) != 0 || !strings.Contains(story.Stopped, "the first run failed") {
		t.Errorf("%v: %d steps, %q", err, len(story.Steps), story.Stopped)
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
	if !errors.Is(err, context.Canceled) || len(y.have) != 0 || len(y.decided) != 0 {
		t.Errorf("%v: has %v, decided %v", err, y.have, y.decided)
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
