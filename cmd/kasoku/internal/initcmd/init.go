package initcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/find"
)

// initFlags are the flags of init.
type initFlags struct {
	force, print bool
	out          string

	url, unit string
	port      int
	database  cli.DatabaseFlags
}

// NewInit returns the command init, which looks at what runs here and writes a kasoku.toml.
func NewInit(e *cli.Env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Look at what runs here and write a kasoku.toml",
		Long: `Look at what runs on this host (processes and units, listening ports, the
files of nginx, option files, pprof endpoints, containers) and write a
kasoku.toml with what was found, how it was found, and examples of the rest.
Nothing else is changed, and no password is written. What another user's
process says is not believed: a note says whose.

The file is about one service: its web server, application and database, with
their logs and units. Where several run here and none is named, it asks which;
without a terminal it lists them and writes nothing.

It needs no root. As root it sees more: the sockets and logs of other users.`,
		Example: `  kasoku init
  kasoku init --url http://127.0.0.1:8080/
  kasoku init --unit app.service --print
  sudo kasoku init --force`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return writeConfig(cmd.Context(), e, f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.force, "force", false, "overwrite the file that is there")
	cli.KeepOldShort(fl, "f", "force")
	fl.StringVar(&f.out, "out", config.Name, "`FILE` to write")
	fl.StringVar(&f.url, "url", "", "the service is the one at `URL`")
	fl.IntVar(&f.port, "port", 0, "the service is the one that listens at this port, `N`")
	fl.StringVar(&f.unit, "unit", "", "the service is the one with this unit, `NAME`")
	f.database.Register(fl, "the service is the one that uses the database at `DSN`, without a password")
	fl.BoolVar(&f.print, "print", false, "print the file and write nothing")
	return cmd
}

func writeConfig(ctx context.Context, e *cli.Env, f initFlags) error {
	if _, err := os.Lstat(f.out); err == nil && !f.force && !f.print {
		return cli.Usagef("`"+e.Name+" init --print` shows what would be written, --force overwrites it", "%q exists", f.out)
	}
	var s *Surveyed
	err := e.WhileReading(ctx, func(ctx context.Context) (err error) { s, err = surveyOne(e, ctx, &f); return err })
	if err != nil {
		return err
	}
	text := s.TOML(e.Now())
	if _, err := config.Parse([]byte(text), f.out); err != nil {
		return fmt.Errorf("what was found makes no sense as a file: %w", err)
	}
	if f.print {
		_, err := fmt.Fprint(e.Stdout, text)
		return err
	}
	if err := writeNew(f.out, text, f.force); err != nil {
		return fmt.Errorf("write %s: %w", f.out, err)
	}
	if err := printDocument(e, s.document()); err != nil {
		return err
	}
	if len(s.of.others) > 0 {
		fmt.Fprintf(e.Stdout, "\nother services here, of which nothing is in the file\n")
		listCandidates(e.Stdout, s.of.others)
	}
	for i, line := range databaseHint(s, e.Name, &f) {
		fmt.Fprintln(e.Stdout, map[bool]string{true: "\ndatabase  ", false: "          "}[i == 0]+terminal.Clean(line))
	}
	_, err = fmt.Fprintf(e.Stdout, "\nwrote  %s\nnext   %s doctor\n", f.out, e.Name)
	return err
}

// printDocument writes a document as text.
func printDocument(e *cli.Env, d *report.Document) error {
	return terminal.Write(e.Stdout, d, e.Terminal())
}

// writeNew writes a file that must not be there yet, unless it may be overwritten.
func writeNew(path, text string, force bool) error {
	if force {
		return private.Output.WriteFile(path, []byte(text))
	}
	return private.Output.WriteNew(path, []byte(text))
}

// A Surveyed host is what init writes about.
type Surveyed struct {
	found     *topology.Found
	declared  []DeclaredServer
	who       topology.Who
	Dir       string // of the file, absolute
	bench     string // command of a benchmark that lies there; empty when none does
	db        Reached
	DBErr     error    // why no database let kasoku in
	databases []string // that run here, whoever uses them: where each is asked, as a DSN has it
	of        *subject
	others    []find.Candidate // services of which none was chosen
	sites     map[string]bool  // files of nginx that are of other sites alone
}

