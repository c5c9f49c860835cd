package vegeta

import (
	"bytes"
	"context"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestPlotInABrowser opens the page: it says nothing on the console, fills its
// legend and draws its points.
func TestPlotInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	var results []Result
	for i := range 2000 {
		r := Result{Attack: "spike", Code: 200, Timestamp: time.Unix(0, int64(i)*1e6), Latency: time.Duration(1+i%9) * time.Millisecond}
		if i%50 == 0 {
			r.Code, r.Error = 500, "500"
		}
		results = append(results, r)
	}
	page, _ := plotted(t, PlotOptions{Title: "in a browser", Threshold: DefaultPlotThreshold}, results)
	dir := t.TempDir()
	file, shot := filepath.Join(dir, "plot.html"), filepath.Join(dir, "plot.png")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	browse := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "chromium", append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
			"--disable-background-networking", "--enable-logging=stderr", "--window-size=1280,820", "--user-data-dir=" + t.TempDir()}, args...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("chromium: %v\n%s", err, &errs)
		}
		if lines := regexp.MustCompile(`(?m)^.*(?:CONSOLE|Uncaught|Refused to).*$`).FindAllString(errs.String(), -1); len(lines) > 0 {
			t.Errorf("the page wrote to the console:\n%s", strings.Join(lines, "\n"))
		}
		return out.String()
	}
	dom := browse("--dump-dom", "file://"+file+"?lat=lin&from=0.5&to=1")
	for _, want := range []string{"spike: OK", "1,960", "spike: ERROR", "latency: linear", `class="uplot`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q once it is drawn", want)
		}
	}
	browse("--screenshot="+shot, "file://"+file)
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
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
