// Package capture takes the configuration in force of a service: the files of its nginx,
// option files of its MySQL or MariaDB with what they include, VCL, unit files,
// kernel settings, limits of processes, table definitions with their indexes, the
// git revision with what is not committed, and files named by globs. Of servers that run
// on the same host and are no members of the service nothing is read.
//
// The one idea: a run is kept with what it ran under, and no secret is kept with it.
// [Take] only reads. Each program has 2 seconds, the whole has [Within]; what cannot
// be had is a warning with what to do, never an error, for a run must not fail for
// the sake of it. Every text goes through [Mask].
//
// Start at [Take]; [Default] and [FromConfig] make its options.
//
// Sources: nginx(8), systemd.unit(5) "Unit File Load Path", proc_pid_limits(5),
// Documentation/admin-guide/sysctl of the kernel.
package capture

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
)

// The kinds of texts, [kasoku.Config].Kind. Settings of the kernel and limits of
// processes are [kasoku.Setting]s of the scopes sysctl and limits.
const (
	KindNginx  = "nginx"
	KindMySQL  = "mysql"
	KindVCL    = "vcl"
	KindUnit   = "unit"
	KindSchema = "schema" // Name is schema.table
	KindGit    = "git"    // Name is HEAD or diff
	KindFile   = "file"

	KindSchemaAfter = "schema-after" // a table at the end of a run, which may have made it anew
)

// The scopes of settings.
const (
	ScopeSysctl = "sysctl"
	ScopeLimits = "limits"
)

// What is kept at most.
const (
	MostBytes  = 1 << 20 // of one file or diff
	MostTables = 2000
	mostTexts  = 5000
	mostTotal  = 32 << 20 // bytes of all texts
)

// Within is how long taking the configuration may last.
const Within = 15 * time.Second

// schemaWithin is how long the reading of the schema may take.
const schemaWithin = 5 * time.Second

// programWithin is how long one program may take. Tests of what programs print wait
// longer: their machine has other work.
var programWithin = 2 * time.Second

// Options configure what is taken. The zero value takes the kernel's settings alone.
type Options struct {
	Host        string   // name that the results carry
	Nginx       []string // the call that prints the configuration, as nginx -T; nil: the files of members
	OptionFiles []string // of the database server; nil: those of members
	VCL         []string // globs
	Units       []string // names, with or without .service
	Files       []string // globs
	Repository  string   // a directory of the git work tree; empty: none
	PIDs        []int    // whose limits are kept, with those of members

	// Members are processes of the service that is measured. Of those that are nginx or a
	// database the configuration is kept, of all of them the limits.
	Members []int
	// MemberUnits are units of members; one without a file is no warning.
	MemberUnits []string
	Servers     []int // processes of the database of the DSN: members that need no belief
	// Everything takes the configuration of all servers that run here and are believed: for
	// what compares with the present and keeps nothing, or keeps the names in Only.
	Everything bool
	Only       []string // files of servers that are kept; empty: all

	Schema   bool          // table definitions and indexes
	Database *mysql.Reader // that the schema is read with; nil: none

	Root string // of the file system, for tests; empty is /
}

