package statements_test

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
)

func TestLeavesResult(t *testing.T) {
	const plain = "CREATE TABLE `jobs` (\n  `id` bigint NOT NULL,\n  `team` bigint,\n  `status` int,\n  `score` int\n)"
	f := func(create, read, write string, want bool) {
		t.Helper()
		c := &diagnose.Case{Recording: &kasoku.Recording{Tables: []kasoku.TableDef{{Name: "jobs", Create: create}}}}
		r := &kasoku.Query{Verb: "SELECT", Tables: []string{"jobs"}, Fingerprint: read}
		w := &kasoku.Query{Verb: "UPDATE", Tables: []string{"jobs"}, Fingerprint: write}
		switch write[:1] {
		case "i":
			w.Verb = "INSERT"
		case "d":
			w.Verb = "DELETE"
		}
		if got := statements.LeavesResult(c, r, w); got != want {
			t.Errorf("%s\n%s: %v", read, write, got)
		}
	}
	const sum, status = "select team, max(score) from jobs group by team", "update jobs set status = ? where id = ?"
	f(plain, sum, status, true)
	f(plain, "select count(*), sum(score * ?) from `jobs`", status, true)
	f(plain, sum, "update jobs force index (primary) set status = ?, handle = ? where id = ? and score = ?", true)
	f(plain, sum, "update jobs set status = ?, SCORE = ? where id = ?", false)
	f(plain, sum, "update jobs set `score` = score + ? where id = ?", false)
	f(plain, "select max(score) from jobs where status = ?", status, false)
	f(plain, "select max(j.score), j.* from jobs j", status, false)
	f(plain, "select * from jobs", status, false)
	f(plain, "select distinct * from jobs", status, false)
	f(plain, "select max(score) from jobs natural join teams", status, false)
	f(plain, sum, "insert into jobs (status) values(?+)", false)
	f(plain, sum, "delete from jobs where id = ?", false)
	f(plain, sum+" …", status, false)
	f(plain, "select max(score) from jobs where id in (...", status, false)
	f(plain, "GET /ranking", status, false) // grouped by something else
	f("", sum, status, false)
	f("CREATE TABLE `jobs` (\n  `status` int,\n  `score` int GENERATED ALWAYS AS (`status` * 2) STORED\n)", sum, status, false)
	f("CREATE TABLE `jobs` (\n  `status` int,\n  `score` timestamp DEFAULT current_timestamp() ON UPDATE current_timestamp()\n)",
		sum, status, false)

	c := &diagnose.Case{Recording: &kasoku.Recording{Tables: []kasoku.TableDef{{Name: "jobs", Create: plain}}}}
	r := &kasoku.Query{Verb: "SELECT", Tables: []string{"jobs"}, Fingerprint: sum}
	w := &kasoku.Query{Verb: "UPDATE", Tables: []string{"jobs", "teams"}, Fingerprint: "update jobs, teams set status = ?"}
	if statements.LeavesResult(c, r, w) {
		t.Error("an UPDATE of two tables")
	}
}
