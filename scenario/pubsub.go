package scenario

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// defaultLimit is [PubSub.Limit] when it is 0.
const defaultLimit = 1 << 16

// A PubSub hands what one part of a benchmark learns to all others that want to know
// it. The zero value is ready to use. It is safe for concurrent use.
//
// Publish waits for no subscriber, only for others that publish or take at that
// moment: each subscriber has a queue of its own, of at most Limit values. Who falls
// behind by more loses the oldest ones, which [PubSub.Lost] counts.
type PubSub[T any] struct {
	Limit int // of each subscriber's queue; 0: 65,536. It is set before the first use

	mu          sync.Mutex
	subscribers []*subscriber[T]
	lost        uint64
}

type subscriber[T any] struct {
	queue []T
	more  chan struct{} // holds one when the queue has something
}

// Publish hands v to all who have subscribed so far.
func (p *PubSub[T]) Publish(v T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	for _, s := range p.subscribers {
		if len(s.queue) >= limit {
			s.queue = s.queue[1:]
			p.lost++
		}
		s.queue = append(s.queue, v)
		select {
		case s.more <- struct{}{}: // never waits: there is room for one
		default:
		}
	}
}

// Subscribe returns what is published from now on, in order, until ctx is done. The
// sequence is for one goroutine, once.
func (p *PubSub[T]) Subscribe(ctx context.Context) iter.Seq[T] {
	s := &subscriber[T]{more: make(chan struct{}, 1)}
	p.mu.Lock()
	p.subscribers = append(p.subscribers, s)
	p.mu.Unlock()
	leave := context.AfterFunc(ctx, func() { p.remove(s) })
	return func(yield func(T) bool) {
		defer func() {
			leave()
			p.remove(s)
		}()
		for ctx.Err() == nil {
			select {
			case <-s.more:
			case <-ctx.Done():
				return
			}
			for _, v := range p.take(s) {
				if ctx.Err() != nil || !yield(v) {
					return
				}
			}
		}
	}
}

func (p *PubSub[T]) take(s *subscriber[T]) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := s.queue
	s.queue = nil
	return all
}

func (p *PubSub[T]) remove(s *subscriber[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscribers = slices.DeleteFunc(p.subscribers, func(x *subscriber[T]) bool { return x == s })
}

// Lost returns how many values subscribers have lost.
func (p *PubSub[T]) Lost() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}
