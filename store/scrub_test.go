package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store/scrub"
)

// planted stands for all that must not leave the machine.
const planted = "hunterTwo"

// leaky is a run with a secret in each text that a scrub is about, long enough for
// pages of their own.
func leaky() *kasoku.Recording {
	rec := sampleRecording()
	secret := strings.Repeat(planted+" ", 300)
	rec.Run.Command.Output, rec.Run.Command.Args = secret, []string{"mysql", "-p" + planted, "--password", planted, "-n", "5"}
	rec.Run.Load = "mysql -p" + planted
	rec.Logs[0].BadSample = []kasoku.BadLine{{Line: 4, Text: secret, Why: "no label in " + planted}}
	rec.Queries[0].Sample, rec.Messages[0].Sample = secret, secret
	rec.Saves[0].Sample = []string{secret, planted}
	rec.Queries[0].Raw, rec.Slowest[0].URI, rec.Plans[0].Text = secret, "/?token="+planted, secret
	for i := range rec.Diagnosis.Findings[0].Evidence {
		rec.Diagnosis.Findings[0].Evidence[i].Text, rec.Diagnosis.Findings[0].Evidence[i].Note = secret, planted
	}
	rec.Seconds[0].Errors = map[string]uint64{"dial http://me:" + planted + "@x/": 3, "refused": 1}
	rec.Settings = append(rec.Settings, kasoku.Setting{Scope: "app", Name: "dsn", Value: "app:" + planted + "@tcp(x)/y"})
	rec.Warnings = append(rec.Warnings, kasoku.Warning{Code: "x", Text: "password=" + planted, Hint: "token: " + planted})
	rec.Configs = []kasoku.Config{
		{Host: "lab1", Kind: "git", Name: "HEAD", Text: "4f2c91e"},
		{Host: "lab1", Kind: "git", Name: "diff", Text: "+ key = " + secret},
		{Host: "lab1", Kind: "nginx", Name: "nginx -T", Text: "worker_processes 2; # nginxText"},
	}
	return rec
}

func TestScrub(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, leaky()); err != nil {
		t.Fatal(err)
	}
	was := mustOpen(t, path)
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := e.Scrub(ScrubOptions{})
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	file := mustRead(t, path)
	if i := bytes.Index(file, []byte(planted)); i >= 0 {
		t.Errorf("a secret is in the file at %d: %q", i, file[max(0, i-40):i+40])
	}
	if names := files(t, strings.TrimSuffix(path, "/before"+Extension)); len(names) != 1 {
		t.Errorf("files left: %v", names)
	}
	rec := mustOpen(t, path)
	if rec.Damage != nil {
		t.Errorf("damage %v", rec.Damage)
	}
	if rec.Configs[0].Text != "4f2c91e" || rec.Configs[1].Text != "" || rec.Configs[1].Note != kasoku.ScrubbedNote || !strings.Contains(rec.Configs[2].Text, "nginxText") {
		t.Errorf("configuration %+v", rec.Configs)
	}
	if got := strings.Join(rec.Run.Command.Args, " "); got != "mysql -p*** --password *** -n 5" {
		t.Errorf("arguments %q", got)
	}
	if got := rec.Seconds[0].Errors; got["dial http://me:***@x/"] != 3 || got["refused"] != 1 {
		t.Errorf("errors %v", got)
	}
	if rec.Diagnosis.Verdict != was.Diagnosis.Verdict || len(rec.Diagnosis.Findings[0].Evidence) != len(was.Diagnosis.Findings[0].Evidence) ||
		rec.Diagnosis.Findings[0].Evidence[0].Value != was.Diagnosis.Findings[0].Evidence[0].Value {
		t.Error("a finding was changed")
	}
	if d := difference(rec.Series, was.Series); d != "" {
		t.Error(d)
	}
	counts := map[string]int64{}
	for _, d := range dropped {
		counts[d.What] = d.Count
	}
	if counts["outputs of commands"] != 1 || counts["statements of saves"] != 2 || counts["texts of the configuration"] != 1 || counts["free texts"] == 0 || counts["texts elsewhere, masked"] == 0 {
		t.Errorf("dropped %+v", dropped)
	}
}

