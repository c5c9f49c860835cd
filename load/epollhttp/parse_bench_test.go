package epollhttp

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

func BenchmarkParser(b *testing.B) {
	bench := func(name string, p *parser, answer string, pieces ...byte) {
		b.Run(name, func(b *testing.B) {
			in := cut([]byte(answer), pieces)
			b.ReportAllocs()
			for b.Loop() {
				p.start(false)
				for _, piece := range in {
					if _, _, err := p.feed(piece); err != nil {
						b.Fatal(err)
					}
				}
				if p.body == 0 {
					b.Fatal("no body")
				}
			}
		})
	}
	bench("answer=nginx/header=known", &parser{memo: &memo{}}, nginx)
	bench("answer=nginx/header=new", &parser{}, nginx)
	bench("answer=nginx/header=pieces", &parser{}, nginx, 100)
	bench("answer=chunked/header=new", &parser{}, strings.Replace(nginx, "Content-Length: 1024\r\n", "Transfer-Encoding: chunked\r\n", 1)[:len(nginx)+6-1024]+"400\r\n"+strings.Repeat("x", 1024)+"\r\n0\r\n\r\n")
	bench("answer=404/header=new", &parser{}, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno")
	bench("answer=odd", &parser{}, "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi")
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
