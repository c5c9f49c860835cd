package isutrain

import (
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestPage: the page shows the trains of a search in their order, with what they cost, and what
// the service says of a search that makes no sense.
func TestPage(t *testing.T) {
	turn.Wait(t)
	b := browsertest.Start(t)
	k := newDesk(t, sandboxtest.MariaDB(t, sandboxtest.Unsafe()), "isutrain", kit.Set{}, 1, nil)
	srv := httptest.NewServer(k.h)
	defer srv.Close()
	p := b.Open(t, browsertest.View{})
	p.Go(srv.URL)
	p.WaitText("select[name=from]", k.stations[0].Name)
	p.Click("button")
	p.WaitText("#message", "10本の列車があります")
	got := browsertest.Eval[[]string](p, `[...document.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)`)
	var want []string
	for _, x := range trainsOf(0) {
		if !x.up && x.departs > 9*60*60 && len(want) < mostListed {
			want = append(want, x.kind.name+" "+x.name+"号")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.Quiet()
	browsertest.Eval[int](p, `document.querySelector('select[name=to]').selectedIndex = 0`)
	p.Click("button")
	p.WaitText("#message", "エラー: from, to: want two stations")
}
