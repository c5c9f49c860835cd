package routes

import "bytes"

// A Tree remembers routes in the order in which they come, so that a log with
// millions of different paths needs little memory: of the values at one place
// of the path, below the same segments, it keeps the first few thousand; those
// that come later are :name. What is frequent comes early, so little is lost.
//
// What it says depends on nothing but the order of what was added. Several goroutines
// may read it at a time; while one changes it no other may use it.
type Tree struct {
	root  treeNode
	max   int // values of one place
	nodes int
}

// treeNode is a place in the path. Its children are what comes after it, each
// with the slash or question mark that it begins with.
type treeNode struct {
	piece string
	kids  []*treeNode // in the order in which they came
	index map[string]*treeNode
	plain int // kids that are no placeholder

	// A closed place has all the values that it will ever have; others fold.
	closed bool
}

// Values that a place of a tree keeps at first, and at least.
const (
	firstValues = 2048
	leastValues = 64
)

// indexed is how many kids make an index worth its memory.
const indexed = 8

// NewTree returns an empty tree.
func NewTree() *Tree { return &Tree{max: firstValues, nodes: 1} }

// Nodes returns how many pieces of routes the tree holds; a piece takes about
// 150 bytes.
func (t *Tree) Nodes() int { return t.nodes }

// Add adds a route. It reports whether the tree folds values now that it did not
// fold before.
func (t *Tree) Add(route []byte) (changed bool) {
	n := &t.root
	for len(route) > 0 {
		piece := nextPiece(route)
		route = route[len(piece):]
		var filled bool
		n, filled = t.step(n, piece)
		changed = changed || filled
	}
	return changed
}

// step goes from a place to the one after a piece, which is made if need be;
// filled says that the place now has all the values that it may have.
func (t *Tree) step(n *treeNode, piece []byte) (kid *treeNode, filled bool) {
	if kid = n.kid(piece); kid != nil {
		return kid, false
	}
	if isPlaceholder(piece) {
		return t.make(n, piece), false
	}
	if n.closed {
		return t.fold(n, piece), false
	}
	kid = t.make(n, piece)
	n.plain++
	n.closed = n.plain >= t.max
	return kid, n.closed
}

// fold goes to the place after what stands for a piece.
func (t *Tree) fold(n *treeNode, piece []byte) *treeNode {
	var room [maxPlaceholder]byte
	piece = appendPlaceholder(room[:0], piece)
	if kid := n.kid(piece); kid != nil {
		return kid
	}
	return t.make(n, piece)
}

func (t *Tree) make(n *treeNode, piece []byte) *treeNode {
	kid := &treeNode{piece: string(piece)}
	n.add(kid)
	t.nodes++
	return kid
}

func (n *treeNode) kid(piece []byte) *treeNode {
	if n.index != nil {
		return n.index[string(piece)]
	}
	for _, k := range n.kids {
		if k.piece == string(piece) {
			return k
		}
	}
	return nil
}

func (n *treeNode) add(kid *treeNode) {
	n.kids = append(n.kids, kid)
	switch {
	case n.index != nil:
		n.index[kid.piece] = kid
	case len(n.kids) > indexed:
		n.index = make(map[string]*treeNode, 4*indexed)
		for _, k := range n.kids {
			n.index[k.piece] = k
		}
	}
}

// Append appends the route with the values that the tree does not keep folded.
func (t *Tree) Append(dst, route []byte) []byte {
	n := &t.root
	for len(route) > 0 {
		piece := nextPiece(route)
		kid := n.kid(piece)
		if kid == nil {
			if !n.closed || isPlaceholder(piece) {
				return append(dst, route...)
			}
			var room [maxPlaceholder]byte
			folded := appendPlaceholder(room[:0], piece)
			dst = append(dst, folded...)
			kid = n.kid(folded)
		} else {
			dst = append(dst, piece...)
		}
		route = route[len(piece):]
		if kid == nil {
			return append(dst, route...)
		}
		n = kid
	}
	return dst
}

// Tighten makes the tree keep a quarter of the values of each place, the first
// ones, and reports false when it keeps as few as it may already.
func (t *Tree) Tighten() bool {
	if t.max <= leastValues {
		return false
	}
	t.max = max(t.max/4, leastValues)
	t.tighten(&t.root) // closes what became full by putting places together, too
	t.nodes = t.root.size()
	return true
}

