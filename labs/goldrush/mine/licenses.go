package mine

import (
	"slices"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// licenses are those that are active, by id.
type licenses struct {
	active []goldrush.License
	next   int
	issued int64
}

// use counts a dig, and takes a licence out that has no more.
func (l *licenses) use(id int) *goldrush.Answer {
	i := slices.IndexFunc(l.active, func(x goldrush.License) bool { return x.ID == id })
	if i < 0 {
		return refuse(403, 0, "no such license")
	}
	if l.active[i].DigUsed++; l.active[i].DigUsed >= l.active[i].DigAllowed {
		l.active = slices.Delete(l.active, i, i+1)
	}
	return nil
}

// issue gives a licence.
func (l *licenses) issue(digs int) goldrush.License {
	out := goldrush.License{ID: l.next, DigAllowed: digs}
	l.next++
	l.issued++
	l.active = append(l.active, out)
	return out
}
