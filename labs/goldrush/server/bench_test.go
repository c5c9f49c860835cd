package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/server"
)

const exploreBody = `{"posX":17,"posY":4,"sizeX":15,"sizeY":1}`

// BenchmarkServer is what a request takes of the host, where nothing makes it wait: by the
// handler alone, and over one connection, with the share of a client that does next to
// nothing: it sends many requests at once and reads over the answers.
func BenchmarkServer(b *testing.B) {
	b.Run("handler", func(b *testing.B) {
		s := server.New(mine.Options{Rules: goldrush.Unlimited(), Seed: 42})
		b.ReportAllocs()
		for b.Loop() {
			r := httptest.NewRequest("POST", "/explore", strings.NewReader(exploreBody))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	})
	b.Run("connection", func(b *testing.B) {
		s := start(b, goldrush.Unlimited())
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		const many = 100
		request := fmt.Sprintf("POST /explore HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(exploreBody), exploreBody)
		batch := []byte(strings.Repeat(request, many))
		answers := bufio.NewReaderSize(conn, 1<<16)
		length := answerLength(b, conn, answers, request)
		for b.Loop() {
			if _, err := conn.Write(batch); err != nil {
				b.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, answers, int64(many*length)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(many*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	})
}

// answerLength asks once, and returns how many bytes each answer has.
func answerLength(b *testing.B, conn net.Conn, answers *bufio.Reader, request string) (n int) {
	b.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		b.Fatal(err)
	}
	body := 0
	for {
		line, err := answers.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		n += len(line)
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &body); err == nil {
			continue
		}
		if line == "\r\n" {
			break
		}
	}
	if _, err := io.CopyN(io.Discard, answers, int64(body)); err != nil {
		b.Fatal(err)
	}
	return n + body
}
