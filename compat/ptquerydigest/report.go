package ptquerydigest

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lineWidth is how wide the lines of a report are.
const lineWidth = 74

// A printer writes reports.
type printer struct {
	w       *bufio.Writer
	o       *options
	started time.Time
	now     time.Time
	host    string
	timed   bool // the logs have times
	headed  bool // a report with the header, which is the same for all groupings, was printed
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

// together are the sections that no empty line divides.
var together = []string{"rusage", "date", "hostname", "files", "header"}

// report prints the sections that are asked for, in the order asked for.
func (p *printer) report(d *digest) {
	before := ""
	for _, s := range p.o.sections {
		if s == "header" && p.headed {
			continue
		}
		if limit, _ := d.rateLimits(); s == "header" && limit != "" {
			p.line("# Rate limits apply")
		}
		if s != "prepared" && !(slices.Contains(together, before) && slices.Contains(together, s)) {
			p.w.WriteByte('\n')
		}
		before = s
		switch s {
		case "rusage":
			p.usage()
		case "date":
			p.line("# Current date: %s", p.now.Format(time.ANSIC))
		case "hostname":
			p.line("# Hostname: %s", p.host)
		case "files":
			p.line("# Files: %s", strings.Join(d.fileNames(), ", "))
		case "header":
			p.header(d)
		case "profile":
			p.profile(d)
		case "query_report":
			p.queries(d)
		}
	}
	p.headed = true
}

func (d *digest) fileNames() []string {
	var out []string
	for _, f := range d.files {
		out = append(out, f.name)
	}
	return out
}

// labels are how reports call attributes whose name says it worse.
var labels = map[string]string{
	"db": "Databases", "user": "Users", "host": "Hosts",
	"Query_time": "Exec time", "Query_length": "Query size",
	"Tmp_disk_tables": "Tmp disk tbl", "Tmp_table_sizes": "Tmp tbl size",
	"InnoDB_trx_id": "InnoDB trxID",
}

// labelOf is how a report calls an attribute, in twelve letters at most.
func labelOf(name string) string {
	s, ok := labels[name]
	if !ok {
		s = strings.TrimPrefix(name, innodb)
		s = strings.ReplaceAll(s, "_", " ")
	}
	return s[:min(len(s), 12)]
}

const innodb = "InnoDB_"

// leading are the attributes that come first in a table, in this order.
var leading = []string{
	"Query_time", "Lock_time", "Rows_sent", "Rows_examined", "Rows_affected", "Rows_read", "Bytes_sent",
	"Merge_passes", "Tmp_tables", "Tmp_disk_tables", "Tmp_table_sizes", "Query_length",
}

// numbers returns the numeric attributes of a class in the order of a table, those
// of InnoDB apart.
func (c *class) numbers() (plain, inno []*attribute) {
	all := c.ofKind(isNumber)
	for _, name := range leading {
		if i := slices.IndexFunc(all, func(a *attribute) bool { return a.name == name }); i >= 0 {
			plain = append(plain, all[i])
		}
	}
	for _, a := range all {
		switch {
		case slices.Contains(leading, a.name):
		case strings.HasPrefix(a.name, innodb):
			inno = append(inno, a)
		default:
			plain = append(plain, a)
		}
	}
	return plain, inno
}

// header prints the figures of all classes together.
func (p *printer) header(d *digest) {
	c := &d.overall
	s := fmt.Sprintf("# Overall: %s total, %s unique, %s QPS, %sx concurrency ", shortenCount(float64(c.ranked)),
		shortenCount(float64(d.unique)), shortenCount(c.qps()), shortenCount(c.concurrency(d.orderBy.attr)))
	p.line("%s%s", s, strings.Repeat("_", max(lineWidth-len(s), 0)))
	p.timeRange(&c.span)
	p.line("# Attribute          total     min     max     avg     95%%  stddev  median")
	p.line("# ============     ======= ======= ======= ======= ======= ======= =======")
	plain, inno := c.numbers()
	row := func(a *attribute) {
		u := &a.sum
		p.figures(fmt.Sprintf("# %-12s    ", labelOf(a.name)), a.name, u.Sum, u.Min, u.Max, u.Mean, u.P95, u.Stddev,
			u.Median)
	}
	for _, a := range plain {
		row(a)
	}
	if len(inno) > 0 {
		p.line("# InnoDB:")
	}
	for _, a := range inno {
		row(a)
	}
	p.booleans(c)
}

// rateLimits returns the least and the greatest rate, as text, at which the servers
// logged only a part of the queries; empty when they logged all.
func (d *digest) rateLimits() (least, greatest string) {
	for _, c := range d.classes {
		if a := c.find(rateLimit); a != nil {
			for _, v := range a.values {
				if least == "" || v.text < least {
					least = v.text
				}
				greatest = max(greatest, v.text)
			}
		}
	}
	return least, greatest
}

// figures prints a row of a table.
func (p *printer) figures(head, name string, values ...float64) {
	p.w.WriteString(head)
	for _, v := range values {
		fmt.Fprintf(p.w, " %7s", formatFigure(name, v))
	}
	p.w.WriteByte('\n')
}

func (p *printer) timeRange(s *span) {
	switch {
	case s.firstText == "" && p.timed:
		p.line("# Time range: unknown")
	case s.firstText == "":
	case s.firstText == s.lastText:
		p.line("# Time range: all events occurred at %s", s.firstText)
	default:
		last := s.lastText
		if day, clock, ok := strings.Cut(last, " "); ok && strings.HasPrefix(s.firstText, day+" ") {
			last = clock
		}
		p.line("# Time range: %s to %s", s.firstText, last)
	}
}

// booleans prints the share of Yes of each attribute that is Yes once.
func (p *printer) booleans(c *class) {
	head := false
	for _, a := range c.ofKind(isYesNo) {
		if a.yes == 0 {
			continue
		}
		if !head {
			p.line("# Boolean:")
			head = true
		}
		yes := percentOf(float64(a.yes), float64(a.n))
		no := percentOf(float64(a.n-a.yes), float64(a.n))
		p.line("# %-12s %3d%% yes, %3d%% no", labelOf(a.name), yes, no)
	}
}

// queries prints a section for each class that is reported.
func (p *printer) queries(d *digest) {
	explain := p.o.explainWhy(d)
	first := true
	if len(p.o.groupBy) > 1 || d.groupBy != byFingerprint {
		rule := "# " + strings.Repeat("#", lineWidth-2)
		p.line("%s\n# Report grouped by %s\n%s", rule, d.groupBy, rule)
		first = false
	}
	for _, c := range d.classes {
		if c.reason == "" {
			continue
		}
		if !first {
			p.w.WriteByte('\n')
		}
		first = false
		p.query(d, c, explain)
	}
}

// query prints the section of a class.
func (p *printer) query(d *digest, c *class, explain bool) {
	kind := "Item"
	if d.groupBy == byFingerprint {
		kind = "Query"
	}
	p.line("# %s %d: %s QPS, %sx concurrency, ID 0x%s at byte %d", kind, c.rank, shortenCount(c.qps()),
		shortenCount(c.concurrency(d.orderBy.attr)), checksumOf(c.key), c.worst.offset)
	if explain {
		p.line("# This item is included in the report because it matches --%s.", c.reason)
	}
	p.line("# Scores: V/M = %.2f", c.vm())
	p.timeRange(&c.span)
	p.line("# Attribute    pct   total     min     max     avg     95%%  stddev  median")
	p.line("# ============ === ======= ======= ======= ======= ======= ======= =======")
	p.line("# %-12s %3d %7d", "Count", percentOf(float64(c.ranked), float64(d.overall.ranked)), c.ranked)
	p.classNumbers(d, c)
	p.booleans(c)
	p.texts(d, c)
	p.distribution(c)
	p.sample(d, c)
}

func (p *printer) classNumbers(d *digest, c *class) {
	row := func(a *attribute) {
		u := &a.sum
		whole, _ := d.overall.number(a.name)
		p.figures(fmt.Sprintf("# %-12s %3d", labelOf(a.name), percentOf(u.Sum, whole.Sum)), a.name, u.Sum, u.Min, u.Max,
			u.Mean, u.P95, u.Stddev, u.Median)
	}
	plain, inno := c.numbers()
	for _, a := range plain {
		row(a)
	}
	if len(inno) > 0 {
		p.line("# InnoDB:")
	}
	for _, a := range inno {
		row(a)
	}
}

// texts prints the most frequent values of the attributes that are texts, but for
// the one that the classes are of.
func (p *printer) texts(d *digest, c *class) {
	all := slices.DeleteFunc(c.ofKind(isText), func(a *attribute) bool { return a.name == d.groupBy })
	slices.SortFunc(all, func(a, b *attribute) int {
		return cmp.Compare(strings.ToLower(labelOf(a.name)), strings.ToLower(labelOf(b.name)))
	})
	head := false
	for _, a := range all {
		if !head {
			p.line("# String:")
			head = true
		}
		p.line("# %-12s %s", labelOf(a.name), p.values(a, c.ranked))
	}
}

// values prints as many values of an attribute as fit in a line, each with how many
// of the calls have it, and how many more there are.
func (p *printer) values(a *attribute, calls uint64) string {
	room := p.o.maxLine
	if slices.Contains(p.o.showAll, a.name) {
		room = 0
	}
	if len(a.values) == 1 {
		if room > 0 && len(a.values[0].text) > room-wideLabel {
			return cutText(a.values[0].text, room-wideLabel)
		}
		return a.values[0].text
	}
	var b strings.Builder
	for i, v := range a.values {
		s := fmt.Sprintf("%s (%d/%d%%)", p.shortValue(v.text), v.n, percentOf(float64(v.n), float64(calls)))
		if i > 0 {
			s = ", " + s
		}
		if room > 0 && i > 0 && b.Len()+len(s) > room-wideLabel {
			fmt.Fprintf(&b, "... %d more", len(a.values)-i)
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// wideLabel is what the label, and the words on more values, take of a line.
const wideLabel = 27

// shortValue cuts a value to the length of --max-hostname-length; addresses stay.
func (p *printer) shortValue(s string) string {
	n := p.o.maxHost
	if n <= 0 || len(s) <= n || isAddress(s) {
		return s
	}
	return s[:n] + "..."
}

// isAddress reports whether a text is four numbers with dots between.
func isAddress(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return false
	}
	for _, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

// decades are the first buckets of 1us, 10us … 10s.
var decades = [...]int{1, 48, 95, 142, 189, 236, 284, 331}

// distributionOf counts the values of an attribute by power of ten.
func distributionOf(a *attribute) (out [len(decades)]uint64) {
	if a == nil || a.stats == nil {
		return out
	}
	a.stats.Buckets(func(bucket int, n uint64) {
		for i := len(decades) - 1; i >= 0; i-- {
			if bucket >= decades[i] {
				out[i] += n
				return
			}
		}
	})
	return out
}

// distribution draws how the times of a class are spread.
func (p *printer) distribution(c *class) {
	a := c.find(p.o.histogram)
	if a == nil || a.kind != isNumber {
		return
	}
	counts := distributionOf(a)
	most := slices.Max(counts[:])
	p.line("# %s distribution", p.o.histogram)
	for i, name := range [...]string{"  1us", " 10us", "100us", "  1ms", " 10ms", "100ms", "   1s", " 10s+"} {
		n := 0
		if counts[i] > 0 {
			n = max(int(counts[i]*64/most), 1)
		}
		p.line("%s", strings.TrimRight("# "+name+"  "+strings.Repeat("#", n), " "))
	}
}
