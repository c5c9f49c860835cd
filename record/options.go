package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/logs/score"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/record/trigger"
	"github.com/kasoku/kasoku/topology/find"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/trace/window"
)

// Options configure one run. The zero value of a field leaves that part out; only Path is
// required.
type Options struct {
	Path     string        // of the run file to create; it must not exist
	Run      kasoku.Run    // project, label, note, load phrase, version; the rest is filled in
	Interval time.Duration // between ticks, 1 s when 0

	// Settings are values in force that kasoku cannot see for itself, such as the
	// size of the application's pool (scope app, name pool.max_idle).
	Settings []kasoku.Setting
	// Configs are texts to be kept with the run in addition to what Capture takes, such as
	// what was looked at before it.
	Configs []kasoku.Config
	// Capture says what of the configuration in force is kept, in addition to the variables
	// of the database; nil: nothing. It is taken before offset 0, or after Prepare.
	Capture *capture.Options

	// Observers is "" or kasoku.ObserversOn for all of Database and Sources. With
	// kasoku.ObserversOff nothing is asked while the run is made but the host, and
	// nothing of the database is touched; logs that are written anyway are read at
	// the end. Two such runs show what observation costs.
	Observers string

	Service Named // the service, as the user names it; the zero value: it is found

	Database // that is watched, and what is changed and asked there
	Sources  // what else is watched
	Course   // what happens while the run is made

	// Opened is called when all is open and Command runs: it gives up the rights that
	// the rest of the run does not need. Its error is a warning of the run.
	Opened     func() error
	Rules      []diagnose.Rule      // that look at the finished run; none leaves it undiagnosed
	Hard       context.Context      // its end aborts at once, without draining; may be nil
	OnProgress func(Progress)       // called from several goroutines, one at a time
	OnDoubt    func(kasoku.Warning) // called before the load with what is wrong already

	// Wall returns what the wall clock says at a moment that time.Now gave, for tests
	// that set it; nil: that moment.
	Wall func(time.Time) time.Time

	profileAfter time.Duration // for tests; 0: the constant
	settled      time.Duration // for tests; 0: the constant
	own          []int         // the guard process
}

// begin waits for offset 0, and returns it.
func (o *Options) begin(ctx context.Context) (at time.Time, err error) {
	if o.Ready != nil {
		at, err = o.Ready(ctx)
	}
	if err != nil || time.Until(at) <= 0 {
		return time.Now(), err
	}
	select {
	case <-time.After(time.Until(at)):
		return at, nil
	case <-ctx.Done():
		return at, ctx.Err()
	}
}

// Named identifies the service that is measured, as the user names it.
type Named struct {
	URL  string // at which it is loaded
	Port int    // of this host, that it listens at
	DSN  string // of its database, where that is not the one that is watched
	Unit string
	PID  int
	// Language that its application is written in, where that is not seen.
	Language string
}

// Ask adds the names to a search for the service.
func (n Named) Ask(a *find.Ask) {
	a.Language = n.Language
	switch {
	case n.Port != 0:
		at, header := net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Port)), http.Header{}
		if u, err := url.Parse(n.URL); err == nil && u.Host != "" {
			header.Set("Host", u.Host)
		}
		a.User = append(a.User, find.Target(at, header))
	case n.URL != "":
		a.User = append(a.User, n.URL)
	}
	if n.Unit != "" {
		unit := n.Unit
		if path.Ext(unit) == "" {
			unit += ".service"
		}
		a.Units = append(a.Units, unit)
	}
	if n.PID != 0 {
		a.PIDs = append(a.PIDs, n.PID)
	}
	if network, address := mysqlflags.Address(n.DSN); n.DSN != "" && address != "" {
		a.Databases = append(a.Databases, members.Place{Network: network, Address: address})
	}
}

// Database configures which database a run watches, and what the run changes there.
type Database struct {
	MySQL string // DSN of the database to watch; empty: none
	// MySQLNotes say what was left out of the option file that MySQL is from.
	MySQLNotes []string

	SlowLog bool // switch the slow log on for the run, where it may, and read it
	// SlowLogAnyway takes the slow log also where it was on before, although sessions
	// that begin during the run then log all for as long as they live. Without it
	// statement digests are taken there instead, where the server has them.
	SlowLogAnyway bool
	NoPlans       bool // do not ask at the end how the server runs the statements that took the most time
	// CheckIndexes asks a private server at the end, with a copy of some rows, whether it
	// would use the indexes that are proposed.
	CheckIndexes bool
	// KeepStatements keeps a statement of each class as it was sent, with its
	// values, so that it can be explained later.
	KeepStatements bool
	// Join says how the times of statements are known that show which endpoint runs
	// which: JoinAuto, which empty means as well, JoinTail, JoinTable, JoinOff. It
	// takes the slow log and an access log.
	Join string
	// RecycleConnections ends the idle sessions of the database when the slow log is
	// on, since a session that was open before is not in it.
	RecycleConnections bool
	Reconnects         bool // the user confirmed it for each program that uses the server

	// Sample has the slow log hold 1 of so many statements, MariaDB's alone: for a server
	// so busy that all of them are too much for its disk. Below 2: all. A prime is best:
	// the server logs each statement whose number, of all sessions, is a multiple of it.
	Sample int

	// MinFree is what is to stay free on the disks of the run file and of the slow log:
	// below it the slow log is put back, and the run goes on. nil: MinFree().
	MinFree *unit.Least

	Digests   bool     // let performance_schema count statements by digest, for where no slow log can be read
	CountRows []string // tables to count before and after; the added rows are checked against successes
	Probe     *Probe   // ask each endpoint alone when the run is over; nil: do not
	Guard     *Guard   // puts back what the run changes on servers when the recorder is killed; nil: nothing does
}

