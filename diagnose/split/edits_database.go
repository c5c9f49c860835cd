package split

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// mariadb reports whether the database is MariaDB.
func (e *editor) mariadb() bool {
	v, _ := e.rec.Setting("mysql", "version")
	c, _ := e.rec.Setting("mysql", "version_comment")
	return strings.Contains(strings.ToLower(v+c), "mariadb")
}

// severalAddresses reports whether the server listens at a list of addresses: MySQL since 8.0.13, MariaDB
// since 10.11 (bind_address of the manuals).
func (e *editor) severalAddresses() bool {
	v, _ := e.rec.Setting("mysql", "version")
	major, rest, _ := strings.Cut(v, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	if e.mariadb() {
		return a > 10 || a == 10 && b >= 11
	}
	return a > 8 || a == 8 && !strings.HasPrefix(v, "8.0.1") || strings.HasPrefix(v, "8.0.13")
}

// bind has the database listen at the private address of its host, and no other.
func (e *editor) bind(to *Member) {
	for _, k := range e.hostsOf(to) {
		listen := e.address(k)
		if e.severalAddresses() {
			listen = "127.0.0.1," + listen
		}
		lines := "# written by kasoku split: the private address alone, so that no other network reaches the server\n" +
			"[mysqld]\nbind-address = " + listen + "\n"
		if v, ok := e.rec.Setting("mysql", "skip_networking"); ok && v == "ON" {
			lines += "skip-networking = OFF\n"
		}
		program, unit := "mariadbd", "mariadb"
		if !e.mariadb() {
			program, unit = "mysqld", "mysql"
		}
		if to.Of.Unit != "" {
			unit = strings.TrimSuffix(to.Of.Unit, ".service")
		}
		file := path.Join(e.dropIns(to), "zz-kasoku-split.cnf")
		e.add(Edit{rank: rankBind, Host: e.Hosts[k].Name, Title: "the database listens at the private address",
			File:  file,
			Text:  lines,
			Check: program + " --help --verbose > /dev/null", Apply: "systemctl restart " + unit,
			Back: "rm " + file + " && systemctl restart " + unit})
	}
}

// dropIns is the directory of option files that the server reads last, by where its own are.
func (e *editor) dropIns(m *Member) string {
	best := ""
	for _, c := range m.Of.Configs {
		if dir := path.Dir(c); strings.HasSuffix(dir, ".d") {
			best = max(best, dir)
		}
	}
	switch {
	case best != "":
		return best
	case e.mariadb():
		return "/etc/mysql/mariadb.conf.d"
	}
	return "/etc/mysql/mysql.conf.d"
}

// grants lets the application in from its hosts, and from no other.
func (e *editor) grants(from, to *Member) {
	var text, back strings.Builder
	schema := e.schema()
	for _, k := range e.hostsOf(from) {
		if slices.Equal(e.hostsOf(to), []int{k}) { // beside it
			continue
		}
		at := e.address(k)
		fmt.Fprintf(&text, "CREATE USER IF NOT EXISTS 'APP_USER'@'%s' IDENTIFIED BY 'APP_PASSWORD';\n", at)
		fmt.Fprintf(&text, "GRANT %s ON `%s`.* TO 'APP_USER'@'%s';\n", e.privileges(), strings.ReplaceAll(schema, "_", `\_`), at) // else it stands for any letter
		fmt.Fprintf(&back, "DROP USER IF EXISTS 'APP_USER'@'%s';\n", at)
	}
	if text.Len() == 0 {
		return
	}
	note := "Privileges are those that the run's statements need. The account's name and password are those that the " +
		"application has now: they are in no run file."
	if slices.ContainsFunc(e.rec.Phases, func(p kasoku.Phase) bool { return p.Kind == kasoku.PhaseInitialize }) {
		note += " What brings the service to its initial state may need more: CREATE, DROP, ALTER, INDEX."
	}
	for _, k := range e.hostsOf(to) {
		e.add(Edit{rank: rankGrant, Host: e.Hosts[k].Name, Title: "the application is let in from its hosts alone",
			Where: "in the database, as its administrator", Text: text.String(),
			Check: "SHOW GRANTS FOR 'APP_USER'@'localhost' shows what it has " +
				"now", Back: strings.TrimSpace(back.String()),
			Note: note})
	}
}

// privileges are those that the statements of the run need.
func (e *editor) privileges() string {
	need := map[string]bool{"SELECT": true}
	for i := range e.rec.Queries {
		switch verb := strings.ToUpper(e.rec.Queries[i].Verb); verb {
		case "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER":
			need[verb] = true
		case "REPLACE":
			need["INSERT"], need["DELETE"] = true, true
		case "TRUNCATE":
			need["DROP"] = true
		case "LOCK":
			need["LOCK TABLES"] = true
		case "CALL":
			need["EXECUTE"] = true
		case "LOAD":
			need["INSERT"] = true
		}
	}
	var out []string
	for _, p := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "LOCK TABLES",
		"EXECUTE"} {
		if need[p] {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}

// schemaName is a name that needs no quotes, for servers and for shells.
var schemaName = lazyregexp.New(`^[0-9A-Za-z_]+$`)

// isOwnSchema reports whether a schema is an application's, with a name that may stand in what people paste.
func isOwnSchema(name string) bool {
	return schemaName().MatchString(name) &&
		!slices.Contains([]string{"mysql", "sys", "information_schema", "performance_schema"}, strings.ToLower(name))
}

// schema is the one in which most of the statements ran.
func (e *editor) schema() string {
	calls := map[string]uint64{}
	best := ""
	for i := range e.rec.Queries {
		if q := &e.rec.Queries[i]; isOwnSchema(q.Schema) {
			if calls[q.Schema] += q.Calls; best == "" || calls[q.Schema] > calls[best] {
				best = q.Schema
			}
		}
	}
	for i := range e.rec.Tables {
		if t := &e.rec.Tables[i]; best == "" && isOwnSchema(t.Schema) {
			best = t.Schema
		}
	}
	if best == "" {
		return "APP_SCHEMA"
	}
	return best
}
