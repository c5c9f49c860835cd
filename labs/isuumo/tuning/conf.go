package tuning

import (
	_ "embed" // the texts
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/mysqlflags"
)

var (
	//go:embed my.cnf
	myCnf string
	//go:embed nginx.conf
	nginxConf string
)

// NginxConf returns the nginx.conf of a service with these defects, with the places
// that package sandbox fills in.
func NginxConf(d isuumo.Defects) string { return without(nginxConf, d) }

// MyCnf returns the my.cnf of a service with these defects.
func MyCnf(d isuumo.Defects) string {
	text := without(myCnf, d)
	if d.Has("DBC-02") {
		text += "\n[mysqld]\n# A binary log that no one reads, synchronised at each commit.\nlog_bin = binlog\nsync_binlog = 1\nserver_id = 1\n"
	}
	return text
}

// DatabaseArgs returns what MyCnf says to a server as arguments of its command
// line; database is mariadb or mysql.
func DatabaseArgs(d isuumo.Defects, database string) []string {
	groups := map[string]bool{"mysqld": true, "mariadb": database == "mariadb", "mysqld-9.7": database == "mysql"}
	var out []string
	for _, o := range mysqlflags.ParseOptions([]byte(MyCnf(d))) {
		if !groups[o.Group] {
			continue
		}
		arg := "--" + o.Name
		if o.HasValue {
			arg += "=" + o.Value
		}
		out = append(out, arg)
	}
	return out
}

// without returns a text without the lines that mend one of the defects.
func without(text string, d isuumo.Defects) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if _, id, ok := strings.Cut(line, " # mends "); ok && d.Has(strings.TrimSpace(id)) {
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}