// Sources configure what a run watches and reads in addition to the host and the database.
type Sources struct {
	AccessLog string
	AppLog    string
	MoreLogs  Logs            // further ones
	Servers   []observe.Table // servers to watch beside the application and its database
	PIDs      []int           // always sampled, whatever they use; they must be there
	Watched   []int           // the same, of names and units: who has gone since is left out
	Units     []string        // of systemd, whose processes of Watched were named by these
	Expvar    []string        // addresses of /debug/vars of programs that publish their sql.DBStats
	Pprof     []string        // addresses of /debug/pprof/ of programs in Go, profiled once under load
	Outside   bool            // take profiles of all members by the kernel, once under load
	Trace     *window.Plan    // watch the system calls of the service for a while; nil: do not
	Off       []string        // sources that are not read, by the names of config.SourceNames
	Fast      bool            // read host and process each config.FastInterval
}

// Course configures how a run begins, what happens in it and how it ends.
type Course struct {
	// Prepare runs when all sources watch and before the load, to start what
	// is measured; it may add process ids. Sessions that it opens to the
	// database are logged, because the slow log is on by then.
	Prepare func(ctx context.Context, watch Watch) error

	// Ready, without On or with Shared, is called when all is prepared that can be before offset 0, and returns
	// when that is to be; a moment that is past is now. With an error nothing is recorded.
	Ready   func(ctx context.Context) (time.Time, error)
	Over    func()    // called when the load is over, and before the logs are read
	Load    *Load     // load of our own
	Command []string  // or a command that makes the load
	Stdin   io.Reader // the command's
	Stdout  io.Writer
	Stderr  io.Writer
	Dir     string        // the command's working directory; empty: this process's
	Env     []string      // NAME=VALUE, added to the command's environment
	For     time.Duration // or just so long; 0 with neither: until the context ends

	// UntilIdle ends the run, without Load, Command or For, when the access log has
	// gained nothing for so long after a first request. It is to be longer than what
	// a web server keeps back in a buffer of its log.
	UntilIdle time.Duration

	// On lets the run wait for a request in the access log. The run then begins a
	// moment before that request did; its sources watch meanwhile. A run that is
	// stopped while it waits leaves nothing.
	On    phases.Request
	After *Result // with On: the run before, so that no request in between is missed

	Shared *trigger.Shared // with other hosts, whose requests begin and end it too; nil: with none

	// Answers compares the service's answers with golden ones, after the load; nil: they are
	// not asked for. What it returns beside an error is kept.
	Answers func(ctx context.Context) (kasoku.ComparedAnswers, error)

	Score score.Pattern // where the command's output has its score; a known benchmark needs none
	Pass  score.Pattern // and whether it passed
}

// unobserved leaves out what asks or changes anything while the run is made.
func (o Options) unobserved() Options {
	o.MySQL, o.SlowLog, o.Digests, o.CountRows, o.PIDs, o.Watched, o.Expvar = "", false, false, nil, nil, nil, nil
	o.Probe, o.Pprof, o.Trace, o.Answers, o.Outside, o.Run.Observers = nil, nil, nil, nil, false, kasoku.ObserversOff
	return o
}

// Logs are paths of log files, by kind.
type Logs struct {
	Access []string
	App    []string // of applications
	Error  []string // of servers, read like those of applications; one without lines is no warning
	Quiet  bool     // neither is one of App: kasoku found them, the user named none
}

// accessLogs lists all access logs.
func (o *Options) accessLogs() []string { return listed(o.AccessLog, o.MoreLogs.Access) }

// appLogs lists all logs of applications; error logs are apart.
func (o *Options) appLogs() []string { return listed(o.AppLog, o.MoreLogs.App) }

func listed(first string, more []string) []string {
	if first == "" {
		return more
	}
	return append([]string{first}, more...)
}

