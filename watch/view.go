package watch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/report/terminal"
)

// wideFrom is the width from which tables stand beside the drawings.
const wideFrom = 150

// Screen draws everything, as wide and as high as the terminal is.
func (m *Model) Screen() string {
	s := m.screen(m.width)
	s.contained("header", func() { s.header() })
	body := m.height - len(s.lines) - 2
	switch {
	case m.help:
		s.helpLines()
	case m.open > 0 && m.open <= len(m.data.Findings):
		s.contained("finding", func() { s.findingLines(&m.data.Findings[m.open-1]) })
	case m.width >= wideFrom:
		s.contained("wide", func() { s.wide(body) })
	default:
		s.contained("narrow", func() { s.narrow(body) })
	}
	if len(s.lines) > m.height-2 {
		s.lines = s.lines[:m.height-2]
	}
	for len(s.lines) < m.height-2 {
		s.lines = append(s.lines, nil)
	}
	s.contained("footer", func() { s.footer() })
	return s.text()
}

// A screen is a part of the terminal, on which a model is drawn.
type screen struct {
	*Model
	*canvas
}

// screen returns an empty one.
func (m *Model) screen(width int) *screen {
	return &screen{m, &canvas{width: width, ascii: m.o.ASCII, color: m.o.Color}}
}

// header says what is seen and when.
func (s *screen) header() {
	left := []piece{{s.title(), bold}, {"   " + s.state(), s.stateTone()}}
	if st := s.step(); st != "" {
		left = append(left, piece{"   " + st, plain})
	}
	if r := s.data.Recorded; r != "" {
		left = append(left, piece{"   run " + clean(r) + " is recorded", series})
	}
	right := []piece{{s.data.clock(s.at), bold}}
	if h := s.data.Rec.Run.Hosts; len(h) > 0 {
		host := piece{fmt.Sprintf("   %s, %s", clean(h[0].Name), unit.Counted(h[0].Cores, "core", "cores")), dim}
		if line(left).width()+(line{host}).width()+line(right).width() < s.canvas.width {
			left = append(left, host)
		}
	}
	s.sides(left, right)
}

func (s *screen) title() string {
	r := &s.data.Rec.Run
	title := clean(r.Project)
	if s.o.Title != "" {
		title = clean(s.o.Title)
	}
	if r.Label != "" {
		title += " / " + clean(r.Label)
	}
	if strings.TrimSpace(title) == "" {
		title = "kasoku watch"
	}
	return title
}

// silentFrom is after how long without anything new that is said.
const silentFrom = 4 * time.Second

// state reports whether what is seen is now.
func (m *Model) state() string {
	switch lag := m.last() - m.at; {
	case m.feed != nil && m.follow && !m.data.Live:
		return "ended"
	case m.feed != nil && m.follow && m.data.Silent > silentFrom:
		return fmt.Sprintf("no data for %d s, retrying", int(m.data.Silent/time.Second))
	case m.feed != nil && m.follow:
		return "live"
	case m.feed != nil:
		return fmt.Sprintf("paused, %s ago", unit.Exact(time.Duration(lag)*time.Second))
	case m.play:
		return fmt.Sprintf("replay ×%d, %d of %d s", speeds[m.speed], m.at, m.last())
	}
	return fmt.Sprintf("replay paused, %d of %d s", m.at, m.last())
}

func (m *Model) stateTone() tone {
	if m.feed != nil && (!m.follow || !m.data.Live || m.data.Silent > silentFrom) {
		return warning
	}
	return plain
}

// step says which step of a load is under way.
func (s *screen) step() string {
	at := time.Duration(s.at)*time.Second - time.Millisecond
	for i, one := range s.data.Rec.Steps {
		if !one.Interval.Contains(at) {
			continue
		}
		text := fmt.Sprintf("step %d/%d", i+1, len(s.data.Rec.Steps))
		if one.PerSec > 0 {
			text += "  " + unit.Plain(one.PerSec) + "/s"
		}
		return text
	}
	return ""
}

