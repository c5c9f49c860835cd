package queries

import (
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

type chairList struct {
	Chairs []chair `json:"chairs"`
}

type estateList struct {
	Estates []estate `json:"estates"`
}

func (s *Service) lowPricedChairs() (any, error) {
	chairs, err := list[chair](s.ctx, s.DB, "SELECT "+s.columns(chairColumns)+
		" FROM chair WHERE stock > 0 ORDER BY price ASC, id ASC LIMIT ?", isuumo.LowPricedLimit)
	return chairList{chairs}, err
}

func (s *Service) lowPricedEstates() (any, error) {
	estates, err := list[estate](s.ctx, s.DB, "SELECT "+s.columns(estateColumns)+
		" FROM estate ORDER BY rent ASC, id ASC LIMIT ?", isuumo.LowPricedLimit)
	return estateList{estates}, err
}

func (s *Service) chair(segment string) (any, error) {
	id, err := request.ID(segment)
	if err != nil {
		return nil, err
	}
	c, err := one[chair](s.ctx, s.DB, "SELECT "+s.columns(chairColumns+", stock")+" FROM chair WHERE id = ?", id)
	if err == nil && (c == nil || c.Stock <= 0) {
		err = request.NotFound
	}
	return c, err
}

func (s *Service) estate(segment string) (any, error) {
	id, err := request.ID(segment)
	if err != nil {
		return nil, err
	}
	e, err := one[estate](s.ctx, s.DB, "SELECT "+s.columns(estateColumns)+" FROM estate WHERE id = ?", id)
	if err == nil && e == nil {
		err = request.NotFound
	}
	return e, err
}

// recommended answers an unknown chair with 400, and regards no stock.
func (s *Service) recommended(segment string) (any, error) {
	id, err := request.ID(segment)
	if err != nil {
		return nil, err
	}
	c, err := one[chair](s.ctx, s.DB, "SELECT "+s.columns("width, height, depth")+" FROM chair WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &request.Error{Status: 400, Reason: "no such chair"}
	}
	fits, args := s.fits(c)
	estates, err := list[estate](s.ctx, s.DB, "SELECT "+s.columns(estateColumns)+" FROM estate WHERE "+fits+
		" ORDER BY popularity DESC, id ASC LIMIT ?", append(args, isuumo.RecommendedLimit)...)
	return estateList{estates}, err
}

// fits returns the condition that one side of the chair goes through the door,
// turned in each way; without IDX-05, only with its longest edge ahead: if any other
// side goes through, the smallest does.
func (s *Service) fits(c *chair) (term string, args []any) {
	const pair = "(door_width >= ? AND door_height >= ?)"
	w, h, d := c.Width, c.Height, c.Depth
	if s.Defects.Has("IDX-05") {
		return pair + " OR " + pair + " OR " + pair + " OR " + pair + " OR " + pair + " OR " + pair,
			[]any{w, h, w, d, h, w, h, d, d, w, d, h}
	}
	edges := []int64{w, h, d}
	slices.Sort(edges)
	return "(" + pair + " OR " + pair + ")", []any{edges[0], edges[1], edges[1], edges[0]}
}