// Survey looks at the host, the directory and the only service that runs here. Where
// several do, nothing of any is kept, and no server is asked: see [Surveyed.Several].
func Survey(e *cli.Env, ctx context.Context, dir string) (*Surveyed, error) {
	s, err := lookAt(ctx, dir)
	if err != nil {
		return nil, err
	}
	all, err := find.Services(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for services: %w", err)
	}
	of := &subject{alone: true}
	switch all = likely(all, s.found); len(all) {
	case 0:
	case 1:
		of = subjectOf(&all[0], record.Named{}, all)
	default:
		s.of, s.others = &subject{}, all
		Narrow(s.found, &s.of.service, false)
		return s, nil
	}
	if err := s.narrow(ctx, of); err != nil {
		return nil, err
	}
	s.reach(e, ctx)
	return s, nil
}

// Several names the services of which none was chosen, and the flag of init that names the
// first; empty where there was no choice.
func (s *Surveyed) Several() (services, flag string) {
	if len(s.others) == 0 {
		return "", ""
	}
	return Ports(s.others), flagOf(s.others, 0)
}

// surveyOne looks at the service that the user means, and asks the servers of no other.
func surveyOne(e *cli.Env, ctx context.Context, f *initFlags) (*Surveyed, error) {
	s, err := lookAt(ctx, filepath.Dir(f.out))
	if err != nil {
		return nil, err
	}
	of, err := f.choose(e, ctx, s.found)
	if err != nil {
		return nil, err
	}
	if err := s.narrow(ctx, of); err != nil {
		return nil, err
	}
	if of.named.DSN == "" {
		s.reach(e, ctx)
		return s, nil
	}
	s.declared = DeclaredServers(ctx, s.found)
	s.db = Reached{DefaultsFile: f.database.DefaultsFile, how: "as was said"}
	if f.database.DefaultsFile == "" {
		s.db.DSN = of.named.DSN
	}
	s.DBErr = s.db.connect(ctx, of.named.DSN)
	return s, nil
}

// lookAt looks at the host, and asks no program of it.
func lookAt(ctx context.Context, dir string) (s *Surveyed, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	s = &Surveyed{who: topology.Me(), Dir: dir, bench: findBench(dir)}
	if s.found, err = LookAt(ctx, &kasoku.Service{}); err == nil {
		s.databases = databasesOf(s.found)
	}
	return s, err
}

// reach asks the servers that were found.
func (s *Surveyed) reach(e *cli.Env, ctx context.Context) {
	s.declared = DeclaredServers(ctx, s.found)
	// A database on another host may be the service's where there is no other service; of
	// those of this host only a member is.
	meant := func(r *Reached) bool {
		return s.of == nil || r.service != nil || s.of.alone && r.identity.Host != s.found.Host
	}
	members := s.of != nil && len(s.of.service.Members) > 0
	if bug := contain.Run(contain.Part{Kind: contain.Check, Name: "way to a database"}, func() { s.db, s.DBErr = reachDatabase(e, ctx, s.found, members, meant) }); bug != nil {
		s.DBErr = bug
	}
}

// findBench looks for a benchmark in a directory by the names that people give it.
func findBench(dir string) string {
	for _, name := range []string{"bench.sh", "bench", "benchmark.sh", "run_bench.sh", "benchmarker"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return "./" + name
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "bench:") {
			return "make bench"
		}
	}
	return ""
}

// LikelyApps are the services that are likely the application; the likeliest comes
// first, and what is far less likely is left out.
func LikelyApps(found *topology.Found) []*topology.Service {
	all := found.Of(topology.App)
	for i, a := range all {
		if 3*a.Score < all[0].Score {
			return all[:i]
		}
	}
	return all
}

