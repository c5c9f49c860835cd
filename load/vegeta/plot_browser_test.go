package vegeta

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestPlotInABrowser opens the page: it says nothing on the console, fills its
// legend and draws its points.
func TestPlotInABrowser(t *testing.T) {
	turn.Wait(t)
	var results []Result
	for i := range 2000 {
		r := Result{Attack: "spike", Code: 200, Timestamp: time.Unix(0, int64(i)*1e6), Latency: time.Duration(1+i%9) * time.Millisecond}
		if i%50 == 0 {
			r.Code, r.Error = 500, "500"
		}
		results = append(results, r)
	}
	page, _ := plotted(t, PlotOptions{Title: "in a browser", Threshold: DefaultPlotThreshold}, results)
	file := filepath.Join(t.TempDir(), "plot.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	dom := browsertest.DumpDOM(t, "file://"+file+"?lat=lin&from=0.5&to=1")
	for _, want := range []string{"spike: OK", "1,960", "spike: ERROR", "latency: linear", `class="uplot`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q once it is drawn", want)
		}
	}
	img := browsertest.Screenshot(t, "file://"+file, 1280, 820)
	blue := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); c.B > 180 && c.R < 90 {
				blue++
			}
		}
	}
	if blue < 1000 {
		t.Errorf("%d pixels have the colour of the first series, want more than 1,000", blue)
	}
}
