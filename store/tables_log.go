package store

import "github.com/kasoku/kasoku"

// The tables of what the logs were boiled down to, and the raw samples that are
// kept apart from them.

func logTable() table[kasoku.LogWindow] {
	return table[kasoku.LogWindow]{
		name: "log_window",
		columns: cols(`host kind path format device inode from_offset to_offset files lines records continued blank
			dropped note`),
		put: func(v *kasoku.LogWindow) []any {
			return []any{v.Host, v.Kind, v.Path, v.Format, u64(v.Device), u64(v.Inode), v.From, v.To, v.Files,
				u64(v.Lines), u64(v.Records), u64(v.Continued), u64(v.Blank), u64(v.Dropped), v.Note}
		},
		get: func(r *row, v *kasoku.LogWindow) {
			v.Host, v.Kind, v.Path, v.Format = r.text(), r.text(), r.text(), r.text()
			v.Device, v.Inode, v.From, v.To, v.Files = r.uint64(), r.uint64(), r.int64(), r.int64(), r.int()
			v.Lines, v.Records, v.Continued, v.Blank, v.Dropped = r.uint64(), r.uint64(), r.uint64(), r.uint64(),
				r.uint64()
			v.Note = r.text()
		},
	}
}

// A badLine is a line that a parser refused, of the log window with id log.
type badLine struct {
	log int64
	kasoku.BadLine
}

func badLineTable() table[badLine] {
	return table[badLine]{
		name:    "raw_bad_line",
		columns: cols("log_window line text why"),
		put:     func(v *badLine) []any { return []any{v.log, v.Line, v.Text, v.Why} },
		get: func(r *row, v *badLine) {
			v.log, v.Line, v.Text, v.Why = r.int64(), r.int64(), r.text(), r.text()
		},
	}
}

func endpointTable() table[kasoku.Endpoint] {
	return table[kasoku.Endpoint]{
		name: "endpoint",
		columns: cols(`host method route count bytes total_ns first_ns last_ns codes seconds
			latency_p50_ns latency_p99_ns latency_max_ns latency
			squares min_bytes max_bytes request_bytes upstream_ns upstream_count bots
			connects connect_count max_request_bytes bots_passed bots_upstream_ns paths varied variants`),
		put: func(v *kasoku.Endpoint) []any {
			p50, p99, most := spread(v.Latency)
			return []any{v.Host, v.Method, v.Route, u64(v.Count), u64(v.Bytes), ns(v.Total), ns(v.First), ns(v.Last),
				jsonText(v.Codes), jsonText(bySecond(v.Seconds, endpointPair)), p50, p99, most, blobOf(v.Latency),
				v.Squares, u64(v.MinBytes), u64(v.MaxBytes), u64(v.RequestBytes), ns(v.Upstream), u64(v.UpstreamCount),
				u64(v.Bots),
				u64(v.Connects), u64(v.ConnectCount), u64(v.MaxRequestBytes), u64(v.BotsPassed), ns(v.BotsUpstream),
				u64(v.Paths), u64(v.Varied), u64(v.Variants)}
		},
		get: func(r *row, v *kasoku.Endpoint) {
			v.Host, v.Method, v.Route = r.text(), r.text(), r.text()
			v.Count, v.Bytes, v.Total, v.First, v.Last = r.uint64(), r.uint64(), r.dur(), r.dur(), r.dur()
			r.json(&v.Codes)
			var p map[int][2]uint64
			r.json(&p)
			v.Seconds = bySecond(p, endpointSecond)
			r.skip(3)
			r.hist(&v.Latency)
			v.Squares, v.MinBytes, v.MaxBytes, v.RequestBytes = r.real(), r.uint64(), r.uint64(), r.uint64()
			v.Upstream, v.UpstreamCount, v.Bots = r.dur(), r.uint64(), r.uint64()
			v.Connects, v.ConnectCount, v.MaxRequestBytes = r.uint64(), r.uint64(), r.uint64()
			v.BotsPassed, v.BotsUpstream, v.Paths, v.Varied, v.Variants = r.uint64(), r.dur(), r.uint64(), r.uint64(),
				r.uint64()
		},
	}
}

// endpointPair and endpointSecond turn a second into [count,failed] and back, which
// is short in JSON.
func endpointPair(e kasoku.EndpointSecond) [2]uint64 { return [2]uint64{e.Count, e.Failed} }
func endpointSecond(p [2]uint64) kasoku.EndpointSecond {
	return kasoku.EndpointSecond{Count: p[0], Failed: p[1]}
}

// bySecond returns the values of all seconds in another form; nil stays nil.
func bySecond[V, W any](m map[int]V, form func(V) W) map[int]W {
	if m == nil {
		return nil
	}
	out := make(map[int]W, len(m))
	for s, v := range m {
		out[s] = form(v)
	}
	return out
}

