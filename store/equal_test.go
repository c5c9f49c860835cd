package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// difference names the first place where two values differ, empty when they are
// equal. Histograms and times are compared by what they say, floats by their bits.
func difference(a, b any) string {
	return differ("", reflect.ValueOf(a), reflect.ValueOf(b))
}

func encodedSeconds(b *histogram.BySecond) []byte {
	text, _ := b.MarshalBinary() // it never fails
	return text
}

func differ(at string, a, b reflect.Value) string {
	unequal := func() string { return fmt.Sprintf("%s: %v, want %v", at, a, b) }
	switch x := a.Interface().(type) {
	case time.Time:
		y := b.Interface().(time.Time)
		if x.Equal(y) && x.Format(time.RFC3339) == y.Format(time.RFC3339) {
			return ""
		}
		return unequal()
	case *histogram.Histogram:
		y := b.Interface().(*histogram.Histogram)
		if (x == nil) == (y == nil) && slices.Equal(blobOf(x), blobOf(y)) {
			return ""
		}
		return fmt.Sprintf("%s: histograms of %d and %d values", at, x.Count(), y.Count())
	case *histogram.BySecond:
		y := b.Interface().(*histogram.BySecond)
		if (x == nil) == (y == nil) && (x == nil || slices.Equal(encodedSeconds(x), encodedSeconds(y))) {
			return ""
		}
		return fmt.Sprintf("%s: other durations by the second", at)
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if d := differ(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Pointer:
		if a.IsNil() != b.IsNil() {
			return unequal()
		}
		if a.IsNil() {
			return ""
		}
		return differ(at, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d values, want %d", at, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Map:
		return differMaps(at, a, b)
	case reflect.Float64:
		if sameFloat(a.Float(), b.Float()) {
			return ""
		}
		return unequal()
	}
	if a.Interface() != b.Interface() {
		return unequal()
	}
	return ""
}

func differMaps(at string, a, b reflect.Value) string {
	if a.Len() != b.Len() {
		return fmt.Sprintf("%s: %v, want %v", at, a, b)
	}
	for _, k := range a.MapKeys() {
		v := b.MapIndex(k)
		if !v.IsValid() {
			return fmt.Sprintf("%s: %v is not wanted", at, k)
		}
		if d := differ(fmt.Sprintf("%s[%v]", at, k), a.MapIndex(k), v); d != "" {
			return d
		}
	}
	return ""
}

// anyRecording fills every field of every type that a recording reaches, so that
// a field which the file does not keep shows.
func anyRecording(seed uint64) *kasoku.Recording {
	r := rand.New(rand.NewPCG(seed, 7))
	rec := &kasoku.Recording{}
	fill(r, reflect.ValueOf(rec).Elem())
	rec.Damage = nil
	rec.Run.State = kasoku.Finished
	for i := range rec.Series {
		s := &rec.Series[i]
		s.Key.Name = fmt.Sprint(i, s.Key.Name)
		s.Key.Host = "lab1"
		s.Key.Source = []string{"host", "mysql"}[i*2/len(rec.Series)]
		slices.SortFunc(s.Points, func(a, b kasoku.Point) int { return int(a.At - b.At) })
	}
	for i := range rec.Seconds {
		rec.Seconds[i].Second = i
	}
	for i := range rec.Logs {
		rec.Logs[i].Lacks = nil // the file keeps the warning of it
	}
	return rec
}

func fill(r *rand.Rand, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = start().Add(time.Duration(r.Int64N(1e18)))
		return
	case **histogram.Histogram:
		*p = histogramOf(time.Duration(r.Int64N(1e9)), time.Duration(r.Int64N(1e12)))
		return
	case **histogram.BySecond:
		*p = timesOf(map[int64]time.Duration{r.Int64N(9): time.Duration(r.Int64N(1e9)), 10 + r.Int64N(9): time.Duration(r.Int64N(1e12))})
		return
	case *kasoku.Kind:
		*p = kasoku.Kind(r.IntN(2))
		return
	case *time.Duration:
		*p = time.Duration(r.Int64N(1e15))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Slice:
		n := 1 + r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + r.IntN(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, k)
			fill(r, e)
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		letters := []rune("abcxyz019 _-'\"\\;\x00\n\t<>%éß日本\U0001F680")
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		v.SetString(b.String())
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.Uint64()))
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Uint8:
		v.SetUint(uint64(r.Uint32() & 0xff))
	case reflect.Uint32:
		v.SetUint(uint64(r.Uint32()))
	case reflect.Float64:
		v.SetFloat([]float64{r.NormFloat64(), math.Floor(1e6 * r.Float64()), math.Inf(1), r.Float64() * 1e300}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		panic("no way to fill " + v.Type().String())
	}
}

func TestWriteKeepsEverything(t *testing.T) {
	turn.Wait(t)
	for seed := range uint64(20) {
		want := anyRecording(seed)
		path := tempRun(t)
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		if d := difference(mustOpen(t, path), want); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}

func TestWriteEmpty(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, &kasoku.Recording{}); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	want := &kasoku.Recording{Run: kasoku.Run{ID: "00010101-000000", State: kasoku.Finished}}
	if d := difference(rec, want); d != "" {
		t.Error(d)
	}
}
