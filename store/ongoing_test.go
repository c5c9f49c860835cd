package store

import (
	"errors"
	"reflect"
	"testing"

	"github.com/kasoku/kasoku"
)

// TestOngoing: of a run that is being recorded the seconds of its load are read from
// one on, as Open reads them; of another run there are none to be waited for.
func TestOngoing(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	var seconds []kasoku.LoadSecond
	for at := range 5 {
		s := sampleSecond(1)
		s.Second = at
		seconds = append(seconds, s)
	}
	if err := errors.Join(Save(w, sampleRecording().Steps), w.AddSeconds(seconds)); err != nil {
		t.Fatal(err)
	}
	whole, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[int]int{0: 5, 3: 2, 9: 0} {
		got, err := Ongoing(path, from)
		if err != nil {
			t.Fatal(err)
		}
		if got.Run.ID != whole.Run.ID || got.Run.State != kasoku.Running || !reflect.DeepEqual(got.Steps, whole.Steps) || len(got.Seconds) != want ||
			want > 0 && !reflect.DeepEqual(got.Seconds, whole.Seconds[from:]) {
			t.Errorf("from %d: %d seconds, %+v", from, len(got.Seconds), got.Run)
		}
	}
	if err := w.Finish(whole.Run); err != nil {
		t.Fatal(err)
	}
	if got, err := Ongoing(path, 0); err == nil || got != nil {
		t.Errorf("of a finished run: %+v", got)
	}
	if got, err := Load(path, 3); err != nil || got.Run.State != kasoku.Finished || !reflect.DeepEqual(got.Seconds, whole.Seconds[3:]) {
		t.Errorf("the load of a finished run: %+v, %v", got, err)
	}
	if got, err := Ongoing(path+"x", 0); err == nil || got != nil {
		t.Errorf("of no run: %+v", got)
	}
}
