package store

import "github.com/kasoku/kasoku"

// The tables of what was read from the logs, and the raw samples that are kept apart
// from them.

func logTable() table[kasoku.LogWindow] {
	return tableOf("log_window", func(v *kasoku.LogWindow) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"kind", textOf(&v.Kind)}, {"path", textOf(&v.Path)},
			{"format", textOf(&v.Format)}, {"device", numberOf(&v.Device)}, {"inode", numberOf(&v.Inode)},
			{"from_offset", numberOf(&v.From)}, {"to_offset", numberOf(&v.To)}, {"files", numberOf(&v.Files)},
			{"lines", numberOf(&v.Lines)}, {"records", numberOf(&v.Records)}, {"continued", numberOf(&v.Continued)},
			{"blank", numberOf(&v.Blank)}, {"dropped", numberOf(&v.Dropped)}, {"note", textOf(&v.Note)},
		}
	})
}

// A badLine is a line that a parser refused, of the log window with id log.
type badLine struct {
	log int64
	kasoku.BadLine
}

func badLineTable() table[badLine] {
	return tableOf("raw_bad_line", func(v *badLine) []column {
		return []column{
			{"log_window", numberOf(&v.log)}, {"line", numberOf(&v.Line)}, {"text", textOf(&v.Text)},
			{"why", textOf(&v.Why)},
		}
	})
}

func endpointTable() table[kasoku.Endpoint] {
	return tableOf("endpoint", func(v *kasoku.Endpoint) []column {
		p50, p99, most := spreadOf(v.Latency)
		return []column{
			{"host", textOf(&v.Host)}, {"method", textOf(&v.Method)}, {"route", textOf(&v.Route)},
			{"count", numberOf(&v.Count)}, {"bytes", numberOf(&v.Bytes)}, {"total_ns", numberOf(&v.Total)},
			{"first_ns", numberOf(&v.First)}, {"last_ns", numberOf(&v.Last)}, {"codes", jsonOf(&v.Codes)},
			{"seconds", bySecond(&v.Seconds, endpointPair, endpointSecond)}, {"latency_p50_ns", p50},
			{"latency_p99_ns", p99}, {"latency_max_ns", most}, {"latency", encodedOf(&v.Latency)},
			{"squares", realOf(&v.Squares)}, {"min_bytes", numberOf(&v.MinBytes)},
			{"max_bytes", numberOf(&v.MaxBytes)}, {"request_bytes", numberOf(&v.RequestBytes)},
			{"upstream_ns", numberOf(&v.Upstream)}, {"upstream_count", numberOf(&v.UpstreamCount)},
			{"bots", numberOf(&v.Bots)}, {"connects", numberOf(&v.Connects)},
			{"connect_count", numberOf(&v.ConnectCount)}, {"max_request_bytes", numberOf(&v.MaxRequestBytes)},
			{"bots_passed", numberOf(&v.BotsPassed)}, {"bots_upstream_ns", numberOf(&v.BotsUpstream)},
			{"paths", numberOf(&v.Paths)}, {"varied", numberOf(&v.Varied)}, {"variants", numberOf(&v.Variants)},
			{"by_second", encodedOf(&v.BySecond)},
		}
	})
}

// endpointPair and endpointSecond turn a second into [count,failed] and back, which
// is short in JSON.
func endpointPair(e kasoku.EndpointSecond) [2]uint64 { return [2]uint64{e.Count, e.Failed} }
func endpointSecond(p [2]uint64) kasoku.EndpointSecond {
	return kasoku.EndpointSecond{Count: p[0], Failed: p[1]}
}

// bySecond is a column of seconds, each in another form; nil stays nil.
func bySecond[V, W any](p *map[int]V, pack func(V) W, unpack func(W) V) cell {
	return formOf(func() any { return jsonText(mappedSeconds(*p, pack)) }, func(r *row) {
		var m map[int]W
		r.json(&m)
		*p = mappedSeconds(m, unpack)
	})
}

func mappedSeconds[V, W any](m map[int]V, form func(V) W) map[int]W {
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
	return tableOf("query", func(v *kasoku.Query) []column {
		p50, p99, most := spreadOf(v.Latency)
		return []column{
			{"host", textOf(&v.Host)}, {"query_id", textOf(&v.ID)}, {"fingerprint", textOf(&v.Fingerprint)},
			{"tag", textOf(&v.Tag)}, {"verb", textOf(&v.Verb)}, {"tables", jsonOf(&v.Tables)},
			{"calls", numberOf(&v.Calls)}, {"total_ns", numberOf(&v.Total)}, {"lock_ns", numberOf(&v.Lock)},
			{"rows_examined", numberOf(&v.RowsExamined)}, {"rows_sent", numberOf(&v.RowsSent)},
			{"rows_affected", numberOf(&v.RowsAffected)}, {"has_affected", flagOf(&v.HasAffected)},
			{"none_affected", numberOf(&v.NoneAffected)}, {"first_ns", numberOf(&v.First)},
			{"last_ns", numberOf(&v.Last)}, {"latency_p50_ns", p50}, {"latency_p99_ns", p99},
			{"latency_max_ns", most}, {"latency", encodedOf(&v.Latency)}, {"schema_name", textOf(&v.Schema)},
			{"squares", realOf(&v.Squares)}, {"seconds", bySecond(&v.Seconds, queryTriple, querySecond)},
			{"distinct_texts", numberOf(&v.Distinct)}, {"repeated", numberOf(&v.Repeated)},
			{"streak", numberOf(&v.Streak)}, {"streaks", numberOf(&v.Streaks)}, {"bytes_sent", numberOf(&v.BytesSent)},
			{"single_row", numberOf(&v.SingleRow)}, {"numbers", jsonOf(&v.Numbers)},
			{"by_second", encodedOf(&v.BySecond)},
		}
	})
}

func saveTable() table[kasoku.SaveShape] {
	return tableOf("save_shape", func(v *kasoku.SaveShape) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"table_name", textOf(&v.Table)}, {"count", numberOf(&v.Count)},
			{"inserts", numberOf(&v.Inserts)},
		}
	})
}

func messageTable() table[kasoku.Message] {
	return tableOf("message", func(v *kasoku.Message) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"path", textOf(&v.Path)}, {"pattern", textOf(&v.Pattern)},
			{"level", textOf(&v.Level)}, {"code", textOf(&v.Code)}, {"sql", flagOf(&v.SQL)},
			{"count", numberOf(&v.Count)}, {"bytes", numberOf(&v.Bytes)}, {"first_ns", numberOf(&v.First)},
			{"last_ns", numberOf(&v.Last)}, {"seconds", jsonOf(&v.Seconds)}, {"kind", textOf(&v.Kind)},
		}
	})
}

// A rawText is one piece of text as it was found. parent is the id of the row
// that it belongs to.
type rawText struct {
	parent int64
	text   string
}

// rawTable is a table of one text for each row of another, under the same id.
func rawTable(name, textColumn string) table[rawText] {
	return tableOf(name, func(v *rawText) []column { return []column{{textColumn, longOf(&v.text)}} })
}

func rawCommandTable() table[rawText] { return rawTable("raw_command", "output") }
func rawQueryTable() table[rawText]   { return rawTable("raw_query", "sample") }
func rawMessageTable() table[rawText] { return rawTable("raw_message", "sample") }

func rawSaveTable() table[rawText] {
	return tableOf("raw_save", func(v *rawText) []column {
		return []column{
			{"save_shape", numberOf(&v.parent)}, {"sample", longOf(&v.text)},
		}
	})
}
