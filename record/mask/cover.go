package mask

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// A Cover stands before a run file. While the run goes on it keeps in memory what processes, programs, units,
// containers and sockets are called that are not known to be the service's, so that the file of a run that is
// killed names no neighbour. Safe for concurrent use.
type Cover struct {
	observe.Sink
	names func() *Names // as the service is known by now; nil: nothing is known of it, and what is seen then is named

	mu    sync.Mutex
	first time.Duration    // when the first frame came
	early []*kasoku.Frame  // of the time before anything was known
	open  bool             // frames are no longer held
	shown map[place]string // what stands for an instance in the file; it stays the same, so that a series is one
	real  map[place]string // the instance that something stands for
}

// A place is an instance of a source's series of one kind, which is its name up to the first dot.
type place struct{ source, kind, instance string }

// patience is how long frames are held in memory until something is known of the service.
const patience = 3 * time.Second

// NewCover returns a sink that hands all on to another. names returns nil where nothing is known of a service.
func NewCover(to observe.Sink, names func() *Names) *Cover {
	return &Cover{Sink: to, names: names, shown: map[place]string{}, real: map[place]string{}}
}

// Frame hands a frame on, or holds it until something is known of the service; its samples' instances are changed.
func (c *Cover) Frame(f *kasoku.Frame) error {
	if f.Source != process.Name && f.Source != sockets.Name {
		return c.Sink.Frame(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.early) == 0 {
		c.first = f.At
	}
	if !c.open && f.At-c.first < patience && c.names() == nil {
		held := *f
		held.Samples = slices.Clone(f.Samples)
		c.early = append(c.early, &held)
		return nil
	}
	return errors.Join(c.release(), c.pass(f))
}

// release hands on what was held. The caller holds mu.
func (c *Cover) release() (err error) {
	c.open = true
	for _, f := range c.early {
		err = errors.Join(err, c.pass(f))
	}
	c.early = nil
	return err
}

// pass hands a frame on. The caller holds mu.
func (c *Cover) pass(f *kasoku.Frame) error {
	c.cover(f)
	return c.Sink.Frame(f)
}

func (c *Cover) cover(f *kasoku.Frame) {
	var names *Names
	for i := range f.Samples {
		x := &f.Samples[i]
		p := placeOf(f.Source, x.Name, x.Instance)
		shown, ok := c.shown[p]
		if !ok {
			if names == nil {
				names = c.names()
			}
			if shown = x.Instance; names != nil {
				shown = names.of(f.Source)(x.Name, x.Instance)
			}
			if shown != x.Instance {
				shown = c.standIn(p, shown)
			}
			c.shown[p] = shown
		}
		x.Instance = shown
	}
}

// standIn returns what stands for a place alone. The caller holds mu.
func (c *Cover) standIn(p place, shown string) string {
	free := place{p.source, p.kind, shown}
	if _, taken := c.real[free]; taken || shown == Neighbour || strings.HasSuffix(shown, " "+Others) {
		free.instance = fmt.Sprintf("%s #%d", shown, len(c.real)+1)
	}
	c.real[free] = p.instance
	return free.instance
}

func placeOf(source, series, instance string) place {
	kind, _, _ := strings.Cut(series, ".")
	return place{source, kind, instance}
}

// Uncover gives series in the file the names that their instances have now: their own where they turned out to be
// the service's, or nothing is known of one. No frame may come after it.
func (c *Cover) Uncover(file Renamer, names *Names) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := []error{c.release()}
	for _, source := range []string{process.Name, sockets.Name} {
		errs = append(errs, file.RenameInstances(source, func(series, instance string) string {
			if real, ok := c.real[placeOf(source, series, instance)]; ok {
				instance = real
			}
			if names == nil {
				return instance
			}
			return names.of(source)(series, instance)
		}))
	}
	return errors.Join(errs...)
}

// of returns what names the instances of a source's series.
func (n *Names) of(source string) func(series, instance string) string {
	if source == sockets.Name {
		return n.Socket
	}
	return n.Instance
}
