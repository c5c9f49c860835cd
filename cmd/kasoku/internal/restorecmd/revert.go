package restorecmd

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/checkpoint/revert"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/topology"
	"github.com/spf13/cobra"
)

// revertFlags are the flags of revert as they were typed.
type revertFlags struct {
	machine machineFlags
	only    []string
	apply   bool
	out     cli.Output
}

// NewRevert returns the command revert, which puts files and indexes back as they were in a run.
func NewRevert(e *cli.Env) *cobra.Command {
	var f revertFlags
	cmd := &cobra.Command{
		Use:   "revert RUN",
		Short: "Put configuration files and indexes back as they were in a run",
		Long: `Show how files and indexes of this machine differ from those in force in RUN, as
a diff from now to then; with --apply put them back.

Files are those that kasoku.toml names (capture), and those that nginx and the
database are configured by. They are replaced at once, mode and owner kept. A
run holds no secrets: they are taken from the present file. Indexes are added
and dropped one statement at a time; columns and tables are left alone. Before
anything is put back, what is in force is kept in a checkpoint, before-revert.`,
		Example: `  kasoku revert before
  kasoku revert before --apply
  kasoku revert checkpoint --only /etc/nginx/nginx.conf --apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.out.Check(); err != nil {
				return err
			}
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return revertRun(e, ctx, &f, args[0])
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.apply, "apply", false, "put back what is shown")
	fl.StringSliceVar(&f.only, "only", nil, "only these `FILES` or tables, by path, end of a path, or schema.table")
	f.machine.register(fl)
	f.out.Register(cmd)
	return cmd
}

func revertRun(e *cli.Env, ctx context.Context, f *revertFlags, name string) error {
	rec, path, err := cli.OpenRun(e, f.out.Dir, name)
	if err != nil {
		return err
	}
	if len(rec.Configs) == 0 {
		return cli.WithHint(fmt.Errorf("run %q keeps no configuration", name),
			"kasoku checkpoint keeps it, and so does kasoku record without --no-capture")
	}
	o, runs, err := f.machine.options(e)
	if err != nil {
		return err
	}
	db, taken, err := takePresent(ctx, o)
	if err != nil {
		// A server that its option files keep from starting is put back by its files.
		e.Caution("indexes are left out: "+err.Error(), "")
		o.MySQL = ""
	}
	if db != nil {
		defer db.Close()
	}
	host, _ := os.Hostname() // as it was captured
	x := recording.Reverting{Run: rec, Apply: f.apply, Plan: revert.Make(rec, taken, revert.Options{
		Host: host, Only: f.only, Globs: append(append([]string(nil), o.Capture.Files...), o.Capture.VCL...),
	})}
	if f.apply && !x.Plan.Empty() {
		o.Capture.Everything, o.Capture.Only = true, changed(x.Plan)
		o.Run.Label, o.Run.Note = beforeRevertLabel, "before going back to "+rec.Run.ID
		kept, err := keepConfiguration(e, ctx, o, runs, "")
		if err != nil {
			return fmt.Errorf("nothing was put back: checkpoint: %w", err)
		}
		x.Checkpoint = kept.Path
		x.Outcomes = x.Plan.Apply(ctx, db)
		version, _ := rec.Setting("mysql", "version")
		x.Reload = x.Plan.Reload(version)
	}
	err = f.out.Print(e, cli.Printer{
		Doc:  recording.Revert(x, e.ReportOptions(path)),
		JSON: func(w io.Writer) error { return revertedJSON(w, x) },
	})
	if err != nil {
		return err
	}
	failed := 0
	for _, o := range x.Outcomes {
		if o.Err != nil {
			failed++
		}
	}
	if failed > 0 {
		return cli.Stopped(fmt.Sprintf("%d of %d could not be put back", failed, len(x.Outcomes)))
	}
	return nil
}

// changed are the files that a plan writes: of all that servers here are configured by,
// they alone are kept in the checkpoint before it.
func changed(p *revert.Plan) []string {
	out := []string{""} // with no file none of a server is kept
	for _, f := range p.Files {
		out = append(out, f.Path)
	}
	return out
}

// askWithin bounds the connection to a database, so that one that hangs does not
// hang the command.
const askWithin = 5 * time.Second

// takePresent takes the configuration in force; db is nil without a database. With an
// error the database cannot be asked, and all else is there.
func takePresent(ctx context.Context, o record.Options) (db *sql.DB, taken *capture.Taken, err error) {
	take := *o.Capture
	take.Host, _ = os.Hostname() // as it was captured
	take.Schema = true
	// Nothing of it is kept: who the service's are is not known without a load.
	take.Everything = true
	if o.MySQL == "" {
		return nil, capture.Take(ctx, take), nil
	}
	take.Servers = topology.Owners(mysqlflags.Address(o.MySQL))
	if db, err = mysqlflags.OpenBounded(o.MySQL); err != nil {
		return nil, capture.Take(ctx, take), err
	}
	soon, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	reader, err := mysql.New(soon, db)
	if err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, capture.Take(ctx, take), err
	}
	defer func() { _ = reader.Close() }() // it held nothing
	take.Database = reader
	return db, capture.Take(ctx, take), nil
}

// Reverted is the JSON of revert; docs/json.md has the fields.
type Reverted struct {
	Schema     int             `json:"schema"`
	Kind       string          `json:"kind"` // revert
	Run        string          `json:"run"`
	Applied    bool            `json:"applied"`
	Checkpoint string          `json:"checkpoint,omitempty"`
	Files      []revertedFile  `json:"files"`
	Indexes    []revertedIndex `json:"indexes"`
	Notes      []string        `json:"notes"`
	Reload     []string        `json:"reload"`
}

type revertedFile struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Diff    string `json:"diff"`
	Added   int    `json:"added_lines"`
	Removed int    `json:"removed_lines"`
	Done    bool   `json:"done"`
	Error   string `json:"error,omitempty"`
}

type revertedIndex struct {
	Table     string `json:"table"`
	Name      string `json:"name"`
	Statement string `json:"statement"`
	Done      bool   `json:"done"`
	Error     string `json:"error,omitempty"`
}

func revertedJSON(w io.Writer, x recording.Reverting) error {
	out := Reverted{
		Schema: encode.Schema, Kind: "revert",
		Run: x.Run.Run.ID, Applied: x.Apply, Checkpoint: x.Checkpoint, Files: []revertedFile{}, Indexes: []revertedIndex{},
		Notes: append([]string{}, x.Plan.Notes...), Reload: append([]string{}, x.Reload...),
	}
	// Outcomes are those of the files, then of the indexes.
	came := func(n int, refused string) (done bool, why string) {
		switch {
		case n >= len(x.Outcomes):
			return false, refused
		case x.Outcomes[n].Err != nil:
			return false, x.Outcomes[n].Err.Error()
		}
		return true, ""
	}
	for i, f := range x.Plan.Files {
		done, why := came(i, f.Refused)
		out.Files = append(out.Files, revertedFile{f.Kind, f.Path, f.Diff, f.Added, f.Removed, done, why})
	}
	for i, x := range x.Plan.Indexes {
		done, why := came(len(out.Files)+i, x.Refused)
		out.Indexes = append(out.Indexes, revertedIndex{x.Table, x.Name, x.Statement, done, why})
	}
	return encode.JSON(w, out)
}
