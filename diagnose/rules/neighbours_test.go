package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
	"github.com/kasoku/kasoku/diagnose/rules/web"
)

// measured says that the service is nginx 5, shop 20 and mysqld 10; all else is beside it.
func (b *build) measured() *build {
	member := func(role kasoku.MemberRole, program string, pid int, configs ...string) kasoku.Member {
		return kasoku.Member{ID: program, Role: role, Program: program, Sure: kasoku.High, Configs: configs,
			Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}
	}
	b.Service = &kasoku.Service{Members: []kasoku.Member{member(kasoku.RoleWeb, "nginx", 5, "/srv/a/nginx.conf"),
		member(kasoku.RoleApplication, "shop", 20), member(kasoku.RoleDatabase, "mysqld", 10)}}
	return b
}

// quietOrBlind fails when a rule finds anything.
func quietOrBlind(t *testing.T, r diagnose.Rule, b *build) {
	t.Helper()
	if found, _ := r.Check(b.alone()); len(found) > 0 {
		t.Errorf("%s: %s, evidence %+v", found[0].ID, found[0].Title, found[0].Evidence)
	}
}

// TestNeighbours_CPU: the databases and programs of others on the host are added to none of
// the service's, and what they use is said.
func TestNeighbours_CPU(t *testing.T) {
	// Three databases of others are busy, the measured one is idle: that is nobody's fault here.
	beside := func() *build {
		b := ladder().cpu(0.1, 1.8).program("10 mysqld", 0.05, 1e9).program("20 shop", 0.15, 1e8).program("30 kasoku", 0.1, 5e7)
		b.level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30)
		return b.program("91 mysqld", 0.5, 1e9).program("92 mysqld", 0.5, 1e9).program("93 mysqld", 0.6, 1e9)
	}
	fires(t, host.DBBound{}, beside(), kasoku.Medium, "mysqld uses 1.65 of 2 cores") // as long as nothing is known of the service
	quietOrBlind(t, host.DBBound{}, beside().measured())

	// The measured one is busy too: its own figure, beside that of the others.
	b := ladder().cpu(0.1, 1.9).program("10 mysqld", 1.2, 1e9).program("20 shop", 0.2, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).program("91 mysqld", 0.5, 1e9).measured()
	f := fires(t, host.DBBound{}, b, kasoku.Medium, "mysqld uses 1.20 of 2 cores, shop 0.20, the load's generator and kasoku 0.10, programs outside of the service 0.50")
	if f.Impact.Share < 0.85 || f.Impact.Share > 0.86 {
		t.Errorf("share %v of the service's CPU", f.Impact.Share)
	}

	// A build of somebody is no application.
	b = ladder().cpu(0.1, 1.8).program("10 mysqld", 0.1, 1e9).program("20 shop", 0.2, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).program("94 cc1plus", 1.5, 1e9)
	fires(t, host.AppCPU{}, b, kasoku.Medium, "cc1plus")
	quietOrBlind(t, host.AppCPU{}, b.measured())
	quietOrBlind(t, host.SharedCPU{}, b)

	// nginx is of the service, and is not its application.
	b = ladder().cpu(0.1, 1.8).program("5 nginx", 1.4, 1e8).program("20 shop", 0.2, 1e8).program("10 mysqld", 0.1, 1e9).measured()
	quietOrBlind(t, host.AppCPU{}, b)
}

// TestNeighbours_Pool: sockets that others leave in TIME_WAIT are no evidence, and a
// language without a pool is not advised to size one.
func TestNeighbours_Pool(t *testing.T) {
	all, err := filepath.Glob("testdata/POOL-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	rec := recordedCase(t, all[0])
	finding := func() kasoku.Finding {
		f, s := (pool.IdlePool{}).Check(diagnose.NewCase(rec, nil))
		if len(f) != 1 {
			t.Fatalf("silent: %+v", s)
		}
		return f[0]
	}
	if f := finding(); !strings.Contains(fmt.Sprint(f.Evidence), "TIME_WAIT") {
		t.Fatalf("the case has no TIME_WAIT: %+v", f.Evidence)
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{
		{ID: "d", Role: kasoku.RoleDatabase, Sure: kasoku.High, Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:3399"}}},
		{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: "php"}}}
	f := finding()
	if strings.Contains(fmt.Sprint(f.Evidence), "TIME_WAIT") {
		t.Errorf("others' sockets are evidence: %+v", f.Evidence)
	}
	if !strings.Contains(f.Cause, "PHP has no pool") || strings.Contains(f.Cause+f.Fixes[0].Text+f.Fixes[0].Code, "database/sql") || f.Fixes[0].Lang != "php" {
		t.Errorf("cause %q, fix %+v", f.Cause, f.Fixes[0])
	}
}

// recordedCase reads a case that fires.
func recordedCase(t *testing.T, path string) *kasoku.Recording {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rec, _, err := extract.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestNeighbours_Forks: a shell of a build that waits for programs is not named as what
// requests start.
func TestNeighbours_Forks(t *testing.T) {
	rec := recordedCase(t, "testdata/APP-02/fires/mariadb-bare.txtar")
	waits := func() bool {
		found, _ := (application.Forks{}).Check(diagnose.NewCase(rec, nil))
		return strings.Contains(fmt.Sprint(found), "CPU of programs that ")
	}
	if !waits() {
		t.Fatal("the case does not fire")
	}
	of := func(pid int) {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High,
			Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}}}
	}
	pid := 0
	for _, s := range rec.FindAll(diagnose.Process, "cpu.children") {
		number, _, _ := strings.Cut(s.Key.Instance, " ")
		pid, _ = strconv.Atoi(number)
	}
	if of(pid); !waits() {
		t.Error("the member that waits is not named")
	}
	if of(pid + 100_000); waits() {
		t.Error("a program that is no member is named")
	}
}

// TestNeighbours_Nginx: another nginx's configuration is not quoted.
func TestNeighbours_Nginx(t *testing.T) {
	all, err := filepath.Glob("testdata/NGX-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	rec := recordedCase(t, all[0])
	found := func() int {
		f, _ := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil))
		return len(f)
	}
	if found() == 0 {
		t.Fatal("the case does not fire")
	}
	of := func(configs ...string) {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: configs}}}
	}
	var own []string
	for _, c := range rec.Configs {
		own = append(own, c.Name)
	}
	if of(own...); found() == 0 {
		t.Error("the member's own configuration is not read")
	}
	if of("/srv/another/nginx.conf"); found() != 0 {
		t.Error("another nginx's configuration is quoted")
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High}}}
	if found() != 0 {
		t.Error("a service without a web server is given a stranger's")
	}
}
