package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to show what a test waits for.
const patience = 20 * time.Second

// A Browser runs until the end of the test that started it.
type Browser struct{ ctx context.Context }

// Start starts a browser.
func Start(t testing.TB) *Browser {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path(t)), chromedp.UserDataDir(t.TempDir())}
	for _, f := range flags() {
		options = append(options, chromedp.Flag(f, true))
	}
	// The test's own context is cancelled before the browser could be closed in order.
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("close the browser: %v", err)
		}
	})
	return &Browser{ctx}
}

// A View is how a page is looked at.
type View struct {
	Width, Height int  // 0: 1280 × 800
	Dark          bool // prefers-color-scheme: dark
	Mobile        bool // a telephone: touch, and a viewport that <meta> decides on
}

// A Page is a window in a session of its own: no cookies or storage of others. Its
// methods fail the test when they cannot do what they say. It is for one
// goroutine.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu      sync.Mutex
	console []string
	refused []string
}

// Open opens an empty page, which lives until the end of the test.
func (b *Browser) Open(t testing.TB, v View) *Page {
	t.Helper()
	if v.Width == 0 {
		v.Width, v.Height = 1280, 800
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(b.window(t)))
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.listen)
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	actions := []chromedp.Action{
		runtime.Enable(), cdplog.Enable(),
		emulation.SetDeviceMetricsOverride(int64(v.Width), int64(v.Height), 1, v.Mobile),
		emulation.SetTouchEmulationEnabled(v.Mobile),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	}
	// The first run takes hold of the window for as long as its context lives: no limit.
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatalf("open a page: %v", err)
	}
	return p
}

// window opens a window of a session of its own. The browser refuses to open a mere
// tab in a session that has no window yet, as chromedp itself would do.
func (b *Browser) window(t testing.TB) target.ID {
	t.Helper()
	ctx := cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)
	session, err := target.CreateBrowserContext().Do(ctx)
	if err != nil {
		t.Fatalf("open a session: %v", err)
	}
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(session).WithNewWindow(true).Do(ctx)
	if err != nil {
		t.Fatalf("open a window: %v", err)
	}
	return id
}

func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var line strings.Builder
		for _, arg := range e.Args {
			fmt.Fprintf(&line, " %s%s", arg.Value, arg.Description)
		}
		p.console = append(p.console, string(e.Type)+":"+line.String())
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, e.ExceptionDetails.Error())
	case *cdplog.EventEntryAdded:
		line := fmt.Sprintf("%s: %s: %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		if e.Entry.Source == cdplog.SourceNetwork {
			p.refused = append(p.refused, line)
		} else {
			p.console = append(p.console, line)
		}
	}
}

// Quiet fails the test if a page wrote to its console, threw an exception or broke
// its security policy since the last call, or if a request of its was answered
// with an error other than those expected: each is a text that such a line has in
// it, the status or the address.
func (p *Page) Quiet(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.console {
		p.t.Errorf("the page wrote to the console: %s", line)
	}
	for _, line := range p.refused {
		if !slices.ContainsFunc(expected, func(text string) bool { return strings.Contains(line, text) }) {
			p.t.Errorf("a request of the page's: %s", line)
		}
	}
	p.console, p.refused = nil, nil
}

// Do runs actions of chromedp one after the other.
func (p *Page) Do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%v; %s", err, p.state())
	}
}

// Go opens an address and waits until the page is loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(url))
}

// Eval runs a JavaScript expression, a promise too, and returns its value.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	var out T
	p.Do(chromedp.Evaluate(expression, &out, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return out
}

// Wait waits until a JavaScript expression is true, also over a change of page.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		holds := false
		// While one page gives way to the next there is nothing to ask.
		if err := chromedp.Run(ctx, chromedp.Evaluate("!!("+expression+")", &holds)); err == nil && holds {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.t.Fatalf("%s is not true after %s; %s", expression, patience, p.state())
		}
	}
}

// WaitText waits until an element that the selector finds has the text in it.
func (p *Page) WaitText(selector, text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("[...document.querySelectorAll(%s)].some(e => e.textContent.includes(%s))", quote(selector), quote(text)))
}

// Text returns the texts of all elements that the selector finds.
func (p *Page) Text(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%s)].map(e => e.textContent)", quote(selector)))
}

// Click presses the button of the mouse in the middle of the first element that the
// selector finds, once that is there to be hit: visible, and below nothing else.
func (p *Page) Click(selector string) {
	p.t.Helper()
	place := fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		e?.scrollIntoView({block: 'nearest'});
		const r = e?.getClientRects()[0];
		const at = r && [r.left + r.width / 2, r.top + r.height / 2];
		return at && e.contains(document.elementFromPoint(...at)) ? at : null;
	})()`, quote(selector))
	p.Wait(place)
	at := Eval[[]float64](p, place)
	if len(at) != 2 {
		p.t.Fatalf("%s went away before it could be clicked; %s", selector, p.state())
	}
	p.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// Back goes back to the page before, and does not wait for it.
func (p *Page) Back() {
	p.t.Helper()
	p.Do(chromedp.Evaluate("history.back()", nil))
}

// Type types a text into a field.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Do(chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

// Screenshot returns what the view shows, as a PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var out []byte
	p.Do(chromedp.CaptureScreenshot(&out))
	return out
}

// state describes where the page is and what it shows, for a message.
func (p *Page) state() string {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	var text string
	if err := chromedp.Run(ctx, chromedp.Evaluate("location.href + ' shows:\\n' + document.body.innerText", &text)); err != nil {
		return "the page does not answer: " + err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(append([]string{text}, append(p.console, p.refused...)...), "\n")
}

// quote returns a text as JavaScript writes it.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be written
	}
	return string(b)
}
