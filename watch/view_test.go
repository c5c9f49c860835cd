package watch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report/terminal"
)

// TestScreens: what is seen of a fixed recording, in both sizes that the design
// shows and in one between.
func TestScreens(t *testing.T) {
	for _, tc := range []struct {
		name          string
		width, height int
		at            int
		keys          string
		ascii         bool
	}{
		{name: "80x24", width: 80, height: 24, at: 290},
		{name: "80x24-quiet", width: 80, height: 24, at: 60},
		{name: "80x24-ascii", width: 80, height: 24, at: 290, ascii: true},
		{name: "80x24-statements", width: 80, height: 24, at: 290, keys: "tab"},
		{name: "80x24-finding", width: 80, height: 24, at: 290, keys: "1"},
		{name: "80x24-zoom", width: 80, height: 24, at: 210, keys: "z"},
		{name: "80x24-help", width: 80, height: 24, at: 290, keys: "?"},
		{name: "120x40", width: 120, height: 40, at: 290},
		{name: "200x50", width: 200, height: 50, at: 290},
		{name: "40x10", width: 40, height: 10, at: 290},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewModel(Replay(sample()), nil, Options{ASCII: tc.ascii})
			m.Resize(tc.width, tc.height)
			m.stay()
			m.Go(tc.at)
			for k := range strings.FieldsSeq(tc.keys) {
				m.Key(k, k)
			}
			got := m.Screen()
			golden.CheckString(t, "testdata/"+tc.name+".txt", got+"\n")
			fits(t, got, tc.width, tc.height, tc.ascii)
		})
	}
}

// fits fails when a screen does not fit its terminal, or would drive it.
func fits(t *testing.T, screen string, width, height int, ascii bool) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) != height {
		t.Errorf("%d lines, want %d", len(lines), height)
	}
	for i, l := range lines {
		if n := terminal.Width(l); n > width {
			t.Errorf("line %d has %d cells, want at most %d: %q", i+1, n, width, l)
		}
		for _, r := range l {
			if r < ' ' || ascii && r > '~' {
				t.Errorf("line %d has %q", i+1, r)
			}
		}
	}
}

// TestAnySize: no size breaks it.
func TestAnySize(t *testing.T) {
	data := Replay(sample())
	for _, width := range []int{1, 20, 39, 60, 79, 100, 149, 150, 151, 180, 300} {
		for _, height := range []int{1, 5, 10, 23, 30, 51, 100} {
			t.Run(fmt.Sprintf("%dx%d", width, height), func(t *testing.T) {
				m := NewModel(data, nil, Options{})
				m.Resize(width, height)
				m.Go(300)
				for _, key := range []string{"z", "1", "?", "?", "esc", "tab", "tab", "tab", "shift+tab", "down", "s"} {
					m.Key(key, "")
					fits(t, m.Screen(), max(width, 20), max(height, 6), false)
				}
			})
		}
	}
}
