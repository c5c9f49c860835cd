package scratch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// startWithin bounds the making of a data directory, and the start.
const startWithin = 50 * time.Second

// maxSocketPath is what fits sun_path: unix(7), 108 bytes with the final zero.
const maxSocketPath = 107

// A Server is a private server. It is not safe for concurrent use.
type Server struct {
	temp   *private.TempDir
	as     *command.Identity // nil: as the caller
	child  *command.Process
	db     *sql.DB
	reader *mysql.Reader
}

// optimizerSettings are those of the original that change what its optimizer chooses.
var optimizerSettings = []string{"optimizer_switch", "optimizer_prune_level", "optimizer_search_depth",
	"optimizer_use_condition_selectivity", "eq_range_index_dive_limit", "range_optimizer_max_mem_size",
	"join_cache_level", "join_buffer_size", "sort_buffer_size", "max_length_for_sort_data", "collation_server"}

// Start starts a server as the reader's, in its version and the settings of its optimizer.
func Start(ctx context.Context, like *mysql.Reader) (*Server, error) {
	as, err := identity()
	if err != nil {
		return nil, err
	}
	program, err := findProgram(ctx, as, like.Flavor(), like.Version())
	if err != nil {
		return nil, err
	}
	if err := checkRoom(os.TempDir()); err != nil {
		return nil, err
	}
	vars, err := like.Variables(ctx)
	if err != nil {
		return nil, err
	}
	temp, err := private.MakeTempDir("", "kasoku-server-scratch-")
	if err != nil {
		return nil, err
	}
	s := &Server{temp: temp, as: as}
	if err := s.begin(ctx, program, like.Flavor(), vars); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// identity is whom a server runs as: one of root's as a user that no account is.
func identity() (*command.Identity, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	return command.Unused()
}

// begin starts the program and gives it the settings of the original.
func (s *Server) begin(ctx context.Context, program string, flavor mysql.Flavor, vars map[string]string) (err error) {
	if err := s.launch(ctx, program, flavor, vars); err != nil {
		return err
	}
	for _, name := range optimizerSettings {
		if v, known := vars[name]; known { // one that it refuses stays as it is made
			_, _ = s.db.ExecContext(ctx, "SET GLOBAL "+name+" = "+settingValue(v))
		}
	}
	s.reader, err = mysql.New(ctx, s.db)
	return err
}

// settingValue writes a value as SET takes it.
func settingValue(v string) string {
	if strings.Trim(v, "0123456789") == "" && v != "" {
		return v
	}
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(v) + "'"
}

// Connection asks the private server. It is the server's, and closed with it.
func (s *Server) Connection() *mysql.Reader { return s.reader }

// launch makes a data directory, starts the program there and waits until it answers.
func (s *Server) launch(ctx context.Context, program string, flavor mysql.Flavor, vars map[string]string) error {
	socket := s.temp.File("run/sock")
	if len(socket) > maxSocketPath {
		return fmt.Errorf("socket %q: its path is too long: set TMPDIR to a shorter one", socket)
	}
	if err := s.makeDirectories("data", "tmp", "files", "run"); err != nil {
		return fmt.Errorf("private server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	said := command.NewTail(4 << 10)
	spec := command.Spec{Path: program, Args: s.arguments(vars), Trusted: true, DieWithParent: true, Dir: s.temp.File("run"),
		As: s.as, Env: []string{"TMPDIR=" + s.temp.File("tmp")}, Stdout: said, Stderr: said}
	if flavor == mysql.MySQL { // MariaDB needs no tables of its own where no one is asked for a name
		initial := spec
		initial.Args = append(append([]string(nil), spec.Args...), "--initialize-insecure")
		if _, err := command.Run(ctx, initial); err != nil {
			return s.explain("make a data directory", err, said)
		}
	}
	spec.Args = append(spec.Args, "--skip-grant-tables", "--skip-networking", "--socket="+socket,
		"--pid-file="+s.temp.File("run/pid"))
	var err error
	if s.child, err = command.Start(context.WithoutCancel(ctx), spec); err != nil {
		return fmt.Errorf("private server: %w", err)
	}
	if s.db, err = mysqlflags.OpenBounded("root@unix(" + socket + ")/?interpolateParams=true"); err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		return s.explain("start", err, said)
	}
	return nil
}

// makeDirectories makes directories that are the server's alone.
func (s *Server) makeDirectories(names ...string) error {
	for _, name := range names {
		if err := os.Mkdir(s.temp.File(name), 0o700); err != nil {
			return err
		}
		if s.as == nil {
			continue
		}
		if err := os.Lchown(s.temp.File(name), s.as.UID, s.as.GID); err != nil {
			return err
		}
	}
	if s.as == nil {
		return nil
	}
	if err := os.Chmod(s.temp.Path, 0o711); err != nil { // to pass through, not to list
		return err
	}
	for dir := filepath.Dir(s.temp.Path); dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode()&0o001 == 0 {
			return fmt.Errorf("only its owner gets into %s: set TMPDIR to a directory that others may pass", dir)
		}
	}
	return nil
}

// explain adds the first error that the server wrote.
func (s *Server) explain(step string, err error, said *command.Tail) error {
	for line := range strings.Lines(said.String()) {
		if _, what, ok := strings.Cut(line, "[ERROR]"); ok {
			return fmt.Errorf("private server: %s: %w: %s", step, err, strings.TrimSpace(what))
		}
	}
	return fmt.Errorf("private server: %s: %w", step, err)
}

// arguments are those of making the directory and of the start.
func (s *Server) arguments(vars map[string]string) []string {
	args := []string{"--no-defaults", "--datadir=" + s.temp.File("data"), "--tmpdir=" + s.temp.File("tmp"),
		"--secure-file-priv=" + s.temp.File("files"), "--local-infile=0", "--skip-log-bin",
		"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF",
		"--sql-mode=NO_DIR_IN_CREATE,NO_AUTO_VALUE_ON_ZERO", "--loose-mysqlx=OFF",
		"--loose-innodb-redo-log-capacity=8M"}
	for _, name := range []string{"lower_case_table_names", "innodb_page_size"} {
		if v := vars[name]; v != "" && strings.Trim(v, "0123456789") == "" {
			args = append(args, "--"+strings.ReplaceAll(name, "_", "-")+"="+v)
		}
	}
	return args
}

// await returns when the server answers.
func (s *Server) await(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.child.Done():
			res, _ := s.child.Wait()
			return fmt.Errorf("it ended: %s", res)
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		case <-tick.C:
		}
		if s.db.PingContext(ctx) == nil {
			return nil
		}
	}
}

// Close ends the server and removes all that it kept.
func (s *Server) Close() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.child != nil {
		_, _ = s.child.Kill() // what it keeps is thrown away
	}
	return errors.Join(append(errs, s.temp.Close())...)
}
