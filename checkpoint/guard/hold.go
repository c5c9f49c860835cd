package guard

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/mysql"
)

// Options configure where a hold is journalled and for whom. The zero value journals
// nothing: the changes are put back by Release alone.
type Options struct {
	Dir          string // of the journals; it is made when it is missing
	Run          string // the run file, an absolute path
	DSN          string // that the server was reached by; its password is not kept
	DefaultsFile string // the option file that it came from, an absolute path; empty without one
}

// A Planner reports what has to be changed for a purpose: [mysql.SlowLog] and
// [mysql.Consumers] do. It is remembered by its identity, so it is a pointer.
type Planner interface {
	Plan(ctx context.Context) (mysql.Plan, error)
}

// A Hold is what one recording holds on to on one server. It is safe for
// concurrent use; its methods take turns.
type Hold struct {
	r      *mysql.Reader
	server mysql.Identity
	dir    string // of the journals; empty without one
	path   string // of the journal; empty without one

	mu      sync.Mutex // guards the fields below
	me      Holder
	memory  *Journal             // instead of a file
	changes []mysql.Changed      // what the recording rests on, as of the last look
	needs   map[Planner][]string // names of the values that each purpose rests on
	dropped []mysql.Changed      // what it rested on, with what became of it
	aside   []Aside
	rows    bool     // what is in the slow log's table is to go
	place   Place    // among those who change the server
	own     []uint64 // sessions of the recorder's other connections
	heirs   Heirs    // sessions that copied what was changed, once it is put back
}

// Left is what became of the changes that a recording needed, once it is gone.
type Left struct {
	Run     string // its file; empty when it had none
	Own     bool   // it is the recording that lets go
	Flavor  mysql.Flavor
	Changes []mysql.Changed
	Heirs   Heirs // sessions that go on with what was changed
}

// A Keep stores what a recording left in its run file. Until it has, the journal
// keeps it.
type Keep func(Left) error

// New returns a hold on the reader's server that holds on to nothing yet.
func New(ctx context.Context, r *mysql.Reader, o Options) (*Hold, error) {
	id, err := r.Identity(ctx)
	if err != nil {
		return nil, err
	}
	h := &Hold{r: r, server: id, me: ThisProcess(o.Run), needs: map[Planner][]string{}}
	h.me.DSN, h.me.Defaults = withoutPassword(o.DSN), o.DefaultsFile
	if o.Dir != "" {
		h.dir, h.path = o.Dir, filepath.Join(o.Dir, name(id))
	}
	return h, nil
}

// Changes returns the changes that the recording rests on, those that another
// one made for it too, and after Release what became of them.
func (h *Hold) Changes() []mysql.Changed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.changes)
}

// look remembers the changes that the recording rests on.
func (h *Hold) look(j *Journal) {
	h.changes = slices.Clone(h.dropped)
	if me := j.holder(&h.me); me != nil {
		h.changes = append(h.changes, j.of(me)...)
	}
}

// turn does something with the journal while no other process can.
func (h *Hold) turn(ctx context.Context, do func(j *Journal, save func() error) error) error {
	fresh := func() *Journal { return &Journal{Server: h.server, Epoch: h.r.Epoch()} }
	if h.path == "" {
		if h.memory == nil {
			h.memory = fresh()
		}
		return do(h.memory, func() error { return nil })
	}
	f, err := open(ctx, h.path)
	if err != nil {
		return err
	}
	defer f.close()
	j, err := f.load()
	if errors.Is(err, errForeign) {
		err = h.setAside(f, err)
	}
	if err != nil {
		return err
	}
	if j == nil {
		j = fresh()
	}
	return do(j, func() error { return f.save(j) })
}

func names(changes []mysql.Changed) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Name
	}
	return out
}
