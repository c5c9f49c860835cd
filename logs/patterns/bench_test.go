package patterns

import (
	"regexp"
	"testing"
)

// bundles are those of a contest's kataribe.toml.
var bundles = []string{
	`^POST /api/condition/[0-9a-f-]+`,
	`^GET /api/condition/[0-9a-f-]+`,
	`^GET /api/isu/[0-9a-f-]+/icon`,
	`^GET /api/isu/[0-9a-f-]+/graph`,
	`^GET /api/isu/[0-9a-f-]{36} `,
	`^GET /isu/[0-9a-f-]+/condition`,
	`^GET /isu/[0-9a-f-]+/graph`,
	`^GET /isu/[0-9a-f-]{36} `,
	`^GET /assets/`,
	`^GET /users/[0-9]+/posts/[0-9]+`,
	`^GET /items/[0-9]+`,
	`^DELETE /items/[0-9]+/comments/[0-9]+`,
	`^GET /search`,
	`^PUT /files/[0-9a-f]+`,
}

var requests = []string{
	"POST /api/condition/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d HTTP/1.1",
	"GET /api/isu/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d/icon HTTP/1.1",
	"GET /api/isu/0b2f4c7e-33aa-4c5d-9f70-8a3c2a1d5e6f/graph?datetime=1629507600 HTTP/1.1",
	"GET /api/isu/0b2f4c7e-33aa-4c5d-9f70-8a3c2a1d5e6f HTTP/1.1",
	"GET /api/condition/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d?condition_level=info&end_time=1629507600 HTTP/1.1",
	"GET /api/trend HTTP/1.1",
	"GET /users/31933/posts/33066 HTTP/1.1",
	"GET /assets/vendor.a1b2c3d4.js HTTP/1.1",
	"PUT /files/d9720f1accded79ea759004ff658638f HTTP/1.1",
	"DELETE /items/114047/comments/115376 HTTP/1.1",
	"POST /api/auth HTTP/1.1",
	"GET / HTTP/1.1",
}

// endless are expressions that a search cannot leave before the text ends.
var endless = []string{`/api/isu/[^/]+/graph$`, `/api/isu/[^/]+/icon$`, `/nowhere/[0-9]+\b`, `(?i)\.PNG `}

func BenchmarkFirst(b *testing.B) {
	for name, exprs := range map[string][]string{"bundles": bundles, "endless": endless} {
		texts, size := bytesOf(requests)
		b.Run("exprs="+name+"/dfa", func(b *testing.B) {
			m := mustCompile(b, exprs...).Matcher()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, t := range texts {
					m.First(t)
				}
			}
		})
		b.Run("exprs="+name+"/regexp", func(b *testing.B) {
			var res []*regexp.Regexp
			for _, e := range exprs {
				res = append(res, regexp.MustCompile(e))
			}
			b.SetBytes(size)
			for b.Loop() {
				for _, t := range texts {
					for _, re := range res {
						if re.Match(t) {
							break
						}
					}
				}
			}
		})
	}
}

func bytesOf(list []string) (out [][]byte, size int64) {
	for _, s := range list {
		out = append(out, []byte(s))
		size += int64(len(s))
	}
	return out, size
}
