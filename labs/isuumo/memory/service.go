package memory

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/labs/isuumo/sqlfile"
)

// Options is what the service needs.
type Options struct {
	DB         *sql.DB // with room for three connections, two of which are kept
	SQLDir     string  // with the files that /initialize runs
	FixtureDir string  // with chair_condition.json and estate_condition.json
	Defects    isuumo.Defects
	Log        *log.Logger // of what could not be done
}

// A Service answers the requests of the interface. It is an http.Handler.
type Service struct {
	Options
	world  atomic.Pointer[world] // nil: there is nothing to answer from
	record record

	// writing is read-locked by each purchase and upload, from its begin to its end.
	writing sync.RWMutex
	// rebuilding is held by whoever makes a new world from the database.
	rebuilding sync.Mutex
	// uploading is held by the upload that makes the next world.
	uploading sync.Mutex

	mu     sync.Mutex
	closed bool        // the world is out of date, or the record cannot be written: no purchases, no uploads
	stock  []int64     // of chairs by slot: what can still be sold
	queue  []*purchase // to be written

	sell   chan struct{} // the queue is not empty
	repair chan struct{} // closed has become true

	ctx    context.Context // of all that reaches the database
	cancel context.CancelFunc
	owned  sync.WaitGroup // the goroutines
}

// New reads all rows. When there are none yet, it leaves that to /initialize; when
// the database does not answer, it goes on trying. Until then requests are answered
// with 503.
func New(o Options) (*Service, error) {
	if _, err := request.ReadConditions(o.FixtureDir); err != nil {
		return nil, err
	}
	s := &Service{Options: o, record: record{db: o.DB}, sell: make(chan struct{}, 1), repair: make(chan struct{}, 1),
		closed: true}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.reopen(); err != nil {
		s.Log.Printf("read rows: %v", err)
		if !noTables(err) {
			s.repair <- struct{}{}
		}
	}
	s.owned.Go(s.sellAll)
	s.owned.Go(s.repairAll)
	return s, nil
}

// Close breaks off what is being written and ends the service. What is read goes on
// being answered. The database stays open: it is the caller's.
func (s *Service) Close() error {
	s.cancel()
	s.owned.Wait()
	s.shut()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.record.close()
	return nil
}

// shut ends purchases and uploads. It returns the purchases that wait, which are
// the caller's to answer.
func (s *Service) shut() (waiting []*purchase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	waiting, s.queue = s.queue, nil
	return waiting
}

// fail shuts the service for writing until the database was read again, because its
// contents are unknown. It logs the reason.
func (s *Service) fail(err error) {
	s.Log.Printf("%v; reading all rows again", err)
	answer(s.shut(), errShut)
	wake(s.repair)
}

// wake notifies a goroutine that there is something to do.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has been notified already
	}
}

// publish makes a world the one that counts, and opens it for writing.
func (s *Service) publish(w *world, stock []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Store(w)
	s.stock, s.closed = stock, false
}

// Pauses between attempts to reach a database that is gone. It takes half a second,
// or several, to come back.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// repairAll opens the service again whenever it was shut after an error.
func (s *Service) repairAll() {
	pause := time.NewTimer(0)
	<-pause.C
	for wait := firstPause; ; {
		select {
		case <-s.ctx.Done():
			return
		case <-s.repair:
			wait = firstPause
		case <-pause.C:
			wait = min(2*wait, lastPause)
		}
		switch err := s.reopen(); {
		case err == nil || s.ctx.Err() != nil:
		case noTables(err):
			s.Log.Printf("read rows: %v", err)
		default:
			s.Log.Printf("read rows: %v; trying again in %s", err, wait)
			pause.Reset(wait)
		}
	}
}

// reopen makes the world anew from the database when the service is shut.
func (s *Service) reopen() error {
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	s.mu.Lock()
	open := !s.closed
	s.mu.Unlock()
	if open {
		return nil // by /initialize in the meantime
	}
	s.awaitWriters()
	if err := s.record.open(s.ctx); err != nil {
		return err
	}
	return s.reread()
}

// awaitWriters returns when the purchases and uploads that began before the service was
// shut have ended.
func (s *Service) awaitWriters() {
	s.writing.Lock()
	defer s.writing.Unlock()
}

// reread makes a world of all rows of the database and publishes it.
func (s *Service) reread() error {
	w, stock, err := s.record.read(s.ctx, s.FixtureDir)
	if err != nil {
		return err
	}
	s.publish(w, stock)
	return nil
}

// initialize puts database and memory back to what the SQL files say. Purchases and
// uploads wait; reads are answered from what was there before, until the new world
// is there as a whole.
func (s *Service) initialize() error {
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	wasOpen := !s.closed
	s.mu.Unlock()
	failed := &request.Error{Status: http.StatusInternalServerError, Reason: "the database could not be reset"}
	if err := s.record.open(s.ctx); err != nil {
		s.fail(err) // what is in memory is as true as before
		return failed
	}
	if err := s.reset(wasOpen && s.Defects.Has("OPS-09")); err != nil {
		s.world.Store(nil) // it is unknown what the database holds now
		s.fail(err)
		return failed
	}
	return nil
}

// reset runs the SQL files and reads all rows, unless those in memory are kept.
func (s *Service) reset(keep bool) error {
	if err := sqlfile.Run(s.ctx, s.DB, s.SQLDir, s.Defects.Has("OPS-02")); err != nil {
		return err
	}
	if err := s.record.use(s.ctx); err != nil || keep {
		return err
	}
	return s.reread()
}
