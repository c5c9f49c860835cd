package sample

import (
	"time"

	"github.com/kasoku/kasoku"
)

// The ids of the statements of the shop.
const (
	postsID    = "0E2B7A9C44D1F0856B3A9E77C10F00A1"
	authorID   = "5C11D0E97A3B4F6288E01D5B7F9A00B2"
	tagsID     = "77AB90C1D2E3F4051627384950A100C3"
	stockID    = "9D8C7B6A5F4E3D2C1B0A998877665544"
	orderID    = "A0B1C2D3E4F5061728394A5B6C7D00E5"
	commitID   = "C6F1D2A3B4958677E8D9CABB10293847"
	authorsInN = "D1E2F3A4B5C6D7E8F90A1B2C3D4E00F6"
)

// Analysed returns two runs of a shop under a benchmark of its own, with all that logs
// and the server report of them: before has an index too few, asks for each author by
// itself and has a small buffer pool; after has not. What logs and servers say is
// hostile in places.
func Analysed() (before, after *kasoku.Recording) {
	before, after = shop("before", 0), shop("after", 24*time.Minute)
	before.Endpoints = []kasoku.Endpoint{
		endpoint("GET", "/posts", 4200, 0, 118, 404, 981, 1612), endpoint("GET", "/posts/:id", 9100, 3, 21, 60, 122,
			240),
		endpoint("POST", "/orders", 1480, 21, 44, 97, 210, 388), endpoint("GET", "/assets/:file", 31000, 0, 0.4, 1, 2,
			9),
	}
	after.Endpoints = []kasoku.Endpoint{
		endpoint("GET", "/posts", 11800, 0, 12, 31, 66, 120), endpoint("GET", "/posts/:id", 24900, 0, 8, 21, 40, 97),
		endpoint("POST", "/orders", 4050, 0, 19, 40, 83, 161), endpoint("GET", "/favicon.ico", 210, 0, 0.4, 1, 2, 3),
	}
	before.Slowest = []kasoku.SlowRequest{
		{Host: "web1", Method: "GET", Route: "/posts", URI: "/posts?page=91&token=‹masked›", Status: 200,
			At: 41210 * time.Millisecond, Latency: 1612 * time.Millisecond, Upstream: 1611 * time.Millisecond,
			Bytes: 48112},
		{Host: "web1", Method: "GET", Route: "/posts", URI: "/posts?q=<script>alert(1)</script>\x1b[31m", Status: 200,
			At: 18002 * time.Millisecond, Latency: 1590 * time.Millisecond, Upstream: 1588 * time.Millisecond,
			Bytes: 45020},
		{Host: "web1", Method: "POST", Route: "/orders", URI: "/orders", Status: 500, At: 50800 * time.Millisecond,
			Latency: 388 * time.Millisecond, Upstream: 388 * time.Millisecond, Bytes: 21},
	}
	after.Slowest = []kasoku.SlowRequest{{Host: "web1", Method: "POST", Route: "/orders", URI: "/orders", Status: 201,
		At: 9100 * time.Millisecond, Latency: 161 * time.Millisecond, Upstream: 160 * time.Millisecond, Bytes: 64}}
	before.Queries, after.Queries = shopQueries(1), shopQueries(2.8)
	// After, the index holds and the authors are asked for all at once.
	after.Queries[0] = shopQuery(postsID, "SELECT", "posts", before.Queries[0].Fingerprint, "", 11800, 2.1, 5, 9, 20)
	after.Queries[0].RowsExamined, after.Queries[0].RowsSent = 11800*20, 11800*20
	after.Queries[1] = shopQuery(authorsInN, "SELECT", "users", "select id, name from users where id in(?+)", "",
		11800, 0.9, 2, 4, 9)
	after.Queries[1].RowsExamined, after.Queries[1].RowsSent, after.Queries[1].Distinct, after.Queries[1].Repeated,
		after.Queries[1].Streak = 11800*18, 11800*18, 9020, 40, 2
	before.Transactions = []kasoku.Transaction{
		{Host: "web1", Shape: []string{stockID, orderID}, Tag: "buy", Verbs: "SELECT INSERT", Count: 1480,
			RolledBack: 21, Statements: 1480 * 9, Total: 52 * time.Second, Max: 371 * time.Millisecond},
		{Host: "web1", Shape: []string{postsID, authorID}, Verbs: "SELECT SELECT", Count: 4200, ReadOnly: true,
			Statements: 4200 * 21, Total: 470 * time.Second, Max: 1604 * time.Millisecond},
		{Host: "web1", Shape: []string{"FFFF", "EEEE"}, Verbs: "DELETE INSERT …", Count: 3, Statements: 240,
			Total: 310 * time.Millisecond, Max: 121 * time.Millisecond},
	}
	after.Transactions = []kasoku.Transaction{
		{Host: "web1", Shape: []string{stockID, orderID}, Tag: "buy", Verbs: "SELECT INSERT", Count: 4050,
			Statements: 4050 * 3, Total: 71 * time.Second, Max: 155 * time.Millisecond},
	}
	before.Messages = shopWords()
	before.Events = append(before.Events,
		kasoku.Event{At: 12 * time.Second, Host: "web1", Kind: kasoku.EventBenchmark, Text: "POST /orders: timeout (34 in all)"})
	before.Callers, before.Joins = shopCallers(), shopJoin()
	before.Plans, before.Tables = shopPlans(false), shopTables(false)
	after.Plans, after.Tables = shopPlans(true), shopTables(true)
	before.Profiles, after.Profiles = shopProfiles(false), shopProfiles(true)
	before.Advice, after.Advice = shopAdvice(), shopAdvice()[1:]
	after.Advice[0].Measured, after.Advice[1].Measured = "27 %: 1,093 of 4,050", "27 %: 1,093 of 4,050"
	after.Advice = append(after.Advice, kasoku.Advice{
		Host: "web1", ID: "MYS-08", Area: "connections", Title: "Connections are nearly used up",
		Variable: "max_connections", Value: "151", Proposed: "300",
		Formula: "Max_used_connections / max_connections", Measured: "97 %: 147 of 151", Threshold: "> 85 %",
		Window:     "1 min of load",
		Confidence: kasoku.Confidence{Level: kasoku.High}, SetGlobal: "SET GLOBAL max_connections = 300",
		ConfLine: "max_connections = 300", Risk: kasoku.RiskNone,
	})
	after.Settings[1].Value = "2147483648"
	return before, after
}

