// Package isucond is a small service that chairs report their condition to, as the
// qualifier of ISUCON11 had one: chairs post what they feel, their owners look at it,
// and everybody looks at the trend of all.
//
//	DRV-03  conditions are inserted one by one
//	IDX-01  conditions have no index but their key
//	IDX-02  their index ends in the wrong time
//	QRY-01  the last conditions of a chair are taken from all of them
//	QRY-02  whether a chair exists is found out by counting
//	QRY-05  a user's chairs are asked for their last condition one by one
//	NGX-01  nginx connects to the service for each request
//	NGX-02  the service sends static files
//	NGX-06  pictures of chairs lie in the database
//	CCH-01  the trend is computed for everyone anew
//	CCH-02  Varnish passes what has a cookie on
//	APP-01  the service logs five lines for each request
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
			{ID: "DRV-03", Where: "service", About: "conditions are inserted one by one", Object: `condition`,
				Brings: []string{"DBC-08"}},
			{ID: "IDX-01", Where: "database", About: "conditions have no index but their key", Object: `isu_condition`,
				Also: "IDX-04", Brings: []string{"IDX-02", "IDX-03", "IDX-05"}},
			{ID: "IDX-02", Where: "database", About: "the index of conditions ends in the wrong time",
				Object: `isu_condition`, Brings: []string{"IDX-04", "IDX-05"}},
			{ID: "QRY-01", Where: "service", About: "the last conditions are taken from all", Object: `condition`,
				Brings: []string{"QRY-03"}},
			{ID: "QRY-02", Where: "service", About: "whether a chair exists is found out by counting",
				Object: `isu|condition`},
			{ID: "QRY-05", Where: "service", About: "chairs are asked for their last condition one by one",
				Object: `/api/isu`},
			{ID: "NGX-01", Where: "nginx", About: "nginx connects anew for each request", Object: `upstream|location`},
			{ID: "NGX-02", Where: "nginx", About: "the service sends static files",
				Object: `assets|static|location|endpoint`},
			{ID: "NGX-06", Where: "service", About: "pictures lie in the database", Object: `icon`,
				Brings: []string{"QRY-03"}},
			{ID: "CCH-01", Where: "varnish", About: "the trend is computed for everyone", Object: `trend`,
				Brings: []string{"QRY-07"}},
			{ID: "CCH-02", Where: "varnish", About: "what has a cookie is passed on",
				Object: `trend|cache|cookie|varnish`, Brings: []string{"CCH-01", "QRY-07"}},
			{ID: "APP-01", Where: "service", About: "five lines are logged for each request"},
		},
		Variants: variants(), Story: story(),
		Args: func(kit.Set, string) []string {
			return []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"}
		},
		Fill: fillTables, Serve: serve, Targets: listTargets, PerSec: 150, Expvar: "/debug/vars", Status: "/status",
		Nginx: func(d kit.Set) string { return kit.Without(nginxConf, d) },
		VCL:   func(d kit.Set) string { return kit.Without(trendVCL, d) },
	}
}

// How much there is.
const (
	users    = 4
	perUser  = 20 // chairs
	chairs   = users * perUser
	perChair = 150 // conditions
	iconSize = 24 << 10
	hours    = 3000 // of the trend, for each nature
)

// began is when the first condition was reported.
var began = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// uuidOf is the id of chair i, from 1.
func uuidOf(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-%012d", i, i) }

func schemaOf(d kit.Set) []string {
	index := ", KEY by_time (jia_isu_uuid, timestamp)"
	switch {
	case d.Has("IDX-01"):
		index = ""
	case d.Has("IDX-02"):
		index = ", KEY by_time (jia_isu_uuid, created_at)"
	}
	return []string{
		`CREATE TABLE isu (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, jia_isu_uuid CHAR(36) NOT NULL UNIQUE, name VARCHAR(255) NOT NULL,
		  image LONGBLOB NOT NULL, nature VARCHAR(255) NOT NULL, user_id BIGINT NOT NULL, KEY by_user (user_id, id))`,
		"CREATE TABLE isu_condition (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, jia_isu_uuid CHAR(36) NOT NULL, timestamp DATETIME NOT NULL, " +
			"is_sitting TINYINT NOT NULL, state VARCHAR(100) NOT NULL, message VARCHAR(200) NOT NULL, created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)" + index + ")",
		"CREATE TABLE trend_hour (nature VARCHAR(20) NOT NULL, hour INT NOT NULL, reported INT NOT NULL, well INT NOT NULL, PRIMARY KEY (nature, hour))",
	}
}

func fillTables(ctx context.Context, db *sql.DB, d kit.Set) error {
	for _, q := range schemaOf(d) {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	for i := 1; i <= chairs; i++ {
		if _, err := db.ExecContext(ctx,
			"INSERT INTO isu (jia_isu_uuid, name, image, nature, user_id) VALUES (?, ?, ?, ?, ?)",
			uuidOf(i), fmt.Sprintf("chair %d", i), iconOf(i), natures[i%len(natures)], (i-1)/perUser+1); err != nil {
			return err
		}
		var rows []string
		for k := range perChair { // created_at falls while timestamp rises: chairs report late
			rows = append(rows, fmt.Sprintf("('%s','%s',%d,'%s','message %d','%s')", uuidOf(i),
				began.Add(time.Duration(k)*time.Hour).Format(time.DateTime),
				k%2, states[(i+k)%len(states)], k,
				began.Add(time.Duration(2*perChair-(k*37)%perChair)*time.Hour).Format(time.DateTime)))
		}
		if _, err := db.ExecContext(ctx,
			"INSERT INTO isu_condition (jia_isu_uuid, timestamp, is_sitting, state, message, created_at) VALUES "+
				strings.Join(rows, ",")); err != nil {
			return err
		}
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
	_, err := db.ExecContext(ctx, "ANALYZE TABLE isu, isu_condition, trend_hour")
	return err
}

var (
	natures = []string{"lazy", "eager", "calm", "proud", "shy"}
	states  = []string{"is_dirty=false,is_overweight=false", "is_dirty=true,is_overweight=false",
		"is_dirty=true,is_overweight=true"}
)

// iconOf stands in for the picture of a chair: bytes that are no picture.
func iconOf(i int) []byte { return bytes.Repeat([]byte{byte(i), 0xd8, byte(i >> 8)}, iconSize/3) }

// listTargets are the requests, of all users and some of their chairs.
func listTargets(base string) ([]load.Target, error) {
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
		for _, c := range []int{1, 7, 13} {
			id := uuidOf(u*perUser + c)
			add(3, "GET", "/api/isu/"+id+"/icon", cookie, nil)
			add(4, "GET", "/api/condition/"+id, cookie, nil)
			add(2, "GET", "/api/isu/"+id+"/graph?datetime="+fmt.Sprint(began.AddDate(0, 0, 3).Unix()), cookie, nil)
			add(4, "POST", "/api/condition/"+id, "", report(u*perUser+c))
		}
	}
	for _, file := range []string{"/index.html", "/assets/app.js", "/assets/style.css"} {
		add(24, "GET", file, "", nil) // most requests of a page are for its files
	}
	return out, nil
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
