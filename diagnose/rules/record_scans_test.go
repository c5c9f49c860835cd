//go:build extract

package rules

import (
	"context"
	"strings"
	"time"
)

// reelTable has 19,998 reels of 400 halls, shown over 20 years.
var reelTable = []string{
	"CREATE TABLE reels (id INT NOT NULL PRIMARY KEY, hall INT NOT NULL, shown DATETIME NOT NULL, title VARCHAR(60) NOT NULL, label VARCHAR(40) COLLATE utf8mb4_bin NOT NULL, KEY by_hall (hall), KEY by_title (title))",
	"INSERT INTO reels SELECT seq, seq * 7 MOD 400, '2006-01-01' + INTERVAL seq * 17 HOUR, CONCAT('reel from harbour ', seq * 13 MOD 9001), CONCAT('Box ', seq) FROM (" + numbers(9999) + ") s",
	"INSERT INTO reels SELECT id + 9999, hall, shown + INTERVAL 5 MINUTE, CONCAT('a ', title), CONCAT('x', label) FROM reels",
	"ANALYZE TABLE reels",
}

// switchTable has 300 settings.
var switchTable = []string{
	"CREATE TABLE IF NOT EXISTS switches (name VARCHAR(40) NOT NULL PRIMARY KEY, value VARCHAR(400) NOT NULL)",
	"INSERT INTO switches SELECT CONCAT('switch ', seq), REPEAT('on ', 80) FROM (" + numbers(300) + ") s",
	"ANALYZE TABLE switches",
}

// berthTable has 20,000 berths of 2,000 ports, whose numbers are kept as text.
var berthTable = []string{
	"CREATE TABLE ports (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, code VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, UNIQUE KEY (name))",
	"CREATE TABLE berths (id INT NOT NULL PRIMARY KEY, number VARCHAR(20) NOT NULL, port VARCHAR(20) CHARACTER SET latin1 NOT NULL, plan VARCHAR(200) NOT NULL, KEY by_number (number), KEY by_port (port))",
	"INSERT INTO ports SELECT seq, CONCAT('Port ', seq), CONCAT('P', seq) FROM (" + numbers(2000) + ") s",
	"INSERT INTO berths SELECT seq, seq, CONCAT('P', seq MOD 2000), REPEAT('plan ', 30) FROM (" + numbers(9999) + ") s",
	"INSERT INTO berths SELECT id + 9999, number + 9999, port, plan FROM berths",
	"ANALYZE TABLE ports, berths",
}

// seatTable has three seats of each of 9,999 reels, and what they belong to.
var seatTable = append(reelTable[:len(reelTable):len(reelTable)],
	"CREATE TABLE seats (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, reel INT NOT NULL, price INT NOT NULL, KEY by_reel (reel))",
	"INSERT INTO seats (reel, price) SELECT seq, seq MOD 7 FROM ("+numbers(9999)+") s",
	"INSERT INTO seats (reel, price) SELECT reel, price + 1 FROM seats",
	"INSERT INTO seats (reel, price) SELECT reel, price + 2 FROM seats WHERE id <= 9999",
	"ANALYZE TABLE seats")

// talkTable has 2,000 talks with their text, each with three of 60 subjects.
var talkTable = []string{
	"CREATE TABLE talks (id INT NOT NULL PRIMARY KEY, held DATETIME NOT NULL, title VARCHAR(60) NOT NULL, " +
		"text TEXT NOT NULL)",
	"CREATE TABLE subjects (talk INT NOT NULL, subject INT NOT NULL, PRIMARY KEY (talk, subject), KEY " +
		"by_subject (subject))",
	"INSERT INTO talks SELECT seq, '2006-01-01' + INTERVAL seq * 17 HOUR, CONCAT('talk ', seq), " +
		"REPEAT('a word or two ', 150) FROM (" + numbers(2000) + ") s",
	"INSERT INTO subjects SELECT id, id MOD 20 FROM talks UNION ALL SELECT id, 20 + id MOD 20 FROM talks " +
		"UNION ALL SELECT id, 40 + id MOD 20 FROM talks",
	"ANALYZE TABLE talks, subjects",
}

