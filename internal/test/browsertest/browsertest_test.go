package browsertest

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
)

const page = `<!doctype html><meta name="viewport" content="width=device-width"><title>a page</title><link rel="icon" href="data:,">
<style>body{margin:0;background:#fff;height:100vh}@media(prefers-color-scheme:dark){body{background:#000}}</style>
<p id="said">nothing</p><input id="name"><button>say</button>
<script>document.querySelector('button').onclick=()=>{document.querySelector('#said').textContent='hello, '+document.querySelector('#name').value}
if(location.hash)console.warn(location.hash)</script>`

func serve(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "", http.StatusTeapot)
			return
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// failures is a test that takes note of what would fail it.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) { f.said = append(f.said, format) }

func TestOnce(t *testing.T) {
	turn.Wait(t)
	url := serve(t)
	if dom := DumpDOM(t, url); !strings.Contains(dom, "nothing") {
		t.Errorf("the page is %s", dom)
	}
	if got := Screenshot(t, url, 640, 480).Bounds().Size(); got.X != 640 || got.Y != 480 {
		t.Errorf("the picture is %v", got)
	}
	f := &failures{TB: t}
	if DumpDOM(f, url+"#noise"); len(f.said) != 1 {
		t.Errorf("a page that writes to its console fails the test with %q", f.said)
	}
}

func TestPage(t *testing.T) {
	url := serve(t)
	b := Start(t)
	p := b.Open(t, View{Width: 320, Height: 240, Dark: true, Mobile: true})
	p.Go(url)
	p.Type("#name", "Aoi")
	p.Click("button")
	p.WaitText("#said", "hello, Aoi")
	if got := p.Text("#said"); !slices.Equal(got, []string{"hello, Aoi"}) {
		t.Errorf("texts %q", got)
	}
	if w := Eval[int](p, "Promise.resolve(innerWidth)"); w != 320 {
		t.Errorf("the page is %d wide", w)
	}
	img, err := png.Decode(bytes.NewReader(p.Screenshot()))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := img.At(300, 200).RGBA(); r+g+b != 0 || img.Bounds().Dx() != 320 {
		t.Errorf("the picture is %v and not dark", img.Bounds())
	}
	p.Quiet()
}

func TestQuiet(t *testing.T) {
	url := serve(t)
	f := &failures{TB: t}
	p := Start(t).Open(f, View{})
	noise := func(expression string, expected ...string) int {
		t.Helper()
		f.said = nil
		p.Go(url)
		Eval[int](p, expression)
		p.Wait("document.readyState == 'complete'")
		p.Quiet(expected...)
		return len(f.said)
	}
	if n := noise("1"); n != 0 {
		t.Errorf("nothing was said, %d lines", n)
	}
	if n := noise("console.error('x', 1), 1"); n != 1 {
		t.Errorf("one error was said, %d lines", n)
	}
	if n := noise("new Promise(done => { setTimeout(() => { setTimeout(done, 10, 1); throw Error('x') }) })"); n != 1 {
		t.Errorf("one exception was thrown, %d lines", n)
	}
	if n := noise("fetch('/tea').then(() => 1)"); n != 1 {
		t.Errorf("one request was refused, %d lines", n)
	}
	if n := noise("fetch('/tea').then(() => 1)", "418"); n != 0 {
		t.Errorf("the refusal was expected, %d lines", n)
	}
}
