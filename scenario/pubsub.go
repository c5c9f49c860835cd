package scenario

import (
	"context"
	"iter"
)

// A PubSub hands what one part of a benchmark learns to all others that want to know
// it. The zero value is ready to use. It is safe for concurrent use.
//
// Publish waits for no subscriber: each has a queue of its own, of at most Limit
// values. Who falls behind by more loses the oldest ones, which [PubSub.Lost] counts.
type PubSub[T any] struct {
	Limit int // of each subscriber's queue; 0: 65,536. It is set before the first use
}

// Publish hands v to all who have subscribed so far.
func (p *PubSub[T]) Publish(v T) {}

// Subscribe returns what is published from now on, in order, until ctx is done. The
// sequence is for one goroutine, once.
func (p *PubSub[T]) Subscribe(ctx context.Context) iter.Seq[T] { return func(func(T) bool) {} }

// Lost returns how many values subscribers have lost.
func (p *PubSub[T]) Lost() uint64 { return 0 }