// scale describes how many seconds a column has, of those that a width has room for, and
// which seconds are drawn.
func (m *Model) scale(room int) (per int, s span) {
	per = 1
	there := max(m.last()-m.first()+1, 20)
	if m.zoom {
		long := min(room, lookBack)
		if m.feed == nil {
			long = min(long, there)
		}
		return per, span{m.at - long + 1, m.at}
	}
	for _, per = range []int{1, 2, 3, 5, 6, 10, 12, 15, 20, 30, 60} {
		if min(lookBack, there)/per+1 <= room {
			break
		}
	}
	long := min(lookBack, there)
	if m.feed != nil { // what grows has room to grow into, but not five minutes of it from the start
		long = min(lookBack, max((room-1)*per, 1))
	}
	return per, span{m.at - long + 1, m.at}
}

// caption describes what a column is.
func caption(per int, s span) string {
	long := unit.Exact(time.Duration(s.to-s.from+1) * time.Second)
	if per == 1 {
		return "last " + long + ", 1 s a column; · no data"
	}
	return fmt.Sprintf("last %s, most of each %d s; · no data", long, per)
}

// meterBlock draws the meters in a height; most of them get a line, those that say
// most get more where there is room.
func (s *screen) meterBlock(height int) {
	s.contained("meters", func() { s.allMeters(height) })
}

func (s *screen) allMeters(height int) {
	room := max(s.canvas.width-leftCells-peakCells, 8)
	per, shown := s.scale(room)
	s.line(piece{strings.Repeat(" ", leftCells) + caption(per, shown), dim})
	all := s.data.meters(shown)
	all = chosen(all, height-1)
	rows := heights(all, height-1)
	room = height - 1 - sumOf(rows)
	for i := range all {
		if i > 0 && room > 0 && (rows[i] > 1 || rows[i-1] > 1) {
			s.line()
			room--
		}
		s.canvas.meterLines(&all[i], all[i].columns(shown, per), rows[i])
	}
	if len(all) == 0 {
		s.line(piece{" nothing was sampled in this time", dim})
	}
}

// chosen are the n meters that say most, in their order.
func chosen(all []meter, n int) []meter {
	for rank := 9; rank > 0 && len(all) > n; rank-- {
		for i := len(all) - 1; i >= 0 && len(all) > n; i-- {
			if all[i].rank == rank {
				all = slices.Delete(all, i, i+1)
			}
		}
	}
	return all[:min(len(all), max(n, 0))]
}

// heights shares out the lines that there are.
func heights(all []meter, room int) []int {
	h := make([]int, len(all))
	left := room - len(all)
	for i := range h {
		h[i] = 1
	}
	grow := func(to func(*meter) int) {
		for i := range all {
			if more := to(&all[i]) - h[i]; more > 0 && more <= left {
				h[i] += more
				left -= more
			}
		}
	}
	grow(func(m *meter) int { return min(m.chart, 3) })
	grow(func(m *meter) int { return m.chart })
	for half := 3; half <= 6; half++ { // one and a half times as high, at most three times
		grow(func(m *meter) int { return m.chart * half / 2 })
	}
	return h
}

func sumOf(v []int) (n int) {
	for _, x := range v {
		n += x
	}
	return n
}

// narrow puts one table below the meters, and the findings below that.
func (s *screen) narrow(body int) {
	findings := s.findings()
	below := 1
	if n := len(findings.rows); n > 0 {
		below = 1 + min(n, max(2, body/8))
	}
	table := s.table(s.tables.pane)
	meters := max(body*11/20, 3)
	if body < 30 { // a low screen has four rows of the table: most below them are idle
		meters = max(meters, body-below-2-1-4)
	}
	known := 0
	_ = contain.Run(panel("meters"), func() { known = len(s.data.meters(span{s.at - lookBack + 1, s.at})) }) // meterBlock says it
	if known+1 < meters && known > 0 && body < 40 {
		meters = known + 1
	}
	s.meterBlock(meters)
	for len(s.lines) < s.height-2-body+meters {
		s.lines = append(s.lines, nil)
	}
	s.line()
	rows := body - meters - 1 - below - 2
	s.paneBlock(&table, rows, true)
	for len(s.lines) < s.height-2-below {
		s.lines = append(s.lines, nil)
	}
	s.findingBlock(&findings, below-1)
}

