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
	w := s.where.chairs(&q)
	n, err := s.count(s.chairCounts, "chair", w)
	if err != nil {
		return nil, err
	}
	chairs, err := list[chair](s.ctx, s.DB, s.pageQuery("chair", chairColumns, w), w.with(q.Limit, q.Offset)...)
	return chairPage{n, chairs}, err
}

func (s *Service) searchEstates(rawQuery string) (any, error) {
	q, err := request.ParseEstateSearch(rawQuery, &s.conditions.Estate)
	if err != nil {
		return nil, err
	}
	w := s.where.estates(&q)
	n, err := s.count(s.estateCounts, "estate", w)
	if err != nil {
		return nil, err
	}
	estates, err := list[estate](s.ctx, s.DB, s.pageQuery("estate", estateColumns, w), w.with(q.Limit, q.Offset)...)
	return estatePage{n, estates}, err
}

// count returns how many rows the condition holds for.
func (s *Service) count(kept *counts, table string, w *where) (int64, error) {
	query := "SELECT COUNT(*) FROM " + tuning.Searched(s.Defects, table) + " WHERE " + w.String()
	return kept.of(fmt.Sprintf("%s %q", query, w.args), func() (n int64, err error) {
		if err := s.DB.QueryRowContext(s.ctx, query, w.args...).Scan(&n); err != nil {
			return 0, explain(query, err)
		}
		return n, nil
	})
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
