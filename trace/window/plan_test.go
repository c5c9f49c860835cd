package window

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/trace/kernel"
)

// TestPlan: what no one asked for takes a tenth of a load at most, and of one whose length is not known five
// seconds; what was asked for, what was said.
func TestPlan(t *testing.T) {
	yes, no := true, false
	if Planned(&no, 1, 1) != nil {
		t.Error("it is off")
	}
	for _, x := range []struct {
		on     *bool
		known  time.Duration
		length time.Duration // 0: none
	}{
		{nil, time.Minute, 5 * time.Second},
		{nil, 30 * time.Second, 3 * time.Second},
		{nil, 5 * time.Minute, 5 * time.Second},
		{nil, 9 * time.Second, 0},
		{nil, 0, 5 * time.Second},
		{&yes, time.Minute, 10 * time.Second},
		{&yes, 0, 10 * time.Second},
		{&yes, 9 * time.Second, 3500 * time.Millisecond},
		{&yes, 3 * time.Second, 0},
	} {
		p := Planned(x.on, 10*time.Second, 5*time.Second)
		got, ok := p.Wait(t.Context(), time.Now().Add(-time.Minute), x.known)
		if got != x.length || ok != (x.length > 0) {
			t.Errorf("asked %v, a load of %s: %s %v, want %s", p.Asked, x.known, got, ok, x.length)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := Planned(nil, 10*time.Second, time.Hour).Wait(ctx, time.Now(), 0); ok {
		t.Error("the load is over")
	}
}

// TestAwait: a service that is found late is watched; without one, or after the load, there is nothing.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		found := Await(t.Context(), func() []Target {
			if looks++; looks < 30 {
				return nil
			}
			return []Target{{PID: 7}}
		})
		if len(found) != 1 || looks != 30 {
			t.Errorf("%v after %d looks", found, looks)
		}
		began := time.Now()
		if found := Await(t.Context(), func() []Target { return nil }); found != nil || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", found, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if found := Await(ctx, func() []Target { return nil }); found != nil {
			t.Error(found)
		}
	})
}

// TestExplained: an error says what helps, and a command line only where that does.
func TestExplained(t *testing.T) {
	for _, x := range []struct {
		err  error
		want string
	}{
		{errNamespace, "--pid=host"},
		{fmt.Errorf("%w: not found", kernel.ErrNoSockets), "Linux 6.3 with CONFIG_DEBUG_INFO_BTF=y"},
		{fmt.Errorf("load: %w", fs.ErrPermission), "load: permission denied; "},
		{errors.New("load: no space"), "load: no space"},
	} {
		if err := explained(x.err); !strings.Contains(err.Error(), x.want) || !errors.Is(err, x.err) {
			t.Errorf("%v, want %q in it", err, x.want)
		}
	}
	if explained(nil) != nil {
		t.Error("nothing is missing")
	}
}
