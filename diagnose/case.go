package diagnose

import (
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Case is one recorded run to be looked at. Rules only read it, so one Case
// may be read by several of them at once.
type Case struct {
	*kasoku.Recording
	// Repeats are the other runs of this one's group.
	Repeats []*kasoku.Recording
	// Baseline is an earlier run to compare with, nil without one.
	Baseline *kasoku.Recording
	// Baselines are the other runs of the baseline's group.
	Baselines []*kasoku.Recording
	// Focus is where evidence is taken.
	Focus Focus

	memo *memo
}

// NewCase returns the case of a recording with its focus chosen. The baseline
// may be nil.
func NewCase(rec, baseline *kasoku.Recording) *Case {
	if rec == nil {
		rec = &kasoku.Recording{}
	}
	return &Case{Recording: rec, Baseline: baseline, Focus: FocusOf(rec), memo: &memo{made: map[memoKey]any{}}}
}

// Server names the database server as its own settings do: MariaDB, MySQL, or
// "the database" when they were not recorded.
//
// MariaDB puts its name into version; some distributions of it only into
// version_comment.
func (c *Case) Server() string {
	version, ok := c.Setting(scopeMySQL, "version")
	comment, _ := c.Setting(scopeMySQL, "version_comment")
	switch {
	case strings.Contains(strings.ToLower(version+" "+comment), "mariadb"):
		return "MariaDB"
	case ok:
		return "MySQL"
	}
	return "the database"
}

// Number returns a server variable that is a number.
func (c *Case) Number(variable string) (float64, bool) {
	s, ok := c.Setting(scopeMySQL, variable)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil
}

// At describes where the focus is: "at 1,000 req/s", "in step 3" or "over the run".
func (c *Case) At() string { return stepWords(c.Focus.Step) }

// PerSec returns the rate of requests at the focus: the asked one, else the
// counted one. It is 0 when nothing counted them.
func (c *Case) PerSec() float64 {
	if s := c.Focus.Step; s != nil && s.PerSec > 0 {
		return s.PerSec
	}
	r, err := c.Requests(c.Focus.Interval)
	if err != nil || c.Focus.Interval.Empty() {
		return 0
	}
	return float64(r.Count) / c.Focus.Interval.Len().Seconds()
}

// Good returns the share of requests that succeed at the focus, as the load saw
// it, else as the access log did; 1 when nothing counted them.
func (c *Case) Good() float64 {
	if t := c.Focus.Tally; t != nil {
		return t.SuccessRatio()
	}
	r, _ := countLogged(c.Recording, c.Focus.Interval)
	if c.Focus.Step == nil {
		r.Failed += min(GivenUp(c.Recording), r.Count)
	}
	return r.SuccessRatio()
}

// Failed returns how many requests of the focus did not succeed, out of how
// many; 0 of 0 when nothing counted them.
func (c *Case) Failed() (failed, of uint64) {
	if t := c.Focus.Tally; t != nil {
		return t.Failed(), t.Asked
	}
	r, _ := countLogged(c.Recording, c.Focus.Interval)
	return min(r.Failed, r.Count), r.Count
}

// scopeMySQL is the scope of a server's global variables in Recording.Settings.
const scopeMySQL = "mysql"
