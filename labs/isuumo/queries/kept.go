package queries

import (
	"errors"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A keptCount is how many rows a search finds, and which these are.
type keptCount[R any] struct {
	n     int64
	finds func(*R) bool
}

// keptCounts are the numbers of rows that searches find, changed with each write. They may be used
// concurrently. A nil one keeps nothing.
type keptCounts[R any] struct {
	mu      sync.Mutex
	writing int // writes that have begun and not ended
	began   int // how many ever did
	byQuery map[string]*keptCount[R]
}

func newKeptCounts[R any]() *keptCounts[R] {
	return &keptCounts[R]{byQuery: map[string]*keptCount[R]{}}
}

// of returns the count for a query, asking for it when it is not kept. finds reports whether the query finds
// a row.
//
// A write that is under way while the query runs may or may not be seen by it, so its count is then given but
// not kept.
func (c *keptCounts[R]) of(query string, finds func(*R) bool, ask func() (int64, error)) (int64, error) {
	c.mu.Lock()
	k, began, quiet := c.byQuery[query], c.began, c.writing == 0
	if k != nil {
		defer c.mu.Unlock()
		return k.n, nil
	}
	c.mu.Unlock()
	n, err := ask()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if quiet && began == c.began && len(c.byQuery) < maxCounts {
		c.byQuery[query] = &keptCount[R]{n, finds}
	}
	return n, nil
}

// write makes a write, and adds by for each of its rows to the counts of what finds it, before the write's
// request is answered. A write that was refused changes nothing; after another error it is not known what was
// written, and all counts are asked for anew.
func (c *keptCounts[R]) write(by int64, do func() ([]R, error)) error {
	if c == nil {
		_, err := do()
		return err
	}
	c.mu.Lock()
	c.began++
	c.writing++
	c.mu.Unlock()
	rows, err := do()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing--
	var refused *request.Error
	switch {
	case errors.As(err, &refused): // nothing was written
		return err
	case err != nil:
		clear(c.byQuery)
		return err
	}
	for _, k := range c.byQuery {
		for i := range rows {
			if k.finds(&rows[i]) {
				k.n += by
			}
		}
	}
	return nil
}

// forget drops all counts: the tables are made anew.
func (c *keptCounts[R]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began++
	clear(c.byQuery)
}

// recountAll makes the counts of each choice by itself after /initialize, when no one waits for them.
func recountAll(s *Service) error {
	if s.chairsKept == nil {
		return nil
	}
	s.chairsKept.forget()
	s.estatesKept.forget()
	of, none := &s.conditions.Chair, request.ChairSearch{Price: request.Any, Height: request.Any, Width: request.Any,
		Depth: request.Any}
	var chairs []request.ChairSearch
	add := func(change func(*request.ChairSearch)) {
		q := none
		change(&q)
		chairs = append(chairs, q)
	}
	for i := range of.Price.Ranges {
		add(func(q *request.ChairSearch) { q.Price = i })
	}
	for i := range of.Height.Ranges {
		add(func(q *request.ChairSearch) { q.Height = i })
	}
	for i := range of.Width.Ranges {
		add(func(q *request.ChairSearch) { q.Width = i })
	}
	for i := range of.Depth.Ranges {
		add(func(q *request.ChairSearch) { q.Depth = i })
	}
	for _, kind := range of.Kind.List {
		add(func(q *request.ChairSearch) { q.Kind = kind })
	}
	for _, color := range of.Color.List {
		add(func(q *request.ChairSearch) { q.Color = color })
	}
	for i := range chairs {
		if _, err := s.countChairs(&chairs[i]); err != nil {
			return err
		}
	}
	return recountEstates(s)
}

func recountEstates(s *Service) error {
	of, none := &s.conditions.Estate, request.EstateSearch{Rent: request.Any, DoorHeight: request.Any,
		DoorWidth: request.Any}
	var estates []request.EstateSearch
	for column, ranges := range [][]isuumo.Range{of.Rent.Ranges, of.DoorHeight.Ranges, of.DoorWidth.Ranges} {
		for i := range ranges {
			q := none
			*[]*int{&q.Rent, &q.DoorHeight, &q.DoorWidth}[column] = i
			estates = append(estates, q)
		}
	}
	for i := range estates {
		if _, err := s.countEstates(&estates[i]); err != nil {
			return err
		}
	}
	return nil
}

// findsChair reports whether a search finds a chair that is in stock.
func (c conditionSQL) findsChair(q *request.ChairSearch, x *chair) bool {
	of := &c.conditions.Chair
	return holds(q.Price, of.Price.Ranges, x.Price) && holds(q.Height, of.Height.Ranges, x.Height) &&
		holds(q.Width, of.Width.Ranges, x.Width) && holds(q.Depth, of.Depth.Ranges, x.Depth) &&
		(q.Kind == "" || q.Kind == x.Kind) && (q.Color == "" || q.Color == x.Color) && hasAll(x.Features, q.Features)
}

func (c conditionSQL) findsEstate(q *request.EstateSearch, x *estate) bool {
	of := &c.conditions.Estate
	return holds(q.DoorHeight, of.DoorHeight.Ranges, x.DoorHeight) &&
		holds(q.DoorWidth, of.DoorWidth.Ranges, x.DoorWidth) && holds(q.Rent, of.Rent.Ranges, x.Rent) &&
		hasAll(x.Features, q.Features)
}

func holds(id int, ranges []isuumo.Range, v int64) bool {
	return id == request.Any || ranges[id].Holds(v)
}

func hasAll(features string, want []string) bool {
	for _, f := range want {
		if !request.Holds(features, f) {
			return false
		}
	}
	return true
}
