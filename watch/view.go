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
	c := m.canvas(m.width)
	c.contained("header", func() { m.header(c) })
	body := m.height - len(c.lines) - 2
	switch {
	case m.help:
		m.helpLines(c)
	case m.open > 0 && m.open <= len(m.data.Findings):
		c.contained("finding", func() { m.findingLines(c, &m.data.Findings[m.open-1]) })
	case m.width >= wideFrom:
		c.contained("wide", func() { m.wide(c, body) })
	default:
		c.contained("narrow", func() { m.narrow(c, body) })
	}
	if len(c.lines) > m.height-2 {
		c.lines = c.lines[:m.height-2]
	}
	for len(c.lines) < m.height-2 {
		c.lines = append(c.lines, nil)
	}
	c.contained("footer", func() { m.footer(c) })
	return c.text()
}

func (m *Model) canvas(width int) *canvas {
	return &canvas{width: width, ascii: m.o.ASCII, color: m.o.Color}
}

// header says what is seen and when.
func (m *Model) header(c *canvas) {
	left := []piece{{m.title(), bold}, {"   " + m.state(), m.stateTone()}}
	if st := m.step(); st != "" {
		left = append(left, piece{"   " + st, plain})
	}
	if r := m.data.Recorded; r != "" {
		left = append(left, piece{"   run " + clean(r) + " is recorded", series})
	}
	right := []piece{{m.data.clock(m.at), bold}}
	if h := m.data.Rec.Run.Hosts; len(h) > 0 {
		host := piece{fmt.Sprintf("   %s, %s", clean(h[0].Name), unit.Counted(h[0].Cores, "core", "cores")), dim}
		if line(left).width()+(line{host}).width()+line(right).width() < c.width {
			left = append(left, host)
		}
	}
	c.sides(left, right)
}

