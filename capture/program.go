package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/command"
	"github.com/kasoku/kasoku/lazyregexp"
	"github.com/kasoku/kasoku/unit"
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

// run runs a program and returns the first bytes of its output; cut says that there
// were more.
func run(ctx context.Context, most int, args ...string) (out string, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, programWithin)
	defer cancel()
	h := &head{most: most}
	errs := command.NewTail(4 << 10)
	_, err = command.Run(ctx, command.Spec{
		Path: args[0], Args: args[1:], Stdout: h, Stderr: errs, Env: []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"},
	})
	var exit *command.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = errs.String()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s: no answer within %s", strings.Join(args, " "), unit.Exact(programWithin))
	}
	return string(h.b), h.cut, err
}

// mostNginx is how much of nginx -T is read.
const mostNginx = 8 << 20

// nginx keeps the files that nginx is configured by, as nginx -T prints them.
func (t *taker) nginx(ctx context.Context, running []process) {
	if len(t.o.Nginx) > 0 {
		if err := t.nginxFiles(ctx, t.o.Nginx); err != nil {
			t.warn(nginxHint(err), "nginx: %v", err)
		}
		return
	}
	for _, p := range running {
		args := p.nginxCall()
		if args == nil || !p.here {
			continue
		}
		err := t.nginxFiles(ctx, args)
		if _, gone := os.Stat(t.root(fmt.Sprintf("/proc/%d", p.pid))); err != nil && gone == nil {
			t.warn(nginxHint(err), "nginx: %v", err)
		}
	}
}

// nginxHint says what helps when nginx -T fails: it opens logs and certificates as
// the server does.
func nginxHint(err error) string {
	if h := hintOf(err); h != "" {
		return h
	}
	if strings.Contains(err.Error(), "ermission denied") {
		return "nginx -T needs the rights that nginx is started with: run kasoku as root, or name a call in kasoku.toml: capture.nginx = \"sudo -n nginx -T\""
	}
	return "nginx -t says what is wrong; kasoku.toml can name another call: capture.nginx = \"/usr/sbin/nginx -T\""
}

// nginxCall returns the call that prints the configuration of a running master, nil
// for other processes. A master shows the call that it was started with as its title.
func (p process) nginxCall() []string {
	title, ok := strings.CutPrefix(strings.Join(p.args, " "), "nginx: master process ")
	if p.name != "nginx" || !ok {
		return nil
	}
	words := strings.Fields(title)
	if len(words) == 0 {
		return nil
	}
	call := []string{words[0], "-T"}
	if p.exe != "" && !strings.HasSuffix(p.exe, " (deleted)") {
		call[0] = p.exe
	}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-c", "-p", "-e", "-g":
			// A title has no quotes: a value goes on to the next flag.
			k := i + 1
			for k < len(words) && !flagWord().MatchString(words[k]) {
				k++
			}
			call = append(call, words[i], strings.Join(words[i+1:k], " "))
			i = k - 1
		}
	}
	return call
}

var flagWord = lazyregexp.New(`^-[cpeg]$`)

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
		if own, err := ReadFile(f.path); err == nil && strings.TrimSuffix(own.Text, "\n") == strings.TrimSuffix(f.text, "\n") && f.text != "" {
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

// parseNginx splits what nginx -T prints: before each file a line with its name,
// behind it a line end. What stands before the first is left out.
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
	// Nothing that the repository's own configuration names is run.
	git := []string{"git", "-C", dir, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}
	hint := "capture.repository in kasoku.toml names the work tree; git -C " + dir + " status says what is wrong"
	show, _, err := run(ctx, 64<<10, append(git, "log", "-1", "--no-show-signature", "--format=commit %H%ndate %cI%nsubject %s")...)
	if err != nil {
		t.warn(hint, "git: %v", err)
		return
	}
	if branch, _, err := run(ctx, 4<<10, append(git, "rev-parse", "--abbrev-ref", "HEAD")...); err == nil {
		show += "branch " + branch
	}
	t.add(kasoku.Config{Kind: KindGit, Name: "HEAD", Text: show})
	diff, cut, err := run(ctx, MostBytes, append(git, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")...)
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

// schema keeps the definitions of the tables, indexes among them.
func (t *taker) schema(ctx context.Context) {
	if !t.o.Schema || t.o.Database == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemaWithin)
	defer cancel()
	all, left, err := t.o.Database.Definitions(ctx, MostTables)
	if err != nil {
		t.warn(hintOf(err), "schema: %v", err)
		return
	}
	for _, d := range all {
		t.add(kasoku.Config{Kind: KindSchema, Name: d.Schema + "." + d.Name, Text: d.Create + "\n"})
	}
	if left > 0 {
		t.warn("capture.schema = false in kasoku.toml leaves tables out", "schema: %d of %d tables were not read within %s, or not allowed; at most %d are",
			left, left+len(all), unit.Exact(schemaWithin), MostTables)
	}
}
