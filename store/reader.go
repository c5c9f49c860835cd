package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store/chunk"
)

// maxPoints bounds what a Recording holds: 1 GiB of points, a day of 700 series.
const maxPoints = 64 << 20

// A reader reads the tables of one file, through a connection or a transaction.
// What it cannot read it notes in damage and leaves out.
type reader struct {
	db     queryer
	zstd   *zstd.Decoder
	sums   map[string]tableSum // as written; empty when there are none
	damage []string
	lost   []kasoku.Gap // the samples that were lost, as far as it is known which
	budget int          // how many more points are read
	buf    []byte

	samplesLost bool // rows of samples are lost of which it is not known what they held
}

func newReader(db queryer) (*reader, error) {
	dec, err := chunk.NewDecompressor()
	if err != nil {
		return nil, fmt.Errorf("start decompressor: %w", err)
	}
	return &reader{db: db, zstd: dec, budget: maxPoints}, nil
}

func (rd *reader) close() { rd.zstd.Close() }

// part reads what takes more than one table. One that panics is damage; the rest of the
// file is read.
func (rd *reader) part(name string, read func()) {
	if bug := contain.Run(contain.Part{Kind: contain.Table, Name: "all " + name}, read); bug != nil {
		rd.lose("%v", bug)
	}
}

func (rd *reader) lose(format string, args ...any) {
	rd.damage = append(rd.damage, fmt.Sprintf(format, args...))
}

// readSums reads the checksums against which the tables are then checked.
func (rd *reader) readSums() {
	rd.sums = map[string]tableSum{}
	for _, s := range values(sumTable().read(rd)) {
		rd.sums[s.table] = s.tableSum
	}
}

// missingSums notes tables of a closed run that could not be checked.
func (rd *reader) missingSums(state kasoku.RunState) {
	if len(rd.sums) == 0 && state != kasoku.Finished {
		return // never closed
	}
	for _, t := range allTables() {
		if _, ok := rd.sums[t.name]; !ok {
			rd.lose("table %s: its checksum is lost", t.name)
		}
	}
}

// A scan counts what one pass over a table could not give.
type scan struct {
	got   tableSum
	lost  int64
	cause error // of the first loss
}

func (s *scan) lose(err error) {
	s.lost++
	if s.cause == nil {
		s.cause = err
	}
}

// scan calls each for the rows of a table, by id. A row that cannot be read, or
// of which each says that it cannot be used, is left out and counted.
func (rd *reader) scan(name string, columns []string, each func(id int64, r *row) error) tableSum {
	var s scan
	take := func(r *row) error {
		id := r.int64()
		if s.got.rows > 0 && id <= s.got.lastID {
			// Pages that are named many times can stand for more rows than there are atoms.
			return fmt.Errorf("%w: row %d comes after row %d", errDamaged, id, s.got.lastID)
		}
		var crc uint32
		crc, rd.buf = r.sum(rd.buf)
		s.got.add(id, crc)
		if err := each(id, r); err != nil {
			s.lose(err)
		}
		return nil
	}
	query := "SELECT id, " + strings.Join(columns, ", ") + " FROM " + name + " NOT INDEXED"
	if bug := contain.Run(contain.Part{Kind: contain.Table, Name: name}, func() {
		if err := rd.rows(query+" ORDER BY id", len(columns)+1, take); err != nil {
			rd.probe(name, query, len(columns)+1, &s, err, take)
		}
	}); bug != nil {
		s.lose(bug)
	}
	rd.account(name, &s)
	return s.got
}