func TestScrubConfigs(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, leaky()); err != nil {
		t.Fatal(err)
	}
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Scrub(ScrubOptions{Configs: true})
	again, err2 := e.Scrub(ScrubOptions{Configs: true})
	if err := errors.Join(err, err2, e.Close()); err != nil {
		t.Fatal(err)
	}
	if len(again) != 0 {
		t.Errorf("dropped again %+v", again)
	}
	if file := mustRead(t, path); bytes.Contains(file, []byte("nginxText")) || bytes.Contains(file, []byte(planted)) {
		t.Error("a configuration is in the file")
	}
	if rec := mustOpen(t, path); rec.Damage != nil || rec.Configs[2].Name != "nginx -T" || rec.Configs[2].Note != kasoku.ScrubbedNote {
		t.Errorf("configuration %+v, damage %v", rec.Configs, rec.Damage)
	}
}

// TestScrubKeepsDamage: a scrub must not hide that a figure is not what was measured.
func TestScrubKeepsDamage(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, leaky()); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE load_second SET asked = asked + 1 WHERE id = 1")
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Scrub(ScrubOptions{})
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	if rec := mustOpen(t, path); len(rec.Damage) != 1 || !strings.Contains(rec.Damage[0], "load_second") {
		t.Errorf("damage %v", rec.Damage)
	}
}

func TestRemove(t *testing.T) {
	dir := runs(t, "before", "after")
	if err := Remove(dir + "/run0.kasoku"); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 1 || got[0] != "run1.kasoku" {
		t.Errorf("files %v", got)
	}
	if err := Remove(dir + "/run0.kasoku"); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v", err)
	}
	// What a killed recorder left goes with its log.
	killed := crash(t, t.TempDir(), 2)
	if err := Remove(killed); err != nil {
		t.Fatal(err)
	}
	if got := files(t, strings.TrimSuffix(killed, "/"+killed[strings.LastIndex(killed, "/")+1:])); len(got) != 0 {
		t.Errorf("files %v", got)
	}
	// A broken run file may go, another file not.
	mustWrite(t, dir+"/broken.kasoku", []byte("x"))
	mustWrite(t, dir+"/notes.txt", []byte("x"))
	if err := Remove(dir + "/broken.kasoku"); err != nil {
		t.Error(err)
	}
	if err := Remove(dir + "/notes.txt"); !errors.Is(err, ErrNotRun) {
		t.Errorf("error %v", err)
	}
}

func TestRemoveWhileRecording(t *testing.T) {
	for _, by := range []recorder{thisProcess(), {}} {
		path := tempRun(t)
		w, err := create(path, sampleRun(), by, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		mustFrames(t, w, simulate(10).tick(1))
		if err := Remove(path); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v", err)
		}
		if err := Copy(path, path+".copy"); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v", err)
		}
	}
}

func TestCopy(t *testing.T) {
	from := crash(t, t.TempDir(), 5)
	to := t.TempDir() + "/copy.kasoku"
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	if rec := mustOpen(t, to); ticksOf(t, rec) != 5 || rec.Run.Length > time.Minute {
		t.Errorf("%+v", rec.Run)
	}
	if err := Copy(from, to); err == nil {
		t.Error("a file was overwritten")
	}
}

// The secret and the data of a person that are planted in each text of a file. A
// secret in a sentence that stays is one that can be seen to be one.
const plantedText = "x password=hunterTwo alice.liddell@wonder.example 203.0.113.77 4111 1111 1111 1111 'wonderland'"

// plantedWords are what must not be found afterwards.
var plantedWords = []string{"hunterTwo", "liddell", "4111", "203.0.113.77", "wonderland"}

