package mysql

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A Deadlock is what InnoDB reports of the last one that it found.
type Deadlock struct {
	Ago        time.Duration // before the answer; whole seconds
	Table      string        // schema.table of the lock that the victim waited for, else of one that another transaction did
	Indexes    []string      // of the locks that were waited for
	Statements []string      // as they were sent, of the one that was rolled back last
}

// The marks of SHOW ENGINE INNODB STATUS, as MariaDB 10.11.19 and MySQL 9.7 write
// them. Statements come after the line of their session, up to the next mark.
var (
	deadlockTime  = lazyregexp.New(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) `)
	deadlockTrx   = lazyregexp.New(`^\*\*\* \((\d+)\) TRANSACTION:`)
	deadlockEnd   = lazyregexp.New(`^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)`)
	deadlockLock  = lazyregexp.New("^RECORD LOCKS .* index (.+) of table [`\"](.+)[`\"]\\.[`\"](.+?)[`\"](?: /\\*.*\\*/)? trx id ")
	deadlockOwner = lazyregexp.New(`^(?:MariaDB|MySQL) thread id \d+,`)
)

const (
	deadlockTitle  = "LATEST DETECTED DEADLOCK"
	statusTimeForm = "2006-01-02 15:04:05"
	mostDeadlocked = 16 // transactions of one deadlock that are kept
)

// ParseDeadlock reads the part about deadlocks of SHOW ENGINE INNODB STATUS; nil
// when it reports none. How long ago it was comes from the two times in the text,
// so that it does not matter in which zone the server writes them.
func ParseDeadlock(text string) *Deadlock {
	lines := strings.Split(text, "\n")
	now, ok := firstTime(lines)
	at := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == deadlockTitle })
	if at < 0 || !ok {
		return nil
	}
	when, ok := firstTime(lines[at:])
	if !ok {
		return nil
	}
	p := deadlockParser{d: Deadlock{Ago: max(now.Sub(when), 0)}}
	for _, l := range lines[at+1:] {
		if !p.line(l) {
			break
		}
	}
	return p.deadlock()
}

func firstTime(lines []string) (time.Time, bool) {
	for _, l := range lines {
		if m := deadlockTime().FindStringSubmatch(l); m != nil {
			t, err := time.Parse(statusTimeForm, m[1])
			return t, err == nil
		}
	}
	return time.Time{}, false
}

// A deadlocked is one transaction of a deadlock.
type deadlocked struct{ number, statement, table, index string }

type deadlockParser struct {
	d      Deadlock
	trx    []deadlocked
	within bool // a statement
	waits  bool // the next lock is one that is waited for
	victim string
}

// line reads one line of the part; false ends it.
func (p *deadlockParser) line(l string) bool {
	if m := deadlockEnd().FindStringSubmatch(l); m != nil {
		p.victim = m[1]
		return false
	}
	if m := deadlockTrx().FindStringSubmatch(l); m != nil {
		if len(p.trx) == mostDeadlocked {
			return false
		}
		p.trx, p.within, p.waits = append(p.trx, deadlocked{number: m[1]}), false, false
		return true
	}
	if len(p.trx) == 0 {
		return true
	}
	t := &p.trx[len(p.trx)-1]
	switch {
	case deadlockOwner().MatchString(l):
		p.within = true
	case strings.HasPrefix(l, "*** "):
		p.within, p.waits = false, strings.Contains(l, "WAITING FOR THIS LOCK")
	case strings.HasPrefix(l, "RECORD LOCKS ") && !p.within:
		if m := deadlockLock().FindStringSubmatch(l); m != nil && p.waits && t.table == "" {
			t.index, t.table = strings.Trim(m[1], "`\""), m[2]+"."+m[3]
		}
	case p.within && len(t.statement) < mostStatement:
		t.statement = strings.TrimPrefix(t.statement+"\n"+l, "\n")
	}
	return true
}

func (p *deadlockParser) deadlock() *Deadlock {
	if len(p.trx) == 0 {
		return nil
	}
	// The victim last.
	slices.SortStableFunc(p.trx, func(a, b deadlocked) int {
		switch {
		case a.number == b.number:
			return 0
		case a.number == p.victim:
			return 1
		case b.number == p.victim:
			return -1
		}
		return 0
	})
	for _, t := range p.trx {
		p.d.Statements = append(p.d.Statements, strings.TrimSpace(t.statement))
		if t.table != "" {
			p.d.Table = t.table
		}
		if t.index != "" && !slices.Contains(p.d.Indexes, t.index) {
			p.d.Indexes = append(p.d.Indexes, t.index)
		}
	}
	return &p.d
}
