// Package engine chooses who sends a load: the raw-socket engine where the
// targets allow it, net/http where they need more, and says why.
package engine
