package service_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/service"
	"github.com/kasoku/kasoku/service/servicetest"
)

// TestGraphiteWeb: what carbon and go-carbon got comes back over HTTP.
func TestGraphiteWeb(t *testing.T) {
	for name, server := range map[string]func(testing.TB, service.CarbonOptions) *service.CarbonServer{
		"carbon-cache": servicetest.Carbon, "go-carbon": servicetest.GoCarbon,
	} {
		t.Run(name, func(t *testing.T) {
			carbon := server(t, service.CarbonOptions{})
			web := servicetest.GraphiteWeb(t, carbon)
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
			servicetest.Until(t, want, func() bool {
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
