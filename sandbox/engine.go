package sandbox

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// An engine is a kind of server that was found on this machine.
type engine struct {
	name   string
	binary string   // of the server, for the key of the cached data directory
	path   string   // program to run
	comm   string   // name that the process shall have, where that of path says nothing
	prefix []string // arguments of path before those of the server
	hint   string
	init   func(ctx context.Context, dir string) error // makes a data directory
}

// spec is the command line of the server.
func (e engine) spec(settings []string) command.Spec {
	return command.Spec{Path: e.path, Args: append(slices.Clone(e.prefix), settings...), CleanEnv: true}
}

// named returns the engine with a path in dir from which the process gets its
// name: the kernel takes the last element of what is executed, symbolic or not
// (proc_pid_comm(5)), and a loader would show itself in ps.
func (e engine) named(dir string) engine {
	if e.comm == "" {
		return e
	}
	link := filepath.Join(dir, e.comm)
	_ = os.Remove(link)
	if os.Symlink(e.path, link) == nil {
		e.path = link
	}
	return e
}

const mariadbHint = "install it: sudo apt-get install mariadb-server (no need to run it)"

// findMariaDB looks for the system's MariaDB.
func findMariaDB() (engine, error) {
	server, err := lookAny("mariadbd", "mysqld")
	if err != nil {
		return engine{}, &Error{Err: fmt.Errorf("mariadb: %w", err), hint: mariadbHint}
	}
	installer, err := lookAny("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return engine{}, &Error{Err: fmt.Errorf("mariadb: %w", err), hint: mariadbHint}
	}
	e := engine{
		name: KindMariaDB, binary: server, path: server, prefix: append([]string{"--no-defaults"}, asUser()...),
		hint: "its settings may not fit: look at the log lines above; " + mariadbHint + " when it is missing",
	}
	e.init = func(ctx context.Context, dir string) error {
		args := []string{
			"--no-defaults", "--datadir=" + dir, "--auth-root-authentication-method=normal",
			"--skip-test-db", "--skip-name-resolve", "--force",
		}
		return initialise(ctx, command.Spec{Path: installer, Args: append(args, asUser()...), CleanEnv: true})
	}
	return e, nil
}

// rootOverTCP lets root in from 127.0.0.1 also where that address has no name.
// Source: MySQL 9.7 manual, "init_file": one statement a line.
const rootOverTCP = `CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY '';
GRANT ALL PRIVILEGES ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
GRANT PROXY ON ''@'' TO root@'127.0.0.1' WITH GRANT OPTION;
`

// findMySQL97 looks for the tree that tools/mysql97 installs.
func findMySQL97() (engine, error) {
	home := os.Getenv("MYSQL97_HOME")
	if home == "" {
		base, err := os.UserHomeDir()
		if err != nil {
			return engine{}, fmt.Errorf("mysql 9.7: %w", err)
		}
		home = filepath.Join(base, ".cache", "mysql97")
	}
	root := filepath.Join(home, "root")
	libs := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	loader, server := filepath.Join(libs, "ld-linux-x86-64.so.2"), filepath.Join(root, "usr/sbin/mysqld")
	for _, path := range []string{loader, server} {
		if _, err := os.Stat(path); err != nil {
			return engine{}, &Error{Err: fmt.Errorf("mysql 9.7: %w", err), hint: "install it: tools/mysql97 install"}
		}
	}
	prefix := []string{
		"--argv0", server, "--library-path", libs + ":" + filepath.Join(root, "usr/lib/mysql/private"), server, "--no-defaults",
		"--basedir=" + filepath.Join(root, "usr"), "--lc-messages-dir=" + filepath.Join(root, "usr/share/mysql"),
		"--mysqlx=OFF", "--secure-file-priv=",
	}
	e := engine{
		name: KindMySQL97, binary: server, path: loader, comm: "mysqld", prefix: append(prefix, asUser()...),
		hint: "its settings may not fit: look at the log lines above; tools/mysql97 install puts the server there afresh",
	}
	e.init = func(ctx context.Context, dir string) error {
		temp, err := makeTempDir("init")
		if err != nil {
			return err
		}
		defer temp.Close() //nolint:errcheck // the next start removes what is left
		sql := temp.File("init.sql")
		if err := os.WriteFile(sql, []byte(rootOverTCP), 0o600); err != nil {
			return err
		}
		spec := e.spec([]string{"--initialize-insecure", "--datadir=" + dir, "--init-file=" + sql})
		return initialise(ctx, spec)
	}
	return e, nil
}

// initialise runs a program that makes a data directory. What it says matters
// only when it fails. Its temporary tables are its own, as those of [Server.tempTables].
func initialise(ctx context.Context, spec command.Spec) error {
	temp, err := makeTempDir("init")
	if err != nil {
		return fmt.Errorf("directory for temporary tables: %w", err)
	}
	defer temp.Close() //nolint:errcheck // the next start removes what is left
	spec.Env = append(spec.Env, "TMPDIR="+temp.Path)
	said := command.NewTail(16 << 10)
	spec.Stdout, spec.Stderr = said, said
	if _, err := command.Run(ctx, spec); err != nil {
		return &Error{Err: err, Log: strings.TrimSpace(said.String())}
	}
	return nil
}

// asUser names the calling user to the server, which refuses to run as root
// unless asked to. The kernel would forget to kill a child that changes its user
// when its parent dies.
func asUser() []string {
	if os.Geteuid() != 0 {
		return nil
	}
	name := "root"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return []string{"--user=" + name}
}

func lookAny(names ...string) (string, error) {
	var first error
	for _, name := range names {
		path, err := command.LookPath(name)
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Program returns the server's program with the arguments that it always takes: a command
// line that runs another one of its kind.
func (s *Server) Program() []string {
	args := slices.DeleteFunc(slices.Clone(s.engine.prefix), func(a string) bool {
		return strings.HasPrefix(a, "--user=") || strings.HasPrefix(a, "--secure-file-priv=")
	})
	return append([]string{s.engine.path}, args...)
}
