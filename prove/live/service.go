package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/checkpoint/revert"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/prove"
)

// Options define what of a service may be changed, and how that comes into force.
type Options struct {
	Journal string   // the file of what was changed
	DSN     string   // of the database; empty: none is changed
	Files   []string // that directives may be put into

	Dir     string   // that the commands run in
	Reset   []string // before each run
	Restart []string // after a variable was set or put back
	Reload  []string // after files were edited or put back

	// Guard has what is changed on the database put back should this process be killed. The
	// function that it returns ends that.
	Guard func() (guard.Options, func(orderly bool), error)
	// Record makes one measured, diagnosed run.
	Record func(ctx context.Context, label, base string) (*kasoku.Recording, error)
}

// A Service is one that an autopilot changes.
type Service struct {
	o    Options
	j    *journal
	lock *os.File
	at   *connection // that holds the change which is not decided on; nil: none of the database is

	// Notes are what was left as it is, or lost, and why.
	Notes []string
}

// A connection is one to the database, with what it holds there.
type connection struct {
	db     *sql.DB
	reader *mysql.Reader
	hold   *guard.Hold // nil: nothing is held
	end    func(orderly bool)
}

func (c *connection) close(orderly bool) error {
	err := errors.Join(c.reader.Close(), c.db.Close())
	if c.end != nil {
		c.end(orderly)
	}
	return err
}

// ErrBusy means that another autopilot is at work on the same service.
var ErrBusy = errors.New("another autopilot is at work here")

// Open takes the service over, with what earlier autopilots did to it. A change that one of
// them had made and not decided on, because it was killed, is taken back.
func Open(ctx context.Context, o Options) (*Service, error) {
	if err := private.Output.MkdirAll(filepath.Dir(o.Journal)); err != nil {
		return nil, err
	}
	lock, err := os.Open(filepath.Dir(o.Journal))
	if err != nil {
		return nil, err
	}
	s := &Service{o: o, lock: lock}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Journal, ErrBusy), lock.Close())
	}
	if s.j, err = readJournal(o.Journal); err == nil {
		err = s.checkServer(ctx)
	}
	if err == nil && s.j.Open != nil {
		s.note("an autopilot that was killed had made a change and not decided on it: it was taken back")
		err = s.Undo(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close lets others have the service. What is kept stays.
func (s *Service) Close() error { return s.lock.Close() }

func (s *Service) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// connect opens a connection to the database.
func (s *Service) connect(ctx context.Context) (*connection, error) {
	db, err := mysqlflags.OpenBounded(s.o.DSN)
	if err != nil {
		return nil, err
	}
	r, err := mysql.New(ctx, db)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", mysqlflags.Redact(s.o.DSN), err), db.Close())
	}
	return &connection{db: db, reader: r}, nil
}

// checkServer refuses a journal of another server: its changes are not to be taken back here.
func (s *Service) checkServer(ctx context.Context) (err error) {
	known := s.j.Server != mysql.Identity{}
	if s.o.DSN == "" {
		if known {
			return fmt.Errorf("%s: it has changes of %s, and kasoku.toml names no database", s.o.Journal, s.j.Server)
		}
		return nil
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(true)) }()
	id, err := c.reader.Identity(ctx)
	if err != nil {
		return err
	}
	if known && !id.Same(s.j.Server) {
		return fmt.Errorf("%s: %w: %s, not %s", s.o.Journal, guard.ErrOtherServer, id, s.j.Server)
	}
	s.j.Server = id
	return nil
}

// Kinds are the kinds of edits that can be made, and why others cannot.
func (s *Service) Kinds() (kinds []string, missing []string) {
	if s.o.DSN != "" {
		kinds = append(kinds, kasoku.EditIndex, kasoku.EditVariable)
	} else {
		missing = append(missing, "indexes and variables: kasoku.toml names no database")
	}
	switch {
	case len(s.o.Files) == 0:
		missing = append(missing, "directives of nginx: capture.files names no file that has any")
	case len(s.o.Reload) == 0:
		missing = append(missing, "directives of nginx: nothing says how it reads them (reload in [autopilot])")
	default:
		kinds = append(kinds, kasoku.EditNginx)
	}
	return kinds, missing
}

