package load

// An Order says which target each request goes to: in turn, each as often as
// its weight says, and spread evenly. It is immutable and safe for concurrent use.
type Order struct {
	n    uint64
	turn []int32 // targets in their order of one round; nil: 0, 1, 2 …
}

// NewOrder returns the order of the targets.
func NewOrder(targets []Target) *Order {
	return &Order{n: uint64(len(targets))}
}

// Target returns the index of the target of request n, 0 without targets.
func (o *Order) Target(n uint64) int {
	if o.turn != nil {
		return int(o.turn[n%uint64(len(o.turn))])
	}
	if o.n == 0 {
		return 0
	}
	return int(n % o.n)
}