func (t *Tree) tighten(n *treeNode) {
	if n.plain >= t.max {
		n.closed = true
		kept := 0
		t.retain(n, func(*treeNode) bool { kept++; return kept <= t.max })
	}
	for _, k := range n.kids {
		t.tighten(k)
	}
}

// retain folds the values of a place that are not to be kept.
func (t *Tree) retain(n *treeNode, keep func(*treeNode) bool) {
	kids := n.kids
	n.kids, n.index, n.plain = nil, nil, 0
	var over []*treeNode
	for _, k := range kids {
		switch {
		case isPlaceholder([]byte(k.piece)):
			n.add(k)
		case keep(k):
			n.add(k)
			n.plain++
		default:
			over = append(over, k)
		}
	}
	for _, k := range over {
		t.absorb(t.fold(n, []byte(k.piece)), k)
	}
}

// absorb adds what follows one place to what follows another. A value that one
// of them folded already folds in both: who asked earlier was given that answer.
func (t *Tree) absorb(to, from *treeNode) {
	wasClosed := to.closed
	if from.closed {
		to.closed = true
		t.retain(to, func(k *treeNode) bool { return from.kid([]byte(k.piece)) != nil })
	}
	for _, k := range from.kids {
		piece := []byte(k.piece)
		kid := to.kid(piece)
		switch {
		case kid != nil:
		case isPlaceholder(piece):
			kid = t.make(to, piece)
		case wasClosed:
			kid = t.fold(to, piece)
		default:
			kid = t.make(to, piece)
			to.plain++
		}
		t.absorb(kid, k)
	}
}

// size returns how many nodes there are from this one on.
func (n *treeNode) size() int {
	sum := 1
	for _, k := range n.kids {
		sum += k.size()
	}
	return sum
}

// nextPiece returns the first piece of a route: a segment with its slash, or the
// whole query string. A sign of users with its slash, as in /@alice and /~bob, is
// a piece of its own, so that the user named after it is not counted with the
// endpoints beside it.
func nextPiece(route []byte) []byte {
	if route[0] == '?' {
		return route
	}
	if len(route) > 2 && isSign(route[:2]) && route[2] != '/' && route[2] != '?' {
		return route[:2]
	}
	for i := 1; i < len(route); i++ {
		if route[i] == '/' || route[i] == '?' {
			return route[:i]
		}
	}
	return route
}

// maxPlaceholder is how many bytes a placeholder takes at most.
const maxPlaceholder = 16

// appendPlaceholder appends what stands for a piece among many: /:name, with the
// extension that the piece has, or ?* for a query string.
func appendPlaceholder(dst, piece []byte) []byte {
	if piece[0] == '?' {
		return append(dst, "?*"...)
	}
	if piece[0] == '/' {
		dst = append(dst, '/')
	}
	_, ext := cutExtension(piece)
	return append(append(dst, ":name"...), ext...)
}

// isSign reports whether a piece is what users' names begin with on many sites.
func isSign(piece []byte) bool { return string(piece) == "/@" || string(piece) == "/~" }

// isPlaceholder reports whether a piece stands for many already.
func isPlaceholder(piece []byte) bool {
	if len(piece) > maxPlaceholder {
		return false
	}
	if isSign(piece) {
		return true
	}
	switch stem, _ := cutExtension(piece); string(stem) {
	case "/:name", "/:id", ":name", ":id", "?*", "/", "/*":
		return true
	}
	return false
}

// isName reports whether a piece was folded.
func isName(piece string) bool {
	return piece == "?*" || bytes.HasPrefix(bytes.TrimPrefix([]byte(piece), []byte("/")), []byte(":name"))
}

// Covers reports whether a route with :name in it is what the other one becomes
// when those places hold too many values.
func Covers(folded, route string) bool {
	f, r := []byte(folded), []byte(route)
	for len(f) > 0 && len(r) > 0 {
		want, have := nextPiece(f), nextPiece(r)
		if string(want) != string(have) {
			if !coversNumbered(string(want), string(have)) && (isPlaceholder(have) || string(appendPlaceholder(nil, have)) != string(want)) {
				return false
			}
		}
		f, r = f[len(want):], r[len(have):]
	}
	return len(f) == 0 && len(r) == 0
}
