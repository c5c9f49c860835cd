package applog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
)

func BenchmarkRead(b *testing.B) {
	bench := func(name string, entry func(i int) string) {
		var s strings.Builder
		for i := range 10_000 {
			s.WriteString(entry(i))
		}
		log := s.String()
		b.Run("log="+name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(lines.NewReader(strings.NewReader(log), 0), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("gorm", func(i int) string {
		return fmt.Sprintf("2026/11/20 14:02:11 [1.%dms]  INSERT INTO users (id, name, mail) VALUES ('%08x-1111-4abc-8def-0123456789ab', 'user%d', 'mail-%d@example.com')\n[1 rows affected or returned]\n", i%100, i, i, i)
	})
	bench("error", func(i int) string {
		return fmt.Sprintf("2026/11/20 14:02:11 error: POST /users/%d: Error 1040 (08004): Too many connections\n", i)
	})
	bench("json", func(i int) string {
		return fmt.Sprintf(`{"time":"2026-11-20T14:02:11.%06dZ","level":"INFO","msg":"created user %d","user_agent":"kasoku","latency":%d}`+"\n", i, i, i)
	})
}
