package data

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/labs/isuumo"
)

// full and small are made once for all tests and never changed.
var (
	full  = sync.OnceValue(func() *isuumo.Data { return Generate(Options{}) })
	small = sync.OnceValue(func() *isuumo.Data { return Generate(Options{Size: Small}) })
)

// TestGenerate_Golden: the same seed gives the same rows on every machine, for
// good. Whoever changes a word changes all results that people compare.
func TestGenerate_Golden(t *testing.T) {
	var out strings.Builder
	for _, o := range []Options{{}, {Size: Small}, {Size: Small, Seed: 7}} {
		d := Generate(o)
		fmt.Fprintf(&out, "%s seed %d: chairs %s estates %s\n", o.Size, o.Seed,
			digest(t, d.ChairCondition, chairTable(), d.Chairs, d.VerifyChairs, d.DraftChairs),
			digest(t, d.EstateCondition, estateTable(), d.Estates, d.VerifyEstates, d.DraftEstates))
	}
	golden.CheckString(t, "testdata/generate.golden", out.String())
}

func digest[T any](t *testing.T, condition any, table *table[T], rows, verify []T, drafts [][]T) string {
	t.Helper()
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(condition); err != nil {
		t.Fatal(err)
	}
	for _, part := range append([][]T{rows, verify}, drafts...) {
		if _, err := io.WriteString(h, string(appendCSV(nil, table, part))+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestGenerate_Counts(t *testing.T) {
	f := func(d *isuumo.Data, rows, draft int) {
		t.Helper()
		check := func(what string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("%d %s, want %d", got, what, want)
			}
		}
		check("chairs", len(d.Chairs), rows)
		check("estates", len(d.Estates), rows)
		check("chairs to verify with", len(d.VerifyChairs), draft)
		check("estates to verify with", len(d.VerifyEstates), draft)
		check("files of chairs", len(d.DraftChairs), 20)
		check("files of estates", len(d.DraftEstates), 20)
		check("stock of the first chair to verify with", int(d.VerifyChairs[0].Stock), 1)
		id := int64(0)
		for _, c := range allOf(d.Chairs, d.VerifyChairs, d.DraftChairs) {
			if id++; c.ID != id {
				t.Fatalf("chair %d has the id %d", id, c.ID)
			}
		}
		check("chairs in all", int(id), rows+21*draft)
		id = 0
		for _, e := range allOf(d.Estates, d.VerifyEstates, d.DraftEstates) {
			if id++; e.ID != id {
				t.Fatalf("estate %d has the id %d", id, e.ID)
			}
		}
		check("estates in all", int(id), rows+21*draft)
	}
	f(full(), 29_500, 500)
	f(small(), 2950, 50)
}

func allOf[T any](rows, verify []T, drafts [][]T) []T {
	return slices.Concat(append([][]T{rows, verify}, drafts...)...)
}

// TestGenerate_Chairs holds what is drawn against the contest's distributions.
func TestGenerate_Chairs(t *testing.T) {
	d := full()
	chairs := allOf(d.Chairs, nil, d.DraftChairs)
	uniform(t, "price", chairs, func(c isuumo.Chair) int64 { return c.Price }, 1000, 20_000)
	uniform(t, "height", chairs, func(c isuumo.Chair) int64 { return c.Height }, 30, 200)
	uniform(t, "width", chairs, func(c isuumo.Chair) int64 { return c.Width }, 30, 200)
	uniform(t, "depth", chairs, func(c isuumo.Chair) int64 { return c.Depth }, 30, 200)
	uniform(t, "popularity", chairs, func(c isuumo.Chair) int64 { return c.Popularity }, 3000, 1_000_000)
	uniform(t, "stock", chairs, func(c isuumo.Chair) int64 { return c.Stock }, 1, 10)
	alike(t, "color", chairs, func(c isuumo.Chair) string { return c.Color }, 12)
	alike(t, "kind", chairs, func(c isuumo.Chair) string { return c.Kind }, 4)
	alike(t, "name", chairs, func(c isuumo.Chair) string { return c.Name }, 12*12*11)
	alike(t, "description", chairs, func(c isuumo.Chair) string { return c.Description }, 1000)
	alike(t, "thumbnail", chairs, func(c isuumo.Chair) string { return c.Thumbnail }, 1000)
	featuresAlike(t, chairs, func(c isuumo.Chair) string { return c.Features }, d.ChairCondition.Feature.List)
	for _, c := range chairs {
		fits(t, c.Name, 25)
		fits(t, c.Description, 80)
		fits(t, c.Features, 64)
		fits(t, c.Thumbnail, 128)
	}
	if n := ties(chairs, func(c isuumo.Chair) int64 { return c.Popularity }); n < 500 || n > 3000 {
		t.Errorf("%d of %d chairs share their popularity", n, len(chairs))
	}
	if n := ties(small().Chairs, func(c isuumo.Chair) int64 { return c.Popularity }); n < 20 {
		t.Errorf("%d chairs of the small set share their popularity", n)
	}
}

func TestGenerate_Estates(t *testing.T) {
	d := full()
	estates := allOf(d.Estates, nil, d.DraftEstates)
	uniform(t, "rent", estates, func(e isuumo.Estate) int64 { return e.Rent }, 30_000, 200_000)
	uniform(t, "door height", estates, func(e isuumo.Estate) int64 { return e.DoorHeight }, 30, 200)
	uniform(t, "door width", estates, func(e isuumo.Estate) int64 { return e.DoorWidth }, 30, 200)
	uniform(t, "popularity", estates, func(e isuumo.Estate) int64 { return e.Popularity }, 3000, 1_000_000)
	alike(t, "name", estates, func(e isuumo.Estate) string { return e.Name }, 6*len(lastNames))
	alike(t, "description", estates, func(e isuumo.Estate) string { return e.Description }, 1000)
	alike(t, "thumbnail", estates, func(e isuumo.Estate) string { return e.Thumbnail }, 1000)
	alike(t, "town", estates, func(e isuumo.Estate) string { return townOf(e).name }, 26)
	featuresAlike(t, estates, func(e isuumo.Estate) string { return e.Features }, d.EstateCondition.Feature.List)
	for _, e := range estates {
		fits(t, e.Name, 64)
		fits(t, e.Description, 80)
		fits(t, e.Address, 50)
		fits(t, e.Features, 64)
		if e.Latitude < 32 || e.Latitude > 46 || e.Longitude < 128 || e.Longitude > 146 {
			t.Errorf("estate %d is at %v, %v", e.ID, e.Latitude, e.Longitude)
		}
		if micro := e.Latitude * 1e6; math.Abs(micro-math.Round(micro)) > 1e-6 {
			t.Errorf("estate %d: latitude %v has more than six decimals", e.ID, e.Latitude)
		}
	}
	normal(t, "latitude", estates, func(e isuumo.Estate) float64 { return e.Latitude - townOf(e).Latitude })
	normal(t, "longitude", estates, func(e isuumo.Estate) float64 { return e.Longitude - townOf(e).Longitude })
	if n := ties(estates, func(e isuumo.Estate) int64 { return e.Popularity }); n < 500 || n > 3000 {
		t.Errorf("%d of %d estates share their popularity", n, len(estates))
	}
}

func townOf(e isuumo.Estate) town {
	return towns[slices.IndexFunc(towns, func(t town) bool { return strings.HasPrefix(e.Address, t.name) })]
}

func fits(t *testing.T, s string, most int) {
	t.Helper()
	if n := utf8.RuneCountInString(s); n > most {
		t.Errorf("%q has %d characters, want at most %d", s, n, most)
	}
}

// ties counts the rows that share their value with another one.
func ties[T any](rows []T, value func(T) int64) (n int) {
	count := map[int64]int{}
	for _, r := range rows {
		count[value(r)]++
	}
	for _, c := range count {
		if c > 1 {
			n += c
		}
	}
	return n
}

// uniform fails unless values lie in [low, high], ends included, and fill ten equal
// parts alike.
func uniform[T any](t *testing.T, what string, rows []T, value func(T) int64, low, high int64) {
	t.Helper()
	const parts = 10
	var counts [parts]int
	lowest, highest := value(rows[0]), value(rows[0])
	for _, r := range rows {
		v := value(r)
		lowest, highest = min(lowest, v), max(highest, v)
		counts[min(max((v-low)*parts/(high-low+1), 0), parts-1)]++
	}
	if lowest < low || highest > high || lowest > low+(high-low)/1000 || highest < high-(high-low)/1000 {
		t.Errorf("%s from %d to %d, want from %d to %d", what, lowest, highest, low, high)
	}
	chiSquare(t, what, counts[:], len(rows))
}

// alike fails unless there are so many values, each as often as the others.
func alike[T any](t *testing.T, what string, rows []T, value func(T) string, want int) {
	t.Helper()
	count := map[string]int{}
	for _, r := range rows {
		count[value(r)]++
	}
	if len(count) != want {
		t.Errorf("%s: %d values, want %d", what, len(count), want)
	}
	var counts []int
	for _, c := range count {
		counts = append(counts, c)
	}
	chiSquare(t, what, counts, len(rows))
}

func featuresAlike[T any](t *testing.T, rows []T, value func(T) string, list []string) {
	t.Helper()
	var all []string
	var counts [4]int
	for _, r := range rows {
		features := strings.Split(value(r), ",")
		if value(r) == "" {
			features = nil
		}
		if len(slices.Compact(slices.Sorted(slices.Values(features)))) != len(features) {
			t.Errorf("features %q repeat one", value(r))
		}
		counts[len(features)]++
		all = append(all, features...)
	}
	chiSquare(t, "number of features", counts[:], len(rows))
	alike(t, "feature", all, func(s string) string { return s }, len(list))
	for _, f := range all {
		if !slices.Contains(list, f) {
			t.Fatalf("unknown feature %q", f)
		}
	}
}

// chiSquare fails when counts that should be equal differ more than chance does in
// one seed of a million.
func chiSquare(t *testing.T, what string, counts []int, total int) {
	t.Helper()
	expected, sum := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	// Wilson and Hilferty 1931: the cube root of chi-square over its freedom is nearly normal.
	free := float64(len(counts) - 1)
	z := (math.Cbrt(sum/free) - (1 - 2/(9*free))) / math.Sqrt(2/(9*free))
	if math.Abs(z) > 4.9 {
		t.Errorf("%s: chi-square %.1f with %v degrees of freedom, z = %.1f", what, sum, free, z)
	}
}

// normal fails unless values are distributed as N(0, 0.3), by Kolmogorov and Smirnov.
func normal[T any](t *testing.T, what string, rows []T, value func(T) float64) {
	t.Helper()
	var values []float64
	for _, r := range rows {
		values = append(values, value(r))
	}
	slices.Sort(values)
	most := 0.0
	for i, v := range values {
		want := 0.5 * math.Erfc(-v/0.3/math.Sqrt2)
		most = max(most, math.Abs(want-float64(i)/float64(len(values))))
	}
	if limit := 1.95 / math.Sqrt(float64(len(values))); most > limit { // one seed in a thousand
		t.Errorf("%s differs by %.4f from the normal distribution, want at most %.4f", what, most, limit)
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]Size{"": Full, "full": Full, "small": Small} {
		if got, err := ParseSize(in); got != want || err != nil {
			t.Errorf("ParseSize(%q) = %q, %v", in, got, err)
		}
	}
	if _, err := ParseSize("medium"); err == nil || !strings.Contains(err.Error(), `"medium"`) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		Generate(Options{})
	}
}

func BenchmarkWriteService(b *testing.B) {
	d, dir := full(), b.TempDir()
	for b.Loop() {
		if err := WriteService(dir, d); err != nil {
			b.Fatal(err)
		}
	}
}
