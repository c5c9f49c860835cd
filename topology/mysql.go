package topology

import (
	"cmp"
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/mysqlflags"
)

// A Database is a MySQL or MariaDB server, as far as its process and its option
// files show.
type Database struct {
	Flavor  string // MariaDB, MySQL
	Socket  string // empty when not known
	Port    int    // 3306 when not known
	DataDir string
	SlowLog string // slow_query_log_file, where an option says it

	// Clients are the applications found here that are connected to it by TCP, the
	// likeliest first. The peers of a unix socket are not known.
	Clients []string
}

// serverGroups are the sections that servers read; those of versions, such as
// mysqld-8.0, are recognised by their start.
var serverGroups = []string{"mysqld", "mariadb", "mariadbd", "server", "galera"}

// databases looks at the option files and at each database server.
func (l *looker) databases() {
	servers := l.of(MySQL)
	host := newOptionFiles(l.view, l.view.tree) // those that root keeps at known places
	if len(servers) > 0 || l.view.tree.isDir("/etc/mysql") {
		for _, file := range []string{"/etc/my.cnf", "/etc/mysql/my.cnf"} {
			host.add(file, 0)
		}
	}
	l.found.OptionFiles = host.paths
	l.findClientFile()
	for _, s := range servers {
		l.describeDatabase(s, host)
	}
}

// findClientFile looks for the option file of the user who asks.
func (l *looker) findClientFile() {
	home := l.view.tree.home()
	if home == "" {
		return
	}
	file := filepath.Join(home, ".my.cnf")
	data, err := l.view.tree.read(file)
	if err != nil {
		l.view.unreadable(file, err)
		return
	}
	for _, o := range mysqlflags.ParseOptions(data) {
		if o.Group == "client" || o.Group == "mysql" {
			l.found.ClientFile = file
			return
		}
	}
}

// describeDatabase describes one server: its command line wins over option files.
func (l *looker) describeDatabase(s *subject, host *optionFiles) {
	db := &Database{Flavor: "MySQL", Port: 3306}
	s.MySQL = db
	options := map[string]string{}
	args := parseFlags(s.args)
	file, own := args["defaults-file"]
	_, none := args["no-defaults"]
	switch {
	case own && s.elsewhere():
		l.view.note("option file of "+s.Label(), "it sees another file system than this host's",
			"run kasoku in its container")
	case own:
		files := newOptionFiles(l.view, l.view.filesOf(s))
		files.add(file, 0)
		s.Config, options = files.paths, files.values
		l.found.OptionFiles = append(l.found.OptionFiles, files.paths...)
	case !none && s.Container == "" && !s.elsewhere():
		s.Config = slices.Clone(l.found.OptionFiles)
		options = host.values
	}
	say := func(name string) string {
		if v, ok := args[name]; ok {
			return v
		}
		return options[name]
	}
	db.Socket, db.DataDir = say("socket"), say("datadir")
	if n := number(say("port")); n > 0 {
		db.Port = n
	}
	if file := cmp.Or(say("slow-query-log-file"), say("log-slow-query-file")); file != "" &&
		(db.DataDir != "" || filepath.IsAbs(file)) {
		db.SlowLog = below(db.DataDir, file)
		l.found.Logs = append(l.found.Logs, Log{Kind: SlowLog, Path: db.SlowLog, Service: s.Label(),
			How: "slow_query_log_file in its options"})
	}
	for _, at := range s.Listen {
		if at.Network == "unix" && db.Socket == "" && !strings.HasSuffix(at.Address, "mysqlx.sock") {
			db.Socket = at.Address
		}
	}
	if db.Socket == "" && s.Container == "" && l.view.tree.exists("/run/mysqld/mysqld.sock") {
		db.Socket = "/run/mysqld/mysqld.sock"
	}
	if l.view.tree.real() && db.Socket != "" {
		if err := silentAt(db.Socket); err != nil {
			l.view.note("socket of "+s.Label(), err.Error(), "")
			db.Socket = ""
		}
	}
	// The port 33060 is that of the X protocol, which the client does not speak.
	for _, at := range s.Listen {
		if at.Port != 0 && at.Port != 33060 && say("port") == "" {
			db.Port = at.Port
			break
		}
	}
	db.Flavor = s.flavor(l.view.ctx)
}

// flavor distinguishes MariaDB from MySQL: by name, else by the version that its program has
// in it. MariaDB calls its server mysqld before 10.5.
func (s *subject) flavor(ctx context.Context) string {
	if s.Name == "mariadbd" || filepath.Base(s.Exe) == "mariadbd" {
		return "MariaDB"
	}
	if s.held != nil && filepath.Base(s.Exe) == "mysqld" {
		text, _ := foreign.ReadExe(ctx, s.held, mostProgram, func(r io.ReaderAt, size int64) (string,
			error) {
			return textIn(r, size, "-MariaDB")
		})
		if text != "" {
			return "MariaDB"
		}
	}
	return "MySQL"
}

// maxInclude is how deep option files may include each other; MySQL's own limit.
const maxInclude = 10

// optionFiles are option files, each read once, and what they say to servers.
type optionFiles struct {
	view   *view
	from   files
	paths  []string
	values map[string]string
}

func newOptionFiles(v *view, from files) *optionFiles {
	return &optionFiles{view: v, from: from, values: map[string]string{}}
}

// add adds what an option file says to servers; later files win.
func (o *optionFiles) add(file string, depth int) {
	if depth > maxInclude || slices.Contains(o.paths, file) {
		return
	}
	data, err := o.from.read(file)
	if err != nil {
		o.view.unreadable(file, err)
		return
	}
	o.paths = append(o.paths, file)
	for _, set := range mysqlflags.ParseOptions(data) {
		switch {
		case set.Directive == "include":
			o.add(below(path.Dir(file), set.Value), depth+1)
		case set.Directive == "includedir":
			for _, one := range o.from.glob(below(path.Dir(file), set.Value) + "/*.cnf") {
				o.add(one, depth+1)
			}
		case ofServer(set.Group):
			o.values[set.Name] = set.Value
		}
	}
}

func ofServer(group string) bool {
	return slices.Contains(serverGroups, group) || strings.HasPrefix(group, "mysqld-") ||
		strings.HasPrefix(group, "mariadb-1")
}

// parseFlags reads --name=value and --name of a command line.
func parseFlags(args []string) map[string]string {
	out := map[string]string{}
	for _, a := range args {
		if rest, ok := strings.CutPrefix(a, "--"); ok {
			name, value, _ := strings.Cut(rest, "=")
			out[mysqlflags.OptionName(name)] = value
		}
	}
	return out
}