// Run makes one run: the data are put back first, and what is in force is made again where that
// took it away.
func (s *Service) Run(ctx context.Context, label, base string) (*kasoku.Recording, error) {
	if err := s.command(ctx, "reset", s.o.Reset); err != nil {
		return nil, err
	}
	if _, err := s.ensure(ctx, true); err != nil {
		return nil, err
	}
	rec, err := s.o.Record(ctx, label, base)
	if err != nil {
		return rec, err
	}
	lost, err := s.ensure(ctx, false)
	switch {
	case err != nil:
		return rec, err
	case len(lost) > 0:
		return rec, fmt.Errorf("the load takes back what was changed, so that it measured something else: %s", strings.Join(lost, ", "))
	case rec.Run.Score == nil:
		return rec, errors.New("the benchmark printed no score: name it with load.score.json or load.score.regexp")
	}
	return rec, nil
}

// ensure returns which of the changes of the database that are in force are not there, and makes
// them again.
func (s *Service) ensure(ctx context.Context, again bool) (lost []string, err error) {
	var all []mysql.Changed
	for _, ch := range s.j.changes() {
		for _, c := range ch.Database { // the last of a name counts
			all = append(slices.DeleteFunc(all, func(x mysql.Changed) bool { return x.Name == c.Name }), c)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close(true)) }()
	now, err := mysql.CurrentValues(ctx, c.reader, all)
	if err != nil {
		return nil, err
	}
	var gone []mysql.Changed
	for _, x := range all {
		if !x.InForce(now[x.Name]) {
			gone, lost = append(gone, x), append(lost, x.Name)
		}
	}
	if again && len(gone) > 0 {
		err = mysql.NewSwitch(c.reader).Apply(ctx, gone)
	}
	return lost, err
}

// Apply makes changes.
func (s *Service) Apply(ctx context.Context, edits []kasoku.Edit) error {
	if s.j.Open != nil {
		return errors.New("a change that was not decided on is in force")
	}
	var onServer, inFiles []kasoku.Edit
	for _, e := range edits {
		if e.Kind == kasoku.EditNginx {
			inFiles = append(inFiles, e)
		} else {
			onServer = append(onServer, e)
		}
	}
	files, err := s.edited(inFiles)
	if err != nil {
		return err
	}
	s.j.Open = &change{Files: files}
	err = s.applyDatabase(ctx, onServer)
	if err == nil && len(files)+len(s.j.Open.Database) == 0 {
		err = prove.ErrInForce
	}
	for i := 0; err == nil && i < len(files); i++ {
		err = revert.Replace(files[i].Path, files[i].Before, files[i].During)
	}
	if err == nil {
		err = s.count(ctx, s.j.Open)
	}
	if err != nil {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), backWithin)
		defer cancel()
		return errors.Join(err, s.Undo(back))
	}
	return nil
}

// backWithin bounds the way back.
const backWithin = 2 * time.Minute

