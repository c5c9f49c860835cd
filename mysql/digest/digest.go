// Package digest turns performance_schema's statement digests into the query
// classes of a run.
//
// The one idea: the text of a digest is written as a person writes SQL, so that
// its fingerprint, and with it the class's id, is mostly the one that the slow
// log gives; runs with either can be compared. There is no sample and no sequence
// of single statements; a latency histogram only where the server has one.
//
// Sources: MySQL 9.7 manual "Performance Schema Statement Digests and Sampling";
// texts as MariaDB 10.11 and MySQL 9.7 write them.
package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
)

// What the slow log calls the commands of prepared statements.
const (
	prepare    = "administrator command: Prepare"
	deallocate = "administrator command: Close stmt"
)

// Queries returns the classes of statements, the one that took the longest in
// all first. Those of several schemas are one. When a statement came first and
// last is not known: First and Last are 0.
func Queries(d *mysql.Digests) []kasoku.Query {
	classes := map[string]*kasoku.Query{}
	var shaper sqlshape.Shaper
	keys := slices.SortedFunc(maps.Keys(d.Classes), func(a, b mysql.DigestKey) int { // a class has the sample of its dearest
		return cmp.Or(cmp.Compare(d.Classes[b].Total, d.Classes[a].Total), strings.Compare(a.ID, b.ID), strings.Compare(a.Schema, b.Schema))
	})
	for _, k := range keys {
		c := d.Classes[k]
		text := plain(c.Text)
		fingerprint := string(shaper.Fingerprint([]byte(text)))
		q := classes[fingerprint]
		if q == nil {
			q = &kasoku.Query{
				ID: sqlshape.ID([]byte(fingerprint)), Fingerprint: fingerprint, HasAffected: true,
				Verb: sqlshape.Verb([]byte(text)), Tables: sqlshape.Tables([]byte(text)), Sample: text,
			}
			classes[fingerprint] = q
		}
		if q.Raw == "" && whole(c.Sample) {
			q.Raw, q.Schema = c.Sample, k.Schema
		}
		add(q, &c)
	}
	out := make([]kasoku.Query, 0, len(classes))
	for _, q := range classes {
		out = append(out, *q)
	}
	slices.SortFunc(out, func(a, b kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out
}

// whole reports whether a server's sample is a statement that it did not cut: it ends a cut
// one by three dots, and another version ends it at performance_schema_max_sql_text_length.
func whole(sample string) bool {
	return sample != "" && !strings.HasSuffix(sample, "...") && len(sample)%sampleLength != 0
}

// sampleLength is what performance_schema_max_sql_text_length is unless it is set.
const sampleLength = 1024

// add adds a digest to its class. A statement that took between two times counts
// as one in the middle: the buckets are 4.7 % wide.
func add(q *kasoku.Query, d *mysql.Digest) {
	q.Calls += d.Calls
	q.Total += d.Total
	q.Lock += d.Lock
	q.RowsAffected += d.RowsAffected
	q.RowsSent += d.RowsSent
	q.RowsExamined += d.RowsExamined
	for _, b := range d.Buckets {
		if q.Latency == nil {
			q.Latency = histogram.New()
		}
		middle := b.Low + (b.High-b.Low)/2
		if b.High/2 > b.Low { // the first bucket, and the last, which has no end
			middle = b.Low
		}
		q.Latency.RecordN(middle, b.Calls)
	}
}

// plain writes a digest's text as a person would: no quotes around plain names,
// no blanks within t.id and COUNT(*). Where the server left out the values of a
// list, two stand for all.
//
// MySQL puts EXECUTE, PREPARE or DEALLOCATE before the text of a statement that
// was prepared over the binary protocol.
func plain(text string) string {
	l := sqlshape.NewLexer([]byte(text))
	first := l.Next()
	rest := l
	if second := rest.Next(); second.Kind == sqlshape.Word && !second.Is("prepare") {
		switch {
		case first.Is("execute"):
			first, l = second, rest
		case first.Is("prepare"):
			return prepare
		case first.Is("deallocate"):
			return deallocate
		}
	}
	var b strings.Builder
	var last sqlshape.Token
	for t := first; t.Kind != sqlshape.End; t = l.Next() {
		if dots(&l, t) {
			b.WriteString("?, ?")
			last = t
			continue
		}
		if spaced(last, t) {
			b.WriteByte(' ')
		}
		if t.Kind == sqlshape.Name && plainName(t.Unquoted()) {
			b.Write(t.Unquoted())
		} else {
			b.Write(t.Text)
		}
		last = t
	}
	return b.String()
}

// dots reports whether a list's "..." begins here, and moves past it.
func dots(l *sqlshape.Lexer, t sqlshape.Token) bool {
	if !t.IsSymbol('.') {
		return false
	}
	ahead := *l
	for range 2 {
		if !ahead.Next().IsSymbol('.') {
			return false
		}
	}
	*l = ahead
	return true
}

// spaced reports whether a blank stands between two tokens.
func spaced(last, t sqlshape.Token) bool {
	switch {
	case last.Kind == sqlshape.End, last.IsSymbol('('), last.IsSymbol('.'),
		t.IsSymbol(')'), t.IsSymbol('.'), t.IsSymbol(','), t.IsSymbol(';'):
		return false
	case t.IsSymbol('='):
		return !last.IsSymbol('<') && !last.IsSymbol('>') && !last.IsSymbol('!') && !last.IsSymbol(':')
	case t.IsSymbol('>'):
		return !last.IsSymbol('<')
	case t.IsSymbol('('):
		return last.Kind != sqlshape.Word || slices.ContainsFunc(beforeParenthesis(), last.Is)
	}
	return true
}

// beforeParenthesis are the words after which a parenthesis is no call's.
func beforeParenthesis() []string {
	return []string{"all", "and", "any", "as", "between", "by", "case", "else", "except", "exists", "from", "having",
		"in", "index",
		"intersect", "into", "join", "key", "like", "not", "on", "or", "select", "set", "some", "then", "union",
		"using", "value", "values", "when", "where", "with"}
}

// plainName reports whether a name needs no quotes: letters, digits, _ and $.
func plainName(name []byte) bool {
	for _, c := range name {
		if c != '_' && c != '$' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c < 0x80 {
			return false
		}
	}
	return len(name) > 0
}
