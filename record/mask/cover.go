package mask

import (
	"cmp"
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
	first time.Duration     // when the first frame came
	early []*kasoku.Frame   // of the time before anything was known
	open  bool              // frames are no longer held
	shown map[place]*called // it stays the same, so that a series is one
	real  map[place]string  // the instance that something stands for
	stand int               // how many stand-ins there were
	swept time.Duration     // when those were forgotten that had gone
}

// called is what stands for an instance in the file, and when it was seen last.
type called struct {
	name string
	seen time.Duration
}

// remembered is how long an instance is remembered that was not seen again: processes come and go, and what is
// held of them must not grow with the length of a run. One that was not known to be the service's by then is not.
const remembered = time.Minute

// A place is an instance of a source's series of one kind, which is its name up to the first dot.
type place struct{ source, kind, instance string }

// patience is how long frames are held in memory until something is known of the service.
const patience = 3 * time.Second

// NewCover returns a sink that hands all on to another. names returns nil where nothing is known of a service.
func NewCover(to observe.Sink, names func() *Names) *Cover {
	return &Cover{Sink: to, names: names, shown: map[place]*called{}, real: map[place]string{}}
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
	names := sync.OnceValue(c.names)
	if !c.open && f.At-c.first < patience && names() == nil {
		held := *f
		held.Samples = slices.Clone(f.Samples)
		c.early = append(c.early, &held)
		return nil
	}
	return cmp.Or(c.release(names), c.pass(f, names))
}

// release hands on what was held, and returns the first error: on a full disk all frames have the same. The caller
// holds mu.
func (c *Cover) release(names func() *Names) (err error) {
	c.open = true
	for _, f := range c.early {
		if failed := c.pass(f, names); err == nil {
			err = failed
		}
	}
	c.early = nil
	return err
}

// pass hands a frame on. The caller holds mu.
func (c *Cover) pass(f *kasoku.Frame, names func() *Names) error {
	for i := range f.Samples {
		x := &f.Samples[i]
		p := placeOf(f.Source, x.Name, x.Instance)
		known := c.shown[p]
		if known == nil {
			known = &called{name: x.Instance}
			if n := names(); n != nil {
				known.name = n.of(f.Source)(x.Name, x.Instance)
			}
			if known.name != x.Instance {
				known.name = c.standIn(p, known.name)
			}
			c.shown[p] = known
		}
		known.seen, x.Instance = f.At, known.name
	}
	if f.At-c.swept >= remembered {
		c.forget(f.At)
	}
	return c.Sink.Frame(f)
}

// forget forgets what was not seen for long. The caller holds mu.
func (c *Cover) forget(now time.Duration) {
	c.swept = now
	for p, known := range c.shown {
		if now-known.seen >= remembered {
			delete(c.shown, p)
			delete(c.real, place{p.source, p.kind, known.name})
		}
	}
}

// standIn returns what stands for a place alone. The caller holds mu.
func (c *Cover) standIn(p place, shown string) string {
	free := place{p.source, p.kind, shown}
	c.stand++
	if _, taken := c.real[free]; taken || shown == Neighbour || strings.HasSuffix(shown, " "+Others) {
		free.instance = fmt.Sprintf("%s #%d", shown, c.stand)
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
	errs := []error{c.release(func() *Names { return names })}
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
