package graphite

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/wire/whisper"
)

const (
	slotTicks    = 10   // of a second, between two looks at the slots of files
	mostSampled  = 100  // files that are looked at
	mostOfOne    = 10   // of them, of one directory
	mostEntries  = 5000 // of directories, that are read for them
	newestSlots  = 600  // of a file, that are read
	judgedSlots  = 8    // the newest with a point, of which it is said how far they are apart
	leastSlots   = 4    // of those
	ownDirectory = "carbon"
)

// A sampler looks at some files of the series that are sent, not at those of what servers report of themselves:
// which of their slots have points.
type sampler struct {
	root    string
	paths   []string
	entries int   // of directories, that were read
	began   int64 // Unix seconds: who got no points since then is not judged
}

// look appends, by the retentions of files, how many were looked at that got points in the run, in how many of them
// the newest points are some slots apart and regularly so, and how far.
func (s *sampler) look(f *kasoku.Frame, now time.Time) {
	if len(s.paths) < mostSampled {
		s.paths, s.entries = s.paths[:0], 0
		s.find(s.root, 0)
	}
	type group struct {
		step, slots   int64
		looked, apart int
		periods       []int64
	}
	groups := map[string]*group{}
	for _, path := range s.paths {
		slots, err := whisper.NewestSlots(path, now.Unix(), newestSlots)
		if err != nil || len(slots.Times) < leastSlots || slots.Times[len(slots.Times)-1] < s.began {
			continue // a file that is gone, or one without news
		}
		g := groups[slots.Retentions]
		if g == nil {
			g = &group{step: slots.Step, slots: slots.Number}
			groups[slots.Retentions] = g
		}
		g.looked++
		if shortest, middle := regularPeriod(slots.Times); shortest >= 2*slots.Step {
			g.apart++
			g.periods = append(g.periods, middle)
		}
	}
	for name, g := range groups {
		f.Gauge(SlotsLooked, name, "count", float64(g.looked))
		f.Gauge(SlotsApart, name, "count", float64(g.apart))
		f.Gauge(SlotsStep, name, "s", float64(g.step))
		f.Gauge(SlotsNumber, name, "count", float64(g.slots))
		if len(g.periods) > 0 {
			slices.Sort(g.periods)
			f.Gauge(SlotsPeriod, name, "s", float64(g.periods[len(g.periods)/2]))
		}
	}
}

// regularPeriod is the shortest and the middle distance of the newest of these times, 0 where the longest is more
// than twice the shortest: what comes when something happens has no period.
func regularPeriod(times []int64) (shortest, middle int64) {
	times = times[max(len(times)-judgedSlots, 0):]
	var apart []int64
	for i := 1; i < len(times); i++ {
		apart = append(apart, times[i]-times[i-1])
	}
	slices.Sort(apart)
	if len(apart) == 0 || apart[len(apart)-1] > 2*apart[0] {
		return 0, 0
	}
	return apart[0], apart[len(apart)/2]
}

// find takes files of a directory and of those below, which it comes to in any order.
func (s *sampler) find(dir string, depth int) {
	d, err := os.Open(dir)
	if err != nil {
		return // what cannot be read is not in the sample
	}
	entries, err := d.ReadDir(max(mostEntries-s.entries, 1))
	if d.Close() != nil || err != nil && len(entries) == 0 {
		return
	}
	s.entries += len(entries)
	var below []fs.DirEntry
	rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	taken := 0
	for _, e := range entries {
		switch {
		case e.IsDir() && depth < deepestSampled && !(depth == 0 && e.Name() == ownDirectory):
			below = append(below, e)
		case e.Type().IsRegular() && strings.HasSuffix(e.Name(), whisper.Suffix) && taken < mostOfOne &&
			len(s.paths) < mostSampled:
			taken++
			s.paths = append(s.paths, filepath.Join(dir, e.Name()))
		}
	}
	for _, e := range below {
		if len(s.paths) >= mostSampled || s.entries >= mostEntries {
			return
		}
		s.find(filepath.Join(dir, e.Name()), depth+1)
	}
}

// deepestSampled is how deep files of the sample may lie.
const deepestSampled = 20