func queryTable() table[kasoku.Query] {
	return table[kasoku.Query]{
		name: "query",
		columns: cols(`host query_id fingerprint tag verb tables calls total_ns lock_ns rows_examined rows_sent
			rows_affected has_affected none_affected first_ns last_ns
			latency_p50_ns latency_p99_ns latency_max_ns latency
			schema_name squares seconds distinct_texts repeated streak streaks bytes_sent single_row`),
		put: func(v *kasoku.Query) []any {
			p50, p99, most := spread(v.Latency)
			return []any{v.Host, v.ID, v.Fingerprint, v.Tag, v.Verb, jsonText(v.Tables), u64(v.Calls), ns(v.Total),
				ns(v.Lock),
				u64(v.RowsExamined), u64(v.RowsSent), u64(v.RowsAffected), asInt(v.HasAffected), u64(v.NoneAffected),
				ns(v.First), ns(v.Last), p50, p99, most, blobOf(v.Latency),
				v.Schema, v.Squares, jsonText(bySecond(v.Seconds, queryTriple)), u64(v.Distinct), u64(v.Repeated),
				u64(v.Streak), u64(v.Streaks),
				u64(v.BytesSent), u64(v.SingleRow)}
		},
		get: func(r *row, v *kasoku.Query) {
			v.Host, v.ID, v.Fingerprint, v.Tag, v.Verb = r.text(), r.text(), r.text(), r.text(), r.text()
			r.json(&v.Tables)
			v.Calls, v.Total, v.Lock = r.uint64(), r.dur(), r.dur()
			v.RowsExamined, v.RowsSent, v.RowsAffected = r.uint64(), r.uint64(), r.uint64()
			v.HasAffected, v.NoneAffected, v.First, v.Last = r.bool(), r.uint64(), r.dur(), r.dur()
			r.skip(3)
			r.hist(&v.Latency)
			v.Schema, v.Squares = r.text(), r.real()
			var p map[int][3]uint64
			r.json(&p)
			v.Seconds = bySecond(p, querySecond)
			v.Distinct, v.Repeated, v.Streak, v.Streaks = r.uint64(), r.uint64(), r.uint64(), r.uint64()
			v.BytesSent, v.SingleRow = r.uint64(), r.uint64()
		},
	}
}

func saveTable() table[kasoku.SaveShape] {
	return table[kasoku.SaveShape]{
		name:    "save_shape",
		columns: cols("host table_name count inserts"),
		put: func(v *kasoku.SaveShape) []any {
			return []any{v.Host, v.Table, u64(v.Count), u64(v.Inserts)}
		},
		get: func(r *row, v *kasoku.SaveShape) {
			v.Host, v.Table, v.Count, v.Inserts = r.text(), r.text(), r.uint64(), r.uint64()
		},
	}
}

func messageTable() table[kasoku.Message] {
	return table[kasoku.Message]{
		name:    "message",
		columns: cols("host path pattern level code sql count bytes first_ns last_ns seconds kind"),
		put: func(v *kasoku.Message) []any {
			return []any{v.Host, v.Path, v.Pattern, v.Level, v.Code, asInt(v.SQL), u64(v.Count), u64(v.Bytes),
				ns(v.First), ns(v.Last), jsonText(v.Seconds), v.Kind}
		},
		get: func(r *row, v *kasoku.Message) {
			v.Host, v.Path, v.Pattern, v.Level, v.Code = r.text(), r.text(), r.text(), r.text(), r.text()
			v.SQL, v.Count, v.Bytes, v.First, v.Last = r.bool(), r.uint64(), r.uint64(), r.dur(), r.dur()
			r.json(&v.Seconds)
			v.Kind = r.text()
		},
	}
}

// A rawText is one piece of text as it was found. parent is the id of the row
// that it belongs to.
type rawText struct {
	parent int64
	text   string
}

// rawTable is a table of one text for each row of another, under the same id.
func rawTable(name, column string) table[rawText] {
	return table[rawText]{
		name:    name,
		columns: []string{column},
		put:     func(v *rawText) []any { return []any{v.text} },
		get:     func(r *row, v *rawText) { v.text = r.long() },
	}
}

func rawCommandTable() table[rawText] { return rawTable("raw_command", "output") }
func rawQueryTable() table[rawText]   { return rawTable("raw_query", "sample") }
func rawMessageTable() table[rawText] { return rawTable("raw_message", "sample") }

func rawSaveTable() table[rawText] {
	return table[rawText]{
		name:    "raw_save",
		columns: cols("save_shape sample"),
		put:     func(v *rawText) []any { return []any{v.parent, v.text} },
		get:     func(r *row, v *rawText) { v.parent, v.text = r.int64(), r.long() },
	}
}
