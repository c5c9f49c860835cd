package mysqlflags_test

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

func TestWorstLag(t *testing.T) {
	lag := func(s int64) mysqlflags.Replica {
		return mysqlflags.Replica{IO: mysqlflags.NewBool("Yes"), LagSeconds: &s}
	}
	for _, tt := range []struct {
		name string
		all  []mysqlflags.Replica
		want time.Duration
		ok   bool
	}{
		{"no replica", nil, 0, false},
		{"one", []mysqlflags.Replica{lag(3)}, 3 * time.Second, true},
		{"up to date", []mysqlflags.Replica{lag(0)}, 0, true},
		{"the worst of several", []mysqlflags.Replica{lag(3), lag(70), lag(0)}, 70 * time.Second, true},
		{"one is stopped", []mysqlflags.Replica{lag(3), {}}, 0, false},
	} {
		if got, ok := mysqlflags.WorstLag(tt.all); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
