package isucond

import (
	"slices"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/writeup"
)

// The endpoints whose mean latency the story follows, as nginx writes them.
const (
	ReportEndpoint = "POST /api/condition/"
	TrendEndpoint  = "GET /api/trend"
)

// story is the write-up. Its score has the contest's points, over a shorter time and with the
// users of our own benchmark, so that only ratios can be compared.
func story() *writeup.Story {
	const limit = "what the score gains is decided by what limits the machine next"
	none := writeup.Missing
	return &writeup.Story{
		Lab: "isucond", About: "from the first index to a cache for everyone",
		Figures: []writeup.Figure{
			{Key: "score", Name: "score"},
			{Key: "report_mean_ms", Name: "report, mean", Unit: "ms", Less: true},
			{Key: "trend_mean_ms", Name: "trend, mean", Unit: "ms", Less: true},
		},
		Steps: []writeup.Step{
			{Name: "initial", Did: "the service as it was shipped", Author: []float64{1683}},
			{Name: "indexed", Saw: "57 % of the slow log's time is one SELECT of isu_condition",
				Did:     "an index of the chair and created_at; interpolateParams=true",
				Against: []string{"initial"}, Author: []float64{16_664},
				Differs: "what a scan costs is how many rows there are, and the contest had more"},
			{Name: "nginx", Saw: "nginx passes all on, and connects anew", Did: "keepalive; nginx sends files itself",
				Against: []string{"indexed"}, Author: []float64{18_138, none}},
			{Name: "body-buffer", Saw: "“a client request body is buffered to a temporary file” in nginx's error log",
				Did:     "client_body_buffer_size 128k",
				Against: []string{"nginx"}, Author: []float64{17_774, 5.7}, Differs: limit,
				Kept: "nginx writes no picture to a file before it passes it on"},
			{Name: "one-insert", Saw: "one INSERT for each reported condition", Did: "one INSERT of many rows",
				Against: []string{"body-buffer"}, Author: []float64{17_618, 4.5}, Differs: limit,
				Kept: "a report takes less time, and a tenth of the statements"},
			{Name: "limited", Saw: "all conditions of a chair are read, few used", Did: "LIMIT",
				Against: []string{"one-insert"}, Author: []float64{20_127},
				Differs: "what reading all costs is how many conditions a chair has, and the contest had more"},
			{Name: "right-index", Saw: "8.8 ms a call though there is an index: it sorts all rows of a chair",
				Did:     "the index ends in timestamp, as ORDER BY does",
				Against: []string{"limited"}, Author: []float64{37_019, none, 404}},
			{Name: "trend-cached", Saw: "GET /api/trend takes 0.404 s, the same answer for everyone",
				Did:     "Varnish in front of it, without the cookie",
				Against: []string{"right-index"}, Author: []float64{44_034, none, 18.4}},
			{Name: "pool-100", Saw: "requests wait for a connection, the database does not",
				Did: "SetMaxOpenConns, 10 to 150 there and 100 here", Against: []string{"trend-cached"},
				Gain: 79_819.0 / 44_034, Differs: "the published figure holds an index, commits and one row a report, too"},
			{Name: "icons", Saw: "GET /api/isu/*/icon is second in the access log", Did: "pictures as files",
				Against: []string{"pool-100"}, Gain: 74_425.0 / 79_819, Differs: limit,
				Kept: "the database sends no pictures any more"},
			{Name: "gzip-static", Did: "gzip_static on (control; the author took it back)", Against: []string{"icons"},
				Gain: 188_370.0 / 208_386, Differs: "files of some hundred bytes, and a client beside the service"},
		},
	}
}

// variants are the steps of the story.
func variants() []kit.Variant {
	d := kit.Set{"DRV-01", "DRV-03", "IDX-01", "QRY-01", "QRY-02", "QRY-05", "QRY-09", "NGX-01", "NGX-02", "NGX-03",
		"NGX-06", "CCH-01", "CCH-02", "APP-01"}
	var out []kit.Variant
	pool := 10
	for _, s := range []struct {
		name, about string
		mends       kit.Set
		brings      kit.Set
	}{
		{"initial", "as it was shipped", nil, nil},
		{"indexed", "an index that ends in the wrong time, values sent in the text", kit.Set{"IDX-01", "DRV-01"},
			kit.Set{"IDX-02"}},
		{"nginx", "nginx keeps connections and sends files", kit.Set{"NGX-01", "NGX-02"}, nil},
		{"body-buffer", "nginx holds a picture in memory", kit.Set{"NGX-03"}, nil},
		{"one-insert", "conditions are inserted together", kit.Set{"DRV-03", "QRY-02"}, nil},
		{"limited", "no more conditions are read than are shown", kit.Set{"QRY-01"}, nil},
		{"right-index", "the index ends in the time of the order", kit.Set{"IDX-02"}, nil},
		{"trend-cached", "Varnish keeps the trend", kit.Set{"CCH-01", "CCH-02"}, nil},
		{"pool-100", "a hundred connections", nil, nil},
		{"icons", "pictures are files", kit.Set{"NGX-06"}, nil},
		{"gzip-static", "files are sent as they were packed", nil, kit.Set{"NGX-09"}},
	} {
		d = slices.DeleteFunc(slices.Clone(d), s.mends.Has)
		d = append(d, s.brings...)
		if s.name == "pool-100" {
			pool = 100
		}
		out = append(out, kit.Variant{Name: s.name, About: s.about, Defects: slices.Clone(d), Pool: pool})
	}
	return append(append(out, knobs()...), splits(out)...)
}

// splits are the story's state of icons on hosts of a part of a core each.
func splits(steps []kit.Variant) (out []kit.Variant) {
	at := slices.IndexFunc(steps, func(v kit.Variant) bool { return v.Name == "icons" })
	for i, name := range []string{"one-host", "two-hosts", "three-hosts"} {
		v := steps[at]
		v.Name, v.Hosts = name, i+1
		v.About = []string{"all on a host of 0.4 cores", "the database on one of its own",
			"nginx and Varnish too"}[i]
		out = append(out, v)
	}
	return out
}

// knobs are states beside the story, each held against the tuned one.
func knobs() []kit.Variant {
	return []kit.Variant{
		{Name: "tuned", About: "without any defect"},
		{Name: "drop-60", About: "six of ten reports are confirmed and dropped", Shed: 0.6},
		{Name: "drop-90", About: "nine of ten", Shed: 0.9},
		{Name: "graph-by-hour", About: "the graph is read hour by hour (control)", Defects: kit.Set{"QRY-09W"}},
		{Name: "query-cache", About: "MariaDB's query cache is on (control)", Defects: kit.Set{"DBC-06"}},
		{Name: "old-trend", About: "Varnish keeps the trend for two seconds", Defects: kit.Set{"CCH-04"}},
	}
}
