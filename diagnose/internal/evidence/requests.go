package evidence

import "github.com/kasoku/kasoku/diagnose"

// FailedShare returns n requests as a share of those of the focus, 0..1, n cut to those that
// failed; 0 when no requests were counted.
func FailedShare(c *diagnose.Case, n float64) float64 {
	failed, of := c.Failed()
	if of == 0 {
		return 0
	}
	return min(n, float64(failed)) / float64(of)
}

// OfRequests words the whole that an impact is a share of.
func OfRequests(c *diagnose.Case) string { return "of requests " + c.At() }
