package http1

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

func BenchmarkParser(b *testing.B) {
	bench := func(name string, p *Parser, answer string, pieces ...byte) {
		b.Run(name, func(b *testing.B) {
			in := cut([]byte(answer), pieces)
			b.ReportAllocs()
			for b.Loop() {
				if p.Keep != nil {
					p.Keep.Body = p.Keep.Body[:0]
				}
				p.Start(false)
				for _, piece := range in {
					if _, _, err := p.Feed(piece); err != nil {
						b.Fatal(err)
					}
				}
				if p.Body == 0 {
					b.Fatal("no body")
				}
			}
		})
	}
	bench("answer=nginx/header=known", &Parser{Memo: &Memo{}}, nginx)
	bench("answer=nginx/header=new", &Parser{}, nginx)
	bench("answer=nginx/header=new/keep", &Parser{Keep: &Kept{Body: make([]byte, 0, 4<<10)}}, nginx)
	bench("answer=nginx/header=pieces", &Parser{}, nginx, 100)
	bench("answer=chunked/header=new", &Parser{}, strings.Replace(nginx, "Content-Length: 1024\r\n", "Transfer-Encoding: chunked\r\n", 1)[:len(nginx)+6-1024]+"400\r\n"+strings.Repeat("x", 1024)+"\r\n0\r\n\r\n")
	bench("answer=404/header=new", &Parser{}, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno")
	bench("answer=odd", &Parser{}, "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi")
	b.Run("answer=nginx/by=net-http", func(b *testing.B) {
		r := strings.NewReader(nginx)
		br := bufio.NewReader(r)
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(nginx)
			br.Reset(r)
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
		}
	})
}
