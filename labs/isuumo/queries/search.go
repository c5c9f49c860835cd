package queries

import (
	"fmt"

	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/labs/isuumo/tuning"
)

type chairPage struct {
	Count  int64   `json:"count"`
	Chairs []chair `json:"chairs"`
}

type estatePage struct {
	Count   int64    `json:"count"`
	Estates []estate `json:"estates"`
}

func (s *Service) searchChairs(rawQuery string) (any, error) {
	q, err := request.ParseChairSearch(rawQuery, &s.conditions.Chair)
	if err != nil {
		return nil, err
	}
	n, err := s.countChairs(&q)
	if err != nil {
		return nil, err
	}
	w := s.where.chairs(&q)
	chairs, err := list[chair](s.ctx, s.DB, s.pageQuery("chair", chairColumns, w), w.with(q.Limit, q.Offset)...)
	return chairPage{n, chairs}, err
}

func (s *Service) searchEstates(rawQuery string) (any, error) {
	q, err := request.ParseEstateSearch(rawQuery, &s.conditions.Estate)
	if err != nil {
		return nil, err
	}
	n, err := s.countEstates(&q)
	if err != nil {
		return nil, err
	}
	w := s.where.estates(&q)
	estates, err := list[estate](s.ctx, s.DB, s.pageQuery("estate", estateColumns, w), w.with(q.Limit, q.Offset)...)
	return estatePage{n, estates}, err
}

func (s *Service) countChairs(q *request.ChairSearch) (int64, error) {
	query, ask := countQuery(s, "chair", s.where.chairs(q))
	if s.chairsKept != nil {
		search := *q
		return s.chairsKept.of(query, func(x *chair) bool { return s.where.findsChair(&search, x) }, ask)
	}
	return s.chairCounts.of(query, ask)
}

func (s *Service) countEstates(q *request.EstateSearch) (int64, error) {
	query, ask := countQuery(s, "estate", s.where.estates(q))
	if s.estatesKept != nil {
		search := *q
		return s.estatesKept.of(query, func(x *estate) bool { return s.where.findsEstate(&search, x) }, ask)
	}
	return s.estateCounts.of(query, ask)
}

// countQuery returns what asks how many rows the condition holds for, and a key: the query with its values.
func countQuery(s *Service, table string, w *where) (key string, ask func() (int64, error)) {
	query := "SELECT COUNT(*) FROM " + tuning.Searched(s.Defects, table) + " WHERE " + w.String()
	return fmt.Sprintf("%s %q", query, w.args), func() (n int64, err error) {
		if err := s.DB.QueryRowContext(s.ctx, query, w.args...).Scan(&n); err != nil {
			return 0, explain(query, err)
		}
		return n, nil
	}
}

const pageOrder = " ORDER BY popularity DESC, id ASC LIMIT ? OFFSET ?"

// pageQuery returns the query for a page of a search; its last parameters are limit
// and offset. Where searches have a table of their own, the rows of the page that it finds are looked up.
func (s *Service) pageQuery(table, columns string, w *where) string {
	if s.Defects.Split() {
		return "SELECT " + s.columns(columns) + " FROM (SELECT id AS found, popularity AS by_rank FROM " +
			tuning.Searched(s.Defects, table) + " WHERE " + w.String() + pageOrder + ") page JOIN " + table +
			" ON " + table + ".id = page.found ORDER BY page.by_rank DESC, page.found ASC"
	}
	return "SELECT " + s.columns(columns) + " FROM " + table + " WHERE " + w.String() + pageOrder
}
