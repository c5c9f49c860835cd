package rules

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
)

// spoil takes parts of a recording away or replaces them by nonsense.
func spoil(t *rapid.T, rec *kasoku.Recording) {
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e300}))
	for n := rapid.IntRange(0, 8).Draw(t, "spoils"); n > 0; n-- {
		switch rapid.IntRange(0, 11).Draw(t, "spoil") {
		case 0: // a whole table is missing
			v := reflect.ValueOf(rec).Elem().Field(rapid.IntRange(1, reflect.TypeFor[kasoku.Recording]().NumField()-1).Draw(t, "table"))
			v.SetZero()
		case 1: // a series is missing
			if len(rec.Series) > 0 {
				i := rapid.IntRange(0, len(rec.Series)-1).Draw(t, "series")
				rec.Series = append(rec.Series[:i], rec.Series[i+1:]...)
			}
		case 2: // a gap
			if len(rec.Series) > 0 {
				s := &rec.Series[rapid.IntRange(0, len(rec.Series)-1).Draw(t, "series")]
				lo := rapid.IntRange(0, len(s.Points)).Draw(t, "lo")
				hi := rapid.IntRange(lo, len(s.Points)).Draw(t, "hi")
				s.Points = append(s.Points[:lo:lo], s.Points[hi:]...)
			}
		case 3: // a strange value
			if len(rec.Series) > 0 {
				if s := &rec.Series[rapid.IntRange(0, len(rec.Series)-1).Draw(t, "series")]; len(s.Points) > 0 {
					s.Points[rapid.IntRange(0, len(s.Points)-1).Draw(t, "point")].Value = number.Draw(t, "value")
				}
			}
		case 4: // a counter begins anew
			for i := range rec.Series {
				for k := range rec.Series[i].Points {
					if rec.Series[i].Points[k].At > 34*time.Second {
						rec.Series[i].Points[k].Value = float64(k)
					}
				}
			}
		case 5:
			rec.Run.Length = time.Duration(rapid.Int64().Draw(t, "length"))
		case 6:
			if len(rec.Steps) > 0 {
				s := &rec.Steps[rapid.IntRange(0, len(rec.Steps)-1).Draw(t, "step")]
				s.PerSec = number.Draw(t, "rate")
				s.Number = rapid.IntRange(-1, 5).Draw(t, "number")
				s.Interval = kasoku.Interval{From: time.Duration(rapid.Int64().Draw(t, "from")), To: time.Duration(rapid.Int64().Draw(t, "to"))}
			}
		case 7:
			if len(rec.Seconds) > 0 {
				s := &rec.Seconds[rapid.IntRange(0, len(rec.Seconds)-1).Draw(t, "second")]
				s.Second = rapid.Int().Draw(t, "at")
				s.Asked = rapid.Uint64().Draw(t, "asked")
				s.Codes = map[int]uint64{rapid.IntRange(-1, 700).Draw(t, "code"): rapid.Uint64().Draw(t, "n")}
				s.Latency, s.SendDelay, s.Service = nil, nil, nil
			}
		case 8:
			for i := range rec.Settings {
				rec.Settings[i].Value = rapid.SampledFrom([]string{"", "0", "-1", "NaN", "1e308", "Inf", "x", "1"}).Draw(t, "setting")
			}
		case 9:
			rec.RowChecks = []kasoku.RowCheck{{Before: rapid.Int64().Draw(t, "before"), After: rapid.Int64().Draw(t, "after"), Successes: rapid.Uint64().Draw(t, "ok")}}
		case 10:
			rec.Run.Command = &kasoku.Command{Args: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "args"), Wall: time.Duration(rapid.Int64().Draw(t, "wall"))}
		case 11:
			rec.Messages = append(rec.Messages, kasoku.Message{Sample: rapid.String().Draw(t, "line"), Code: "1040", SQL: rapid.Bool().Draw(t, "sql"), Count: rapid.Uint64().Draw(t, "lines")})
		}
	}
}

// TestRandomRecordings: whatever is missing or strange, a diagnosis comes, says
// of each rule something, holds only numbers that can be stored, and is the same
// the second time.
func TestRandomRecordings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := story().Recording
		if rapid.Bool().Draw(t, "healthy") {
			rec = ladder().accessLog().Recording
		}
		spoil(t, rec)
		var before *kasoku.Recording
		if rapid.Bool().Draw(t, "baseline") {
			before = story().poolIdle("1").Recording
			rec.Settings = append(rec.Settings, kasoku.Setting{Scope: "app", Name: "pool.max_idle", Value: "2"})
			spoil(t, before)
		}
		d := diagnose.Diagnose(diagnose.NewCase(rec, before), All())
		spoke := map[string]bool{}
		for _, f := range d.Findings {
			spoke[f.ID] = true
			if len(f.Evidence) == 0 || f.Title == "" || f.Impact.Share < 0 || f.Impact.Share > 1 || len(f.Fixes) == 0 {
				t.Fatalf("finding %+v", f)
			}
		}
		for _, s := range d.Silences {
			spoke[s.ID] = true
			if s.Reason == "" || !(s.Near >= 0 && s.Near <= 1) || s.Blind && s.Near != 0 {
				t.Fatalf("silence %+v", s)
			}
		}
		for _, r := range All() {
			if !spoke[r.ID()] {
				t.Fatalf("%s says nothing", r.ID())
			}
		}
		if d.Verdict == "" {
			t.Fatal("no verdict")
		}
		if _, err := json.Marshal(d); err != nil {
			t.Fatalf("not storable: %v", err)
		}
		if again := diagnose.Diagnose(diagnose.NewCase(rec, before), All()); !reflect.DeepEqual(d, again) {
			t.Fatalf("the second time\n%s\ninstead of\n%s", text(again), text(d))
		}
	})
}

// TestExtractsKeepWhatRulesRead: a rule says the same of its extract as of the
// whole recording.
func TestExtractsKeepWhatRulesRead(t *testing.T) {
	for _, before := range []*build{nil, ladder().poolIdle("1")} {
		for _, b := range []*build{story(), ladder().accessLog(), story().restart(), ladder().poolIdle("2")} {
			for _, r := range All() {
				var base *kasoku.Recording
				if before != nil {
					base = before.Recording
				}
				data, err := extract.Write(b.Recording, base, reads(r.ID(), b.Load != nil), "constructed: for this test")
				if err != nil {
					t.Fatal(err)
				}
				rec, base2, err := extract.Parse(data)
				if err != nil {
					t.Fatalf("%s: %v", r.ID(), err)
				}
				want := diagnose.Diagnose(diagnose.NewCase(b.Recording, base), []diagnose.Rule{r})
				got := diagnose.Diagnose(diagnose.NewCase(rec, base2), []diagnose.Rule{r})
				want.Verdict, got.Verdict = "", ""
				if text(got) != text(want) {
					t.Errorf("%s: of its extract:\n%s\nof the whole:\n%s", r.ID(), text(got), text(want))
				}
				if len(data) > maxExtract {
					t.Errorf("%s: %d bytes", r.ID(), len(data))
				}
			}
		}
	}
}
