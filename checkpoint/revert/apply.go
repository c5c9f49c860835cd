package revert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/mysqlflags"
)

// An Outcome is what became of one file or index.
type Outcome struct {
	What string // a path, or a statement
	Err  error  // nil when it was put back
}

// read reads the present file.
func (f *File) read(root string) error {
	path := filepath.Join(root, f.Path)
	f.target = path
	if filepath.Clean(f.Path) != f.Path {
		return fmt.Errorf("%q is no plain path", f.Path)
	}
	switch target, err := filepath.EvalSymlinks(path); {
	case err == nil:
		f.target = target
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return errors.New("it is a link to nothing")
		}
		return nil
	default:
		return err
	}
	c, err := capture.ReadFile(f.target)
	switch {
	case err != nil:
		return err
	case c.Note != "":
		return errors.New("the present file: " + c.Note)
	}
	f.exists, f.old, f.mode, f.uid, f.gid = true, c.Text, c.Mode, c.UID, c.GID
	return nil
}

// Apply writes the files and executes the statements that are not refused, one after
// another, and goes on after one that fails. The database may be nil when there are
// no statements.
func (p *Plan) Apply(ctx context.Context, db *sql.DB) []Outcome {
	var out []Outcome
	for i := range p.Files {
		f := &p.Files[i]
		err := ctx.Err()
		switch {
		case f.Refused != "":
			err = errors.New(f.Refused)
		case err == nil:
			err = f.write()
		}
		out = append(out, Outcome{f.Path, err})
	}
	return append(out, p.execute(ctx, db)...)
}

// write replaces the file, or makes one that is gone. Mode and owner are those of the
// present file: a run decides neither who owns a file nor that others may do more with it.
func (f *File) write() (err error) {
	p, err := openPlace(f.target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if !f.exists {
		if _, _, err := p.read(); !errors.Is(err, fs.ErrNotExist) {
			return errors.New("it has been made meanwhile")
		}
		f.uid, f.gid, f.mode = os.Geteuid(), os.Getegid(), f.mode&newMode
		if err := p.check(f); err != nil {
			return err
		}
		return p.replace(f)
	}
	text, st, err := p.read()
	if err != nil {
		return err
	}
	if text != f.old {
		return errors.New("it has changed meanwhile")
	}
	f.uid, f.gid, f.mode = int(st.Uid), int(st.Gid), st.Mode&0o777
	if err := p.check(f); err != nil {
		return err
	}
	return p.replace(f)
}

// Replace writes a file that is there and has the text old, with its mode and owner, as
// [Plan.Apply] does.
func Replace(path, old, now string) error {
	f := &File{Path: path, now: now}
	if err := f.read("/"); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !f.exists || f.old != old {
		return fmt.Errorf("%s: it has changed meanwhile", path)
	}
	if err := f.write(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// newMode is what a file that is made anew may have of the mode that it had in the run.
const newMode = 0o755

// lockWait is how long a statement waits for those who use the table, in seconds:
// everybody else queues up after it.
const lockWait = 30

// execute runs the statements over one connection.
func (p *Plan) execute(ctx context.Context, db *sql.DB) []Outcome {
	if len(p.Indexes) == 0 {
		return nil
	}
	var conn *sql.Conn
	err := errors.New("no database is named")
	if db != nil {
		conn, err = db.Conn(ctx)
	}
	if err == nil {
		defer conn.Close()
		// Quotes and backslashes mean what they did when the definitions were read.
		_, err = conn.ExecContext(ctx, fmt.Sprintf("SET /* kasoku */ SESSION sql_mode = 'STRICT_ALL_TABLES', lock_wait_timeout = %d", lockWait))
	}
	var out []Outcome
	for _, i := range p.Indexes {
		o := Outcome{What: i.Statement, Err: err}
		switch {
		case i.Refused != "":
			o.Err = errors.New(i.Refused)
		case err == nil:
			_, e := conn.ExecContext(ctx, i.Statement)
			o.Err = mysqlflags.Explain(e)
		}
		out = append(out, o)
	}
	return out
}

// Reload returns the commands that let servers see the files that are not refused.
// The server's version determines which name its unit has.
func (p *Plan) Reload(version string) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range p.Files {
		if f.Refused != "" {
			continue
		}
		switch f.Kind {
		case capture.KindNginx:
			if inDistribution(f.Path) {
				add("nginx -t && nginx -s reload")
			} else {
				add("reload the nginx that reads " + f.Path +
					": nginx -t and nginx -s reload, with the -c and -p that it was started with")
			}
		case capture.KindMySQL:
			if strings.Contains(strings.ToLower(version), "mariadb") {
				add("systemctl restart mariadb")
			} else {
				add("systemctl restart mysql")
			}
		case capture.KindVCL:
			add("systemctl reload varnish")
		case capture.KindUnit:
			add("systemctl daemon-reload && systemctl restart " + unitOf(f.Path))
		default:
			add("restart what reads " + f.Path)
		}
	}
	return out
}

// inDistribution reports whether a file is of the nginx that a bare nginx command
// means, where packages and nginx's own build put it.
func inDistribution(path string) bool {
	for _, dir := range []string{"/etc/nginx/", "/usr/local/nginx/", "/usr/local/etc/nginx/", "/opt/nginx/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// unitOf returns the unit that a file belongs to: app.service also of
// app.service.d/limits.conf.
func unitOf(path string) string {
	if dir := filepath.Base(filepath.Dir(path)); strings.HasSuffix(dir, ".d") {
		return strings.TrimSuffix(dir, ".d")
	}
	return filepath.Base(path)
}
