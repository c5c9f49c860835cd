package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestGraphiteWeb: what carbon and go-carbon got comes back over HTTP.
func TestGraphiteWeb(t *testing.T) {
	turn.Wait(t)
	for name, server := range map[string]func(testing.TB, sandbox.CarbonOptions) *sandbox.CarbonServer{
		"carbon-cache": sandboxtest.Carbon, "go-carbon": sandboxtest.GoCarbon,
	} {
		t.Run(name, func(t *testing.T) {
			carbon := server(t, sandbox.CarbonOptions{})
			web := sandboxtest.GraphiteWeb(t, carbon)
			conn, err := net.Dial("tcp", carbon.LineAddr())
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().Unix()
			_, err = fmt.Fprintf(conn, "a.b 1.5 %d\n", now)
			if err != nil || conn.Close() != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("[1.5, %d]", now)
			sandboxtest.Until(t, want, func() bool {
				res, err := http.Get(fmt.Sprintf("%s/render/?target=a.*&format=json&from=%d&until=%d", web.URL(), now-60, now+1))
				if err != nil {
					return false
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				return err == nil && strings.Contains(string(body), want)
			})
		})
	}
}
