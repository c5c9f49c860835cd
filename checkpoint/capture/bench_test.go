package capture

import (
	"strings"
	"testing"
)

// A text of the largest size must not hold a run up.
func BenchmarkMask(b *testing.B) {
	for name, line := range map[string]string{
		"nginx": "    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n",
		"diff":  "+\tif err := user.CheckPassword(r.Context(), token); err != nil {\n",
		"short": "+x\n",
		"long":  strings.Repeat("password: x, ", 1000) + "\n",
	} {
		b.Run("text="+name, func(b *testing.B) {
			text := strings.Repeat(line, MostBytes/len(line))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Mask(KindGit, text)
			}
		})
	}
}