// plant puts a text into each text column of each table of a file, in all forms
// that the column has, and makes the checksums fit.
func plant(t *testing.T, path, text string) (columns int) {
	t.Helper()
	db, err := connect(path, editing)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = inTx(db, func(tx *sql.Tx) error {
		all, err := textColumns(tx)
		if err != nil {
			return err
		}
		for _, c := range all {
			rows := map[int64]string{}
			err := eachText(tx, fmt.Sprintf("SELECT id, %s || '' FROM %s", quoteName(c.name), c.table), func(id int64, was string) {
				now := scrub.MapJSON(was, func(s string) string { return fmt.Sprintf("%s %s %d", s, text, id) })
				if now != was { // else an empty list, or one of numbers
					rows[id] = now
				}
			})
			if err != nil {
				return err
			}
			for id, now := range rows {
				if _, err := tx.Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE id = ?", c.table, quoteName(c.name)), now, id); err != nil {
					return err
				}
			}
			if len(rows) > 0 {
				columns++
			}
		}
		return renewSums(tx, allTables())
	})
	if err != nil {
		t.Fatal(err)
	}
	return columns
}

// TestScrubEverything plants in each text column that the file's schema has, and looks
// at each byte of the scrubbed file and each text that a reader gets of it.
func TestScrubEverything(t *testing.T) {
	path := tempRun(t)
	rec := leaky()
	rec.Configs = rec.Configs[2:] // what is planted there hides which of them is a difference of code
	if err := Write(path, rec); err != nil {
		t.Fatal(err)
	}
	if n := plant(t, path, plantedText); n < 150 {
		t.Errorf("only %d columns have a text", n)
	}
	// A column and a table of a newer kasoku.
	execute(t, path, "ALTER TABLE gap ADD COLUMN fresh TEXT NOT NULL DEFAULT 'hunterTwo'; UPDATE gap SET fresh = fresh || ' hunterTwo'")
	execute(t, path, "CREATE TABLE fresh (id INTEGER PRIMARY KEY, words VARCHAR(20)); INSERT INTO fresh VALUES (1, 'hunterTwo')")
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Scrub(ScrubOptions{})
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	file := bytes.ReplaceAll(mustRead(t, path), []byte("DEFAULT 'hunterTwo'"), nil) // the schema is the test's own
	rec = mustOpen(t, path)
	read, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range plantedWords {
		for what, b := range map[string][]byte{"file": file, "recording": read} {
			if i := bytes.Index(b, []byte(word)); i >= 0 {
				t.Errorf("the %s holds %q: %q", what, word, b[max(0, i-80):min(len(b), i+40)])
			}
		}
	}
	if len(rec.Diagnosis.Findings) == 0 || len(rec.Endpoints) == 0 || len(rec.Queries) == 0 || len(rec.Series) == 0 {
		t.Errorf("a table is lost: %v", rec.Damage)
	}
}

func TestScrubArgs(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if got := scrub.Args(jsonText(args)); got != jsonText(strings.Fields(want)) {
			t.Errorf("%q: %s, want %q", args, got, want)
		}
	}
	f("mysql -u*** -e *** --host=*** -- ***", "mysql", "-ualice", "-e", "SELECT 'x'", "--host=db", "--", "x y")
	f("wrk -t 4 -d 30s *** -x --", "wrk", "-t", "4", "-d", "30s", "http://a/?b=c", "-x", "--")
}

// TestSave_Replaced: rows that others took the place of are nowhere in the file.
func TestSave_Replaced(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	kept := kasoku.TableDef{Name: "shop.items", Engine: "InnoDB"}
	for i, rows := range [][]kasoku.TableDef{{kept, {Name: "stranger." + planted, Engine: strings.Repeat(planted, 9)}}, {kept}} {
		if err := Save(w, rows); err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(mustRead(t, path+"-wal"), []byte(planted)); i == 0 && !has {
			t.Fatal("nothing was stored")
		}
	}
	if err := errors.Join(w.Finish(sampleRun()), w.Close()); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mustRead(t, path), []byte(planted)) {
		t.Error("the file still has a table that is not of the service")
	}
}
