package record

import (
	"reflect"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestWithInitialize(t *testing.T) {
	phase := func(kind kasoku.PhaseKind, from, to time.Duration) kasoku.Phase {
		return kasoku.Phase{Kind: kind, Interval: kasoku.Interval{From: from * time.Second, To: to * time.Second}}
	}
	verify, load, initialize := kasoku.PhaseVerify, kasoku.PhaseLoad, kasoku.PhaseInitialize
	reported := []kasoku.Phase{phase(verify, 1, 8), phase(load, 8, 68), phase(verify, 68, 70)}
	f := func(found, want []kasoku.Phase) {
		t.Helper()
		if got := withInitialize(reported, found); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f(nil, reported)
	f([]kasoku.Phase{phase(initialize, 1, 3), phase(load, 9, 60)},
		[]kasoku.Phase{phase(initialize, 1, 3), phase(verify, 3, 8), phase(load, 8, 68), phase(verify, 68, 70)})
	f([]kasoku.Phase{phase(initialize, 3, 5), phase(initialize, 20, 21)}, // one under load is not the benchmark's
		[]kasoku.Phase{phase(verify, 1, 3), phase(initialize, 3, 5), phase(verify, 5, 8), phase(load, 8, 68), phase(verify, 68, 70)})
}
