package report

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// perSec prints an asked rate where there is little room: 1,000/s.
func perSec(v float64) string { return unit.Plain(v) + "/s" }

// day prints a wall time for people: 20 Nov 2026, 14:02:11 JST.
func day(t time.Time) string { return t.Format("2 Jan 2006, 15:04:05 MST") }

// axisTime prints a label of the time axis, whose labels are step seconds apart.
func axisTime(at, step int) string {
	switch {
	case step < 60:
		return unit.Count(at) + " s"
	case step < 3600 && at < 3*3600:
		return unit.Count(at/60) + " min"
	}
	return unit.Plain(float64(at)/3600) + " h"
}

// rec is a recording with the options by which it is reported.
type rec struct {
	*kasoku.Recording
	o Options
}

// wall returns the wall time of an offset, in the zone asked for.
func (r rec) wall(at time.Duration) time.Time {
	t := r.Wall(at)
	if r.o.Location != nil {
		t = t.In(r.o.Location)
	}
	return t
}

// clock prints the wall time of an offset without its day: 14:02:39.
func (r rec) clock(at time.Duration) string { return r.wall(at).Format("15:04:05") }

// length returns how long the run is; of one that was never closed, how far its
// data goes.
func (r rec) length() time.Duration {
	d := r.Run.Length
	if d > 0 {
		return d
	}
	for i := range r.Series {
		if n := len(r.Series[i].Points); n > 0 {
			d = max(d, r.Series[i].Points[n-1].At)
		}
	}
	for i := range r.Seconds {
		d = max(d, time.Duration(r.Seconds[i].Second+1)*time.Second)
	}
	for _, s := range r.Steps {
		d = max(d, s.Interval.To)
	}
	return d
}

// lasted prints the length of the run, to the second when it has many.
func (r rec) lasted() string {
	if d := r.length(); d >= 10*time.Second {
		return unit.Exact(d.Round(time.Second))
	}
	return unit.Elapsed(r.length())
}

// name is what people call the run.
func (r rec) name() string {
	if r.Run.Label != "" {
		return r.Run.Label
	}
	return r.Run.ID
}

// title is project and name.
func (r rec) title() string {
	if r.Run.Project == "" {
		return r.name()
	}
	return r.Run.Project + " / " + r.name()
}

// host returns the first host, empty when none was recorded.
func (r rec) host() kasoku.Host {
	if len(r.Run.Hosts) == 0 {
		return kasoku.Host{}
	}
	return r.Run.Hosts[0]
}

// database returns MariaDB or MySQL with its version, empty when none was
// recorded.
func (r rec) database() (product, version string) {
	v, ok := r.Setting("mysql", "version")
	if !ok {
		return "", ""
	}
	number, _, _ := strings.Cut(v, "-")
	if strings.Contains(strings.ToLower(v), "mariadb") {
		return "MariaDB", number
	}
	return "MySQL", number
}

// databaseOr names the database, "the database" when it is unknown.
func (r rec) databaseOr() string {
	if p, _ := r.database(); p != "" {
		return p
	}
	return "database"
}

// shortOS cuts "Debian GNU/Linux 12 (bookworm)" to "Debian 12".
func shortOS(s string) string {
	s = strings.ReplaceAll(s, " GNU/Linux", "")
	if i := strings.Index(s, " ("); i > 0 {
		s = s[:i]
	}
	return s
}

// list joins words: a, b and c.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// label makes words of a code: slow-log-trap is Slow log trap.
func label(code string) string {
	s := strings.ReplaceAll(code, "-", " ")
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// firstWord is a plain word at the beginning. Names such as app.log or
// max_connections keep their small letter.
var firstWord = regexp.MustCompile(`^[a-z]+(?:[ ,]|: |\. |$)`)

// names are words that keep their small letter.
var names = regexp.MustCompile(`^(?:mysql|epollhttp|nethttp)`)

// Sentence begins a text with a capital letter when its first word is a plain one.
func Sentence(s string) string {
	if !firstWord.MatchString(s) || names.MatchString(s) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// full makes a whole sentence of a clause: a capital letter and a full stop.
func full(s string) Prose {
	s = Sentence(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ":") {
		return Prose(s)
	}
	return Prose(s + ".")
}

// short cuts text to n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}
