package kataribe

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/lines"
)

func input(log string) []lines.Input {
	return []lines.Input{{Path: "log", R: strings.NewReader(log)}}
}

// BenchmarkBlock: one worker, the sample with its 14 bundles.
func BenchmarkBlock(b *testing.B) {
	p, err := loadPlan("testdata/kataribe.toml")
	if err != nil {
		b.Fatal(err)
	}
	log := []byte(sample(b))
	w := newWorker(p, exact.NewBook())
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	seq := 0
	for b.Loop() {
		w.block(&lines.Block{Seq: seq, Data: log})
		seq++
	}
}
