package initcmd

import (
	"cmp"
	"net"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/topology"
)

// mostDatabases is how many databases of this host a hint names; of more it names none.
const mostDatabases = 3

// databaseHint describes how the database is named where none is in the file, so that a run would know of no
// statement: as lines, of which those after the first are commands. Empty where one is.
func databaseHint(s *Surveyed, program string, f *initFlags) []string {
	if s.db.DSN != "" || s.db.DefaultsFile != "" || s.of != nil && s.of.named.DSN != "" {
		return nil
	}
	own := s.found.Of(topology.MySQL)
	n := len(s.databases)
	what := "none runs here as far as can be seen; one on another host is named by"
	switch {
	case len(own) > 0:
		what = "it let no one in without a password; name the user by"
	case n == 1:
		what = "one runs here, and is not seen to be the service's; name it by"
	case n > 1:
		what = unit.Count(n) + " run here, and none is seen to be the service's; name it by"
	}
	again := program + " init --force"
	switch {
	case f.url != "":
		again += " --url " + unit.ShellQuote(f.url)
	case f.port != 0:
		again += " --port " + strconv.Itoa(f.port)
	case f.unit != "":
		again += " --unit " + unit.ShellQuote(f.unit)
	case s.of != nil && s.of.named.URL != "":
		again += " --url " + unit.ShellQuote(s.of.named.URL)
	}
	out := []string{what}
	at := s.databases
	if n == 0 || n > mostDatabases {
		at = []string{"tcp(HOST:3306)"}
	}
	for _, at := range at {
		out = append(out, again+" --mysql "+unit.ShellQuote("USER@"+at+"/DATABASE"))
	}
	return append(out, again+" --defaults-file ~/.my.cnf   (with a password)")
}

// databasesOf returns where the databases that run here are asked, as a DSN has it: unix(/run/mysqld.sock).
func databasesOf(found *topology.Found) (out []string) {
	for _, s := range found.Of(topology.MySQL) {
		switch address := addressOf(s.MySQL); {
		case s.Container != "":
		case strings.HasPrefix(address, "/"):
			out = append(out, "unix("+address+")")
		default:
			host, port, _ := net.SplitHostPort(address)
			out = append(out, "tcp("+net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)+")")
		}
	}
	return out
}