func shop(label string, later time.Duration) *kasoku.Recording {
	r := &kasoku.Recording{Run: kasoku.Run{
		ID: "20261120-140211-" + label, Project: "shop", Label: label, Started: Started.Add(later),
		Length: time.Minute, State: kasoku.Finished, Version: "0.4.0",
		Hosts:   []kasoku.Host{{Name: "web1", Cores: 2, MemoryBytes: 4 << 30}},
		Command: &kasoku.Command{Args: []string{"./bench", "--target", "http://127.0.0.1:8080"}, Wall: time.Minute},
	}}
	r.Service = &kasoku.Service{
		Members: []kasoku.Member{
			{ID: "web nginx :8080", Role: kasoku.RoleWeb, Program: "nginx", Host: "web1", Version: "1.22.1", Sure: kasoku.High,
				Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:8080"}}},
			{ID: "application ruby :9292", Role: kasoku.RoleApplication, Program: "puma", Host: "web1", Language: "ruby",
				Sure: kasoku.High, Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:9292"}}},
			{ID: "database mariadbd :3306", Role: kasoku.RoleDatabase, Program: "mariadbd", Host: "web1",
				Version: "10.11.14-MariaDB-0+deb12u2", Sure: kasoku.High,
				Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:3306"}}},
			{ID: "cache redis-server :6379", Role: kasoku.RoleCache, Program: "redis-server", Host: "web1", Sure: kasoku.Low,
				Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:6379"}}},
		},
		Edges: []kasoku.Edge{
			{To: "web nginx :8080", Protocol: "http", Seen: 32},
			{From: "web nginx :8080", To: "application ruby :9292", Protocol: "http", Seen: 8},
			{From: "application ruby :9292", To: "database mariadbd :3306", Protocol: "mysql", Seen: 10},
			{From: "application ruby :9292", To: "cache redis-server :6379", Protocol: "redis", Seen: 1, Weak: true},
		},
	}
	r.Settings = []kasoku.Setting{
		{Host: "web1", Scope: "mysql", Name: "innodb_flush_log_at_trx_commit", Value: "1"},
		{Host: "web1", Scope: "mysql", Name: "innodb_buffer_pool_size", Value: "134217728"},
		{Host: "web1", Scope: "mysql", Name: "version", Value: "10.11.14-MariaDB-0+deb12u2"},
	}
	r.Logs = []kasoku.LogWindow{
		{Host: "web1", Kind: "accesslog", Path: "access.log", Format: "combined + request_time", Lines: 45780,
			Records: 45780, Files: 1},
		{Host: "web1", Kind: "slowlog", Path: "slow.log", Format: "mariadb", Lines: 480000, Records: 120000,
			Continued: 360000, Files: 1},
	}
	return r
}

// shopWords are what the benchmark said, the last in its result alone.
func shopWords() []kasoku.Message {
	return []kasoku.Message{
		{Host: "web1", Kind: kasoku.MessageBenchmark, Pattern: "POST /orders: timeout", Sample: "POST /orders: timeout", Level: "error",
			Count: 34, First: 12 * time.Second, Last: 58 * time.Second, Seconds: map[int]uint64{12: 20, 58: 14}},
		{Host: "web1", Kind: kasoku.MessageBenchmark, Pattern: "deduction: ?", Sample: "deduction: 150", Level: "error",
			Count: 1, First: time.Minute, Last: time.Minute},
	}
}

// endpoint is a route with so many requests and failures; percentiles in ms.
func endpoint(method, route string, n, failed int, p50, p95, p99, most float64) kasoku.Endpoint {
	h := histogramOf(n, p50, p95, p99, most)
	total := h.Mean() * time.Duration(n)
	return kasoku.Endpoint{
		Host: "web1", Method: method, Route: route, Count: uint64(n), Codes: map[int]uint64{200: uint64(n - failed),
			500: uint64(failed)},
		Bytes: uint64(n) * 3072, MinBytes: 212, MaxBytes: 61440, RequestBytes: uint64(n) * 380, Latency: h,
		Total:   total,
		Squares: 1.5 * h.Mean().Seconds() * h.Mean().Seconds() * float64(n), Upstream: total * 98 / 100,
		UpstreamCount: uint64(n), Bots: uint64(n / 50),
		First: time.Second, Last: 59 * time.Second,
	}
}

// shopQuery is a class of statements; percentiles in ms.
func shopQuery(id, verb, table, fingerprint, tag string, calls int, p50, p95, p99, most float64) kasoku.Query {
	h := histogramOf(calls, p50, p95, p99, most)
	q := kasoku.Query{
		Host: "web1", ID: id, Fingerprint: fingerprint, Tag: tag, Verb: verb, Calls: uint64(calls), Latency: h,
		Total:   h.Mean() * time.Duration(calls),
		Squares: 1.4 * h.Mean().Seconds() * h.Mean().Seconds() * float64(calls), Distinct: uint64(calls), Repeated: 1,
		Streak: 1, First: time.Second, Last: 59 * time.Second,
	}
	if table != "" {
		q.Tables = []string{table}
	}
	return q
}

// shopQueries are the statements of the shop, so many times as often.
func shopQueries(times float64) []kasoku.Query {
	n := func(calls int) int { return int(float64(calls) * times) }
	posts := shopQuery(postsID, "SELECT", "posts",
		"select id, user_id, title, body from posts where shop_id=? and deleted=? order by created_at desc limit ?",
		"", 4200, 88, 300, 640, 1200)
	posts.RowsExamined, posts.RowsSent, posts.Distinct, posts.Repeated, posts.Streak = 4200*98000, 4200*20, 2100, 31, 1
	author := shopQuery(authorID, "SELECT", "users", "select id, name from users where id=?", "", 84000, 0.3, 0.8, 1.6,
		12)
	author.RowsExamined, author.RowsSent, author.Distinct, author.Repeated, author.Streak, author.Streaks = 84000,
		84000, 4000, 61, 20, 84000
	tags := shopQuery(tagsID, "SELECT", "tags", "select id, name from tags", "", n(13300), 0.4, 0.9, 2, 9)
	tags.RowsExamined, tags.RowsSent, tags.Distinct, tags.Repeated, tags.Streak = uint64(n(13300)*64),
		uint64(n(13300)*64), 1, uint64(n(13300)), 2
	stock := shopQuery(stockID, "SELECT", "stock", "select amount from stock where item_id=? for update", "", n(1480),
		3, 9, 14, 40)
	stock.RowsExamined, stock.RowsSent, stock.Distinct = uint64(n(1480)), uint64(n(1480)), 310
	order := shopQuery(orderID, "INSERT", "order_items", "insert into order_items (order_id, item_id, n) values(?+)",
		"", n(11840), 0.6, 1.4, 3, 20)
	order.HasAffected, order.RowsAffected, order.Streak, order.Streaks = true, uint64(n(11840)), 31, uint64(n(9200))
	commit := shopQuery(commitID, "COMMIT", "", "commit", "buy", n(1459), 5, 11, 19, 60)
	return []kasoku.Query{posts, author, tags, stock, order, commit}
}
