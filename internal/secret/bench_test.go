package secret

import (
	"strings"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	for name, text := range map[string]string{
		"access":  `127.0.0.1 - - [22/Nov/2026:12:13:14 +0000] "GET /api/users/12345/posts?page=2&sort=created_at HTTP/1.1" 200 5123 "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36" 0.012`,
		"app":     `2026-11-22T12:13:14.123Z ERROR handler.go:123: could not select posts of user bob@example.com: context deadline exceeded after 5 attempts`,
		"secret":  `dial app:hunter2@tcp(127.0.0.1:3306)/shop: {"password":"a b","token":"abc"} Authorization: Bearer abc.def.ghi`,
		"colons":  strings.Repeat("a:b:c ", 20) + "x@y",
		"letters": strings.Repeat("pastabicd", 20),
	} {
		b.Run("text="+name, func(b *testing.B) {
			in := []byte(text)
			var dst []byte
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				dst = Append(dst[:0], in)
			}
		})
	}
}
