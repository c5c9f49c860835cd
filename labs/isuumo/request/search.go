package request

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// Any is the index of a range that was not asked for.
const Any = -1

// A ChairSearch is a search for chairs. Only chairs in stock are found.
type ChairSearch struct {
	Price, Height, Width, Depth int // indices into the condition's ranges, or Any

	Kind, Color string   // empty: any
	Features    []string // each must be held by the features of a row, see [Holds]
	Page
}

// An EstateSearch is a search for estates.
type EstateSearch struct {
	DoorWidth, DoorHeight, Rent int // indices into the condition's ranges, or Any

	Features []string // each must be held by the features of a row, see [Holds]
	Page
}

// A Page is the part of all that was found that is wanted. Neither number is
// below 0.
type Page struct{ Limit, Offset int64 }

// Of returns where the page begins and ends in a list of n elements.
func (p Page) Of(n int) (from, to int) {
	from = int(min(p.Offset, int64(n)))
	return from, from + int(min(p.Limit, int64(n-from)))
}

var (
	chairParams = [...]string{"priceRangeId", "heightRangeId", "widthRangeId", "depthRangeId", "kind", "color",
		"features", "page", "perPage"}
	estateParams = [...]string{"doorHeightRangeId", "doorWidthRangeId", "rentRangeId", "features", "page", "perPage"}
)

// ParseChairSearch reads the query of a URL. Errors are all 400 but for pages that
// begin or end before the first row, which SQL refuses: 500.
func ParseChairSearch(rawQuery string, c *isuumo.ChairCondition) (ChairSearch, error) {
	var v [len(chairParams)]string
	params(rawQuery, chairParams[:], v[:])
	p := parser{}
	s := ChairSearch{
		Price:  p.rangeOf(v[0], c.Price.Ranges),
		Height: p.rangeOf(v[1], c.Height.Ranges),
		Width:  p.rangeOf(v[2], c.Width.Ranges),
		Depth:  p.rangeOf(v[3], c.Depth.Ranges),
		Kind:   p.text(v[4]),
		Color:  p.text(v[5]),
	}
	s.Features = p.features(v[6])
	s.Page = p.page(v[7], v[8])
	return s, p.err
}

// ParseEstateSearch reads the query of a URL, as [ParseChairSearch] does.
func ParseEstateSearch(rawQuery string, c *isuumo.EstateCondition) (EstateSearch, error) {
	var v [len(estateParams)]string
	params(rawQuery, estateParams[:], v[:])
	p := parser{}
	s := EstateSearch{
		DoorHeight: p.rangeOf(v[0], c.DoorHeight.Ranges),
		DoorWidth:  p.rangeOf(v[1], c.DoorWidth.Ranges),
		Rent:       p.rangeOf(v[2], c.Rent.Ranges),
	}
	s.Features = p.features(v[3])
	s.Page = p.page(v[4], v[5])
	return s, p.err
}

// A parser keeps the first error and whether anything was asked for.
type parser struct {
	asked bool
	err   error
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *parser) rangeOf(s string, ranges []isuumo.Range) int {
	if s == "" {
		return Any
	}
	p.asked = true
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i >= len(ranges) {
		p.fail(bad("no such range"))
		return Any
	}
	return i
}

func (p *parser) text(s string) string {
	p.asked = p.asked || s != ""
	return s
}

func (p *parser) features(s string) []string {
	if p.text(s) == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// page is called last: a search without a condition is refused whatever its page.
func (p *parser) page(page, perPage string) Page {
	if !p.asked {
		p.fail(bad("no condition"))
	}
	n, err := strconv.Atoi(page)
	if err != nil {
		p.fail(bad("page is no number"))
	}
	limit, err := strconv.Atoi(perPage)
	if err != nil {
		p.fail(bad("perPage is no number"))
	}
	// A product beyond 64 bits wraps around, here as there.
	offset := n * limit
	if limit < 0 || offset < 0 {
		p.fail(broken("page or perPage below 0"))
	}
	if p.err != nil {
		return Page{}
	}
	return Page{Limit: int64(limit), Offset: int64(offset)}
}

// params puts the first value of each named parameter into out, as url.ParseQuery
// finds them: pairs that cannot be unescaped or hold a semicolon are passed over.
func params(raw string, names, out []string) {
	var seen uint
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" || strings.Contains(pair, ";") {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			continue
		}
		if value, err = url.QueryUnescape(value); err != nil {
			continue
		}
		for i, want := range names {
			if name == want && seen&(1<<i) == 0 {
				seen |= 1 << i
				out[i] = value
			}
		}
	}
}

// Holds reports whether the features of a row hold one that was asked for: as a
// substring of the whole text, not as one of its elements. In SQL it is
// LIKE CONCAT('%', feature, '%') with nothing escaped, so % stands for any text, _
// for any character and a backslash takes the meaning from the next one.
func Holds(features, feature string) bool {
	if !strings.ContainsAny(feature, `%_\`) {
		return strings.Contains(features, feature)
	}
	return like([]rune(features), []rune("%"+feature+"%"))
}

// like matches by going back to the last % whenever the rest does not fit.
func like(s, pattern []rune) bool {
	i, j, star, from := 0, 0, -1, 0
	for i < len(s) {
		width, fits := 1, false
		if j < len(pattern) {
			switch c := pattern[j]; {
			case c == '%':
				star, from = j, i
				j++
				continue
			case c == '\\' && j+1 < len(pattern):
				width, fits = 2, pattern[j+1] == s[i]
			default:
				fits = c == '_' || c == s[i]
			}
		}
		switch {
		case fits:
			i, j = i+1, j+width
		case star >= 0:
			from++
			i, j = from, star+1
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '%' {
		j++
	}
	return j == len(pattern)
}
