package mysql

import (
	"fmt"
	"strings"
	"time"
)

// A Flavor is a family of servers.
type Flavor string

// The flavors. Percona Server counts as MySQL.
const (
	MariaDB Flavor = "MariaDB"
	MySQL   Flavor = "MySQL"
)

// A Version is a server's version.
type Version struct {
	Major, Minor, Patch int
	Text                string // as the server gives it: 10.11.19-MariaDB-0+deb12u1
}

// AtLeast reports whether the version is major.minor.patch or later.
func (v Version) AtLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	if v.Minor != minor {
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// ParseVersion reads what a server gives as its version: the answer to SELECT
// VERSION(), or its variable. Old MariaDB servers put 5.5.5- in front for the
// sake of replication.
func ParseVersion(text string) (Flavor, Version) {
	v := Version{Text: text}
	flavor := MySQL
	if strings.Contains(strings.ToLower(text), "mariadb") {
		flavor = MariaDB
		text = strings.TrimPrefix(text, "5.5.5-")
	}
	rest := text
	for _, to := range []*int{&v.Major, &v.Minor, &v.Patch} {
		n := 0
		for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
			*to = *to*10 + int(rest[n]-'0')
			n++
		}
		if n == 0 || n == len(rest) || rest[n] != '.' {
			break
		}
		rest = rest[n+1:]
	}
	return flavor, v
}

// A server is what a session found out about its server; answers depend on it.
type server struct {
	flavor  Flavor
	version Version
	schema  bool // performance_schema is on
}

// The scopes of [server.statusTable].
const (
	globalStatus  = "global_status"
	sessionStatus = "session_status"
)

// statusTable is the table of status of a scope, which all users may read.
func (s server) statusTable(scope string) string {
	if s.flavor == MySQL && s.version.AtLeast(5, 7, 6) {
		return "performance_schema." + scope
	}
	return "information_schema." + strings.ToUpper(scope)
}

// indexed is the expression for what a part of an index is of.
func (s server) indexed() string {
	if s.flavor == MySQL && s.version.AtLeast(8, 0, 13) {
		return "COALESCE(COLUMN_NAME, CONCAT('(', EXPRESSION, ')'), '')"
	}
	return "COALESCE(COLUMN_NAME, '')"
}

// limit is the statement that bounds how long the session's own may run; 0 lifts
// the bound. MySQL's is for SELECT alone.
func (s server) limit(d time.Duration) string {
	switch {
	case s.flavor == MariaDB:
		return fmt.Sprintf("SET /* kasoku */ SESSION max_statement_time = %g", d.Seconds())
	case s.version.AtLeast(5, 7, 8):
		return fmt.Sprintf("SET /* kasoku */ SESSION max_execution_time = %d", d.Milliseconds())
	}
	return "DO /* kasoku */ 0"
}