// scanRuns are those of the rules about conditions that no index can seek.
func scanRuns() []boardRun {
	run := func(name, keep, q string, args func(n uint64) []any) boardRun {
		return boardRun{name: name, target: "GET /reels", rate: 30, each: 4 * time.Second, setup: reelTable, keep: keep, want: "table reels",
			serve: func(ctx context.Context, b *board, n uint64) (string, error) {
				_, err := b.each(ctx, q, args(n)...)
				return "", err
			}}
	}
	one := func(values ...any) func(n uint64) []any {
		return func(n uint64) []any { return []any{values[n%uint64(len(values))]} }
	}
	page := func(name, keep string, all ...string) boardRun {
		r := run(name, keep, "", nil)
		r.want = ""
		r.setup = append(r.setup[:len(r.setup):len(r.setup)], switchTable...)
		r.serve = func(ctx context.Context, b *board, n uint64) (string, error) {
			for _, q := range all {
				if strings.HasPrefix(q, "SELECT") {
					rows, err := b.db.QueryContext(ctx, b.tag(q))
					if err != nil {
						return "", err
					}
					for rows.Next() {
					}
					if err := rows.Close(); err != nil {
						return "", err
					}
				} else if _, err := b.db.ExecContext(ctx, b.tag(q)); err != nil {
					return "", err
				}
			}
			return "", nil
		}
		return r
	}
	berths := func(r boardRun) boardRun {
		r.setup, r.want = berthTable, "table berths"
		return r
	}
	seats := func(r boardRun) boardRun { r.setup = seatTable; return r }
	both := func(r boardRun) boardRun { r.also = "GET /halls"; return r }
	talks := func(name, keep, fields, where string) boardRun {
		r := page(name, keep, "SELECT DISTINCT "+fields+" FROM talks t JOIN subjects s ON s.talk = t.id "+
			"WHERE s.subject "+where+" ORDER BY t.held DESC LIMIT 20")
		r.setup, r.rate, r.want = talkTable, 10, "table talks"
		return r
	}
	sure := func(name, keep, want, q string) boardRun {
		r := talks(name, keep, "", "")
		serve := page(name, keep, "SELECT DISTINCT "+q).serve
		r.serve, r.want = serve, want
		return r
	}
	return []boardRun{
		sure("distinct-anyway", "QRY-14/fires", "table subjects", "r.* FROM (SELECT s.*, t.title, t.held "+
			"FROM subjects s LEFT JOIN talks t ON t.id = s.talk WHERE s.subject < 40) r ORDER BY r.held DESC LIMIT 20"),
		sure("distinct-subjects", "QRY-14/silent", "", "t.title, t.held FROM subjects s LEFT JOIN talks t "+
			"ON t.id = s.talk WHERE s.subject < 40 ORDER BY t.held DESC LIMIT 20"),
		talks("distinct-texts", "QRY-14/fires", "t.id, t.held, t.title, t.text", ">= 20"),
		talks("distinct-star", "QRY-14/fires", "t.*", "< 40"),
		talks("distinct-titles", "QRY-14/silent", "t.id, t.held, t.title", ">= 20"),
		talks("distinct-keyless", "QRY-14/silent", "t.held, t.title, t.text", ">= 20"),
		talks("distinct-of-one", "QRY-14/silent", "t.id, t.held, t.title, t.text", "= 7"),
		run("like-words", "IDX-09/fires IDX-10/silent", "SELECT id, title FROM reels WHERE title LIKE ?", one("%harbour 77%", "%harbour 4242%", "%harbour 815%")),
		run("regexp-words", "IDX-09/fires IDX-10/silent",
			"SELECT id, title FROM reels WHERE title REGEXP ? ORDER BY id",
			one("harbour 77", "harbour 4242", "harbour 815")),
		run("like-begin", "IDX-09/silent IDX-10/silent IDX-11/silent", "SELECT id, title FROM reels WHERE title LIKE ?", one("reel from harbour 77%", "reel from harbour 4242%")),
		run("like-of-hall", "IDX-09/silent", "SELECT id, title FROM reels WHERE hall = ? AND title LIKE '%harbour 8%'", one(7, 14, 21)),
		run("label-lower", "IDX-10/fires", "SELECT id, title FROM reels WHERE LOWER(label) = ?", one("box 77", "box 4242")),
		run("year", "IDX-10/fires IDX-09/silent IDX-11/silent", "SELECT id, title FROM reels WHERE YEAR(shown) = ?", one(2007, 2011, 2019)),
		berths(run("number", "IDX-11/fires IDX-01/silent", "SELECT id, plan FROM berths WHERE number = ?", one(77, 4242, 815))),
		berths(run("ports-code", "IDX-11/fires IDX-01/silent", "SELECT b.id, b.plan FROM ports p JOIN berths b ON b.port = p.code WHERE p.name = ?",
			one("Port 77", "Port 1242", "Port 815"))),
		berths(run("number-text", "IDX-11/silent", "SELECT id, plan FROM berths WHERE number = ?", one("77", "4242", "815"))),
		run("hall-year", "IDX-10/silent", "SELECT id, title FROM reels WHERE hall = ? AND YEAR(shown) = 2011", one(7, 14, 21)),
		page("found-rows", "QRY-11/fires QRY-10/silent", "SELECT SQL_CALC_FOUND_ROWS id, title FROM reels ORDER BY shown DESC LIMIT 20"),
		page("found-in-hall", "QRY-11/silent", "SELECT SQL_CALC_FOUND_ROWS id, title FROM reels WHERE hall = 7 ORDER BY shown DESC LIMIT 20"),
		page("page-and-count", "QRY-11/silent", "SELECT id, title FROM reels ORDER BY shown DESC LIMIT 20", "SELECT COUNT(*) FROM reels"),
		seats(page("count-reels", "QRY-15/fires", "SELECT COUNT(DISTINCT r.id) FROM reels r LEFT JOIN seats s ON s.reel = r.id WHERE r.hall < 200",
			"SELECT id, title FROM reels WHERE hall = 7 ORDER BY id LIMIT 20")),
		seats(page("count-seats", "QRY-15/silent", "SELECT COUNT(*) FROM reels r LEFT JOIN seats s ON s.reel = r.id WHERE r.hall < 200")),
		seats(page("count-dear", "QRY-15/silent", "SELECT COUNT(DISTINCT r.id) FROM reels r LEFT JOIN seats s ON s.reel = r.id WHERE r.hall < 200 AND s.price > 1")),
		seats(page("count-alone", "QRY-15/silent", "SELECT COUNT(*) FROM reels r WHERE r.hall < 200")),
		both(page("switches", "QRY-10/fires", "SELECT name, value FROM switches", "SELECT id, title FROM reels WHERE id = 7")),
		page("switches-of-one", "QRY-10/silent", "SELECT name, value FROM switches"),
		both(page("switches-written", "QRY-10/silent", "UPDATE switches SET value = UUID() WHERE name = 'switch 7'", "SELECT name, value FROM switches")),
	}
}
