package record

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/store"
)

// planted is in all that must not reach a run file.
const planted = "hunterTwo"

// kept fails when the file of a run, or what is read of it, has a planted secret.
func kept(t testing.TB, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for rest := b; ; {
		i := bytes.Index(rest, []byte(planted))
		if i < 0 {
			break
		}
		t.Errorf("the file has a secret: …%q…", rest[max(i-80, 0):min(i+40, len(rest))])
		rest = rest[i+1:]
	}
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%+v %+v", rec, rec.Run.Command), planted) {
		t.Error("what is read has a secret")
	}
}

// TestNoSecrets plants secrets in all that a run reads or is given.
func TestNoSecrets(t *testing.T) {
	o := quick(t)
	o.For = 0
	dir := t.TempDir()
	o.AccessLog, o.AppLog = dir+"/access.log", dir+"/app.log"
	o.Prepare = during(func() error { return errors.Join(add(o.AccessLog, leakyAccessLog()), add(o.AppLog, leakyAppLog())) })
	const script = `
echo "connecting to mysql://app:hunterTwo@127.0.0.1/shop"; echo "Cookie: sid=hunterTwo"; echo "password: hunterTwo" >&2
sleep 0.2; exit 3`
	o.Command = []string{"sh", "-c", script, "mysql",
		"-p" + planted, "--password", planted, "--token=" + planted, "app:" + planted + "@tcp(x)/y", "http://me:" + planted + "@x/", "-H", "Cookie: a=" + planted}
	o.Run.Load = "mysql -p" + planted + " --password '" + planted + "' http://me:" + planted + "@x/"
	o.Settings = []kasoku.Setting{{Scope: "app", Name: "db.password", Value: planted + " " + planted}, {Scope: "app", Name: "dsn", Value: "app:" + planted + "@tcp(x)/y"}}
	o.Rules = rules.All()
	rec := mustRecord(t, o)
	kept(t, o.Path)
	if len(rec.Run.Command.Args) != len(o.Command) || !strings.Contains(rec.Run.Command.Output, "connecting to mysql://app:***@127.0.0.1/shop") {
		t.Errorf("command %+v", rec.Run.Command)
	}
	if len(rec.Slowest) == 0 || rec.Slowest[0].Route == "" || rec.Slowest[0].URI == "" || rec.Slowest[0].Latency < rec.Slowest[len(rec.Slowest)-1].Latency {
		t.Errorf("slowest requests %+v", rec.Slowest)
	}
	if len(rec.Messages) < 6 || len(rec.Endpoints) == 0 || rec.Settings[0].Value != "***" {
		t.Errorf("%d messages, %d endpoints, settings %v: the logs were not read", len(rec.Messages), len(rec.Endpoints), rec.Settings)
	}
}

func leakyAccessLog() string {
	log := strings.TrimSpace(ltsv("/orders/1?token="+planted)) + "\tcookie:sid=" + planted + "\tauthorization:Bearer " + planted + "\n" +
		"no LTSV at all, Cookie: sid=" + planted + "\n"
	for n := range 150 { // so much that rules have something to quote
		log += strings.Replace(ltsv(fmt.Sprintf("/orders/%d?password=%s", n, planted)), "status:200", "status:500", 1)
	}
	return log
}

func leakyAppLog() string {
	now := time.Now().Format("2006/01/02 15:04:05 ")
	return strings.Repeat(now+"error: dial app:"+planted+"@tcp(127.0.0.1:3306)/shop: refused\n"+
		now+"request Authorization: Bearer "+planted+"\n"+
		now+"Set-Cookie: sid="+planted+"; Path=/\n"+
		now+"login password="+planted+" ok\n"+
		now+"SQL: INSERT INTO users (mail, token) VALUES ('taro@"+planted+".example', '"+planted+"')\n"+
		now+"Error 1062 (23000): Duplicate entry 'taro@"+planted+".example' for key 'users.mail'\n"+
		now+"bearer "+planted+"\n", 50)
}

// noSecrets plants literals in statements.
func noSecrets(t *testing.T, s *sandbox.Server, _ *sql.DB) {
	o := quick(t)
	o.MySQL, o.SlowLog = s.DSN("", "shop"), true
	o.Rules = rules.All()
	o.Prepare = func(ctx context.Context, _ Watch) error {
		db := pool(t, s)
		for i := range 20 {
			for _, q := range []string{
				"INSERT INTO shop.items (name) VALUES ('taro@" + planted + ".example'), (\"" + planted + "\")",
				"SELECT /* list */ id FROM shop.items WHERE name = '" + planted + "' OR name LIKE '%" + planted + "%'",
				"UPDATE shop.items SET name = '" + planted + fmt.Sprint(i) + "' WHERE id = 0",
				"SELECT '" + planted + "' FROM no_such_table",
			} {
				_, _ = db.ExecContext(ctx, q) // the last one fails
			}
		}
		return nil
	}
	rec := mustRecord(t, o)
	kept(t, o.Path)
	if inserts(rec) != 20 {
		t.Errorf("%d inserts in the slow log, want 20", inserts(rec))
	}
	if !slices.ContainsFunc(rec.Plans, func(p kasoku.Plan) bool { return len(p.Rows) == 1 && p.Rows[0].Table == "items" && p.Note == "" }) {
		t.Errorf("no plan of the SELECT: %+v", rec.Plans)
	}
	if len(rec.Tables) != 1 || rec.Tables[0].Name != "items" || len(rec.Tables[0].Indexes) == 0 {
		t.Errorf("tables %+v", rec.Tables)
	}
}

// keepsStatements: asked to, a run keeps the statements and their values, in tables
// that a scrub empties.
func keepsStatements(t *testing.T, s *sandbox.Server, _ *sql.DB) {
	o := quick(t)
	o.MySQL, o.SlowLog, o.KeepStatements, o.NoPlans = s.DSN("", "shop"), true, true, true
	o.Prepare = func(ctx context.Context, _ Watch) error {
		_, err := pool(t, s).ExecContext(ctx, "SELECT id FROM shop.items WHERE name = '"+planted+"'")
		return err
	}
	rec := mustRecord(t, o)
	if !slices.ContainsFunc(rec.Queries, func(q kasoku.Query) bool { return strings.HasSuffix(q.Raw, "'"+planted+"'") }) || len(rec.Plans) != 0 {
		t.Errorf("queries %+v, %d plans", rec.Queries, len(rec.Plans))
	}
	ed, err := store.Edit(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ed.Scrub(store.ScrubOptions{})
	if err := errors.Join(err, ed.Close()); err != nil {
		t.Fatal(err)
	}
	kept(t, o.Path)
}
