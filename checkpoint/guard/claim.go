package guard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Recordings that do not share a directory of journals, such as those of two users
// or two hosts, see each other at the server: who changes its settings holds a
// user-level lock there, and so does its guard process, which outlives a recorder
// that is killed. A lock is gone when its session is. The name of the lock has a
// number, so that several can hold one; a second lock of the same number has the
// directory in its name. A lock without that second one is of somebody who has
// journals of his own: he knows the originals, so nothing is changed beside him.

const (
	places     = 16 // recordings that may change one server at once
	turnLock   = "kasoku.turn"
	turnWithin = 5 * time.Second
)

// The roles in which a place is held.
const (
	asRecorder = "recorder"
	asGuard    = "guard"
)

// A Place is where a recording stands among those that change a server. The zero
// value is none.
type Place struct {
	Number int    // from 1
	Home   string // of the journals, as the locks name it
}

// locks returns the names of the locks of a place.
func (p Place) locks(role string) []string {
	return []string{
		fmt.Sprintf("kasoku.%s.%d", role, p.Number),
		fmt.Sprintf("kasoku.%s.%s.%d", p.Home, role, p.Number),
	}
}

// A TakenError reports that another recording changes the server's settings, whose
// journals are elsewhere.
type TakenError struct {
	By    mysql.Client
	Guard bool // it is the guard process of a recording
}

func (e *TakenError) Error() string {
	who := "a recording"
	if e.Guard {
		who = "the guard process of a recording"
	}
	by := e.By.String()
	if e.By.User == "" {
		by = fmt.Sprint(e.By.ID)
	}
	return fmt.Sprintf("%s with journals of its own changes this server's settings: connection %s", who, by)
}

// Hint returns what can be done.
func (e *TakenError) Hint() string {
	return fmt.Sprintf("wait until it has ended, or let both keep their journals in one directory "+
		"(KASOKU_STATE, same host and user); if it is no recording: KILL %d", e.By.ID)
}