// paneBlock draws a table in so many rows.
func (s *screen) paneBlock(t *table, rows int, chosen bool) {
	s.contained("pane", func() { s.paneLines(t, rows, chosen) })
}

func (s *screen) paneLines(t *table, rows int, chosen bool) {
	if rows < 1 {
		return
	}
	from := min(s.tables.scroll[t.id], max(len(t.rows)-rows, 0))
	if chosen {
		s.tables.scroll[t.id] = from
	}
	title := []piece{{" ", plain}, {t.title, bold}}
	if chosen {
		title[0].text = "›"
	}
	if len(t.sorts) > 1 {
		title = append(title, piece{"  by " + t.columns[t.sorts[t.sorted]].name, dim})
	}
	if f := s.tables.filter[t.id]; f != "" {
		title = append(title, piece{fmt.Sprintf("  /%s", clean(f)), warning})
	}
	if len(t.rows) > rows {
		title = append(title, piece{fmt.Sprintf("  %d–%d of %d", from+1, from+rows, len(t.rows)), dim})
	}
	if len(t.rows) == 0 {
		note := "nothing now"
		if t.found > 0 {
			note = fmt.Sprintf("none of %d holds that", t.found)
		}
		s.line(title...)
		s.line(piece{" " + note, dim})
		return
	}
	s.tableLines(t, title, from, rows)
}

// findingBlock draws the findings in so many lines below their title.
func (s *screen) findingBlock(t *table, rows int) {
	if len(t.rows) == 0 {
		s.line(piece{" findings", bold}, piece{"  " + s.noFinding(), dim})
		return
	}
	title := []piece{{" findings", bold}, {"  " + s.findingNote(t), dim}}
	s.tableLines(t, title, 0, rows)
}

func (s *screen) noFinding() string {
	if s.feed != nil {
		return "none in the last minute"
	}
	return "none up to here"
}

func (s *screen) findingNote(t *table) string {
	n := len(t.rows)
	note := "1–" + fmt.Sprint(min(n, 9)) + " shows more"
	switch {
	case int(t.rows[n-1].values[0]) != n: // some come later in the replay
		note = "a number shows more"
	case n == 1:
		note = "1 shows more"
	}
	if s.feed != nil {
		note = "in the last minute; " + note
	}
	return note
}

// sideTables are the tables of a wide screen, with the most rows that each gets at first.
var sideTables = []struct {
	id   string
	rows int
}{
	{"processes", 8}, {"statements", 7}, {"routes", 6}, {"database", 8}, {"nginx", 1}, {"varnish", 1}, {"redis", 1}, {"go", 3}, {"pools", 3}, {"commands", 3},
	{"units", 4}, {"cores", 4}, {"disks", 3}, {"network", 3}, {"services", 6}, {"events", 3},
}

// wide puts tables beside the meters.
func (s *screen) wide(body int) {
	left := s.Model.width * 11 / 20
	drawn := s.screen(left - 3)
	drawn.meterBlock(body)
	side := s.screen(s.Model.width - left)
	findings := s.findings()
	side.findingBlock(&findings, 3)
	side.sideTables(body)
	if len(side.lines) > body {
		side.lines = side.lines[:body]
	}
	top := len(s.lines)
	lower := s.screen(s.Model.width)
	lower.lines = drawn.lines
	lower.beside(side.canvas, left)
	s.lines = append(s.lines[:top], lower.lines...)
}

// sideTables stacks tables as long as there is room: that of the keys gets more.
func (s *screen) sideTables(body int) {
	if !slices.ContainsFunc(sideTables, func(b struct {
		id   string
		rows int
	}) bool {
		return b.id == s.tables.pane
	}) {
		t := s.table(s.tables.pane)
		s.line()
		s.paneBlock(&t, 10, true)
	}
	for _, b := range sideTables {
		chosen := b.id == s.tables.pane
		t := s.table(b.id)
		if len(t.rows) == 0 && !chosen {
			continue
		}
		rows := min(b.rows, len(t.rows))
		if chosen {
			rows = max(min(len(t.rows), 14), 1)
		}
		rows = min(rows, body-len(s.lines)-3)
		if rows < 1 || rows < min(2, len(t.rows)) {
			return
		}
		s.line()
		s.paneBlock(&t, rows, chosen)
	}
}