// Load is a load that package record makes itself, step by step. Prepare may set Targets.
type Load struct {
	Targets []load.Target
	Engine  load.Engine
	Each    time.Duration // length of a step
	Pause   time.Duration // between steps
	Settle  time.Duration // recorded after the last step, to see what stays open without load

	// Total is how long all steps take with the pauses between them; 0: not known.
	Total time.Duration

	Spacing load.Spacing // of the requests of a step
	Seed    uint64       // of what is random in spacing and targets; 0: nothing is

	// First is called once before the first step, when all is watched, such as to have the
	// service begin anew; nil: nothing is done.
	First func(ctx context.Context) error

	// Next returns the asked rate of the next step, given the steps done; ok is
	// false when the load is over.
	Next func(done []Done) (perSec float64, ok bool)
}

// Done is a step that has ended, with its result.
type Done struct {
	Step  kasoku.Step
	Tally *kasoku.Tally
}

// Climb returns a function for Load.Next that goes through the rates, in requests per
// second, in their order.
func Climb(perSec ...float64) func([]Done) (float64, bool) {
	return func(done []Done) (float64, bool) {
		if len(done) >= len(perSec) {
			return 0, false
		}
		return perSec[len(done)], true
	}
}

// Watch lets Prepare add processes to what is sampled.
type Watch interface {
	// Process samples this process from now on.
	Process(pid int)
}

// Phases of a run.
const (
	PhasePrepare = "prepare"
	PhaseWait    = "wait" // for the request that begins the run
	PhaseLoad    = "load"
	PhasePause   = "pause"
	PhaseRecord  = "record" // beside a command, or for a time
	PhaseAnalyse = "analyse"
)

// Progress describes what the run is doing, for one line that is redrawn.
type Progress struct {
	Phase      string
	Label      string
	Step       kasoku.Step   // with PhaseLoad and PhasePause
	Elapsed    time.Duration // of the step, or of the phase
	OK, Failed uint64        // of the step so far
	P99        time.Duration // of the step so far
	Text       string        // what is read or waited for
	Over       bool          // the step is complete: the last word on it
}

// Validate returns an error for combinations of options that exclude each other.
func (o *Options) Validate() error {
	switch {
	case o.Path == "":
		return errors.New("no run file was named")
	case o.Load != nil && len(o.Command) > 0:
		return errors.New("a run has a load of its own or a command, not both")
	case len(o.CountRows) > 0 && o.MySQL == "":
		return errors.New("rows can be counted only with a database connection")
	case o.SlowLog && o.MySQL == "":
		return errors.New("the slow log can be switched on only with a database connection")
	case o.Digests && o.MySQL == "":
		return errors.New("statement digests can be read only with a database connection")
	case !slices.Contains([]string{"", JoinAuto, JoinTail, JoinTable, JoinOff}, o.Join):
		return fmt.Errorf("join %q: want auto, tail, table or off", o.Join)
	case o.RecycleConnections && !o.SlowLog:
		return errors.New("connections are recycled only for the slow log, which is not switched on")
	case o.Interval < 0 || o.For < 0 || o.UntilIdle < 0:
		return errors.New("a negative duration")
	case o.Observers != "" && o.Observers != kasoku.ObserversOn && o.Observers != kasoku.ObserversOff:
		return fmt.Errorf("observers %q: want on or off", o.Observers)
	}
	if err := o.validateSample(); err != nil {
		return err
	}
	return o.validateEnd()
}

// validateEnd refuses beginnings and ends of a run that do not go together.
func (o *Options) validateEnd() error {
	own := o.Load != nil || len(o.Command) > 0
	on := o.On != (phases.Request{})
	switch {
	case on && o.Ready != nil && o.Shared == nil:
		return errors.New("a run that waits for a request begins by itself")
	case on && own:
		return errors.New("a run that waits for a request has neither a load of its own nor a command")
	case o.UntilIdle > 0 && o.For > 0:
		return errors.New("a run ends after a time or when it is idle, not both")
	case o.UntilIdle > 0 && own:
		return errors.New("a run with a load of its own or a command ends with it, not when it is idle")
	case on && len(o.accessLogs()) == 0 && o.Shared == nil:
		return fmt.Errorf("%s is waited for in an access log, and none is named", o.On)
	case o.UntilIdle > 0 && len(o.accessLogs()) == 0 && o.Shared == nil:
		return errors.New("whether requests still come is seen in an access log, and none is named")
	case on && o.Prepare != nil, on && len(o.CountRows) > 0:
		return errors.New("a run that waits for a request cannot prepare its target or count rows before it")
	case !o.Score.Empty() && o.Score.Validate() != nil:
		return fmt.Errorf("score: %w", o.Score.Validate())
	case !o.Pass.Empty() && o.Pass.Validate() != nil:
		return fmt.Errorf("pass: %w", o.Pass.Validate())
	}
	return nil
}
