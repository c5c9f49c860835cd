package labcmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/private"
)

// serveFlags are the flags of lab serve.
type serveFlags struct {
	listen, defects string
	ready           string  // gets the address once requests are accepted
	accessLog       string  // of userapi
	maxIdle         int     // as well
	sql, fixture    string  // of isuumo: directories that /initialize reads
	files           string  // of the small labs: a directory of their own
	pool            int     // of them as well: connections to the database
	shed            float64 // likewise: the share of what may be lost that is dropped
	capacity        int     // likewise: of what the lab lets in
	beside          bool    // likewise: the other service of the lab, which it asks
	neighbour       bool    // likewise: the program that is none of the service
	duration        time.Duration
	game            gameFlags // of goldrush
}

// newLabServe is the service itself, a process of its own.
func newLabServe(e *cli.Env) *cobra.Command {
	var o serveFlags
	cmd := &cobra.Command{
		Use: "serve NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := labNamed(args[0])
			if err != nil {
				return err
			}
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return l.serve(ctx, e, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "")
	f.StringVar(&o.defects, "defects", "all", "")
	f.StringVar(&o.ready, "ready", "", "")
	f.StringVar(&o.accessLog, "access-log", os.DevNull, "")
	f.IntVar(&o.maxIdle, "max-idle", 0, "")
	f.StringVar(&o.sql, "sql", "", "")
	f.StringVar(&o.fixture, "fixture", "", "")
	f.StringVar(&o.files, "files", "", "")
	f.IntVar(&o.pool, "pool", 0, "")
	f.Float64Var(&o.shed, "shed", 0, "")
	f.IntVar(&o.capacity, "capacity", 0, "")
	f.BoolVar(&o.beside, "beside", false, "")
	f.BoolVar(&o.neighbour, "neighbour", false, "")
	f.DurationVar(&o.duration, "duration", 0, "")
	f.Int64Var(&o.game.seed, "seed", 0, "")
	o.game.register(f)
	return cmd
}

// accepts notifies whoever waits for it that requests are accepted.
func (o *serveFlags) accepts(addr string) {
	if o.ready != "" {
		private.State.WriteFile(o.ready, []byte(addr+"\n")) //nolint:errcheck // who waits for it times out
	}
}
