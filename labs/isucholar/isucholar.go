// Package isucholar is a small university portal, as the final of ISUCON11 had one:
// students register for courses, hand in files, see their grades; teachers enter
// scores and take the files of a class as an archive.
//
//	QRY-06  grades asks for each course, and for each class of it, twice more
//	QRY-07  grades computes the statistics of all students anew
//	LCK-01  an export holds the row of the class while it copies and packs files
//	LCK-02  scores of a class are written in the order in which they came, and no victim of a
//	        deadlock is tried again
//	APP-08  a student without a grade is given one of 0, among those who have some
//	APP-02  an export copies each file, and packs them, with programs
//	APP-10  a file that is handed in is read whole before it is kept
//	NGX-03  the body of a submission goes through a temporary file of nginx
//	NGX-04  the archive does so too
//	DBC-01  commits wait for the disk
//	DBC-08  they do so and say nothing of what they commit
//	DBC-09  what only reads does so in a transaction
//
// [Lab] is the lab's table.
package isucholar

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed" // nginx.conf
	"fmt"
	"net/http"
	"strings"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/prove/answers"
)

//go:embed nginx.conf
var nginxConf string

// Lab returns the lab's table.
func Lab() *kit.Lab {
	return &kit.Lab{
		Name:  "isucholar",
		About: "a university portal: grades, submissions, exports; N+1, locks, commits, copies",
		Defects: []kit.Defect{
			{ID: "QRY-06", Where: "service", About: "grades asks again for each course and class", Object: `grades`,
				Brings: []string{"QRY-04", "QRY-05"}},
			{ID: "QRY-07", Where: "service", About: "grades computes the statistics of all students anew",
				Object: `grades|query|results|users`, Brings: []string{"QRY-08"}},
			{ID: "LCK-01", Where: "service", About: "an export holds a row while it copies and packs",
				Object: `classes|export|query`},
			{ID: "LCK-02", Where: "service", About: "scores are written in the order in which they came",
				Object: `totals|scores`, Brings: []string{"LCK-01", "MES-07"}},
			{ID: "APP-02", Where: "service", About: "an export copies and packs files with programs"},
			{ID: "APP-08", Where: "service", About: "a student without a grade is placed among those who have some",
				Object: `grades`, Apart: "it costs no time"},
			{ID: "APP-10", Where: "service", About: "a file that is handed in is read whole", Object: `assignments`,
				Apart: "it costs memory, and no time where there is enough of that"},
			{ID: "NGX-03", Where: "nginx", About: "submissions are spooled",
				Object: `assignments|location|client_body`},
			{ID: "NGX-04", Where: "nginx", About: "archives are spooled", Object: `export|location|proxy_buff`},
			{ID: "DBC-01", Where: "database", About: "commits wait for the disk",
				Slight: "there are some thirty a second, and insertbench is the lab of what they cost"},
			{ID: "DBC-08", Where: "service", About: "commits say nothing of what they commit",
				Brings: []string{"DBC-01"}},
			{ID: "DBC-09", Where: "service", About: "what only reads does so in a transaction"},
		},
		Variants: variants(), Story: story(),
		Args: listArgs, Fill: fillTables, Serve: serveService,
		Load:  kit.Load{Targets: listTargets, PerSec: 60, Asked: asked()},
		Pages: kit.Pages{Pprof: profiles},
		Nginx: func(d kit.Set) string { return kit.Without(nginxConf, d) },
	}
}

// profiles are taken where what is allocated is the evidence.
func profiles(d kit.Set) string {
	if d.Has("APP-10") {
		return "/debug/pprof/"
	}
	return ""
}

func listArgs(d kit.Set, _ string) []string {
	flush := "2"
	if d.Has("DBC-01") || d.Has("DBC-08") { // what costs nothing may say nothing
		flush = "1"
	}
	return []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=" + flush}
}

// How much there is.
const (
	students   = 120
	freshman   = students + 1 // has no course that is over
	courses    = 60
	parts      = 5       // classes of a course
	perStudent = 12      // courses of a student
	handed     = 30      // files of the class that is exported
	scored     = 110     // students whose scores come at once
	finished   = courses // of earlier years, of which each student has a result
	fileSize   = 40 << 10
	slidesSize = 2 << 20 // of a larger file
)

var schema = []string{
	`CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, code VARCHAR(10) NOT NULL, name VARCHAR(60) NOT NULL)`,
	`CREATE TABLE courses (id BIGINT NOT NULL PRIMARY KEY,
	  name VARCHAR(100) NOT NULL, credit INT NOT NULL, status VARCHAR(20) NOT NULL)`,
	`CREATE TABLE classes (id BIGINT NOT NULL PRIMARY KEY,
	  course_id BIGINT NOT NULL, part INT NOT NULL, title VARCHAR(100) NOT NULL,
	  exports INT NOT NULL DEFAULT 0, UNIQUE KEY course_part (course_id, part))`,
	`CREATE TABLE registrations (course_id BIGINT NOT NULL,
	  user_id BIGINT NOT NULL, PRIMARY KEY (course_id, user_id), KEY by_user (user_id))`,
	`CREATE TABLE submissions (class_id BIGINT NOT NULL, user_id BIGINT NOT NULL, file_name VARCHAR(100) NOT NULL,
	  PRIMARY KEY (class_id, user_id), KEY by_user (user_id, class_id))`,
	`CREATE TABLE scores (class_id BIGINT NOT NULL,
	  user_id BIGINT NOT NULL, score INT NOT NULL, PRIMARY KEY (class_id, user_id))`,
	`CREATE TABLE results (user_id BIGINT NOT NULL,
	  course_id BIGINT NOT NULL, score INT NOT NULL, PRIMARY KEY (user_id, course_id))`,
	`CREATE TABLE totals (user_id BIGINT NOT NULL PRIMARY KEY, total BIGINT NOT NULL, changes BIGINT NOT NULL)`,
}

