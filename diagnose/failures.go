package diagnose

import (
	"math"

	"github.com/kasoku/kasoku"
)

// statusGivenUp is what nginx logs when the client closed the connection before it was
// answered: someone waited and gave up, or the load ended.
const statusGivenUp = 499

// GivenUp returns how many requests of the access log their client gave up (499); 0 when
// they are no more than a load cuts off where it ends. Those are the requests that were
// under way then, twice as many as there were on average at the most.
//
// Source: ngx_http_request.h, NGX_HTTP_CLIENT_CLOSED_REQUEST; J. D. C. Little, 1961.
func GivenUp(rec *kasoku.Recording) uint64 {
	var n uint64
	var busy, length float64
	_, endpoints := rec.FrontLog()
	for i := range endpoints {
		n += endpoints[i].Codes[statusGivenUp]
		busy += endpoints[i].Total.Seconds()
	}
	if n == 0 {
		return 0
	}
	times := loadTimes(rec)
	for _, iv := range times {
		length += iv.Len().Seconds()
	}
	if length <= 0 {
		return 0
	}
	cut := float64(len(times)) * (1 + math.Ceil(2*busy/length))
	if float64(n) <= cut {
		return 0
	}
	return n
}
