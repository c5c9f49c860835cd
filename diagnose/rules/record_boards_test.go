//go:build extract

package rules

import (
	"context"
	"fmt"
	"time"
)

const (
	placesOfTown = "SELECT id, label FROM places WHERE town = ? ORDER BY id"
	oneTown      = "SELECT id, label FROM towns WHERE id = ?"
	onePlace     = "SELECT id, town FROM places WHERE id = ?"
	inBox        = "SELECT id, label FROM places WHERE x >= ? AND x <= ? AND y >= ? AND y <= ? ORDER BY id"
	inShape      = "SELECT id FROM places WHERE id = ? AND ST_Contains(ST_GeomFromText('POLYGON((0 0, 40 0, 40 40, 0 40, 0 0))'), POINT(x, y))"
	notesOf      = "SELECT id, stars FROM notes WHERE place = ?"
	starsOf      = "SELECT stars FROM notes WHERE id = ?"
	visitsOf     = "SELECT id, minutes FROM visits WHERE place = ?"
	starSums     = "SELECT p.town, SUM(n.stars) FROM places p JOIN notes n ON n.place = p.id WHERE p.id <= ? GROUP BY p.town"
)

// boardRuns are the cases. What the rules look at are ratios, which need no great
// load.
func boardRuns() []boardRun {
	const s = time.Second
	run := func(name, target string, rate float64, each time.Duration, keep string, serve func(context.Context, *board, uint64) (string, error)) boardRun {
		return boardRun{name: name, target: target, rate: rate, each: each, keep: keep, serve: serve, want: "endpoint " + target}
	}
	with := func(r boardRun, change func(*boardRun)) boardRun { change(&r); return r }
	visits := func(n int) []string {
		return []string{fmt.Sprintf("INSERT INTO visits (place, minutes) SELECT 1, seq FROM (%s) s", numbers(n))}
	}
	visitsOfEach := func() (out []string) {
		for place := 1; place <= 4; place++ {
			out = append(out, fmt.Sprintf("INSERT INTO visits (place, minutes) SELECT %d, seq FROM (%s) s", place, numbers(400)))
		}
		return out
	}
	grow := func(ctx context.Context, b *board, _ uint64) (string, error) {
		if _, err := b.db.ExecContext(ctx, b.tag("INSERT INTO visits (place, minutes) VALUES (1, 5)")); err != nil {
			return "", err
		}
		_, err := b.each(ctx, visitsOf, 1)
		return "", err
	}
	level := func(ctx context.Context, b *board, _ uint64) (string, error) {
		if _, err := b.db.ExecContext(ctx, b.tag("INSERT INTO visits (place, minutes) VALUES (1, 5)")); err != nil {
			return "", err
		}
		_, err := b.each(ctx, visitsOf+" AND id > ? ORDER BY id DESC LIMIT 5", 1, 0)
		return "", err
	}
	sums := func(places int) func(context.Context, *board, uint64) (string, error) {
		return func(ctx context.Context, b *board, _ uint64) (string, error) {
			_, err := b.each(ctx, starSums, places)
			return "", err
		}
	}
	written := func(read func(context.Context, *board, uint64) (string, error), write string) func(context.Context, *board, uint64) (string, error) {
		return func(ctx context.Context, b *board, n uint64) (string, error) {
			for i := range uint64(3) {
				if _, err := b.db.ExecContext(ctx, b.tag(write), (3*n+i)%300+1); err != nil {
					return "", err
				}
			}
			return read(ctx, b, n)
		}
	}
	counts := func(keys uint64) func(context.Context, *board, uint64) (string, error) {
		return func(ctx context.Context, b *board, n uint64) (string, error) {
			_, err := b.each(ctx, "SELECT COUNT(*) FROM notes WHERE place = ?", n%keys+1)
			return "", err
		}
	}
	history := func(bytes int) func(context.Context, *board, uint64) (string, error) {
		return func(ctx context.Context, b *board, n uint64) (string, error) {
			_, err := b.each(ctx, visitsOf, n%4+1)
			return fmt.Sprintf("%0*d", bytes, 7), err
		}
	}
	return []boardRun{
		run("each-row", "GET /v3/board", 40, 4*s, "QRY-05/fires QRY-04/silent QRY-06/silent QRY-01/silent DBC-09/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			ids, err := b.each(ctx, placesOfTown, n%20+1)
			if err != nil {
				return "", err
			}
			return "", b.lookUp(ctx, ids, starsOf)
		}),
		run("few-rows", "GET /v3/board", 60, 4*s, "QRY-04/under QRY-05/under QRY-06/under QRY-07/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			ids, err := b.each(ctx, placesOfTown, n%20+1)
			if err != nil {
				return "", err
			}
			return "", b.lookUp(ctx, ids[:4+n%2], starsOf)
		}),
		run("at-once", "GET /v3/board", 60, 4*s, "QRY-04/silent QRY-05/silent QRY-06/silent QRY-08/silent OPS-04/silent DRV-03/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			if _, err := b.each(ctx, "SELECT p.id, t.label FROM places p JOIN towns t ON t.id = p.town WHERE p.town = ? ORDER BY p.id", n%20+1); err != nil {
				return "", err
			}
			_, err := b.each(ctx, "SELECT COUNT(*) FROM notes WHERE place = ?", n+1)
			return "", err
		}),
		run("area", "POST /v3/area", 30, 4*s, "QRY-04/fires QRY-05/silent QRY-06/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			ids, err := b.each(ctx, inBox, 1, 3, 0, 20)
			if err != nil {
				return "", err
			}
			return "", b.lookUp(ctx, ids, inShape)
		}),
		run("nested", "GET /v3/towns", 20, 4*s, "QRY-06/fires QRY-04/silent QRY-05/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			towns, err := b.each(ctx, "SELECT id FROM towns WHERE id <= ?", 4)
			if err != nil {
				return "", err
			}
			for _, town := range towns {
				places, err := b.each(ctx, placesOfTown, town)
				if err != nil {
					return "", err
				}
				if err := b.lookUp(ctx, places, "SELECT COUNT(*) FROM notes WHERE place = ?"); err != nil {
					return "", err
				}
			}
			return "", nil
		}),
		with(run("history", "GET /v3/last", 60, 4*s, "QRY-01/fires QRY-09/silent", history(40)), func(r *boardRun) { r.setup = visitsOfEach() }),
		with(run("history-packed", "GET /v3/last", 60, 4*s, "QRY-01/under QRY-09/silent", history(111)), func(r *boardRun) { r.setup = visitsOfEach() }),
		with(run("history-all", "GET /v3/last", 60, 4*s, "QRY-01/silent", history(9000)), func(r *boardRun) { r.setup = visitsOfEach() }),

		run("sums", "GET /v3/stars", 30, 4*s, "QRY-07/fires QRY-08/silent", sums(300)),
		run("small-sums", "GET /v3/stars", 60, 4*s, "QRY-07/under", sums(168)),
		// What is written three times a call is no part of the sum, or is.
		run("sums-beside", "GET /v3/stars", 30, 4*s, "QRY-07/fires", written(sums(300), "UPDATE places SET label = 'x' WHERE id = ?")),
		run("sums-changed", "GET /v3/stars", 30, 4*s, "QRY-07/silent",
			written(sums(300), "UPDATE notes SET stars = 6 - stars WHERE id = ?")),
		run("tiny-sums", "GET /v3/stars", 60, 4*s, "QRY-07/silent", sums(20)),
		run("counts", "GET /v3/count", 200, 4*s, "QRY-08/fires QRY-07/silent", counts(10)),
		run("more-counts", "GET /v3/count", 200, 4*s, "QRY-08/under", counts(17)),
		run("many-counts", "GET /v3/count", 200, 4*s, "QRY-08/silent", counts(200)),

		run("growing", "GET /v3/visits", 50, 6*s, "QRY-09/fires", grow),
		with(run("grown", "GET /v3/visits", 50, 6*s, "QRY-09/under", grow), func(r *boardRun) { r.setup = visits(250) }),
		with(run("bounded", "GET /v3/visits", 50, 6*s, "QRY-09/silent", level), func(r *boardRun) { r.baseline = "growing" }),
		// What replaced the reading costs more than the reading.
		with(run("in-vain", "GET /v3/visits", 50, 6*s, "QRY-09/fires", func(ctx context.Context, b *board, n uint64) (string, error) {
			if _, err := b.each(ctx, "SELECT SLEEP(0.15)"); err != nil {
				return "", err
			}
			return level(ctx, b, n)
		}), func(r *boardRun) { r.baseline, r.want = "growing", "Fewer rows read of visits: worse" }),

		run("prepared-loop", "POST /v3/visits", 20, 4*s, "DRV-02/fires DRV-03/fires DBC-09/silent", func(ctx context.Context, b *board, _ uint64) (string, error) {
			return "ok", b.insert(ctx, b.prepared, 12, 0)
		}),
		run("prepared-mixed", "POST /v3/visits", 20, 4*s, "DRV-02/under", func(ctx context.Context, b *board, _ uint64) (string, error) {
			return "ok", b.insert(ctx, b.prepared, 9, 11)
		}),
		run("plain-loop", "POST /v3/visits", 20, 4*s, "DRV-02/silent DRV-03/fires", func(ctx context.Context, b *board, _ uint64) (string, error) {
			return "ok", b.insert(ctx, b.db, 8, 0)
		}),
		run("three-rows", "POST /v3/visits", 40, 4*s, "DRV-02/silent DRV-03/under", func(ctx context.Context, b *board, n uint64) (string, error) {
			rows := 3
			if n%4 == 0 {
				rows = 2
			}
			return "ok", b.insert(ctx, b.db, rows, 0)
		}),
		run("one-row", "POST /v3/visits", 60, 4*s, "DRV-02/silent DRV-03/silent DBC-08/silent", func(ctx context.Context, b *board, _ uint64) (string, error) {
			return "ok", b.insert(ctx, b.db, 1, 1)
		}),

		with(run("two-kinds", "POST /v3/both", 100, 4*s, "DBC-08/fires DBC-09/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			if n%2 == 0 {
				return "ok", b.insert(ctx, b.db, 1, 1)
			}
			return "ok", b.within(ctx, "UPDATE notes SET stars = stars + 1 WHERE id = 3", "INSERT INTO visits (place, minutes) VALUES (2, 2)")
		}), func(r *boardRun) { r.want = "statement COMMIT" }),
		run("heavy-statements", "POST /v3/both", 20, 4*s, "DBC-08/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			if _, err := b.each(ctx, "SELECT COUNT(*), SLEEP(0.1) FROM towns WHERE id = 1"); err != nil {
				return "", err
			}
			if n%2 == 0 {
				return "ok", b.insert(ctx, b.db, 1, 1)
			}
			return "ok", b.within(ctx, "UPDATE notes SET stars = stars + 1 WHERE id = 3", "INSERT INTO visits (place, minutes) VALUES (2, 2)")
		}),
		run("read-only", "GET /v3/place", 100, 4*s, "DBC-09/fires DBC-08/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			return "", b.within(ctx, fmt.Sprintf("SELECT id, label FROM places WHERE id = %d", n%300+1))
		}),
		run("some-read-only", "GET /v3/place", 100, 4*s, "DBC-09/under", func(ctx context.Context, b *board, n uint64) (string, error) {
			if n%40 < 11 {
				return "", b.within(ctx, fmt.Sprintf("SELECT id, label FROM places WHERE id = %d", n%300+1))
			}
			return "", b.insert(ctx, b.db, 1, 1)
		}),

		with(run("scraps", "GET /v3/scraps", 50, 4*s, "OPS-04/fires", func(ctx context.Context, b *board, _ uint64) (string, error) {
			_, err := b.each(ctx, "SELECT id, body FROM scraps")
			return "", err
		}), func(r *boardRun) { r.want = "table scraps" }),
		run("ordered", "GET /v3/scraps", 50, 4*s, "OPS-04/under", func(ctx context.Context, b *board, _ uint64) (string, error) {
			_, err := b.each(ctx, "SELECT id, body FROM scraps ORDER BY id")
			return "", err
		}),
		run("keyed", "GET /v3/notes", 50, 4*s, "OPS-04/silent QRY-01/silent", func(ctx context.Context, b *board, n uint64) (string, error) {
			_, err := b.each(ctx, notesOf, n%300+1)
			return "", err
		}),
	}
}
