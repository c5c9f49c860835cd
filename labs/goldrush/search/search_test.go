package search_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/labs/goldrush/search"
)

// TestSearch: from the author's way to play with one licence, the search finds that ten earn
// more, the same each time.
func TestSearch(t *testing.T) {
	from, err := digger.Named("author")
	if err != nil {
		t.Fatal(err)
	}
	from.Params.Coins = 21
	o := search.Options{Rules: goldrush.Published(), From: from.Params, Knobs: search.Knobs()[:1], Lasts: 5 * time.Second, Games: 2,
		Seed: 1}
	tries := 0
	o.OnTry = func(search.Try) { tries++ }
	a, err := search.Search(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := search.Search(t.Context(), o)
	if err != nil || a != b || tries != 2*a.Tries {
		t.Errorf("%+v, then %+v, %v", a, b, err)
	}
	if a.Params.Coins != 1 || a.Others <= a.Before {
		t.Errorf("%+v", a)
	}
	ctx, end := context.WithCancel(t.Context())
	o.OnTry, o.Lasts = nil, 1000*time.Hour // it ends within a world
	time.AfterFunc(100*time.Millisecond, end)
	if found, err := search.Search(ctx, o); !errors.Is(err, context.Canceled) || found.Others != 0 {
		t.Errorf("ended with %v, %+v", err, found)
	}
}
