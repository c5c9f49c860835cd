package slowlog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
)

// sampleLog returns a log of some megabytes.
func sampleLog(b *testing.B) []byte {
	if path := os.Getenv("KASOKU_SLOWLOG"); path != "" {
		log, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return log
	}
	return bytes.Repeat(fixture(b, "mariadb-10.11-verbose.log"), 200)
}

func BenchmarkDigest(b *testing.B) {
	log := sampleLog(b)
	path := b.TempDir() + "/slow.log"
	if err := os.WriteFile(path, log, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, attributes := range []bool{false, true} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("attributes=%v/workers=%d", attributes, workers), func(b *testing.B) {
				b.SetBytes(int64(len(log)))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := CollectAll(context.Background(), []lines.Input{{Path: path}}, Options{Attributes: attributes, Workers: workers}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStages measures one stage each over the same blocks.
func BenchmarkStages(b *testing.B) {
	log := sampleLog(b)
	var blocks []*lines.Block
	err := lines.Split(context.Background(), []lines.Input{{R: bytes.NewReader(log)}}, lines.SplitOptions{Workers: 1}, func(_ int, k *lines.Block) error {
		c := *k
		c.Data = bytes.Clone(k.Data)
		blocks = append(blocks, &c)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	cut := func(send func(*batch) *batch) {
		p := &pipeline{results: make([]result, 1)}
		for _, k := range blocks {
			p.cut(k, send)
		}
		p.finishInput(send)
	}
	b.Run("stage=cut", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		x, y := new(batch), new(batch)
		for b.Loop() {
			cut(func(full *batch) *batch {
				if full != nil {
					return nil
				}
				x, y = y, x
				x.reset()
				return x
			})
		}
	})
	var batches []*batch
	cut(func(full *batch) *batch {
		if full != nil {
			batches = append(batches, full)
			return nil
		}
		return new(batch)
	})
	for _, o := range []Options{{}, {Attributes: true}} {
		t := NewTable(o)
		w := newWorker(o, t)
		for _, x := range batches { // for the later stages
			x.events = x.events[:0]
			w.parser.parse(x)
		}
		b.Run(fmt.Sprintf("stage=parse/attributes=%v", o.Attributes), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				for _, x := range batches {
					x.events, x.values, x.extra = x.events[:0], x.values[:0], x.extra[:0]
					w.parser.parse(x)
				}
			}
		})
		b.Run(fmt.Sprintf("stage=name/attributes=%v", o.Attributes), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				for _, x := range batches {
					w.namer.arena = w.namer.arena[:0]
					for i := range x.events {
						w.namer.name(&x.events[i])
						if x.events[i].shape == unnamed {
							x.events[i].shape = t.shapeOf(&x.events[i])
						}
					}
				}
			}
		})
		b.Run(fmt.Sprintf("stage=add/attributes=%v", o.Attributes), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				for _, x := range batches {
					for i := range x.events {
						t.add(&x.events[i])
					}
				}
			}
		})
	}
}
