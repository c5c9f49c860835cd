package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/topology"
)

// A head keeps the first bytes that are written to it.
type head struct {
	b    []byte
	most int
	cut  bool
}

// Write keeps what there is room for. It never fails.
func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.most-len(h.b))
	h.b = append(h.b, p[:n]...)
	h.cut = h.cut || n < len(p)
	return len(p), nil
}

// run runs the user's own call and returns the first bytes of its output; cut says that
// there were more.
func run(ctx context.Context, most int, args ...string) (out string, cut bool, err error) {
	return runSpec(ctx, most, command.Spec{Path: args[0], Args: args[1:], Env: []string{"LC_ALL=C"}})
}

func runSpec(ctx context.Context, most int, spec command.Spec) (out string, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	h := &head{most: most}
	errs := command.NewTail(4 << 10)
	spec.Stdout, spec.Stderr = h, errs
	_, err = command.Run(ctx, spec)
	var exit *command.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = errs.String()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s %s: no answer within %s", spec.Path, strings.Join(spec.Args, " "),
			unit.Exact(programWithin))
	}
	return string(h.b), h.cut, err
}

// mostNginx is how much of nginx -T is read.
const mostNginx = 8 << 20

// nginx keeps the files that nginx is configured by: as the user's call prints them, or
// as those that run here name them.
func (t *taker) nginx(ctx context.Context, running []*process) {
	if len(t.o.Nginx) > 0 {
		if err := t.nginxFiles(ctx, t.o.Nginx); err != nil {
			t.warn(nginxHint(err), "nginx: %v", err)
		}
		return
	}
	for _, p := range running {
		if p.held == nil || p.name != "nginx" || !isMaster(p.args) {
			continue
		}
		if err := t.nginxOf(ctx, p); err != nil {
			t.warn(nginxHint(err), "nginx: %v", err)
		}
	}
}

// nginxOf keeps the files of an nginx that runs here. Those of one in another file
// system are kept under a name that is no path of this one.
func (t *taker) nginxOf(ctx context.Context, p *process) error {
	conf, err := topology.ReadNginx(ctx, p.held)
	if err != nil {
		return err
	}
	for _, err := range conf.Unread {
		t.warn(nginxHint(err), "nginx: %v", err)
	}
	for _, f := range conf.Files {
		t.keep(KindNginx, p.nameOf(f.Path), f.File)
	}
	return nil
}

// nginxHint describes what helps when the configuration of nginx cannot be had.
func nginxHint(err error) string {
	if h := hintOf(err); h != "" {
		return h
	}
	if strings.Contains(err.Error(), "ermission denied") {
		return "nginx -T needs the rights that nginx is started with: run kasoku as root, or name a call in kasoku.toml: capture.nginx = \"sudo -n nginx -T\""
	}
	return "nginx -t says what is wrong; kasoku.toml can name another call: capture.nginx = \"/usr/sbin/nginx -T\""
}

// nginxFiles keeps the files that a call prints. What is a file here, with the same
// text, is kept with its mode and owner; nginx may run in another file system.
func (t *taker) nginxFiles(ctx context.Context, args []string) error {
	out, cut, err := run(ctx, mostNginx, args...)
	if err != nil {
		return err
	}
	files := parseNginx(out)
	if len(files) == 0 {
		return fmt.Errorf("%s printed no configuration", strings.Join(args, " "))
	}
	for i, f := range files {
		if t.have[f.path] {
			continue
		}
		t.have[f.path] = true
		c := kasoku.Config{Kind: KindNginx, Name: f.path, Text: f.text}
		if own, err := ReadFile(f.path); err == nil && strings.TrimSuffix(own.Text, "\n") == strings.TrimSuffix(f.text,
			"\n") && f.text != "" {
			c.Text, c.Mode, c.UID, c.GID = own.Text, own.Mode, own.UID, own.GID
		}
		if cut && i == len(files)-1 {
			c.Note = "cut: the configuration is larger than " + unit.BytesIEC(mostNginx)
		}
		if len(c.Text) > MostBytes {
			c.Text, c.Note = "", "larger than "+unit.BytesIEC(MostBytes)
		}
		t.add(c)
	}
	return nil
}

// printed is one file as nginx -T prints it.
type printed struct{ path, text string }

var nginxHead = lazyregexp.New(`(?m)^# configuration file (/.*):\n`)

// parseNginx splits what nginx -T prints: a line with the name of a file, the file,
// a line end. What stands before the first such line is left out.
func parseNginx(out string) []printed {
	at := nginxHead().FindAllStringSubmatchIndex(out, -1)
	var files []printed
	for i, loc := range at {
		end := len(out)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		files = append(files, printed{out[loc[2]:loc[3]], strings.TrimSuffix(out[loc[1]:end], "\n")})
	}
	return files
}

// git keeps the revision of the work tree, and what is not committed.
func (t *taker) git(ctx context.Context) {
	dir := t.o.Repository
	if dir == "" {
		return
	}
	git, err := command.Git(dir)
	hint := "capture.repository in kasoku.toml names the work tree; git -C " + dir + " status says what is wrong"
	if err != nil {
		t.warn(cmp.Or(hintOf(err), hint), "git: %v", err)
		return
	}
	show, _, err := runGit(ctx, 64<<10, git, "log", "-1", "--no-show-signature",
		"--format=commit %H%ndate %cI%nsubject %s")
	if err != nil {
		t.warn(hint, "git: %v", err)
		return
	}
	if branch, _, err := runGit(ctx, 4<<10, git, "rev-parse", "--abbrev-ref", "HEAD"); err == nil {
		show += "branch " + branch
	}
	t.add(kasoku.Config{Kind: KindGit, Name: "HEAD", Text: show})
	diff, cut, err := runGit(ctx, MostBytes, git, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")
	if err != nil {
		t.warn(hint, "git diff: %v", err)
		return
	}
	if diff == "" {
		return
	}
	c := kasoku.Config{Kind: KindGit, Name: "diff", Text: strings.ToValidUTF8(diff, "\uFFFD")}
	if cut {
		c.Note = "cut at " + unit.BytesIEC(MostBytes)
	}
	t.add(c)
}

// runGit runs one command of git.
func runGit(ctx context.Context, most int, git command.Spec, args ...string) (out string, cut bool, err error) {
	git.Args = append(slices.Clone(git.Args), args...)
	return runSpec(ctx, most, git)
}

// schema keeps the definitions of the tables, indexes among them.
func (t *taker) schema(ctx context.Context) {
	if !t.o.Schema || t.o.Database == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemaWithin)
	defer cancel()
	all, left, err := mysql.NewSchema(t.o.Database).Definitions(ctx, MostTables)
	if err != nil {
		t.warn(hintOf(err), "schema: %v", err)
		return
	}
	for _, d := range all {
		t.add(kasoku.Config{Kind: KindSchema, Name: d.Schema + "." + d.Name, Text: d.Create + "\n"})
	}
	if left > 0 {
		t.warn("capture.schema = false in kasoku.toml leaves tables out",
			"schema: %d of %d tables were not read within %s, or not allowed; at most %d are",
			left, left+len(all), unit.Exact(schemaWithin), MostTables)
	}
}