func (m *Model) title() string {
	r := &m.data.Rec.Run
	title := clean(r.Project)
	if m.o.Title != "" {
		title = clean(m.o.Title)
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

// state says whether what is seen is now.
func (m *Model) state() string {
	switch behind := m.last() - m.at; {
	case m.feed != nil && m.follow && !m.data.Live:
		return "ended"
	case m.feed != nil && m.follow && m.data.Silent > silentFrom:
		return fmt.Sprintf("no data for %d s, retrying", int(m.data.Silent/time.Second))
	case m.feed != nil && m.follow:
		return "live"
	case m.feed != nil:
		return fmt.Sprintf("paused, %s ago", unit.Exact(time.Duration(behind)*time.Second))
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
func (m *Model) step() string {
	at := time.Duration(m.at)*time.Second - time.Millisecond
	for i, s := range m.data.Rec.Steps {
		if !s.Interval.Contains(at) {
			continue
		}
		text := fmt.Sprintf("step %d/%d", i+1, len(m.data.Rec.Steps))
		if s.PerSec > 0 {
			text += "  " + unit.Plain(s.PerSec) + "/s"
		}
		return text
	}
	return ""
}

// scale says how many seconds a column has, of those that a width has room for, and
// which seconds are drawn.
func (m *Model) scale(room int) (per int, s span) {
	per = 1
	long := m.long()
	if !m.zoom {
		for _, per = range []int{1, 2, 3, 5, 6, 10, 12, 15, 20, 30, 60} {
			if long/per+1 <= room {
				break
			}
		}
	}
	if m.zoom {
		long = min(room, long)
	}
	return per, span{m.at - long + 1, m.at}
}

// long is how many seconds are drawn: of a run that is shorter, all of it.
func (m *Model) long() int {
	if m.feed != nil {
		return lookBack
	}
	return min(lookBack, max(m.last()-m.first()+1, 20))
}

// caption says what a column is.
func caption(per int, s span) string {
	long := unit.Exact(time.Duration(s.to-s.from+1) * time.Second)
	if per == 1 {
		return "last " + long + ", 1 s a column; · no data"
	}
	return fmt.Sprintf("last %s, most of each %d s; · no data", long, per)
}

// meterBlock draws the meters in a height; most of them get a line, those that say
// most get more where there is room.
func (m *Model) meterBlock(c *canvas, height int) {
	c.contained("meters", func() { m.meterLines(c, height) })
}

func (m *Model) meterLines(c *canvas, height int) {
	room := max(c.width-leftCells-peakCells, 8)
	per, s := m.scale(room)
	c.line(piece{strings.Repeat(" ", leftCells) + caption(per, s), dim})
	all := m.data.meters(s)
	all = chosen(all, height-1)
	rows := heights(all, height-1)
	room = height - 1 - sumOf(rows)
	for i := range all {
		if i > 0 && room > 0 && (rows[i] > 1 || rows[i-1] > 1) {
			c.line()
			room--
		}
		c.meterLines(&all[i], all[i].columns(s, per), rows[i])
	}
	if len(all) == 0 {
		c.line(piece{" nothing was sampled in this time", dim})
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
func (m *Model) narrow(c *canvas, body int) {
	findings := m.findings()
	below := 1
	if n := len(findings.rows); n > 0 {
		below = 1 + min(n, max(2, body/8))
	}
	table := m.table(m.pane)
	meters := max(body*11/20, 3)
	known := 0
	_ = contain.Run(panel("meters"), func() { known = len(m.data.meters(span{m.at - lookBack + 1, m.at})) }) // meterBlock says it
	if known+1 < meters && known > 0 && body < 40 {
		meters = known + 1
	}
	m.meterBlock(c, meters)
	for len(c.lines) < m.height-2-body+meters {
		c.lines = append(c.lines, nil)
	}
	c.line()
	rows := body - meters - 1 - below - 2
	m.pane1(c, &table, rows, true)
	for len(c.lines) < m.height-2-below {
		c.lines = append(c.lines, nil)
	}
	m.findingBlock(c, &findings, below-1)
}

// pane1 draws a table in so many rows.
func (m *Model) pane1(c *canvas, t *table, rows int, chosen bool) {
	c.contained("pane", func() { m.paneLines(c, t, rows, chosen) })
}

func (m *Model) paneLines(c *canvas, t *table, rows int, chosen bool) {
	if rows < 1 {
		return
	}
	from := min(m.scroll[t.id], max(len(t.rows)-rows, 0))
	if chosen {
		m.scroll[t.id] = from
	}
	title := []piece{{" ", plain}, {t.title, bold}}
	if chosen {
		title[0].text = "›"
	}
	if len(t.sorts) > 1 {
		title = append(title, piece{"  by " + t.columns[t.sorts[t.sorted]].name, dim})
	}
	if f := m.filter[t.id]; f != "" {
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
		c.line(title...)
		c.line(piece{" " + note, dim})
		return
	}
	c.tableLines(t, title, from, rows)
}

// findingBlock draws the findings in so many lines below their title.
func (m *Model) findingBlock(c *canvas, t *table, rows int) {
	if len(t.rows) == 0 {
		c.line(piece{" findings", bold}, piece{"  " + m.noFinding(), dim})
		return
	}
	title := []piece{{" findings", bold}, {"  " + m.findingNote(t), dim}}
	c.tableLines(t, title, 0, rows)
}

func (m *Model) noFinding() string {
	if m.feed != nil {
		return "none in the last minute"
	}
	return "none up to here"
}

func (m *Model) findingNote(t *table) string {
	n := len(t.rows)
	note := "1–" + fmt.Sprint(min(n, 9)) + " tells more"
	switch {
	case int(t.rows[n-1].values[0]) != n: // some come later in the replay
		note = "a number tells more"
	case n == 1:
		note = "1 tells more"
	}
	if m.feed != nil {
		note = "in the last minute; " + note
	}
	return note
}

// besides are the tables of a wide screen, with the most rows that each gets at first.
var besides = []struct {
	id   string
	rows int
}{
	{"processes", 8}, {"statements", 7}, {"routes", 6}, {"database", 8}, {"nginx", 1}, {"varnish", 1}, {"redis", 1}, {"go", 3}, {"pools", 3}, {"commands", 3},
	{"units", 4}, {"cores", 4}, {"disks", 3}, {"network", 3}, {"services", 6}, {"events", 3},
}

// wide puts tables beside the meters.
func (m *Model) wide(c *canvas, body int) {
	left := m.width * 11 / 20
	drawn := m.canvas(left - 3)
	m.meterBlock(drawn, body)
	side := m.canvas(m.width - left)
	findings := m.findings()
	m.findingBlock(side, &findings, 3)
	m.sideTables(side, body)
	if len(side.lines) > body {
		side.lines = side.lines[:body]
	}
	top := len(c.lines)
	lower := m.canvas(m.width)
	lower.lines = drawn.lines
	lower.beside(side, left)
	c.lines = append(c.lines[:top], lower.lines...)
}

// sideTables stacks tables as long as there is room: that of the keys gets more.
func (m *Model) sideTables(c *canvas, body int) {
	if !slices.ContainsFunc(besides, func(b struct {
		id   string
		rows int
	}) bool {
		return b.id == m.pane
	}) {
		t := m.table(m.pane)
		c.line()
		m.pane1(c, &t, 10, true)
	}
	for _, b := range besides {
		chosen := b.id == m.pane
		t := m.table(b.id)
		if len(t.rows) == 0 && !chosen {
			continue
		}
		rows := min(b.rows, len(t.rows))
		if chosen {
			rows = max(min(len(t.rows), 14), 1)
		}
		rows = min(rows, body-len(c.lines)-3)
		if rows < 1 || rows < min(2, len(t.rows)) {
			return
		}
		c.line()
		m.pane1(c, &t, rows, chosen)
	}
}

// footer says what the watch itself costs, and the keys.
func (m *Model) footer(c *canvas) {
	status := m.cost()
	switch {
	case m.asks == "mark":
		c.line(piece{" mark " + m.data.clock(m.asked) + ": ", bold}, piece{m.typed + "_", plain}, piece{"   enter keeps, esc leaves", dim})
	case m.asks == "filter":
		c.line(piece{" filter " + m.pane + ": ", bold}, piece{m.typed + "_", plain}, piece{"   enter keeps, esc leaves", dim})
	case m.message != "":
		c.line(piece{" " + clean(m.message), warning})
	default:
		c.line(piece{" " + status, dim})
	}
	keys := "q quit  p pause  ←→ time  tab pane  s sort  / filter  m mark  ? keys"
	if m.feed == nil {
		keys = "q quit  p play  ←→ time  +− speed  tab pane  s sort  / filter  ? keys"
	}
	if m.width >= 120 {
		keys = strings.ReplaceAll(keys, "? keys", "z zoom  1–9 finding  w keep as a run  shift ←→ 10 s  home end  ? keys")
	}
	c.line(piece{" " + keys, dim})
}

// cost words what watching takes.
func (m *Model) cost() string {
	d := m.data
	var parts []string
	cpu := add(d.values(d.one(observe.SelfName, observe.SelfCPUUser), m.at-9, m.at),
		d.values(d.one(observe.SelfName, observe.SelfCPUSystem), m.at-9, m.at))
	mean, n := 0.0, 0
	for _, v := range cpu {
		if !math.IsNaN(v) {
			mean, n = mean+v, n+1
		}
	}
	if n > 0 {
		text := "kasoku itself: " + unit.Percent(mean/float64(n)) + " of one core"
		if rss := d.at(d.one(observe.SelfName, observe.SelfRSS), m.at); rss > 0 {
			text += ", " + unit.Bytes(uint64(rss))
		}
		parts = append(parts, text)
	}
	if g := gapsAt(d.Rec.Gaps, time.Duration(m.at)*time.Second); g != "" {
		parts = append(parts, g)
	}
	if len(d.Notes) > 0 && m.width >= 120 {
		parts = append(parts, clean(d.Notes[0]))
	}
	return strings.Join(parts, "; ")
}

// gapsAt says which source gives nothing at a moment.
func gapsAt(gaps []kasoku.Gap, at time.Duration) string {
	for i := len(gaps) - 1; i >= 0; i-- {
		g := &gaps[i]
		if g.Interval.From <= at && at <= g.Interval.To+time.Second {
			return clean(fmt.Sprintf("no %s: %s", g.Source, g.Reason))
		}
	}
	return ""
}

// helpLines lists all keys.
func (m *Model) helpLines(c *canvas) {
	c.line()
	c.line(piece{" keys", bold})
	for _, k := range [][2]string{
		{"← →", "a second back, on"}, {"shift ← →  or H L", "10 seconds"}, {"page up, down", "a minute"},
		{"home, end", "the oldest second; now, or the end of the run"},
		{"p, space", "pause or go on; in a replay play or stop"}, {"+ −", "speed of a replay: ×1 to ×60"},
		{"z", "a column a second, or the last 5 minutes"},
		{"tab, shift tab", "the next table, the one before"}, {"↑ ↓", "scroll the table"}, {"s", "sort it by the next column"},
		{"/", "only rows that hold a text; esc takes it away"}, {"1–9", "tell a finding whole, with evidence and fix"},
		{"m", "mark a moment with a word"}, {"w", "keep what is seen as a run file, marks too"}, {"q, ctrl-c", "quit"},
	} {
		c.line(piece{"   " + padRight(k[0], 20), plain}, piece{k[1], dim})
	}
	c.line(piece{" tables: processes, statements, routes, database, nginx, varnish, redis and its", dim})
	c.line(piece{" commands, go, pools, services, cores, units, disks, network, findings, events,", dim})
	c.line(piece{" and all series there are", dim})
}

// findingLines draws one finding: evidence, cause, fix.
func (m *Model) findingLines(c *canvas, f *kasoku.Finding) {
	wrapped := func(indent string, text string, t tone) {
		for _, l := range terminal.Wrap(clean(text), c.width-len(indent)-1) {
			c.line(piece{indent, plain}, piece{l, t})
		}
	}
	c.line()
	c.line(piece{fmt.Sprintf(" %d  %s  ", m.open, clean(f.ID)), warning}, piece{clean(f.Title), bold})
	how := "confidence " + string(f.Confidence.Level)
	if f.Impact.Share > 0 {
		how = unit.Percent(f.Impact.Share) + " " + f.Impact.Of + ", " + how
	}
	wrapped("    ", how, dim)
	for _, e := range f.Evidence {
		c.line(piece{"    " + padRight(terminal.Cut(clean(e.Source), 10, c.ascii), 11), dim}, piece{clean(strings.TrimSpace(e.Text + "  " + e.Value)), plain}, piece{"  " + clean(e.Note), dim})
	}
	c.line()
	wrapped("    ", f.Cause, plain)
	for _, fix := range f.Fixes {
		c.line()
		wrapped("    fix: ", fix.Text, plain)
		for code := range strings.Lines(fix.Code) {
			c.line(piece{"      " + clean(strings.TrimRight(code, "\n")), series})
		}
		wrapped("      risk: ", string(fix.Risk), dim)
	}
}
