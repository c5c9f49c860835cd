package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/internal/test/browsertest"
)

// pictures draws those of the documentation. With KASOKU_PICTURES=1 they are written
// to docs/img; else this only sees to it that they can be drawn, and kept small.
func pictures(t *testing.T, s *site, b *browsertest.Browser) {
	desktop := browsertest.View{Width: 1280, Height: 900}
	dark := browsertest.View{Width: 1280, Height: 900, Dark: true}
	telephone := browsertest.View{Width: 375, Height: 812, Mobile: true}
	const (
		search = "/chairs.html?kind=エルゴノミクス&priceRangeId=2"
		area   = "/map.html#c=35.5,138.2,150&a=35.1,136.6;35.6,136.5;36.2,137.4;36.5,138.6;36.3,139.6;35.9,139.3;35.75,138.4;35.3,137.6;34.9,137.2"
	)
	for _, shot := range []struct {
		name, page, ready string
		view              browsertest.View
	}{
		{"isuumo-top", "/", "document.querySelectorAll('.tile').length == 40", desktop},
		{"isuumo-search", search, "document.querySelector('.pager')", desktop},
		{"isuumo-polygon", area, "document.querySelectorAll('#list li').length > 5", desktop},
		{"isuumo-detail", "/chair.html?id=12", "document.querySelectorAll('.tile').length == 20", desktop},
		{"isuumo-detail-dark", "/chair.html?id=12", "document.querySelectorAll('.tile').length == 20", dark},
		{"isuumo-mobile", search, "document.querySelector('.pager')", telephone},
	} {
		p := b.Open(t, shot.view)
		p.Go(s.URL + shot.page)
		p.Wait(shot.ready)
		p.Wait("[...document.images].every(i => i.complete || !i.checkVisibility() || i.getBoundingClientRect().top > innerHeight)")
		png := p.Screenshot()
		p.Quiet()
		if len(png) > 300_000 {
			t.Errorf("the picture %s has %d bytes", shot.name, len(png))
		}
		if os.Getenv("KASOKU_PICTURES") == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "img", shot.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