// Default is what is taken when nothing is said: what runs here, the schema of the
// database that is watched, and the git work tree that dir lies in, if any.
func Default(dir string) Options {
	o := Options{Schema: true}
	if abs, err := filepath.Abs(dir); err == nil {
		for d := abs; ; d = filepath.Dir(d) {
			if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
				o.Repository = abs
				break
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return o
}

// Wanted is what the table [capture] of a kasoku.toml says, field by field.
type Wanted struct {
	Off        bool
	Files      []string
	Nginx      string // a program, or its call that ends in -T
	VCL        []string
	Units      []string
	Repository string
	Schema     bool
}

// FromConfig returns the options of a kasoku.toml in dir, nil when it wants nothing
// taken.
func FromConfig(c Wanted, dir string) *Options {
	if c.Off {
		return nil
	}
	o := Default(dir)
	o.Files, o.VCL, o.Units, o.Schema = c.Files, c.VCL, c.Units, c.Schema
	o.Nginx = strings.Fields(c.Nginx)
	if len(o.Nginx) == 1 {
		o.Nginx = append(o.Nginx, "-T")
	}
	if c.Repository != "" {
		o.Repository = c.Repository
	}
	return &o
}

// Taken is the configuration in force.
type Taken struct {
	Configs  []kasoku.Config // by kind and name
	Settings []kasoku.Setting
	Warnings []kasoku.Warning
}

// Take takes the configuration in force. It returns what it has when the context
// ends.
func Take(ctx context.Context, o Options) *Taken {
	return take(ctx, o, (*taker).parts)
}

// TakeMembers takes what Take takes of members alone, for those that are found later.
func TakeMembers(ctx context.Context, o Options) *Taken {
	return take(ctx, o, (*taker).memberParts)
}

func take(ctx context.Context, o Options, parts func(*taker, context.Context) []part) *Taken {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	if o.Root == "" {
		o.Root = "/"
	}
	t := &taker{o: o, have: map[string]bool{}, until: time.Now().Add(Within)}
	defer t.release()
	for _, part := range parts(t, ctx) {
		kasoku.Contained(contain.Part{Kind: contain.Step, Name: "configuration: " + part.name}, &t.out.Warnings, part.take)
	}
	if t.dropped > 0 {
		t.warn("name fewer files", "%d texts are left out: there are more than %d, or they are larger than %d MB together, or take longer than %s",
			t.dropped, mostTexts, mostTotal>>20, unit.Exact(Within))
	}
	slices.SortStableFunc(t.out.Configs, func(a, b kasoku.Config) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return &t.out
}

// A part is one kind of configuration. One that panics is a warning; the others are
// taken.
type part struct {
	name string
	take func()
}

// parts returns what is taken, in that order.
func (t *taker) parts(ctx context.Context) []part {
	return slices.Concat([]part{{"sysctl", t.sysctl}}, t.memberParts(ctx), []part{
		{"vcl", func() { t.globs(KindVCL, t.o.VCL) }},
		{"files", func() { t.globs(KindFile, t.o.Files) }},
		{"git", func() { t.git(ctx) }},
		{"schema", func() { t.schema(ctx) }},
	})
}

// memberParts returns what is taken of members.
func (t *taker) memberParts(ctx context.Context) []part {
	var running []*process
	return []part{
		{"processes", func() { running = t.processes(ctx); t.warnDoubts() }},
		{"nginx", func() { t.nginx(ctx, running) }},
		{"option files", func() { t.optionFiles(ctx, running) }},
		{"units", t.units},
		{"limits", func() { t.limits(running) }},
	}
}

// A taker collects the results.
type taker struct {
	o       Options
	out     Taken
	have    map[string]bool // files that are kept, by name
	total   int             // bytes
	until   time.Time       // when no more is taken
	dropped int
	held    []*foreign.Process
	doubts  int // of processes that are not believed
	workers []worker
}

// add keeps a text, its secrets masked.
func (t *taker) add(c kasoku.Config) {
	if len(t.out.Configs) >= mostTexts || t.total+len(c.Text) > mostTotal || time.Now().After(t.until) {
		t.dropped++
		return
	}
	c.Host = t.o.Host
	c.Text, c.Masked = Mask(c.Kind, c.Text)
	t.total += len(c.Text)
	t.out.Configs = append(t.out.Configs, c)
}

// real reports whether the machine is this one, and not a tree of a test.
func (t *taker) real() bool { return t.o.Root == "/" }

// root returns where a path of the machine lies.
func (t *taker) root(path string) string { return filepath.Join(t.o.Root, path) }

func (t *taker) set(scope, name, value string) {
	t.out.Settings = append(t.out.Settings, kasoku.Setting{Host: t.o.Host, Scope: scope, Name: name, Value: value})
}

// hintOf returns the hint of an error, else what to do about missing rights.
func hintOf(err error) string {
	var h interface{ Hint() string }
	switch {
	case errors.As(err, &h) && h.Hint() != "":
		return h.Hint()
	case errors.Is(err, os.ErrPermission):
		return "run as a user who may read it"
	}
	return ""
}
