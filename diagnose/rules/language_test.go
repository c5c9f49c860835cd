package rules

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/driver"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
	"github.com/kasoku/kasoku/diagnose/rules/query"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/process"
)

// goWords are what only advice for a program in Go may say.
var goWords = []string{"database/sql", "SetMaxOpenConns", "interpolateParams", "ctx", "fmt.Println", "Echo", "GORM", "sqlx", "DSN"}

// TestLanguage: fixes are in the application's language, and where that is not known they
// are words.
func TestLanguage(t *testing.T) {
	for _, x := range []struct {
		rule diagnose.Rule
		says map[string]string // by language, what the fixes must say
	}{
		{pool.IdlePool{}, map[string]string{"python": "ping it", "ruby": "Thread.current", "javascript": "createPool", "java": "data source", "php": "ATTR_PERSISTENT", "": "in a pool"}},
		{driver.Prepare{}, map[string]string{"python": "prepared=True", "ruby": "client.escape", "javascript": "pool.query", "java": "cachePrepStmts", "php": "ATTR_EMULATE_PREPARES", "": "emulated"}},
		{driver.SQLLog{}, map[string]string{"python": "echo", "ruby": "echo", "javascript": "echo", "java": "echo", "php": "echo", "": "echo"}},
		{application.RequestLog{}, map[string]string{"python": "access log", "ruby": "access log", "javascript": "access log", "java": "access log", "php": "access log", "": "access log"}},
		{durability.NeedlessTransaction{}, map[string]string{"python": "autocommit is on", "ruby": "transaction block", "javascript": "BEGIN", "java": "setAutoCommit", "php": "beginTransaction", "": "BEGIN"}},
	} {
		all, err := filepath.Glob("testdata/" + x.rule.ID() + "/fires/*.txtar")
		if err != nil || len(all) == 0 {
			t.Fatal(x.rule.ID(), err)
		}
		rec := recordedCase(t, all[0])
		for language, want := range x.says {
			rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: language}}}
			found, silent := x.rule.Check(diagnose.NewCase(rec, nil))
			if len(found) != 1 {
				t.Errorf("%s, %q: %d findings, %+v", x.rule.ID(), language, len(found), silent)
				continue
			}
			said := found[0].Cause
			for _, f := range found[0].Fixes {
				said += fmt.Sprint("\n", f.Text, f.Where, f.Lang, f.Code, f.Note)
				if language == "" && f.Code != "" {
					t.Errorf("%s: code for an unknown language: %s", x.rule.ID(), f.Code)
				}
			}
			if !strings.Contains(said, want) {
				t.Errorf("%s, %q: does not say %q:\n%s", x.rule.ID(), language, want, said)
			}
			for _, w := range goWords {
				if strings.Contains(said, w) {
					t.Errorf("%s, %q: says %q:\n%s", x.rule.ID(), language, w, said)
				}
			}
		}
	}
}

// TestLanguage_AllRules: of each rule a recorded case, as of an application in PHP and of one
// whose language is not known: nothing is said that only a program in Go could do.
func TestLanguage_AllRules(t *testing.T) {
	of := map[string]bool{"POOL-06": true} // it reads what programs in Go alone publish
	words := append([]string{"net/http", "sync.", "goroutine", "GOMAXPROCS", "http.Client", "tx.Commit", "exec.Command", "archive/zip", "go tool"}, goWords...)
	for _, r := range All() {
		all, _ := filepath.Glob("testdata/" + r.ID() + "/fires/*.txtar")
		if len(all) == 0 || of[r.ID()] {
			continue
		}
		rec := recordedCase(t, all[0])
		for _, language := range []string{"php", "rust", ""} {
			rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: language}}}
			found, _ := r.Check(diagnose.NewCase(rec, nil))
			for _, x := range found {
				said := x.Cause
				for _, f := range x.Fixes {
					said += fmt.Sprint("\n", f.Text, f.Where, f.Code, f.Note)
					if f.Lang == "go" {
						t.Errorf("%s, %q: code in Go: %s", r.ID(), language, f.Code)
					}
				}
				for _, w := range words {
					if strings.Contains(said, w) && w != "DSN" && !(language == "rust" && w == "sqlx") { // a library of either
						t.Errorf("%s, %q: says %q:\n%s", r.ID(), language, w, said)
					}
				}
			}
		}
	}
}

