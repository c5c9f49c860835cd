package truth

import (
	"fmt"
	"iter"
	"math"
	"strconv"
)

// A Page is an answer of a search.
type Page struct {
	Count int64
	Rows  []int32 // their ranks, as they were listed
}

// A window is the part of all matches that was asked for.
type window struct {
	offset, limit int64
}

// pageWindow returns the window of a page. Beyond what int64 holds there are no
// matches anyway.
func pageWindow(page, perPage int64) window {
	if perPage > 0 && page > math.MaxInt64/perPage {
		return window{math.MaxInt64, perPage}
	}
	return window{page * perPage, perPage}
}

// explainPage reports what is wrong with a page of the rows that are in all sets.
func (t *table) explainPage(sets []set, s Span, w window, got Page) error {
	m := t.scratch.Get().(*matches)
	defer t.scratch.Put(m)
	m.fill(sets, s)
	if err := t.explainRows(m, sets, s, got.Rows); err != nil {
		return err
	}
	if least, most := m.certain.len(), m.possible.len(); got.Count < least || got.Count > most {
		return fmt.Errorf("count %d, expected %s", got.Count, between(least, most))
	}
	return t.explainPlace(m, w, got.Rows)
}

// fill finds the rows that are in all sets.
func (m *matches) fill(sets []set, s Span) {
	arrived, leaving := s.From.arrived, s.To.leaving
	arriving, gone := s.To.arriving, s.From.gone
	for i := range m.certain {
		fits := ^uint64(0)
		for _, x := range sets {
			fits &= x[i]
		}
		m.certain[i] = fits & arrived[i] &^ leaving[i]
		m.possible[i] = fits & arriving[i] &^ gone[i]
	}
}

// explainRows reports a row that cannot be there, one out of order, and one that is
// missing between two others.
func (t *table) explainRows(m *matches, sets []set, s Span, rows []int32) error {
	for i, rank := range rows {
		if !m.possible.has(rank) {
			return fmt.Errorf("row %d is %s, which %s", i+1, t.name(rank), t.whyNot(rank, sets, s))
		}
		if i == 0 {
			continue
		}
		switch before := rows[i-1]; {
		case before == rank:
			return fmt.Errorf("row %d is %s again", i+1, t.name(rank))
		case before > rank:
			return fmt.Errorf("row %d is %s, which belongs before %s: the order is popularity descending, id ascending",
				i+1, t.name(rank), t.name(before))
		default:
			if missing := m.certain.next(before + 1); missing >= 0 && missing < rank {
				return fmt.Errorf("row %d is %s, expected %s", i+1, t.name(rank), t.name(missing))
			}
		}
	}
	return nil
}

// explainPlace reports rows that are not the window's part of all matches. The rows
// are possible, in order and without a certain one missing between them.
func (t *table) explainPlace(m *matches, w window, rows []int32) error {
	if int64(len(rows)) > w.limit {
		return fmt.Errorf("%d rows, expected at most %d", len(rows), w.limit)
	}
	if len(rows) == 0 {
		if least := m.certain.len(); least > w.offset && w.limit > 0 {
			return fmt.Errorf("no rows, expected %d", min(w.limit, least-w.offset))
		}
		return nil
	}
	first, last := rows[0], rows[len(rows)-1]
	if least, most := m.certain.below(first), m.possible.below(first); w.offset < least || w.offset > most {
		return fmt.Errorf("row 1 is %s, which has %s matches before it, expected %d", t.name(first),
			between(least, most), w.offset)
	}
	if missing := m.certain.next(last + 1); int64(len(rows)) < w.limit && missing >= 0 {
		return fmt.Errorf("the list ends after %d rows, expected %s next", len(rows), t.name(missing))
	}
	return nil
}

// explainList reports what is wrong with a list that has no pages. order gives the
// rows that fit, in the order of the list, and whether the fit is sure.
func (t *table) explainList(order iter.Seq2[int32, bool], s Span, limit int, rows []int32) error {
	if len(rows) > limit {
		return fmt.Errorf("%d rows, expected at most %d", len(rows), limit)
	}
	at := 0 // the row that is looked for
	for rank, sure := range order {
		switch {
		case at == limit:
			return nil
		case at < len(rows) && rows[at] == rank && s.possible(rank):
			at++
		case !sure || !s.certain(rank):
		case at == len(rows):
			return fmt.Errorf("the list ends after %d rows, expected %s next", at, t.name(rank))
		default:
			return fmt.Errorf("row %d is %s, expected %s%s", at+1, t.name(rows[at]), t.name(rank),
				t.ifImpossible(rows[at], s))
		}
	}
	if at < len(rows) {
		return fmt.Errorf("row %d is %s, which does not belong there%s", at+1, t.name(rows[at]),
			t.ifImpossible(rows[at], s))
	}
	return nil
}

// name returns what messages call a row.
func (t *table) name(rank int32) string { return t.what + " " + strconv.FormatInt(t.ids[rank], 10) }

// whyNot describes why a row is not possible.
func (t *table) whyNot(rank int32, sets []set, s Span) string {
	for _, x := range sets {
		if !x.has(rank) {
			return "does not fit the query"
		}
	}
	if s.From.gone.has(rank) {
		return "was sold out before the request"
	}
	return "no one has uploaded yet"
}

func (t *table) ifImpossible(rank int32, s Span) string {
	if s.possible(rank) {
		return ""
	}
	return "; it " + t.whyNot(rank, nil, s)
}

// between returns a number, or two that it lies between.
func between(least, most int64) string {
	if least == most {
		return strconv.FormatInt(least, 10)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
