package watch

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// shown is a screen of each pane, wide and narrow, of each finding, and of what keys do.
func shown(t *testing.T) (screens []string, quit bool) {
	t.Helper()
	feed := &fakeFeed{window: filled(t, time.Hour, 300), now: 300 * sec}
	for _, size := range [][2]int{{170, 45}, {80, 24}} {
		for _, m := range []*Model{NewModel(feed.Take(), feed, Options{}), NewModel(Replay(sample()), nil, Options{})} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			m.Resize(size[0], size[1]) // where the update is lost
			for i := range panes {
				m.tables.pane = panes[i].id
				screens = append(screens, m.View().Content)
			}
			m.Update(tick{})
			m.Update(tea.KeyPressMsg{Code: 'w', Text: "w"})
			if _, err := m.Wait(); err != nil {
				screens = append(screens, err.Error())
			}
			if len(m.data.Findings) > 0 {
				m.open = 1
				screens = append(screens, m.View().Content)
			}
			_, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"})
			quit = cmd != nil && m.quit
		}
	}
	return screens, quit
}

// TestPlantedScreen plants a panic in each part of the live screen, one after the other.
// The screen says what is lost, has the rest, and can be left.
func TestPlantedScreen(t *testing.T) {
	turn.Wait(t)
	defer contain.Forget()
	var mu sync.Mutex
	var parts []contain.Part
	remove := contain.Visit(func(p contain.Part) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	})
	whole, _ := shown(t)
	remove()
	names := fmt.Sprint(parts)
	for _, must := range []string{"panel screen", "panel update", "panel save", "panel header", "panel footer", "panel wide",
		"panel narrow", "panel meters", "panel pane", "panel table statements", "panel finding"} {
		if !strings.Contains(names, must) {
			t.Errorf("%s is not a part of its own: %s", must, names)
		}
	}
	for _, part := range parts {
		contain.Forget()
		remove := contain.Plant(part)
		got, quit := shown(t)
		remove()
		text := strings.Join(strings.Fields(strings.Join(got, "\n")), " ")
		if !strings.Contains(text, "a bug of kasoku") {
			t.Errorf("%s: no screen says what is lost", part)
		}
		if !quit {
			t.Errorf("%s: the screen cannot be left", part)
		}
		if _, n := contain.Bugs(); n == 0 {
			t.Errorf("%s: no bug is noted", part)
		}
		if part.Name == "screen" {
			continue // all of it
		}
		if best := mostKept(whole, got); best < 0.3 {
			t.Errorf("%s: of no screen more than %.0f %% of the lines are there", part, 100*best)
		}
	}
}

// TestPlantedRun plants a panic in the reading of a run that is being recorded: the screen
// says that it stands still.
func TestPlantedRun(t *testing.T) {
	defer contain.Forget()
	defer contain.Plant(panel("run"))()
	early := *sample()
	early.Run.State = kasoku.Running
	f := Follow(t.TempDir()+"/none", &early)
	f.Close()
	m := NewModel(f.Take(), f, Options{})
	m.Resize(170, 45)
	if text := m.View().Content; !strings.Contains(text, "the run is read no more: panel run: "+contain.Phrase) {
		t.Errorf("the screen does not say it:\n%s", text)
	}
}

// mostKept is how much of a screen is there still, of that of which the most is.
func mostKept(whole, got []string) (best float64) {
	for i := range min(len(got), len(whole)) {
		kept, all := 0, 0
		for l := range strings.Lines(whole[i]) {
			if strings.TrimSpace(l) == "" {
				continue
			}
			all++
			if strings.Contains(got[i], l) {
				kept++
			}
		}
		best = max(best, float64(kept)/float64(max(all, 1)))
	}
	return best
}
