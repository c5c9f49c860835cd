//go:build extract

package rules

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// filmTable has 19,998 films of 400 studios and 20 genres.
var filmTable = []string{
	"CREATE TABLE films (id INT NOT NULL PRIMARY KEY, studio VARCHAR(40) NOT NULL, genre INT NOT NULL, rating INT NOT NULL, released INT NOT NULL, minutes INT NOT NULL, " +
		"x DOUBLE NOT NULL, y DOUBLE NOT NULL, title VARCHAR(60) NOT NULL, plot VARCHAR(2000) NOT NULL, KEY by_genre (genre, rating))",
	"INSERT INTO films SELECT seq, CONCAT('studio ', seq * 7 MOD 400), seq * 13 MOD 20, seq * 31 MOD 101, seq * 17 MOD 9001, seq * 23 MOD 240, seq MOD 100, seq * 3 MOD 70, CONCAT('film ', seq), REPEAT('plot ', 80) FROM (" + numbers(9999) + ") s",
	"INSERT INTO films SELECT id + 9999, studio, genre, rating, released + 3, minutes, x + 0.5, y, title, plot FROM films",
	"ANALYZE TABLE films",
}

// TestRecordIndexes makes the runs of the rules about indexes and keeps their
// extracts:
//
//	go test -tags extract ./diagnose/rules -run TestRecordIndexes -timeout 30m
func TestRecordIndexes(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		for _, r := range slices.Concat(filmRuns(), scanRuns()) {
			if *only == "" || named(r.name) {
				t.Run(r.name, func(t *testing.T) { r.record(t, s, nil) })
			}
		}
	})
}

func filmRuns() []boardRun {
	const silent = "IDX-01/silent IDX-02/silent IDX-03/silent IDX-04/silent IDX-05/silent IDX-06/silent IDX-07/silent "
	run := func(name, keep, q string, args func(n uint64) []any, more ...string) boardRun {
		return boardRun{name: name, target: "GET /films", rate: 40, each: 4 * time.Second, setup: filmTable, keep: keep, want: "table films",
			serve: func(ctx context.Context, b *board, n uint64) (string, error) {
				for _, q := range append([]string{q}, more...) {
					if _, err := b.each(ctx, q, args(n)...); err != nil {
						return "", err
					}
				}
				return "", nil
			}}
	}
	no := func(uint64) []any { return nil }
	one := func(mod uint64) func(uint64) []any { return func(n uint64) []any { return []any{n % mod} } }
	studio := func(n uint64) string { return []string{"studio 7", "studio 14", "studio 21"}[n%3] }
	bounds := func(n uint64) []any { return []any{n % 4 * 60, n%4*60 + 60} }
	return []boardRun{
		run("studio", "IDX-01/fires", "SELECT id, title FROM films WHERE studio = ?", func(n uint64) []any { return []any{studio(n)} }),
		run("newest", "IDX-02/fires", "SELECT id, title FROM films WHERE genre = ? ORDER BY released DESC LIMIT 10", one(20)),
		run("both", "IDX-03/fires", "SELECT id, title FROM films WHERE genre = ? AND studio = ?", func(n uint64) []any { return []any{n % 20, studio(n)} }),
		run("oldest", "IDX-04/fires", "SELECT id, title FROM films ORDER BY released LIMIT 10", no),
		run("lengths", "IDX-05/fires", "SELECT COUNT(*) FROM films WHERE minutes >= ? AND minutes < ?", bounds,
			"SELECT id, title FROM films WHERE minutes >= ? AND minutes < ? ORDER BY rating DESC, id LIMIT 20"),
		run("best", "IDX-06/fires", "SELECT id, title FROM films ORDER BY rating DESC, id LIMIT 20", no),
		run("shape", "IDX-07/fires", "SELECT id, title FROM films WHERE ST_Contains(ST_GeomFromText('POLYGON((1 1, 5 1, 5 5, 1 5, 1 1))'), POINT(x, y))", no),
		run("there", silent+"QRY-02/fires QRY-03/silent", "SELECT COUNT(*) FROM films WHERE id = ?", one(19000)),
		run("whole", "QRY-02/silent QRY-03/fires", "SELECT * FROM films WHERE id >= ? ORDER BY id LIMIT 50", one(19000)),
		run("served", silent+"QRY-02/silent QRY-03/silent", "SELECT id, title FROM films WHERE genre = ? ORDER BY rating LIMIT 10", one(20)),
	}
}

// TestConstructIndexes makes the cases just under the threshold from those that fire:
// the statements take less of longer requests.
//
//	go test -tags extract ./diagnose/rules -run TestConstructIndexes
func TestConstructIndexes(t *testing.T) {
	for _, x := range []struct {
		id, name string
		share    float64
	}{
		{"IDX-01", "studio", 0.009}, {"IDX-02", "newest", 0.009}, {"IDX-03", "both", 0.009}, {"IDX-04", "oldest", 0.009}, {"IDX-05", "lengths", 0.009},
		{"IDX-06", "best", 0.009}, {"IDX-07", "shape", 0.009}, {"QRY-03", "whole", 0.0018}, {"QRY-02", "there", 0},
		{"IDX-09", "like-words", 0.018}, {"IDX-10", "year", 0.018}, {"IDX-11", "number", 0.018}, {"QRY-10", "switches", 0.018}, {"QRY-11", "found-rows", 0.018}, {"QRY-15", "count-reels", 0.018},
		{"QRY-14", "distinct-texts", 0.018}, {"QRY-14", "distinct-anyway", 0.018},
	} {
		if *only != "" && !named(x.name) {
			continue
		}
		for _, server := range []string{"mariadb", "mysql"} {
			data, err := os.ReadFile(filepath.Join("testdata", x.id, "fires", server+"-"+x.name+".txtar"))
			if err != nil {
				t.Error(err)
				continue
			}
			rec, baseline, err := extract.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			how := thinned(rec, x.id, x.share)
			if w := wrongCase(caseOf(extract.Group{Run: rec}), x.id, "under"); w != "" {
				t.Errorf("%s %s %s", x.id, server, w)
				continue
			}
			keepExtract(t, rec, baseline, x.id, "under/"+server+"-"+x.name, "constructed: from fires/"+server+"-"+x.name+".txtar by "+how+", with TestConstructIndexes")
		}
	}
}

// thinned changes a run so that a rule's share of the requests' time is that, or so
// that fewer statements are counted.
func thinned(rec *kasoku.Recording, id string, share float64) string {
	if share == 0 {
		for i := range rec.Queries {
			if q := &rec.Queries[i]; strings.Contains(q.Fingerprint, "count(") {
				q.Calls = 90
			}
		}
		return "taking 90 calls for all"
	}
	for _, rule := range All() {
		if rule.ID() != id {
			continue
		}
		if found, _ := rule.Check(caseOf(extract.Group{Run: rec})); len(found) > 0 {
			for i := range rec.Endpoints {
				e := &rec.Endpoints[i]
				e.Total = time.Duration(float64(e.Total) * found[0].Impact.Share / share)
			}
		}
	}
	return "making requests longer"
}
