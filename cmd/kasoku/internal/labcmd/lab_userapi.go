package labcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record"
)

// userapiLab is the service of the demo.
func userapiLab() lab {
	return lab{
		name:    "userapi",
		about:   "REST API, POST /users writes one row; connection pool, ORM and prepare defects",
		defects: userapi.Known().String(),
		check: func(o *labFlags) error {
			if err := cmp.Or(o.noneOfIsuumo(), o.checkPort("userapi", false)); err != nil {
				return err
			}
			if _, err := o.userapiDefects(); err != nil {
				return cli.Usagef("", "--defects: %w", err)
			}
			return knownDatabase(o.database)
		},
		start: startUserapi, serve: serveUserapi, next: nextUserapi, record: recordLadder,
	}
}

// userapiDefects are those that make it slow unless others were asked for.
func (o *labFlags) userapiDefects() (userapi.Defects, error) {
	if !o.set["defects"] {
		return userapi.Seeded(), nil
	}
	return userapi.ParseDefects(o.defects)
}

func startUserapi(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error) {
	defects, err := o.userapiDefects()
	if err != nil {
		return labState{}, nil, err
	}
	stack, err := userapi.Up(ctx, userapi.Options{Dir: o.dir, Database: o.database, Listen: o.listen, Program: o.self})
	if err != nil {
		return labState{}, nil, err
	}
	pid, err := stack.StartApp(ctx, defects, userapi.Knobs{})
	if err != nil {
		return labState{}, nil, errors.Join(err, stack.Down(context.WithoutCancel(ctx)))
	}
	return labState{
		AppPid: pid, DBPid: stack.DB.Pid(), URL: stack.URL(), DSN: stack.DSN,
		AccessLog: stack.AccessLog, AppLog: stack.AppLog, Defects: defects.String(),
	}, stack.Down, nil
}

func serveUserapi(ctx context.Context, e *cli.Env, o *serveFlags) error {
	d, err := userapi.ParseDefects(o.defects)
	if err != nil {
		return cli.Usagef("", "--defects: %w", err)
	}
	out, err := private.Output.Open(o.accessLog, os.O_APPEND)
	if err != nil {
		return err
	}
	defer out.Close()
	return userapi.Serve(ctx, userapi.Config{
		Listen: o.listen, DSN: e.Getenv("KASOKU_LAB_DSN"), Defects: d, MaxIdle: o.maxIdle, AccessLog: out, AppLog: e.Stderr,
		Ready: o.accepts,
	})
}

func nextUserapi(e *cli.Env, s *labState) string {
	return fmt.Sprintf(`next  %s record --mysql '%s' --accesslog %s --applog %s --pid %d,%d --out before.kasoku -- \
        %s attack -rate 10,100,1000 -duration 10s --pause 3s -target 'POST %s/users'
`, e.Name, s.DSN, unit.ShellQuote(s.AccessLog), unit.ShellQuote(s.AppLog), s.AppPid, s.DBPid, e.Name, s.URL)
}

// A userapiLoad is a state of the service and its load.
type userapiLoad struct {
	defects userapi.Defects
	knobs   userapi.Knobs
	spacing load.Spacing
	rates   []float64
	each    time.Duration // of a rate
}

// recordLadder makes a ladder of three steps, in bursts, which are what pools have to bear.
func recordLadder(ctx context.Context, o *labRecord) (*record.Result, error) {
	d, err := o.flags.userapiDefects()
	if err != nil {
		return nil, err
	}
	return recordUserapi(ctx, o, userapiLoad{defects: d, spacing: load.Burst(200), rates: []float64{10, 100, 1000},
		each: o.duration / 3})
}

// recordUserapi starts the lab, makes one recorded run of a load and stops it.
func recordUserapi(ctx context.Context, o *labRecord, of userapiLoad) (res *record.Result, err error) {
	s, err := userapi.Up(ctx, userapi.Options{
		Dir: o.flags.dir, Database: o.flags.database, Program: o.flags.self,
		// That each commit waits for the disk is none of this lab's defects.
		Args: []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Down(context.WithoutCancel(ctx))) }()
	sender, _, err := engine.New(engine.Options{HTTP: nethttp.Options{Timeout: 10 * time.Second, Hard: o.options.Hard}}, load.Plan{})
	if err != nil {
		return nil, err
	}
	ld := &record.Load{
		Engine: sender, Each: of.each, Pause: time.Second, Settle: 2 * time.Second,
		Spacing: of.spacing, Seed: 1, Next: record.Climb(of.rates...),
	}
	lo := o.options
	lo.Run.Project, lo.Run.Note, lo.Run.Load = "userapi", "defects "+of.defects.String(), "POST /users, open loop"
	lo.MySQL, lo.SlowLog, lo.CountRows = s.DSN, true, []string{"users"}
	lo.Settings, lo.AccessLog, lo.AppLog = userapi.Settings(of.defects, of.knobs.MaxIdle), s.AccessLog, s.AppLog
	lo.PIDs, lo.Load, lo.Capture = []int{s.DB.Pid()}, ld, &capture.Options{Schema: true}
	lo.Prepare = func(ctx context.Context, w record.Watch) error {
		pid, err := s.StartApp(ctx, of.defects, of.knobs)
		if err != nil {
			return err
		}
		w.Process(pid)
		ld.Targets = []load.Target{{Method: http.MethodPost, URL: s.URL() + "/users"}}
		return nil
	}
	return record.Record(ctx, lo)
}
