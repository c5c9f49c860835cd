// Package isucond is a small service that chairs report their condition to, as the
// qualifier of ISUCON11 had one: chairs post what they feel, their owners look at it,
// and everybody looks at the trend of all.
//
//	DRV-01  each statement is prepared, executed and closed
//	DRV-03  conditions are inserted one by one
//	IDX-01  conditions have no index but their key
//	IDX-02  their index ends in the wrong time
//	IDX-08  their index was made by hand, and initialize makes the table without it
//	QRY-01  the last conditions of a chair are taken from all of them
//	QRY-02  whether a chair or a user exists is found out by counting, at each request
//	QRY-05  a user's chairs are asked for their last condition one by one
//	QRY-09  the graph of a day reads all that the chair ever reported
//	NGX-01  nginx connects to the service for each request
//	NGX-02  the service sends static files
//	NGX-03  a picture that is posted goes through a temporary file of nginx
//	NGX-06  pictures of chairs lie in the database
//	CCH-01  the trend is computed for everyone anew
//	CCH-02  Varnish passes what has a cookie on
//	APP-01  the service logs five lines for each request
//	APP-04  six of ten reports are confirmed and dropped
//
// [Lab] is the lab's table.
package isucond

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed" // nginx.conf, trend.vcl
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/load"
)

//go:embed nginx.conf
var nginxConf string

//go:embed trend.vcl
var trendVCL string

// Lab returns the lab's table.
func Lab() *kit.Lab {
	return &kit.Lab{
		Name:  "isucond",
		About: "chairs that report their condition: indexes, single-row INSERTs, pictures in the database, nginx, Varnish",
		Defects: []kit.Defect{
			{ID: "DRV-01", Where: "service", About: "each statement is prepared, executed and closed"},
			{ID: "DRV-03", Where: "service", About: "conditions are inserted one by one", Object: `condition`,
				Brings: []string{"DBC-08"}},
			{ID: "IDX-01", Where: "database", About: "conditions have no index but their key", Object: `isu_condition`,
				Also: "IDX-04", Brings: []string{"IDX-02", "IDX-03", "IDX-05"}},
			{ID: "IDX-02", Where: "database", About: "the index of conditions ends in the wrong time",
				Object: `isu_condition`, Brings: []string{"IDX-04", "IDX-05"}},
			{ID: "IDX-08", Where: "database", About: "initialize makes conditions without an index made by hand",
				Object: `isu_condition`, Brings: []string{"IDX-01", "IDX-02", "IDX-03", "IDX-04", "IDX-05"}},
			{ID: "QRY-01", Where: "service", About: "the last conditions are taken from all", Object: `condition`,
				Brings: []string{"QRY-03", "QRY-09"}}, // all of them become more
			{ID: "QRY-02", Where: "service", About: "whether a chair or a user exists is found out by counting",
				Object: `isu|condition|user`},
			{ID: "QRY-05", Where: "service", About: "chairs are asked for their last condition one by one",
				Object: `/api/isu`},
			{ID: "QRY-09", Where: "service", About: "the graph of a day reads all conditions of the chair",
				Object: `graph|condition`, Brings: []string{"QRY-01"}},
			{ID: "NGX-01", Where: "nginx", About: "nginx connects anew for each request", Object: `upstream|location`},
			{ID: "NGX-02", Where: "nginx", About: "the service sends static files",
				Object: `assets|static|location|endpoint`},
			{ID: "NGX-03", Where: "nginx", About: "pictures that are posted are spooled",
				Object: `POST /api/isu|location|client_body`},
			{ID: "NGX-06", Where: "service", About: "pictures lie in the database", Object: `icon`,
				Brings: []string{"QRY-03"}},
			{ID: "CCH-01", Where: "varnish", About: "the trend is computed for everyone", Object: `trend`,
				Brings: []string{"QRY-07"}},
			{ID: "CCH-02", Where: "varnish", About: "what has a cookie is passed on",
				Object: `trend|cache|cookie|varnish`, Brings: []string{"CCH-01", "QRY-07"}},
			{ID: "APP-01", Where: "service", About: "five lines are logged for each request"},
			{ID: "APP-04", Where: "service", About: "six of ten reports are confirmed and dropped",
				Object: `POST /api/condition`, Apart: "what is dropped does none of what the other defects are about"},
		},
		Controls: []kit.Defect{
			{ID: "NGX-09", Where: "nginx", About: "static files are sent as they were packed before"},
			{ID: "QRY-09W", Where: "service", About: "the graph of a day is read hour by hour"},
			{ID: "DBC-06", Where: "database", About: "MariaDB's query cache is on"},
			{ID: "CCH-04", Where: "varnish", About: "the trend is kept for longer than it may be old"},
		},
		Variants: variants(), Story: story(),
		Args: func(d kit.Set, database string) []string {
			out := []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"}
			if d.Has("DBC-06") && database == "mariadb" { // MySQL has none
				out = append(out, "--query-cache-type=1", "--query-cache-size=16M")
			}
			return out
		},
		Fill: fillTables, Serve: serve, Load: kit.Load{Initialize: "/initialize", Targets: listTargets, PerSec: 150},
		Pages: kit.Pages{Expvar: "/debug/vars", Status: "/status"},
		Nginx: func(d kit.Set) string { return kit.Without(nginxConf, d) },
		VCL:   func(d kit.Set) string { return kit.Without(trendVCL, d) },
	}
}