// document is the short table of what was found.
func (s *Surveyed) document() *report.Document {
	t := &report.Table{ID: "found", Columns: []report.Column{
		{Key: "what"}, {Key: "found", Cut: true, Least: 60}, {Key: "how", Cut: true, Least: 12, Drop: 1},
	}}
	row := func(what, found, how string) {
		tone := report.Plain
		if found == "" {
			found, tone = "–", report.Dim
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{{Text: what}, {Text: found, Tone: tone}, {Text: how, Tone: report.Dim}}})
	}
	s.serviceRows(row)
	for _, kind := range []string{topology.AccessLog, topology.ErrorLog, topology.AppLog, topology.SlowLog} {
		logs := s.found.LogsOf(kind)
		for _, l := range logs {
			row(kind+" log", l.Path, l.How)
		}
		if len(logs) == 0 && kind != topology.SlowLog {
			row(kind+" log", "", "")
		}
	}
	row("benchmark", s.bench, "")
	d := &report.Document{Head: []string{s.found.Host, "as " + s.who.Name}}
	d.Sections = []report.Section{{ID: "found", Title: "Found in " + unit.Duration(s.found.Took), Blocks: []report.Block{t}}}
	if len(s.found.Notes) > 0 {
		notes := &report.Notes{}
		for _, n := range s.found.Notes {
			notes.List = append(notes.List, report.Note{Sign: "·", Label: n.What, Code: true, Text: n.Why, Hint: report.Prose(n.Hint)})
		}
		d.Sections = append(d.Sections, report.Section{ID: "unseen", Title: "Not seen", Blocks: []report.Block{notes}})
	}
	return d
}

// databaseRow lists the databases of the service whose programs are not known by their names, as one that
// the dynamic loader runs; false where there is none.
func databaseRow(of *subject, row func(what, found, how string)) bool {
	if of == nil {
		return false
	}
	members := of.service.Of(kasoku.RoleDatabase)
	for _, m := range members {
		how := ""
		if len(m.Found) > 0 {
			how = m.Found[0].Text
		}
		row("database", cmp.Or(strings.TrimPrefix(m.ID, "database "), m.Program), how)
	}
	return len(members) > 0
}

// serviceRows lists the services that matter, and those that are not there.
func (s *Surveyed) serviceRows(row func(what, found, how string)) {
	seen := map[topology.Kind]bool{}
	for i := range s.found.Services {
		v := &s.found.Services[i]
		if v.Kind == topology.Other || v.Kind == topology.App && !slices.Contains(LikelyApps(s.found), v) {
			continue
		}
		seen[v.Kind] = true
		what := map[topology.Kind]string{topology.App: "application", topology.MySQL: "database"}[v.Kind]
		if what == "" {
			what = string(v.Kind)
		}
		how := v.How
		if v.Kind == topology.App && len(v.Why) > 0 {
			how = strings.Join(v.Why, "; ")
		}
		row(what, ServiceText(v), how)
		if v.Go != nil && v.Go.Pprof != "" {
			row("profiles", v.Go.Pprof, "it answered")
		}
		if v.Go != nil && v.Go.Vars != "" {
			row("numbers", v.Go.Vars, "it answered")
		}
		if v.Nginx != nil && v.Nginx.Status != "" {
			row("numbers", v.Nginx.Status, "it answered")
		}
	}
	for _, k := range []struct {
		kind topology.Kind
		what string
	}{{topology.Nginx, "nginx"}, {topology.App, "application"}, {topology.MySQL, "database"}} {
		if !seen[k.kind] && (k.kind != topology.MySQL || !databaseRow(s.of, row)) {
			row(k.what, "", "")
		}
	}
	switch {
	case s.db.User != "":
		user := s.db.User
		if why := s.db.choice(); why != "" {
			user += ", " + why
		}
		row("database user", user, s.db.how)
	case s.DBErr != nil:
		row("database user", "", s.DBErr.Error())
	}
	if s.found.Docker != "" {
		row("docker", s.found.Docker, "")
	}
}

// ServiceText names a service: shop (shop-go.service, pid 1204) at 127.0.0.1:8080.
func ServiceText(v *topology.Service) string {
	var b strings.Builder
	b.WriteString(v.Name)
	if v.MySQL != nil && v.MySQL.Flavor == "MariaDB" && v.Name != "mariadbd" {
		b.WriteString(" (MariaDB)")
	}
	switch {
	case v.Unit != "":
		fmt.Fprintf(&b, " %s", v.Unit)
	case v.Container != "":
		fmt.Fprintf(&b, " in container %s", v.Container)
	default:
		fmt.Fprintf(&b, " pid %d", v.PID)
	}
	for i, at := range v.Listen {
		if i == 2 {
			fmt.Fprintf(&b, " and %d more", len(v.Listen)-i)
			break
		}
		b.WriteString([]string{" at ", ", "}[min(i, 1)] + at.String())
	}
	return b.String()
}
