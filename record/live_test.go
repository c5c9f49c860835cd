package record

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
)

// TestLiveOfTheHost: without a database the sources are those of a run.
func TestLiveOfTheHost(t *testing.T) {
	l, err := NewLive(t.Context(), Options{Settings: []kasoku.Setting{{Scope: "app", Name: "a", Value: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if l.HasDatabase() || len(l.Settings) != 1 || l.Host.Cores == 0 {
		t.Errorf("live %+v", l)
	}
	if _, err := l.Digests(t.Context()); err == nil {
		t.Error("statements without a database")
	}
	names := []string{}
	for _, s := range l.Sources {
		names = append(names, s.Name())
		if c, ok := s.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, want := range []string{"host", "process", "cgroup"} {
		if !slices.Contains(names, want) {
			t.Errorf("sources %v lack %s", names, want)
		}
	}
}