// homeOf names a directory of journals, so that no other one has its name: by the
// kernel's boot, the file system and the file. Without a directory it is one of chance.
func homeOf(dir string) (string, error) {
	if dir == "" {
		b := make([]byte, 8)
		_, _ = rand.Read(b) // it never fails
		return hex.EncodeToString(b), nil
	}
	if err := private.State.MkdirAll(dir); err != nil {
		return "", wrap(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", wrap(&os.PathError{Op: "stat", Path: dir, Err: err})
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", bootID(), st.Dev, st.Ino))
	return hex.EncodeToString(sum[:8]), nil
}

// standing is who holds places on a server.
type standing struct {
	free     int      // the first place that is not held; 0 when all are taken
	stranger uint64   // a session whose journals are elsewhere; 0 without one
	guards   bool     // it is a guard's
	own      []uint64 // sessions of this home
}

// look asks who holds places.
func look(ctx context.Context, r *mysql.Reader, home string) (s standing, err error) {
	var names []string
	roles := []string{asRecorder, asGuard}
	for n := 1; n <= places; n++ {
		for _, role := range roles {
			names = append(names, Place{n, home}.locks(role)...)
		}
	}
	owners, err := mysql.NewUserLocks(r).Owners(ctx, names)
	if err != nil {
		return s, err
	}
	for n := range places {
		free := true
		for i, role := range roles {
			by, here := owners[4*n+2*i], owners[4*n+2*i+1]
			switch {
			case by == 0:
				continue
			case by == here:
				s.own = append(s.own, by)
			case s.stranger == 0:
				s.stranger, s.guards = by, role == asGuard
			}
			free = false
		}
		if free && s.free == 0 {
			s.free = n + 1
		}
	}
	return s, nil
}

// Claim takes a place among those who change the server, or fails with a
// [TakenError]. A second call does nothing. Where the server knows no such locks,
// the journal alone counts.
func (h *Hold) Claim(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.takePlace(ctx)
}

func (h *Hold) takePlace(ctx context.Context) error {
	if h.place.Number > 0 {
		return nil
	}
	home, err := homeOf(h.dir)
	if err != nil {
		return err
	}
	got, err := mysql.NewUserLocks(h.r).Take(ctx, turnLock, turnWithin)
	if mysqlflags.ErrorNumber(err) != 0 { // refused, such as by a Galera cluster
		return nil
	}
	if err != nil {
		return err
	}
	if !got {
		owner, err := mysql.NewUserLocks(h.r).Owners(ctx, []string{turnLock})
		if err != nil {
			return err
		}
		return taken(ctx, h.r, owner[0], false)
	}
	err = h.claim(ctx, home)
	if unlockErr := mysql.NewUserLocks(h.r).Release(ctx, turnLock); err == nil {
		err = unlockErr
	}
	return err
}

// claim takes a place while no other process does.
func (h *Hold) claim(ctx context.Context, home string) error {
	s, err := look(ctx, h.r, home)
	if err != nil {
		return err
	}
	if s.stranger != 0 {
		return taken(ctx, h.r, s.stranger, s.guards)
	}
	if s.free == 0 {
		return nil // all of this home: the journal counts
	}
	place := Place{s.free, home}
	for _, name := range place.locks(asRecorder) {
		if _, err := mysql.NewUserLocks(h.r).Take(ctx, name, 0); err != nil {
			return err
		}
	}
	h.place = place
	return nil
}

// taken describes who holds a place.
func taken(ctx context.Context, r *mysql.Reader, id uint64, guards bool) error {
	e := &TakenError{By: mysql.Client{ID: id}, Guard: guards}
	if c, err := mysql.NewClients(r).Find(ctx, id); err == nil && c != nil {
		e.By = *c
	}
	return e
}

// unclaim gives the place up.
func (h *Hold) unclaim(ctx context.Context) error {
	if h.place.Number == 0 {
		return nil
	}
	names := h.place.locks(asRecorder)
	h.place = Place{}
	return mysql.NewUserLocks(h.r).Release(ctx, names...)
}

// Place returns where the recording stands; the zero value before [Hold.Claim].
func (h *Hold) Place() Place {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.place
}

const (
	standWithin = 2 * time.Second
	standEvery  = 10 * time.Millisecond
)

// AwaitGuard waits until the guard process holds its place, so that the state of a
// killed recorder is never in doubt. A guard that is slow is not waited for.
func (h *Hold) AwaitGuard(ctx context.Context) error {
	place := h.Place()
	if place.Number == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, standWithin)
	defer cancel()
	tick := time.NewTicker(standEvery)
	defer tick.Stop()
	for {
		owners, err := mysql.NewUserLocks(h.r).Owners(ctx, place.locks(asGuard))
		if err != nil || !slices.Contains(owners, 0) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A stand is the guard process's place on the server, over a connection of its own.
type stand struct {
	cancel context.CancelFunc
	ended  <-chan struct{}
}

// takeStand takes the guard's place beside that of its recorder, and holds it until
// it is left.
func takeStand(q Request) *stand {
	ctx, cancel := context.WithCancel(context.Background())
	ended := contain.Go(standPart, func() {
		db, err := mysqlflags.OpenBounded(q.DSN)
		if err != nil {
			return // the recorder says so
		}
		defer db.Close()
		first, done := context.WithTimeout(ctx, connectWithin)
		defer done()
		r, err := mysql.New(first, db)
		if err != nil {
			return
		}
		defer r.Close()
		for _, name := range q.Place.locks(asGuard) {
			if _, err := mysql.NewUserLocks(r).Take(first, name, 0); err != nil {
				return
			}
		}
		<-ctx.Done()
	})
	return &stand{cancel, ended}
}

// standPart names the guard's place at the server, where it fails: the recorder's
// own is there still.
var standPart = contain.Part{Kind: contain.Goroutine, Name: "lock of the guard"}

// leave gives the place up.
func (s *stand) leave() {
	if s != nil {
		s.cancel()
		<-s.ended
	}
}
