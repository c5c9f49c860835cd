package isuportal

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestPage: the audience's page has the teams by their latest result, follows a new one by itself, and says
// when the portal is gone.
func TestPage(t *testing.T) {
	turn.Wait(t)
	b := browsertest.Start(t)
	a := &asking{T: t, h: newService(t, newDatabase(t, sandboxtest.MariaDB(t, sandboxtest.Unsafe()), 0), kit.Set{}, 0, 3)}
	files, err := fs.Sub(public, "public")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux() // as nginx.conf has it
	mux.Handle("/", http.FileServerFS(files))
	mux.Handle("/api/", a.h)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	const starts = 2 * time.Second
	a.initialize(starts, time.Hour)
	began := time.Now()
	for n := 1; n <= 3; n++ {
		a.team(n)
	}
	<-time.After(time.Until(began.Add(starts)))
	a.job(1, 1, 50)
	a.job(2, 2, 70)
	p := b.Open(t, browsertest.View{})
	p.Go(srv.URL)
	p.WaitText("#status", "3 チーム")
	rows := func() []string {
		return browsertest.Eval[[]string](p, `[...document.querySelectorAll('#teams tr')].map(r =>
			[...r.cells].map(c => c.textContent).join(' '))`)
	}
	first := []string{"1 Team 2 70 70 1", "2 Team 1（学生） 50 50 1", "3 Team 3 – – 0"}
	if got := rows(); !slices.Equal(got, first) {
		t.Errorf("%q, want %q", got, first)
	}
	a.job(1, 3, 90)
	a.job(2, 4, 60)
	p.WaitText("#teams tr:nth-child(2)", "60")
	then := []string{"1 Team 1（学生） 90 90 2", "2 Team 2 60 70 2", "3 Team 3 – – 0"}
	if got := rows(); !slices.Equal(got, then) {
		t.Errorf("%q, want %q", got, then)
	}
	p.Quiet("favicon.ico")
	srv.Close()
	p.WaitText("#status", "つながりません")
}
