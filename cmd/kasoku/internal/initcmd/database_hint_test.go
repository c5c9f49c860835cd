package initcmd

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/topology"
)

// TestDatabaseHint: where the file has no database, what names one is said.
func TestDatabaseHint(t *testing.T) {
	f := func(s Surveyed, flags initFlags, want ...string) {
		t.Helper()
		if s.found == nil {
			s.found = &topology.Found{}
		}
		if got := databaseHint(&s, "kasoku", &flags); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	const url = "http://127.0.0.1:8080/"
	const file = " --defaults-file ~/.my.cnf   (with a password)"
	f(Surveyed{}, initFlags{}, "none runs here as far as can be seen; one on another host is named by",
		"kasoku init --force --mysql 'USER@tcp(HOST:3306)/DATABASE'", "kasoku init --force"+file)
	f(Surveyed{databases: []string{"unix(/run/a.sock)", "tcp(127.0.0.1:3307)"}}, initFlags{url: url},
		"2 run here, and none is seen to be the service's; name it by",
		"kasoku init --force --url "+url+" --mysql 'USER@unix(/run/a.sock)/DATABASE'",
		"kasoku init --force --url "+url+" --mysql 'USER@tcp(127.0.0.1:3307)/DATABASE'", "kasoku init --force --url "+url+file)
	f(Surveyed{databases: []string{"unix(/tmp/a';reboot;')"}}, initFlags{unit: "a&b"}, "one runs here, and is not seen to be the service's; name it by",
		`kasoku init --force --unit 'a&b' --mysql 'USER@unix(/tmp/a'\'';reboot;'\'')/DATABASE'`, "kasoku init --force --unit 'a&b'"+file)
	f(Surveyed{databases: []string{"a", "b", "c", "d"}}, initFlags{}, "4 run here, and none is seen to be the service's; name it by",
		"kasoku init --force --mysql 'USER@tcp(HOST:3306)/DATABASE'", "kasoku init --force"+file)
	mariadb := topology.Service{Kind: topology.MySQL, Name: "mariadbd", MySQL: &topology.Database{Port: 3306}}
	locked := &topology.Found{Services: []topology.Service{mariadb}}
	f(Surveyed{found: locked, databases: databasesOf(locked)}, initFlags{port: 8080},
		"it let no one in without a password; name the user by",
		"kasoku init --force --port 8080 --mysql 'USER@tcp(127.0.0.1:3306)/DATABASE'", "kasoku init --force --port 8080"+file)
	f(Surveyed{db: Reached{DSN: "root@tcp(127.0.0.1:3306)/"}}, initFlags{})
	f(Surveyed{db: Reached{DefaultsFile: "/root/.my.cnf"}}, initFlags{})
	f(Surveyed{of: &subject{named: record.Named{DSN: "app@tcp(db:3306)/"}}}, initFlags{})
}
