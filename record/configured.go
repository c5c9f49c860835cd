package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/logs/score"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record/thishost"
	"github.com/kasoku/kasoku/trace/window"
)

// ErrNoLoad means that a kasoku.toml names neither a load nor a command, so that there is
// nothing to run.
var ErrNoLoad = errors.New("it does not say what a run does")

// Configured returns o with everything filled in that a kasoku.toml defines for a run. It
// leaves Path, the run's label and note, the streams of the command, rules, guard and
// progress unchanged. Without a load the error is [ErrNoLoad].
func Configured(c *config.Config, o Options) (Options, error) {
	o, err := ConfiguredWatch(c, o)
	if err != nil {
		return Options{}, err
	}
	o.Score, o.Pass = score.Pattern(c.Load.Score), score.Pattern(c.Load.Pass)
	if err := o.configureLoad(&c.Load, c.Dir); err != nil {
		return Options{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	return o, nil
}

// ConfiguredWatch is [Configured] without the load: it fills in only what is watched and
// kept.
func ConfiguredWatch(c *config.Config, o Options) (Options, error) {
	o.Interval = c.Interval
	if o.Run.Project == "" {
		o.Run.Project = c.Project
	}
	if o.Run.Price == (kasoku.Price{}) {
		o.Run.Price = kasoku.Price{PerHour: c.Price.PerHour, Currency: c.Price.Currency}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		o.Settings = append(o.Settings, kasoku.Setting{Scope: "app", Name: name, Value: c.Settings[name]})
	}
	o.Settings = append(o.Settings, c.Contract.Settings()...)
	o.Service = NamedBy(c.Service)
	o.configureServers(c)
	o.MoreLogs = Logs{Access: c.Logs.Access, App: c.Logs.App, Error: c.Logs.Error, Quiet: c.Logs.Quiet}
	o.PIDs, o.Watched = slices.Clone(c.Watch.PIDs), thishost.Watched("/proc", c.Watch.Processes, c.Watch.Units)
	o.Units = c.Watch.Units
	o.Expvar, o.Pprof, o.Outside = c.Watch.Expvar, c.Watch.Pprof, c.Watch.Outside
	o.Off, o.Fast = c.Sources.Off, c.Sources.Fast
	o.Capture = capture.FromConfig(capture.Wanted(c.Capture), c.Dir)
	if !c.MySQL.Set() {
		c.MySQL.DSN = c.Service.MySQL
	}
	if err := o.configureDatabase(c.MySQL); err != nil {
		return Options{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	o.Trace = window.Planned(c.Trace.On, c.Trace.For, c.Trace.After)
	if err := o.configureProbe(c); err != nil {
		return Options{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	return o, nil
}

// configureServers takes what a kasoku.toml says of the servers beside the
// application and its database.
func (o *Options) configureServers(c *config.Config) {
	for _, s := range c.Servers {
		if s.IsSet() {
			o.Servers = append(o.Servers, s.Table)
		}
	}
}

// NamedBy returns the service that the table [service] of a kasoku.toml names.
func NamedBy(s config.Service) Named {
	return Named{URL: s.URL, Port: s.Port, DSN: s.MySQL, Unit: s.Unit, PID: s.PID, Language: s.Language}
}

// DSN returns the data source name of the database in a kasoku.toml, empty without one.
// The notes name the entries of its option file that were left out.
func DSN(m config.MySQL) (dsn string, notes []string, err error) {
	if m.DefaultsFile != "" {
		return mysqlflags.ReadDSN(m.DefaultsFile)
	}
	return m.DSN, nil, nil
}

func (o *Options) configureDatabase(m config.MySQL) (err error) {
	o.CountRows = m.CountRows
	if o.MySQL, o.MySQLNotes, err = DSN(m); err != nil || o.MySQL == "" {
		return err
	}
	o.SlowLog, o.Digests = m.SlowLog == nil || *m.SlowLog, m.Digests
	o.SlowLogAnyway = m.SlowLog != nil && *m.SlowLog
	o.NoPlans, o.KeepStatements = m.Plans != nil && !*m.Plans, m.KeepStatements
	o.CheckIndexes = m.CheckIndexes
	o.Join, o.RecycleConnections, o.Reconnects = m.Join, m.RecycleConnections, m.Reconnects
	o.Sample = m.Sample
	if m.MinFree != "" {
		least, err := unit.ParseLeast(m.MinFree)
		if err != nil {
			return fmt.Errorf("mysql.min_free: %w", err)
		}
		o.MinFree = &least
	}
	return nil
}

// configureLoad sets how the load is made.
func (o *Options) configureLoad(l *config.LoadTable, dir string) (err error) {
	switch l.Kind() {
	case config.Command:
		o.Command, o.Dir = slices.Clone(l.Command), dir
		if name := o.Command[0]; strings.Contains(name, "/") && !filepath.IsAbs(name) {
			o.Command[0] = filepath.Join(dir, name)
		}
		o.Run.Load = strings.Join(l.Command, " ")
		if len(l.Command) == 3 && l.Command[0] == "sh" && l.Command[1] == "-c" {
			o.Run.Load = l.Command[2]
		}
	case config.Targets:
		return o.configureTargets(l)
	case config.ForTime:
		o.For, o.Run.Load = l.For, "for "+unit.Exact(l.For)
	case config.UntilIdle:
		o.UntilIdle, o.Run.Load = l.UntilIdle, "until idle for "+unit.Exact(l.UntilIdle)
	default:
		return ErrNoLoad
	}
	if l.On != "" {
		if o.On, err = phases.ParseRequest(l.On); err != nil {
			return err
		}
		o.Run.Load = "on " + o.On.String() + ", " + o.Run.Load
	}
	return nil
}

// configureTargets makes a load of kasoku's own.
func (o *Options) configureTargets(l *config.LoadTable) error {
	spacing, err := load.ParseSpacing(l.Spacing)
	if err != nil {
		return err
	}
	seed := uint64(l.Seed)
	if seed == 0 {
		seed = 1 + uint64(rand.Uint32()) // short enough to be typed again
	}
	targets, err := configuredTargets(l, seed)
	if err != nil {
		return err
	}
	sender, err := configuredEngine(l, o.Hard, targets)
	if err != nil {
		return err
	}
	o.Load = &Load{Targets: targets, Engine: sender, Each: l.Each, Pause: l.Pause, Settle: l.Settle, Next: Climb(l.Steps...), Spacing: spacing}
	steps := time.Duration(len(l.Steps))
	o.Load.Total = steps*l.Each + max(steps-1, 0)*l.Pause
	if spacing == load.Poisson || slices.ContainsFunc(targets, func(t load.Target) bool { return t.Fill != nil }) {
		o.Load.Seed = seed
	}
	names := load.Plan{Targets: targets}.Names()
	o.Run.Load = names[0]
	if len(names) > 1 {
		o.Run.Load += fmt.Sprintf(" and %d more", len(names)-1)
	}
	o.Run.Load += ", open loop"
	if described := spacing.Describe(); described != "" {
		o.Run.Load += ", " + described
	}
	return nil
}

func configuredEngine(l *config.LoadTable, hard context.Context, targets []load.Target) (load.Engine, error) {
	pacing, err := load.ParsePacing(l.Pacing)
	if err != nil {
		return nil, err
	}
	e, _, err := engine.New(engine.Options{
		Engine: l.Engine, Pacing: pacing,
		HTTP: nethttp.Options{Timeout: l.Timeout, MaxInFlight: l.MaxInFlight, Permit: load.Permit{Hosts: l.Allow}, Hard: hard},
	}, load.Plan{Targets: targets})
	return e, err
}

func configuredTargets(l *config.LoadTable, seed uint64) ([]load.Target, error) {
	o := vegeta.TargetOptions{Name: "load.targets", NoVariables: l.Variables != nil && !*l.Variables, Seed: seed}
	if l.CSV != "" {
		f, err := os.Open(l.CSV)
		if err != nil {
			return nil, fmt.Errorf("open load.csv: %w", err)
		}
		defer f.Close()
		if o.Table, err = load.ReadTable(f, l.CSV); err != nil {
			return nil, err
		}
	}
	if l.TargetsFile == "" {
		return vegeta.ReadTargets(strings.NewReader(strings.Join(l.Targets, "\n\n")+"\n"), o)
	}
	f, err := os.Open(l.TargetsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.Name, o.Dir = l.TargetsFile, filepath.Dir(l.TargetsFile)
	return vegeta.ReadTargets(f, o)
}
