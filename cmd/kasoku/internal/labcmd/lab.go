package labcmd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/record"
)

// A lab is one sample target; the table of labs stands here and nowhere else.
type lab struct {
	name, about string
	defects     string // that can be seeded
	variants    string // names of sets of them; empty: there are none

	// check refuses flags that make no sense.
	check func(o *labFlags) error
	// start starts the lab in o.dir, and returns where it runs and what stops it.
	start func(ctx context.Context, o *labFlags) (labState, func(context.Context) error, error)
	// serve is the service itself, a process of its own.
	serve func(ctx context.Context, e *cli.Env, o *serveFlags) error
	// next says what can be done with a lab that runs.
	next func(e *cli.Env, s *labState) string
	// record makes one recorded run; nil: the lab has a benchmark.
	record func(ctx context.Context, o *labRecord) (*record.Result, error)
}

func allLabs() []lab {
	out := []lab{userapiLab(), isuumoLab()}
	for _, l := range smallLabs() {
		out = append(out, smallLab(l))
	}
	return append(out, goldrushLab(), carbonLab())
}

// labNamed returns the lab of that name.
func labNamed(name string) (lab, error) {
	for _, l := range allLabs() {
		if l.name == name {
			return l, nil
		}
	}
	return lab{}, cli.Usagef("`kasoku lab list` has all", "no lab %q", name)
}

// NewLab returns the command lab, whose commands start, load and stop sample services.
func NewLab(e *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Start, load and stop sample services with seeded defects",
		Example: `  kasoku lab list
  kasoku lab up userapi
  kasoku lab up isuumo -variant tuned -db mysql
  kasoku lab bench isuumo
  kasoku lab run isuumo -n 5 --compare-variants
  kasoku lab run insertbench -defects DRV-01
  kasoku lab story userapi
  kasoku lab client goldrush --simulated
  kasoku lab down isuumo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabList(e), newLabUp(e), newLabDown(e), newLabBench(e), newLabRun(e), newLabStory(e), newLabTruth(e), newLabClient(e), newLabSearch(e), newLabServe(e), newLabSupervise(e))
	return cmd
}

func newLabList(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the labs and which of them run",
		Example: "  kasoku lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, l := range allLabs() {
				status := "stopped"
				if s, ok := runningLab(e, l.name); ok {
					status = "runs at " + s.URL
				}
				fmt.Fprintf(e.Stdout, "%-11s  %s\n             %s\n", l.name, status, l.about)
				if l.variants != "" {
					fmt.Fprintf(e.Stdout, "             variants %s\n", l.variants)
				}
				fmt.Fprintf(e.Stdout, "             defects %s\n", l.defects)
			}
			return nil
		},
	}
}

func newLabUp(e *cli.Env) *cobra.Command {
	var o labFlags
	cmd := &cobra.Command{
		Use:         "up NAME",
		Short:       "Start a lab with a private database, in the background",
		Annotations: map[string]string{"vegeta": "flags"},
		Example: `  kasoku lab up userapi
  kasoku lab up userapi --defects POOL-01,POOL-02
  kasoku lab up userapi --defects none --db mysql
  kasoku lab up isuumo -variant indexes
  kasoku lab up isuumo -defects QRY-04 -size small
  kasoku lab up isuumo -emit contest`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given(cmd.Flags())
			return labUp(cmd, e, args[0], &o)
		},
	}
	o.register(cmd)
	return cmd
}

// labFlags are the flags of lab up, passed on to the supervisor.
type labFlags struct {
	defects, database, listen string
	variant, size, data, emit string // of isuumo
	seed                      uint64
	game                      gameFlags // of goldrush
	http                      int       // port of nginx

	dir   string          // where a lab keeps what it writes
	keep  string          // where it keeps what stays from run to run
	self  string          // this program, which runs the service
	bench bool            // load a small lab with its benchmark, where it has one, not at a rate
	set   map[string]bool // the flags that were given
}

func (o *labFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.defects, "defects", "", "seeded defects: `IDS` with commas, all that make it slow, or none; "+
		"default all, or those of the variant")
	f.StringVar(&o.database, "db", "mariadb", "database: mariadb or mysql")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the service; port 0 takes a free one")
	f.IntVar(&o.http, "http", 0, "`PORT` of nginx on 127.0.0.1; 0 takes a free one")
	f.StringVar(&o.variant, "variant", isuumo.Initial,
		"isuumo: how far it is tuned: "+strings.Join(isuumo.AllVariants(), ", "))
	o.registerRows(f)
	o.game.register(f)
	f.StringVar(&o.emit, "emit", "", "isuumo: also write the rows to `DIRECTORY` in the contest's formats, for its "+
		"own benchmark")
}

// registerRows serves commands that need isuumo's rows.
func (o *labFlags) registerRows(f *pflag.FlagSet) {
	f.StringVar(&o.size, "size", string(data.Full), "isuumo: rows: full, as in the contest, or small, a tenth")
	f.StringVar(&o.data, "data", "", "isuumo: take the rows from `DIRECTORY`, in the contest's formats")
	f.Uint64Var(&o.seed, "seed", 0, "isuumo: of the rows; 0 is the usual one; goldrush: of the world; 0 draws one")
}

// checkPort refuses a port of nginx that is none, and one of a lab without nginx.
func (o *labFlags) checkPort(name string, nginx bool) error {
	switch {
	case o.http < 0 || o.http > math.MaxUint16:
		return cli.Usagef("", "--http %d: want a port", o.http)
	case o.set["http"] && !nginx:
		return cli.Usagef("", "--http: %s has no nginx", name)
	}
	return nil
}

// given notes which flags were given.
func (o *labFlags) given(f *pflag.FlagSet) {
	o.set = map[string]bool{}
	f.Visit(func(x *pflag.Flag) { o.set[x.Name] = true })
}

// args are the flags that were given, as arguments.
func (o *labFlags) args(f *pflag.FlagSet) (out []string) {
	f.Visit(func(x *pflag.Flag) { out = append(out, "--"+x.Name+"="+x.Value.String()) })
	return out
}

func labUp(cmd *cobra.Command, e *cli.Env, name string, o *labFlags) error {
	l, err := labNamed(name)
	if err != nil {
		return err
	}
	if err := cmp.Or(o.onlyOfGoldrush(name), l.check(o)); err != nil {
		return err
	}
	ctx, _, stop := cli.Interruptible(cmd.Context())
	defer stop()
	s, err := startLab(ctx, e, name, o.args(cmd.Flags()))
	if err != nil {
		return err
	}
	fmt.Fprint(e.Stdout, s.text(), l.next(e, &s))
	return nil
}
