package ptquerydigest

import (
	"io"
	"os"
	"strings"
	"testing"
)

func BenchmarkRun(b *testing.B) {
	log := sampleLog(b)
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	big := write(b, "big.log", strings.Repeat(string(data), 40))
	b.SetBytes(40 * int64(len(data)))
	for _, line := range []string{"", "--output json"} {
		b.Run("args="+line, func(b *testing.B) {
			for b.Loop() {
				if code := Run(b.Context(), arguments(line, big), strings.NewReader(""), io.Discard, os.Stderr); code != 0 {
					b.Fatal(code)
				}
			}
		})
	}
}