// TestNeighbours_LogWriter: a program outside of the service is not what writes the
// application's log, however much it writes.
func TestNeighbours_LogWriter(t *testing.T) {
	all, err := filepath.Glob("testdata/APP-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	rec := recordedCase(t, all[0])
	for i := range rec.Series {
		if s := &rec.Series[i]; s.Key.Source == diagnose.Process && s.Key.Name == process.IOWriteCalls {
			cpu := *s
			cpu.Key.Name = process.CPUUser
			rec.Series = append(rec.Series, cpu)
		}
	}
	said := func() string {
		found, silent := (application.RequestLog{}).Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("silent: %+v", silent)
		}
		return fmt.Sprint(found[0].Evidence)
	}
	if !strings.Contains(said(), "write calls of") {
		t.Fatalf("the case has no write calls: %s", said())
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 1 << 22, Leader: true}}}}}
	if s := said(); strings.Contains(s, "write calls of") {
		t.Error("a neighbour writes the log: ", s)
	}
}

// TestLanguage_Mapper: what keeps connections is said for the mapper that the statements are of,
// and settings.py is no file of an application without Django.
func TestLanguage_Mapper(t *testing.T) {
	all, err := filepath.Glob("testdata/POOL-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	prepares, err := filepath.Glob("testdata/DRV-01/fires/*.txtar")
	if err != nil || len(prepares) == 0 {
		t.Fatal(err)
	}
	says := func(r diagnose.Rule, path, written, statement, want, not string) {
		t.Helper()
		rec := recordedCase(t, path)
		rec.Queries = []kasoku.Query{{ID: "1", Verb: "SELECT", Calls: 100, Fingerprint: statement}}
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: written}}}
		found, silent := r.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("%d findings, %+v", len(found), silent)
		}
		said := fmt.Sprint(found[0].Cause, found[0].Fixes)
		if !strings.Contains(said, want) || strings.Contains(said, not) {
			t.Errorf("%s: says %s", statement, said)
		}
	}
	f := func(statement, want, not string) {
		t.Helper()
		says(pool.IdlePool{}, all[0], "python", statement, want, not)
	}
	f("select count(*) as `__count` from `shop_item` where `shop_item`.`id` = ?", "settings.py", "create_engine")
	f("select `shop_item`.`id`, `shop_item`.`name` from `shop_item` where `shop_item`.`id` = ?",
		"Keep it over the end of a request", "Django")
	f("select token.id as token_id, tokeninfo.`key` as `tokeninfo_key` from token where token.serial = ?", "engine = create_engine(", "settings.py")
	f("select t.id, t.name from t where t.id = ?", "Keep it over the end of a request", "Django")
	f("select `t1`.`id`, `t1`.`name` from `t` as `t1` where `t1`.`id` = ?", "Keep it over the end of a request", "Django")
	says(driver.Prepare{}, prepares[0], "ruby", "select `users`.* from `users` where `users`.`id` = ?", "config/database.yml", "client.prepare")
	says(driver.Prepare{}, prepares[0], "ruby", "select * from `users` where `id` = ?", "client.query(sql.gsub", "Let the adapter")
}

// libraryWords are frameworks, mappers, pools, servers of applications and their like.
var libraryWords = regexp.MustCompile(`\b(Rails|ActiveRecord|Rack|Puma|Unicorn|[Mm]ysql2|Django|Flask|SQLAlchemy|PyMySQL|mysqlclient|` +
	`gunicorn|uvicorn|Laravel|Symfony|Doctrine|Guzzle|Spring|JPA|Hibernate|HikariCP|Caffeine|@Transactional|Express|Fastify|Sequelize|` +
	`TypeORM|Prisma|knex|morgan|axios|PM2|GORM|sqlx|Echo|Diesel|SeaORM|axum|actix|tokio|reqwest|tower-http)\b`)

// TestLanguage_NoLibrary: of each rule a recorded case, as of an application in each language of which
// nothing else is known: no framework, mapper, pool or server is named, as none is seen.
func TestLanguage_NoLibrary(t *testing.T) {
	shown := map[string]string{"DRV-01 ruby": "mysql2"} // of Ruby's drivers it prepares, and that is what was seen
	for _, r := range All() {
		all, _ := filepath.Glob("testdata/" + r.ID() + "/fires/*.txtar")
		if len(all) == 0 {
			continue
		}
		rec := recordedCase(t, all[0])
		for _, written := range append(slices.Clone(kasoku.Languages), "perl", "") {
			app := kasoku.Member{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: written, Program: "app"}
			if rec.Service != nil {
				if was := rec.Service.Of(kasoku.RoleApplication); len(was) == 1 {
					app.Processes, app.Host = was[0].Processes, was[0].Host
				}
			}
			as := *rec
			as.Service = &kasoku.Service{Members: []kasoku.Member{app}}
			found, _ := r.Check(diagnose.NewCase(&as, nil))
			for _, x := range found {
				said := x.Cause
				for _, f := range x.Fixes {
					said += fmt.Sprint("\n", f.Text, f.Where, f.Code, f.Note)
				}
				for _, word := range libraryWords.FindAllString(said, -1) {
					if word != shown[r.ID()+" "+written] {
						t.Errorf("%s, %q: names %s:\n%s", r.ID(), written, word, said)
					}
				}
			}
		}
	}
}

// TestLanguage_Library: what the run shows is named.
func TestLanguage_Library(t *testing.T) {
	all, err := filepath.Glob("testdata/QRY-05/fires/mariadb-*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	for _, x := range []struct{ written, framework, sample, says string }{
		{"php", "", "select count(*) as aggregate from `notes` where `place` = ?", "in Laravel: with()"},
		{"php", "", "SELECT COUNT(*) FROM notes WHERE place = ?", "array_fill"},
		{"java", "", "select n1_0.id,n1_0.body from notes n1_0 where n1_0.place=?", "JOIN FETCH"},
		{"java", "", "SELECT id, body FROM notes WHERE place = ?", "Collections.nCopies"},
		{"javascript", "", "SELECT `id` FROM `Notes` AS `Note` WHERE `Note`.`place` = ?", "in Sequelize: include"},
		{"javascript", "", "SELECT id FROM notes WHERE place = ?", "ids.map"},
	} {
		rec := *recordedCase(t, all[0])
		rec.Queries = append(slices.Clip(rec.Queries), kasoku.Query{ID: "1", Verb: "SELECT", Calls: 1, Sample: x.sample, Fingerprint: x.sample})
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: x.written}}}
		found, silent := (query.EachRow{}).Check(diagnose.NewCase(&rec, nil))
		if len(found) == 0 {
			t.Fatalf("%+v", silent)
		}
		if said := fmt.Sprint(found[0].Fixes); !strings.Contains(said, x.says) {
			t.Errorf("%s, %s: says %s", x.written, x.sample, said)
		}
	}
}

// TestIdlePool_Published: where the pool's own limit is known, as many are kept idle, and no other limit is proposed.
func TestIdlePool_Published(t *testing.T) {
	all, err := filepath.Glob("testdata/POOL-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	limited := func(limits ...float64) string {
		rec := *recordedCase(t, all[0])
		for i, l := range limits {
			rec.Series = append(slices.Clip(rec.Series), kasoku.Series{Kind: kasoku.Gauge, Points: []kasoku.Point{{Value: l}},
				Key: kasoku.Key{Source: expvar.Name, Name: expvar.MaxOpenConnections, Instance: fmt.Sprint(i)}})
		}
		found, silent := (pool.IdlePool{}).Check(diagnose.NewCase(&rec, nil))
		if len(found) != 1 {
			t.Fatalf("%+v", silent)
		}
		return fmt.Sprint(found[0].Fixes)
	}
	if s := limited(10); !strings.Contains(s, "db.SetMaxIdleConns(10)") || strings.Contains(s, "SetMaxOpenConns") {
		t.Error(s)
	}
	for _, s := range []string{limited(), limited(0), limited(10, 20), limited(1e6)} { // none, no limit, two pools, more than the server allows
		if !strings.Contains(s, "SetMaxOpenConns") {
			t.Error(s)
		}
	}
}