// applyDatabase makes the changes of the database, and writes the journal first.
func (s *Service) applyDatabase(ctx context.Context, edits []kasoku.Edit) error {
	if len(edits) == 0 {
		return s.save()
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	planner := prove.NewPlanner(c.reader, mysqlflags.Database(s.o.DSN), edits)
	plan, err := planner.Plan(ctx)
	if err == nil {
		s.j.Open.Epoch, s.j.Open.Database = c.reader.Epoch(), plan.Changes
		err = s.save()
	}
	o := guard.Options{}
	if err == nil {
		o, c.end, err = s.o.Guard()
	}
	if err == nil {
		c.hold, err = guard.New(ctx, c.reader, o)
	}
	if err == nil {
		s.at = c
		return c.hold.Apply(ctx, planner)
	}
	return errors.Join(err, c.close(true))
}

// Undo takes back what is not decided on, also what a killed autopilot left.
func (s *Service) Undo(ctx context.Context) error {
	if s.j.Open == nil {
		return nil
	}
	var err error
	if c := s.at; c != nil {
		err = c.hold.Release(ctx, func(left guard.Left) error { s.noteLeft(left.Changes); return nil })
		err = errors.Join(err, c.close(err == nil))
		s.at = nil
	} else {
		err = s.takeBackDatabase(ctx, s.j.Open)
	}
	if err = errors.Join(err, s.takeBackFiles(s.j.Open)); err != nil {
		return err // the journal has it still
	}
	if err := s.count(ctx, s.j.Open); err != nil {
		return err
	}
	s.j.Open = nil
	return s.save()
}

// noteLeft notes changes that were left alone.
func (s *Service) noteLeft(changes []mysql.Changed) {
	for _, c := range changes {
		if c.Note != "" {
			s.note("%s: %s", c.Name, c.Note)
		}
	}
}

func (s *Service) takeBackDatabase(ctx context.Context, ch *change) (err error) {
	if len(ch.Database) == 0 {
		return nil
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(true)) }()
	sw := mysql.ResumeSwitch(c.reader, ch.Epoch, ch.Database)
	err = sw.Restore(ctx)
	s.noteLeft(sw.Changes())
	return err
}

// takeBackFiles puts back the texts of files. One that somebody has edited since is left.
func (s *Service) takeBackFiles(ch *change) (err error) {
	for _, f := range slices.Backward(ch.Files) {
		now, readErr := s.text(nil, f.Path)
		switch {
		case readErr != nil:
			err = errors.Join(err, readErr)
		case now == f.Before:
		case now != f.During:
			s.note("%s: left alone: somebody has edited it meanwhile", f.Path)
		case !slices.Contains(s.o.Files, f.Path):
			err = errors.Join(err, fmt.Errorf("%s: capture.files does not name it any more, so it is not written", f.Path))
		default:
			err = errors.Join(err, revert.Replace(f.Path, f.During, f.Before))
		}
	}
	return err
}

// TakeBack takes back all that is kept, the last change first, and forgets what was tried. It
// returns how many changes went.
func (s *Service) TakeBack(ctx context.Context) (n int, err error) {
	for len(s.j.Kept) > 0 {
		ch := &s.j.Kept[len(s.j.Kept)-1]
		if err := errors.Join(s.takeBackDatabase(ctx, ch), s.takeBackFiles(ch)); err != nil {
			return n, err
		}
		if err := s.count(ctx, ch); err != nil {
			return n, err
		}
		s.j.Kept = s.j.Kept[:len(s.j.Kept)-1]
		n++
		if err := s.save(); err != nil {
			return n, err
		}
	}
	s.j = new(journal)
	return n, s.save()
}

// count lets a change, or its way back, count for those that have read what was before.
func (s *Service) count(ctx context.Context, ch *change) error {
	if len(ch.Files) > 0 {
		if err := s.command(ctx, "reload", s.o.Reload); err != nil {
			return err
		}
		if err := waitReload(ctx); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(ch.Database, func(c mysql.Changed) bool { return !c.Lasts() }) {
		return s.command(ctx, "restart", s.o.Restart)
	}
	return nil
}

// reloadWithin is what nginx has for a reload once the command has sent its signal: new workers begin, and what old
// ones have open ends, some of it in the middle of an answer.
const reloadWithin = time.Second

func waitReload(ctx context.Context) error {
	t := time.NewTimer(reloadWithin)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// commandWithin bounds a command.
const commandWithin = 5 * time.Minute

// command runs a command of kasoku.toml; none does nothing.
func (s *Service) command(ctx context.Context, key string, words []string) error {
	if len(words) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	said := command.NewTail(4 << 10)
	_, err := command.Run(ctx, command.Spec{Path: words[0], Args: words[1:], Dir: s.o.Dir, Stdout: said, Stderr: said})
	if err != nil {
		return fmt.Errorf("%s in [autopilot]: %w: %s", key, err, strings.TrimSpace(string(said.Bytes())))
	}
	return nil
}