// How much there is.
const (
	users    = 4
	newUsers = 196 // who only have their first chairs yet
	perUser  = 20  // chairs
	chairs   = users * perUser
	perChair = 100 // conditions of those that report and are looked at
	perOther = 200 // of the others
	iconSize = 24 << 10
	hours    = 3000 // of the trend, for each nature
)

// began is when the first condition was reported.
var began = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// uuidOf is the id of chair i, from 1.
func uuidOf(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-%012d", i, i) }

// schemaOf are the statements of the schema script, which drops what is there.
func schemaOf(d kit.Set) []string {
	index := ", " + byTime
	switch {
	case d.Has("IDX-01"), d.Has("IDX-08"):
		index = ""
	case d.Has("IDX-02"):
		index = ", KEY by_time (jia_isu_uuid, created_at)"
	}
	return []string{
		"DROP TABLE IF EXISTS user, isu, isu_condition, trend_hour",
		`CREATE TABLE user (jia_user_id VARCHAR(255) NOT NULL PRIMARY KEY,
		  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))`,
		`CREATE TABLE isu (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, jia_isu_uuid CHAR(36) NOT NULL UNIQUE,
		  name VARCHAR(255) NOT NULL, image LONGBLOB NOT NULL, nature VARCHAR(255) NOT NULL,
		  jia_user_id VARCHAR(255) NOT NULL, KEY by_user (jia_user_id, id))`,
		`CREATE TABLE isu_condition (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, jia_isu_uuid CHAR(36) NOT NULL,
		  timestamp DATETIME NOT NULL, is_sitting TINYINT NOT NULL, state VARCHAR(100) NOT NULL,
		  message VARCHAR(200) NOT NULL, created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)` + index + ")",
		`CREATE TABLE trend_hour (nature VARCHAR(20) NOT NULL, hour INT NOT NULL, reported INT NOT NULL,
		  well INT NOT NULL, PRIMARY KEY (nature, hour))`,
	}
}

// byTime is the index that conditions want.
const byTime = "KEY by_time (jia_isu_uuid, timestamp)"

// fillTables runs the script; with IDX-08 an index is made by hand afterwards, as somebody
// did who did not look at what initialize does.
func fillTables(ctx context.Context, db *sql.DB, d kit.Set) error {
	if err := runScript(ctx, db, d); err != nil || !d.Has("IDX-08") {
		return err
	}
	_, err := db.ExecContext(ctx, "ALTER TABLE isu_condition ADD "+byTime)
	return err
}

// runScript makes the tables anew, and their rows.
func runScript(ctx context.Context, db *sql.DB, d kit.Set) error {
	for _, q := range schemaOf(d) {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if err := fillUsers(ctx, db); err != nil {
		return err
	}
	if err := fillChairs(ctx, db); err != nil {
		return err
	}
	for i, n := range natures {
		var rows []string
		for h := range hours {
			rows = append(rows, fmt.Sprintf("('%s',%d,%d,%d)", n, h, 10+(h+i)%7, (h*i)%10))
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO trend_hour VALUES "+strings.Join(rows, ",")); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "ANALYZE TABLE user, isu, isu_condition, trend_hour")
	return err
}

func fillUsers(ctx context.Context, db *sql.DB) error {
	var rows []string
	for u := range users + newUsers {
		rows = append(rows, fmt.Sprintf("('%d')", u+1))
	}
	_, err := db.ExecContext(ctx, "INSERT INTO user (jia_user_id) VALUES "+strings.Join(rows, ","))
	return err
}

// fillChairs makes the chairs and what they reported.
func fillChairs(ctx context.Context, db *sql.DB) error {
	for i := 1; i <= chairs; i++ {
		if _, err := db.ExecContext(ctx,
			"INSERT INTO isu (jia_isu_uuid, name, image, nature, jia_user_id) VALUES (?, ?, ?, ?, ?)",
			uuidOf(i), fmt.Sprintf("chair %d", i), iconOf(i), natures[i%len(natures)],
			strconv.Itoa((i-1)/perUser+1)); err != nil {
			return err
		}
		var rows []string
		n := perOther
		if slices.Contains(active, (i-1)%perUser+1) {
			n = perChair
		}
		for k := range n { // created_at falls while timestamp rises: chairs report late
			rows = append(rows, fmt.Sprintf("('%s','%s',%d,'%s','message %d','%s')", uuidOf(i),
				began.Add(time.Duration(k)*time.Hour).Format(time.DateTime),
				k%2, states[(i+k)%len(states)], k,
				began.Add(time.Duration(2*n-(k*37)%n)*time.Hour).Format(time.DateTime)))
		}
		if _, err := db.ExecContext(ctx,
			"INSERT INTO isu_condition (jia_isu_uuid, timestamp, is_sitting, state, message, created_at) VALUES "+
				strings.Join(rows, ",")); err != nil {
			return err
		}
	}
	return nil
}

var (
	active  = []int{1, 7, 13} // of a user's chairs
	natures = []string{"lazy", "eager", "calm", "proud", "shy"}
	states  = []string{"is_dirty=false,is_overweight=false", "is_dirty=true,is_overweight=false",
		"is_dirty=true,is_overweight=true"}
)

// iconOf stands in for the picture of a chair: bytes that are no picture.
func iconOf(i int) []byte { return bytes.Repeat([]byte{byte(i), 0xd8, byte(i >> 8)}, iconSize/3) }

// listTargets are the requests, of all users and some of their chairs.
func listTargets(base string, _ kit.Set) ([]load.Target, error) {
	var out []load.Target
	add := func(weight int, method, path, cookie string, body []byte) {
		t := load.Target{Method: method, URL: base + path, Body: body, Weight: weight, Header: http.Header{}}
		if cookie != "" {
			t.Header.Set("Cookie", cookie)
		}
		if body != nil {
			t.Header.Set("Content-Type", "application/json")
		}
		out = append(out, t)
	}
	for u := range users {
		cookie := fmt.Sprintf("user=%d", u+1)
		add(6, "GET", "/api/isu", cookie, nil)
		add(8, "GET", "/api/trend", cookie, nil) // browsers send their cookies everywhere
		for _, c := range active {
			id := uuidOf(u*perUser + c)
			add(3, "GET", "/api/isu/"+id+"/icon", cookie, nil)
			add(4, "GET", "/api/condition/"+id, cookie, nil)
			add(2, "GET", "/api/isu/"+id+"/graph?datetime="+fmt.Sprint(began.AddDate(0, 0, 3).Unix()), cookie, nil)
			add(6, "POST", "/api/condition/"+id, "", report(u*perUser+c))
		}
	}
	for _, file := range []string{"/index.html", "/assets/app.js", "/assets/style.css"} {
		add(24, "GET", file, "", nil) // most requests of a page are for its files
		out[len(out)-1].Header.Set("Accept-Encoding", "gzip")
	}
	for i, size := range []int{20_000, 50_000, 80_000, 120_000} {
		t, err := postTarget(base, size, uint64(i+1))
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// postTarget is a new user who registers a chair with a picture of that size.
func postTarget(base string, size int, seed uint64) (load.Target, error) {
	t := load.Target{Method: "POST", URL: base + "/api/isu", Weight: 3, Header: http.Header{
		"Cookie":       {fmt.Sprintf("user={{int %d %d}}", users+1, users+newUsers)},
		"Content-Type": {"multipart/form-data; boundary=kasoku"},
	}}
	t.Body = formOf("{{uuid}}", strings.Repeat("chairs! ", size/8))
	var err error
	t.Fill, err = load.NewFill(load.FillOptions{URL: t.URL, Header: t.Header, Body: t.Body, Seed: seed})
	return t, err
}

// formOf registers a chair.
func formOf(id, image string) (b []byte) {
	for _, f := range [][2]string{{`name="jia_isu_uuid"`, id}, {`name="isu_name"`, "a new chair"},
		{`name="image"; filename="a.jpg"`, image}} {
		b = fmt.Appendf(b, "--kasoku\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n", f[0], f[1])
	}
	return append(b, "--kasoku--\r\n"...)
}

// report is what a chair posts: ten conditions.
func report(i int) []byte {
	var b []byte
	for k := range 10 {
		b = fmt.Appendf(b, `,{"is_sitting":%t,"condition":%q,"message":"posted %d","timestamp":%d}`, k%2 == 0,
			states[k%len(states)], k,
			began.Add(time.Duration(perChair*60+i*10+k)*time.Minute).Unix())
	}
	b[0] = '['
	return append(b, ']')
}
