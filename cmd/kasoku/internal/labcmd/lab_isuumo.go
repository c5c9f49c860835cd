package labcmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/app"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
)

// isuumoLab is the contest on one machine.
func isuumoLab() lab {
	var ids []string
	for _, d := range isuumo.Known() {
		ids = append(ids, d.ID)
	}
	return lab{
		name:     "isuumo",
		about:    "the qualifying problem of ISUCON10: chairs and flats served through nginx, with its benchmark",
		defects:  strings.Join(ids, ","),
		variants: strings.Join(isuumo.AllVariants(), ","),
		check: func(o *labFlags) error {
			_, err := o.isuumoStack()
			return err
		},
		start: startIsuumo, serve: serveIsuumo, next: nextIsuumo,
	}
}

// isuumoStack is what the flags ask for.
func (o *labFlags) isuumoStack() (stack.Options, error) {
	out := stack.Options{
		Dir: o.dir, Database: o.database, Program: o.self, Listen: o.listen, Variant: o.variant,
		DataDir: o.data, EmitDir: o.emit, Seed: o.seed, WebPort: o.http,
	}
	if err := cmp.Or(knownDatabase(o.database), o.checkPort("isuumo", true)); err != nil {
		return out, err
	}
	if o.set["defects"] {
		if o.set["variant"] {
			return out, cli.Usagef("a variant is a set of defects", "--variant and --defects: give one")
		}
		d, err := isuumo.ParseDefects(o.defects)
		if err != nil {
			return out, cli.Usagef("", "--defects: %w", err)
		}
		out.Variant, out.Defects = "", d
	}
	if out.Variant != "" {
		if _, err := isuumo.Variant(out.Variant); err != nil {
			return out, cli.Usagef("", "--variant: %w", err)
		}
	}
	out.Size = data.Size(o.size)
	return out, o.check()
}

func startIsuumo(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error) {
	so, err := o.isuumoStack()
	if err != nil {
		return labState{}, nil, err
	}
	rows := o.data
	if rows != "" { // the benchmark may be called from elsewhere
		if rows, err = filepath.Abs(rows); err != nil {
			return labState{}, nil, err
		}
	}
	s, err := stack.Up(ctx, so)
	if err != nil {
		return labState{}, nil, err
	}
	return labState{
		AppPid: s.AppPid(), DBPid: s.DB.Pid(), NginxPid: s.Nginx.Pid(), URL: s.URL(), AppURL: s.AppURL(), DSN: s.DSN,
		AccessLog: s.AccessLog, ErrorLog: s.ErrorLog, AppLog: s.AppLog, Defects: s.Defects.String(),
		Variant: so.Variant, Size: o.size, Data: rows, Seed: o.seed,
	}, s.Down, nil
}

func serveIsuumo(ctx context.Context, e *cli.Env, o *serveFlags) error {
	d, err := isuumo.ParseDefects(o.defects)
	if err != nil {
		return cli.Usagef("", "--defects: %w", err)
	}
	return app.Serve(ctx, app.Config{
		Listen: o.listen, DSN: e.Getenv("KASOKU_LAB_DSN"), SQLDir: o.sql, FixtureDir: o.fixture, Defects: d, AppLog: e.Stderr,
		Ready: o.accepts,
	})
}

func nextIsuumo(e *cli.Env, s *labState) string {
	pids := []string{strconv.Itoa(s.AppPid), strconv.Itoa(s.DBPid), strconv.Itoa(s.NginxPid)}
	return fmt.Sprintf(`next  %s lab bench isuumo
      %s record --mysql '%s' --accesslog %s --applog %s --pid %s -- \
        %s lab bench isuumo
`, e.Name, e.Name, s.DSN, unit.ShellQuote(s.AccessLog), unit.ShellQuote(s.AppLog), strings.Join(pids, ","), e.Name)
}
