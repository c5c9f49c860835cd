package observe_test

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/observetest"
)

// kept is a sink that keeps the samples of one source.
type kept struct {
	source string
	all    []kasoku.Sample
}

func (k *kept) Frame(f *kasoku.Frame) error {
	if f.Source == k.source {
		k.all = append(k.all, f.Samples...)
	}
	return nil
}
func (k *kept) Gap(kasoku.Gap) error     { return nil }
func (k *kept) Event(kasoku.Event) error { return nil }

// TestSelfSampled: what is declared of kasoku itself is sampled of this process.
func TestSelfSampled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	sink := &kept{source: observe.SelfName}
	if err := observe.New(observe.Options{Interval: 100 * time.Millisecond, Sink: sink}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	observetest.Sampled(t, &observe.DeclaredSelf, sink.all, nil)
}