// rows runs a query and gives its rows to take, until that returns an error. The row is
// valid until take returns.
func (rd *reader) rows(query string, columns int, take func(r *row) error, args ...any) error {
	rows, err := rd.db.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	r := row{vals: make([]any, columns)}
	into := make([]any, columns)
	for i := range r.vals {
		into[i] = &r.vals[i]
	}
	for rows.Next() {
		r.next, r.err = 0, nil
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := take(&r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// maxProbes bounds how many rows are looked for one by one: some seconds.
const maxProbes = 200_000

// probe goes on after a row that could not be read: a scan stops at the first
// bad page, while rows on good pages can still be found by their id.
func (rd *reader) probe(name, query string, columns int, s *scan, cause error, take func(r *row) error) {
	s.cause = cause
	last := rd.sums[name].lastID
	err := rd.db.QueryRow("SELECT max(id) FROM " + name + " NOT INDEXED").Scan(&last)
	if err != nil && last == 0 || err != nil && s.got.rows == 0 && !rd.reachable(name, last) {
		s.lost = max(1, rd.sums[name].rows-s.got.rows)
		return
	}
	first := s.got.lastID + 1
	for id := first; id <= last && id-first < maxProbes; id++ {
		if err := rd.rows(query+" WHERE id = ?", columns, take, id); err != nil {
			s.lose(err)
		}
	}
}

// reachable reports whether any row of a table can be found by its id, by trying
// a few between the first and the last.
func (rd *reader) reachable(name string, last int64) bool {
	const tries = 16
	for i := range int64(tries) {
		var id int64
		err := rd.db.QueryRow("SELECT id FROM "+name+" NOT INDEXED WHERE id = ?", 1+i*max(last-1, 0)/(tries-1)).Scan(&id)
		if err == nil {
			return true
		}
	}
	return false
}

// account compares what was read of a table with what was written and notes the
// difference.
func (rd *reader) account(name string, s *scan) {
	want, known := rd.sums[name]
	if known {
		s.lost = max(s.lost, want.rows-s.got.rows)
	}
	if s.lost > 0 && (name == "chunk" || name == "tail") {
		rd.samplesLost = true
	}
	switch {
	case s.lost > 0:
		cause := ""
		if s.cause != nil {
			cause = ": " + s.cause.Error()
		}
		total := s.got.rows + s.lost
		if known {
			total = max(want.rows, s.lost)
		}
		rd.lose("table %s: %s of %s rows lost%s", name, unit.Count(s.lost), unit.Count(total), cause)
	case s.cause != nil:
		rd.lose("table %s: %s", name, s.cause)
	case known && want != s.got:
		rd.lose("table %s: its values are not those that were written", name)
	}
}

func tailColumns() []string  { return cols("host source at_ns data") }
func chunkColumns() []string { return cols("host source from_ns to_ns ticks series data") }

// points calls each for all samples of the file, a column of them at a time,
// chunks first. Columns of one series come in the order of time, save for frames
// that were late. They are valid until each returns.
func (rd *reader) points(each func(times []time.Duration, c chunk.Column)) {
	var raw []byte
	rd.scan("chunk", chunkColumns(), func(_ int64, r *row) error {
		g := kasoku.Gap{Host: r.text(), Source: r.text(), Interval: interval(r)}
		r.skip(2)
		data := r.blob()
		if r.err != nil {
			return r.err
		}
		var err error
		if raw, err = rd.zstd.DecodeAll(data, raw[:0]); err == nil {
			err = rd.chunk(raw, each)
		}
		if err != nil {
			rd.loseSamples(g, err)
		}
		return nil
	})
	rd.scan("tail", tailColumns(), func(_ int64, r *row) error {
		g := kasoku.Gap{Host: r.text(), Source: r.text()}
		g.Interval.From = r.dur()
		g.Interval.To = g.Interval.From
		data := r.blob()
		if r.err != nil {
			return r.err
		}
		err := rd.tick(g.Interval.From, data, each)
		if err != nil {
			rd.loseSamples(g, err)
		}
		return nil
	})
}

// errBudget ends the reading of samples.
var errBudget = errors.New("more samples than a recording may hold")

// loseSamples notes that the samples of one source are lost for a while.
func (rd *reader) loseSamples(g kasoku.Gap, err error) {
	if errors.Is(err, errBudget) && len(rd.lost) > 0 && rd.lost[len(rd.lost)-1].Reason == errBudget.Error() {
		return // said once
	}
	g.Reason = err.Error()
	rd.lost = append(rd.lost, g)
	rd.lose("samples of %s/%s from %s to %s: %v", g.Host, g.Source, at(g.Interval.From), at(g.Interval.To), err)
}

// at prints an offset, such as 60 s or 93.5 s.
func at(d time.Duration) string { return unit.Exact(d.Round(time.Second / 10)) }

func (rd *reader) chunk(raw []byte, each func([]time.Duration, chunk.Column)) error {
	return chunk.EachColumn(raw, func(times []time.Duration, c chunk.Column) error {
		if rd.budget -= len(c.Values); rd.budget < 0 {
			return errBudget
		}
		each(times, c)
		return nil
	})
}

func (rd *reader) tick(at time.Duration, data []byte, each func([]time.Duration, chunk.Column)) error {
	if rd.budget -= len(data) / 9; rd.budget < 0 {
		return errBudget
	}
	times, first, value := []time.Duration{at}, []uint32{0}, []float64{0}
	return chunk.EachSample(data, func(id int64, v float64) {
		value[0] = v
		each(times, chunk.Column{ID: id, Ticks: first, Values: value})
	})
}

// series returns every series that has points, sorted by key.
func (rd *reader) series() []kasoku.Series {
	before := len(rd.damage)
	rows := seriesTable().read(rd)
	_, known := rd.sums["series"]
	sized := known && len(rd.damage) == before
	room := int64(maxPoints)
	out := make([]kasoku.Series, len(rows))
	place := make(map[int64]*kasoku.Series, len(rows))
	for i, r := range rows {
		out[i] = kasoku.Series{Key: r.v.key, Kind: kindOf(r.v.kind), Unit: r.v.unit}
		place[r.id] = &out[i]
		if n := r.v.extent.points; sized && n > 0 && n <= room {
			out[i].Points = make([]kasoku.Point, 0, n)
			room -= n
		}
	}
	nameless := 0
	rd.points(func(times []time.Duration, c chunk.Column) {
		s := place[c.ID]
		if s == nil {
			nameless += len(c.Values)
			return
		}
		for i, t := range c.Ticks {
			s.Points = append(s.Points, kasoku.Point{At: times[t], Value: c.Values[i]})
		}
	})
	if nameless > 0 {
		rd.lose("%s samples of series whose names are lost", unit.Count(nameless))
	}
	if sized {
		rd.compare(rows, out)
	}
	out = slices.DeleteFunc(out, func(s kasoku.Series) bool { return len(s.Points) == 0 })
	if len(out) == 0 {
		return nil
	}
	for i := range out {
		out[i].Points = ordered(out[i].Points)
	}
	slices.SortFunc(out, func(a, b kasoku.Series) int { return compareKeys(a.Key, b.Key) })
	return out
}

// compare notes for each source how many samples are lost where whole rows are,
// of which it is not known what they held. series are those of rows, in their
// order.
func (rd *reader) compare(rows []kept[seriesRow], series []kasoku.Series) {
	if !rd.samplesLost {
		return
	}
	type count struct{ got, want int64 }
	counts := map[sourceKey]count{}
	var order []sourceKey
	for i, r := range rows {
		key := sourceKey{r.v.key.Host, r.v.key.Source}
		c, seen := counts[key]
		if !seen {
			order = append(order, key)
		}
		counts[key] = count{c.got + int64(len(series[i].Points)), c.want + r.v.extent.points}
	}
	for _, key := range order {
		if c := counts[key]; c.got < c.want {
			rd.lose("samples of %s/%s: %s of %s lost", key.host, key.source, unit.Count(c.want-c.got), unit.Count(c.want))
		}
	}
}

// ordered sorts points by time where they are not; of several at one time the
// last one written stays.
func ordered(points []kasoku.Point) []kasoku.Point {
	sorted := true
	for i := 1; i < len(points) && sorted; i++ {
		sorted = points[i-1].At < points[i].At
	}
	if sorted {
		return points
	}
	slices.SortStableFunc(points, func(a, b kasoku.Point) int { return cmp.Compare(a.At, b.At) })
	kept := points[:0]
	for _, p := range points {
		if n := len(kept); n > 0 && kept[n-1].At == p.At {
			kept[n-1] = p
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

func compareKeys(a, b kasoku.Key) int {
	for _, c := range []int{
		strings.Compare(a.Host, b.Host), strings.Compare(a.Source, b.Source),
		strings.Compare(a.Name, b.Name), strings.Compare(a.Instance, b.Instance),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}
