package evidence

import "github.com/kasoku/kasoku/diagnose"

// FailedShare returns n of the focus's requests, at most those that failed.
func FailedShare(c *diagnose.Case, n float64) float64 {
	failed, of := c.Failed()
	if of == 0 {
		return 0
	}
	return min(n, float64(failed)) / float64(of)
}

// OfRequests words the whole that an impact is a share of.
func OfRequests(c *diagnose.Case) string { return "of requests " + c.At() }
