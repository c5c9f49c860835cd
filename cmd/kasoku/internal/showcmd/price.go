package showcmd

import (
	"math"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// prices reads --price: one price for both sides, or one for each; nil leaves what
// the runs of the side say.
func (f *compareFlags) prices() (sides [2]*kasoku.Price, err error) {
	if f.price == "" {
		if f.currency != "" {
			return sides, cli.Usagef("add --price before=PRICE,after=PRICE", "--currency %q without --price", f.currency)
		}
		return sides, nil
	}
	const hint = "--price 0.096, or --price before=0.096,after=0.077"
	if v, err := strconv.ParseFloat(f.price, 64); err == nil {
		p, err := f.priceOf(v, f.price)
		return [2]*kasoku.Price{p, p}, err
	}
	for part := range strings.SplitSeq(f.price, ",") {
		side, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		i := map[string]int{"before": 0, "after": 1}
		at, known := i[strings.TrimSpace(side)]
		v, parseErr := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !ok || !known || parseErr != nil {
			return sides, cli.Usagef(hint, "--price %q: want PRICE or before=PRICE,after=PRICE", f.price)
		}
		if sides[at] != nil {
			return sides, cli.Usagef(hint, "--price %q: %s is given twice", f.price, side)
		}
		if sides[at], err = f.priceOf(v, part); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

func (f *compareFlags) priceOf(perHour float64, text string) (*kasoku.Price, error) {
	if !(perHour > 0) || math.IsInf(perHour, 0) {
		return nil, cli.Usagef("", "--price %q: want more than 0", text)
	}
	return &kasoku.Price{PerHour: perHour, Currency: f.currency}, nil
}