// fillTables makes the rows. All students take the first course, of which a
// class is exported.
func fillTables(ctx context.Context, db *sql.DB, _ kit.Set) error {
	for _, q := range schema {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	var users, cs, classes, regs, subs, marked, results, totals []string
	for c := range courses {
		cs = append(cs, fmt.Sprintf("(%d,'course %d',%d,'in-progress')", c+1, c+1, 1+c%3))
		for p := range parts {
			classes = append(classes, fmt.Sprintf("(%d,%d,%d,'class %d')", c*parts+p+1, c+1, p+1, p+1))
		}
	}
	users = append(users, fmt.Sprintf("(%d,'S99999','a student without a grade')", freshman))
	for u := range students {
		users = append(users, fmt.Sprintf("(%d,'S%05d','student %d')", u+1, u+1, u+1))
		totals = append(totals, fmt.Sprintf("(%d,%d,0)", u+1, perStudent*parts*60))
		for k := range finished {
			results = append(results, fmt.Sprintf("(%d,%d,%d)", u+1, k+1, 30+(u*11+k)%70))
		}
		for k := range perStudent {
			c := (u/10 - k + courses) % courses
			regs = append(regs, fmt.Sprintf("(%d,%d)", c+1, u+1))
			for p := range parts {
				subs = append(subs, fmt.Sprintf("(%d,%d,'%d.pdf')", c*parts+p+1, u+1, u+1))
				marked = append(marked, fmt.Sprintf("(%d,%d,%d)", c*parts+p+1, u+1, 20+(u*7+c*3+p)%80))
			}
		}
	}
	for _, t := range []struct {
		into string
		rows []string
	}{
		{"users (id,code,name)", users}, {"courses (id,name,credit,status)", cs},
		{"classes (id,course_id,part,title)", classes},
		{"registrations (course_id,user_id)", regs}, {"submissions (class_id,user_id,file_name)", subs},
		{"scores (class_id,user_id,score)", marked}, {"results (user_id,course_id,score)", results},
		{"totals (user_id,total,changes)", totals},
	} {
		if _, err := db.ExecContext(ctx, "INSERT INTO "+t.into+" VALUES "+strings.Join(t.rows, ",")); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "ANALYZE TABLE users, courses, classes, registrations, submissions, scores, results, totals")
	return err
}

// listTargets are the requests: the class that is exported is that of most submissions,
// as when its time is up. With APP-10 some hand in larger files.
func listTargets(base string, d kit.Set) ([]load.Target, error) {
	const first = "/api/courses/1/classes/1/assignments"
	as := http.Header{"Cookie": {"user={{int 1 120}}"}}
	json := http.Header{"Content-Type": {"application/json"}}
	upload := http.Header{"Content-Type": {"multipart/form-data; boundary=kasoku"}, "Cookie": {"user={{int 1 30}}"}}
	all := []load.Target{
		{Method: "GET", URL: "/api/users/me/grades", Header: as, Weight: 6},
		{Method: "GET", URL: "/api/users/me/courses", Header: as, Weight: 18},
		{Method: "POST", URL: first, Header: upload, Body: encodeForm(fileOf(0)), Weight: 14},
		{Method: "POST", URL: first + "/export", Weight: 5},
		{Method: "PUT", URL: first + "/scores", Header: json, Body: encodeScores(func(i int) int { return i + 1 }),
			Weight: 5},
		{Method: "PUT", URL: first + "/scores", Header: json, Body: encodeScores(func(i int) int { return scored - i }),
			Weight: 5},
		{Method: "PUT", URL: "/api/users/me/courses", Header: http.Header{"Cookie": as["Cookie"],
			"Content-Type": json["Content-Type"]}, Body: []byte(`[20,21,22]`), Weight: 8},
	}
	if d.Has("APP-10") {
		all = append(all, load.Target{Method: "POST", URL: "/api/courses/2/classes/6/assignments", Header: upload,
			Body: encodeForm(bytes.Repeat(fileOf(0)[:1024], slidesSize/1024)), Weight: 4})
	}
	for i := range all {
		all[i].URL = base + all[i].URL
		if !strings.Contains(all[i].Header.Get("Cookie"), "{{") {
			continue
		}
		var err error
		if all[i].Fill, err = load.NewFill(load.FillOptions{URL: all[i].URL, Header: all[i].Header,
			Seed: uint64(i + 1)}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// asked is the golden answer of a run: the grades of one who has none.
func asked() []answers.Request {
	return []answers.Request{{Endpoint: "GET /api/users/me/grades", Method: http.MethodGet, URL: "/api/users/me/grades",
		Header: http.Header{"Cookie": {fmt.Sprintf("user=%d", freshman)}}}}
}

// encodeForm is a submission of a file.
func encodeForm(file []byte) []byte {
	return fmt.Appendf(nil, "--kasoku\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n"+
		"Content-Type: application/pdf\r\n\r\n%s\r\n--kasoku--\r\n", file)
}

// encodeScores are those of most students, in the order that at gives.
func encodeScores(at func(int) int) []byte {
	var b []byte
	for i := range scored {
		b = fmt.Appendf(b, `,{"user":%d,"score":%d}`, at(i), 20+i%80)
	}
	b[0] = '['
	return append(b, ']')
}