// footer says what the watch itself costs, and the keys.
func (s *screen) footer() {
	status := s.cost()
	switch {
	case s.prompt.asks == "mark":
		s.line(piece{" mark " + s.data.clock(s.prompt.at) + ": ", bold}, piece{s.prompt.typed + "_", plain}, piece{"   enter keeps, esc leaves", dim})
	case s.prompt.asks == "filter":
		s.line(piece{" filter " + s.tables.pane + ": ", bold}, piece{s.prompt.typed + "_", plain}, piece{"   enter keeps, esc leaves", dim})
	case s.message != "":
		s.line(piece{" " + clean(s.message), warning})
	default:
		s.line(piece{" " + status, dim})
	}
	keys := "q quit  p pause  ←→ time  tab pane  s sort  / filter  m mark  ? keys"
	if s.feed == nil {
		keys = "q quit  p play  ←→ time  +− speed  tab pane  s sort  / filter  ? keys"
	}
	if s.Model.width >= 120 {
		keys = strings.ReplaceAll(keys, "? keys", "z zoom  1–9 finding  w keep as a run  shift ←→ 10 s  home end  ? keys")
	}
	s.line(piece{" " + keys, dim})
}

// cost words what watching takes.
func (s *screen) cost() string {
	d := s.data
	var parts []string
	cpu := add(d.values(d.one(observe.SelfName, observe.SelfCPUUser), s.at-9, s.at),
		d.values(d.one(observe.SelfName, observe.SelfCPUSystem), s.at-9, s.at))
	mean, n := 0.0, 0
	for _, v := range cpu {
		if !math.IsNaN(v) {
			mean, n = mean+v, n+1
		}
	}
	if n > 0 {
		text := "kasoku itself: " + unit.Percent(mean/float64(n)) + " of one core"
		if rss := d.valueAt(d.one(observe.SelfName, observe.SelfRSS), s.at); rss > 0 {
			text += ", " + unit.Bytes(uint64(rss))
		}
		parts = append(parts, text)
	}
	if g := gapsAt(d.Rec.Gaps, time.Duration(s.at)*time.Second); g != "" {
		parts = append(parts, g)
	}
	if len(d.Notes) > 0 && s.Model.width >= 120 {
		parts = append(parts, clean(d.Notes[0]))
	}
	return strings.Join(parts, "; ")
}

// gapsAt describes which source gives nothing at a moment.
func gapsAt(gaps []kasoku.Gap, at time.Duration) string {
	for i := len(gaps) - 1; i >= 0; i-- {
		g := &gaps[i]
		if g.Interval.From <= at && at <= g.Interval.To+time.Second {
			return clean(fmt.Sprintf("no %s: %s", g.Source, g.Reason))
		}
	}
	return ""
}

// findingLines draws one finding: evidence, cause, fix.
func (s *screen) findingLines(f *kasoku.Finding) {
	wrapped := func(indent string, text string, t tone) {
		for _, l := range terminal.Wrap(clean(text), s.canvas.width-len(indent)-1) {
			s.line(piece{indent, plain}, piece{l, t})
		}
	}
	s.line()
	s.line(piece{fmt.Sprintf(" %d  %s  ", s.open, clean(f.ID)), warning}, piece{clean(f.Title), bold})
	how := "confidence " + string(f.Confidence.Level)
	if f.Impact.Share > 0 {
		how = unit.Percent(f.Impact.Share) + " " + f.Impact.Of + ", " + how
	}
	wrapped("    ", how, dim)
	for _, e := range f.Evidence {
		s.line(piece{"    " + padRight(terminal.Cut(clean(e.Source), 10, s.ascii), 11), dim}, piece{clean(strings.TrimSpace(e.Text + "  " + e.Value)), plain}, piece{"  " + clean(e.Note), dim})
	}
	s.line()
	wrapped("    ", f.Cause, plain)
	for _, fix := range f.Fixes {
		s.line()
		wrapped("    fix: ", fix.Text, plain)
		for code := range strings.Lines(fix.Code) {
			s.line(piece{"      " + clean(strings.TrimRight(code, "\n")), series})
		}
		wrapped("      risk: ", string(fix.Risk), dim)
	}
}
