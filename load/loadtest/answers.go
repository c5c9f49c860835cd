package loadtest

import (
	"slices"
	"strings"
	"sync"
)

// An Answer is what a server sends to one request.
type Answer struct {
	Name  string // its path is "/" + Name
	Bytes string
	// Ends: the server closes the connection after it, because the answer has no
	// other end, or never comes to one. It goes on to the next request otherwise.
	Ends bool
}

// Answers returns the catalogue: right answers of every shape, and wrong ones.
func Answers() []Answer { return slices.Clone(catalogue()) }

var catalogue = sync.OnceValue(func() []Answer {
	return slices.Concat(rightAnswers(), lengthAnswers(), statusLines(), headerAnswers(), informationalAnswers(),
		redirectAnswers(), chunkedAnswers(),
		trailerAnswers())
})

// findAnswer returns the answer of a name.
func findAnswer(name string) (Answer, bool) {
	i := slices.IndexFunc(catalogue(), func(a Answer) bool { return a.Name == name })
	if i < 0 {
		return Answer{}, false
	}
	return catalogue()[i], true
}

// nginx is an answer as nginx gives it.
const nginx = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 13 Jul 2026 10:00:00 GMT\r\nContent-Type: text/html\r\nContent-Length: 26\r\n" +
	"Last-Modified: Mon, 13 Jul 2026 09:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"6871f2a0-1a\"\r\nAccept-Ranges: bytes\r\n\r\nabcdefghijklmnopqrstuvwxyz"

func rightAnswers() []Answer {
	return []Answer{
		{"ok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", false},
		{"nginx", nginx, false},
		{"lower-case", "HTTP/1.1 200 OK\r\ncontent-length:2\r\nCONNECTION:\tkeep-alive \r\n\r\nhi", false},
		{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false},
		{"no-content", "HTTP/1.1 204 No Content\r\n\r\n", false},
		{"not-modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false},
		{"fail", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno", false},
		{"not-found", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", false},
		{"until-close", "HTTP/1.1 200 OK\r\n\r\nuntil the end", true},
		{"says-close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", true},
		{"says-much", "HTTP/1.1 200 OK\r\nConnection: Upgrade, Keep-Alive\r\nConnection: x , CLOSE\r\nContent-Length: 0\r\n\r\n", true},
		{"http10", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", true},
		{"http10-keeps", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi", false},
		{"http10-closes", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive, close\r\n\r\nhi", true},
		{"http10-until-close", "HTTP/1.0 200 OK\r\n\r\nuntil the end", true},
		{"http10-chunked", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", true},
		{"http10-no-content", "HTTP/1.0 204 No Content\r\n\r\n", true},
		{"long-body", "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("0123456789", 30_000),
			false},
	}
}

func lengthAnswers() []Answer {
	length := func(name, value, body string, ends bool) Answer {
		return Answer{name, "HTTP/1.1 200 OK\r\nContent-Length:" + value + "\r\n\r\n" + body, ends}
	}
	return []Answer{
		length("half-body", " 100", "half", true),
		length("short-length", " 2", "far more than two bytes", true),
		length("early", " 0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
		length("negative", " -5", "hello", true),
		length("plus", " +5", "hello", true),
		length("no-number", "", "hello", true),
		length("list", " 2, 2", "hi", true),
		length("zeros", " 0002", "hi", false),
		length("blanks", "\t 2 \t", "hi", false),
		length("largest", " 9223372036854775807", "hi", true),
		length("too-large", " 9223372036854775808", "hi", true),
		length("equal-lengths", " 2\r\nContent-Length: 2", "hi", false),
		length("two-lengths", " 2\r\nContent-Length: 3", "abc", true),
		length("blank-before-colon", " 2\r\nContent-Length : 3", "hi", false),
		{"no-content-length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", true},
	}
}

func statusLines() []Answer {
	status := func(name, line string, ends bool) Answer {
		return Answer{name, line + "\r\nContent-Length: 2\r\n\r\nhi", ends}
	}
	return []Answer{
		{"close", "", true},
		{"half-status", "HTTP/1.1 20", true},
		{"garbage", "\x00\x01\x02\xff\xfe not HTTP at all\r\n\r\n", true},
		{"ssh", "SSH-2.0-OpenSSH_9.2\r\n", true},
		{"tls-alert", "\x15\x03\x01\x00\x02\x02\x46", true},
		{"empty-lines", "\r\n\r\n", true},
		{"line-feed", "\n", true},
		{"teapot", "HTTP/1.1 418 \x1b[31mteapot\r\nContent-Length: 0\r\n\r\n", false},
		status("no-reason", "HTTP/1.1 200", false),
		status("empty-reason", "HTTP/1.1 200 ", false),
		status("no-reason-404", "HTTP/1.1 404", false),
		status("two-blanks", "HTTP/1.1  200 OK", false),
		status("blanks-after", "HTTP/1.1 500 caf\xc3\xa9  ", false),
		status("cr-inside", "HTTP/1.1 500 a\rb", false),
		status("code-9999", "HTTP/1.1 9999 Over", true),
		status("code-999", "HTTP/1.1 999 Over", false),
		status("code-plus", "HTTP/1.1 +99 Plus", true),
		status("code-minus", "HTTP/1.1 -99 Minus", true),
		status("code-000", "HTTP/1.1 000 None", true),
		status("code-042", "HTTP/1.1 042 Low", true),
		status("code-20", "HTTP/1.1 20", true),
		status("code-2000", "HTTP/1.1 2000", true),
		status("code-no-blank", "HTTP/1.1 200OK", true),
		status("version-only", "HTTP/1.1", true),
		status("http2", "HTTP/2.0 200 OK", false),
		status("http09", "HTTP/0.9 200 OK", true),
		status("http12", "HTTP/1.2 200 OK", false),
		status("http112", "HTTP/1.12 200 OK", true),
		status("http-lower", "http/1.1 200 OK", true),
	}
}

func headerAnswers() []Answer {
	header := func(name, lines string, ends bool) Answer {
		return Answer{name, "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 2\r\n\r\nhi", ends}
	}
	return []Answer{
		{"half-header", "HTTP/1.1 200 OK\r\nContent-Len", true},
		{"bare-lf", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false},
		{"mixed-ends", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nhi", false},
		header("folded", "X: a\r\n b\r\n\tc\r\n", false),
		header("folded-first", " X: a\r\n", true),
		header("bad-header", "no colon here\r\n", true),
		header("no-name", ": no name\r\n", true),
		header("control", "X: \x01\r\n", true),
		header("cr-in-value", "X: a\rb\r\n", true),
		header("delete", "X: \x7f\r\n", true),
		header("high-bytes", "X: 2345678\x8012345\xff678 \t.\r\n", false),
		header("bad-name", "X(): y\r\n", true),
		header("blank-in-name", "X y: z\r\n", false),
		header("tab-in-name", "X\t: z\r\n", true),
		header("long-name", strings.Repeat("n", 300)+": v\r\n", false),
		header("long-value", "X: "+strings.Repeat("long ", 2000)+"\r\n", false),
		header("many-headers", strings.Repeat("X: y\r\n", 1000), false),
		{"huge-header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2<<20), true},
	}
}

func informationalAnswers() []Answer {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	return []Answer{
		{"continue", "HTTP/1.1 100 Continue\r\n\r\n" + ok, false},
		{"hints", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok, false},
		{"continue-lf", "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false},
		{"hundred-continue", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100) + ok, false},
		{"only-continue", "HTTP/1.1 100 Continue\r\n\r\n", true},
		{"many-continue", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50), true},
		{"flood", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 50_000) + ok, true},
		{"upgrade", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nwhatever", true},
		{"upgrade-closes", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade, close\r\nUpgrade: x\r\n\r\nwhatever",
			true},
		{"upgrade-without", "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 3\r\n\r\nabc", true},
	}
}

func redirectAnswers() []Answer {
	found := func(name, location string) Answer {
		return Answer{name, "HTTP/1.1 302 Found\r\n" + location + "Content-Length: 0\r\n\r\n", false}
	}
	return []Answer{
		found("loop", "Location: /loop\r\n"),
		found("bad-location", "Location: http://[::1/%\r\n"),
		found("nowhere", ""),
		found("empty-location", "LOCATION:   \r\nlocation: /ok\r\n"),
		found("folded-location", "Location: /folded\r\n /there\r\n"),
		found("to-ok", "Location: /ok\r\n"),
		found("to-reset", "Location: /ok?end=reset&cut=9\r\n"),
		{"located-ok", "HTTP/1.1 200 OK\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", false},
		{"see-other", "HTTP/1.1 303 See Other\r\nLocation: /ok\r\nContent-Length: 2\r\n\r\nhi", false},
		{"permanent", "HTTP/1.1 308 Permanent Redirect\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", false},
		{"choices", "HTTP/1.1 300 Multiple Choices\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", false},
		{"to-file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", false},
	}
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"

func chunkedAnswers() []Answer {
	body := func(name, chunks string, ends bool) Answer { return Answer{name, chunked + "\r\n" + chunks, ends} }
	return []Answer{
		body("chunked", "5\r\nhello\r\n6;ext=\"1\"\r\n world\r\n0\r\n\r\n", false),
		{"chunked-length", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nContent-Length: 3\r\n\r\nA \t\r\n0123456789\r\n000\r\nX: y\r\nZ: z\r\n\r\n", false},
		{"chunked-bad-length", chunked + "Content-Length: x\r\n\r\n0\r\n\r\n", true},
		{"chunked-twice", chunked + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
		{"gzip-chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", true},
		{"identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", true},
		body("half-chunk", "ff\r\nhalf", true),
		body("no-last-chunk", "2\r\nhi\r\n", true),
		body("bad-chunk", "zz\r\nhalf\r\n", true),
		body("empty-chunk-line", "\r\nx", true),
		body("blank-before-size", " 5\r\nhello\r\n0\r\n\r\n", true),
		body("blank-before-extension", "5 ;x\r\nhello\r\n0\r\n\r\n", true),
		body("chunks-lf", "5\nhello\n0\n\n", true),
		body("chunk-cr", "5\rx\r\nhello\r\n0\r\n\r\n", true),
		body("chunk-too-long", "5\r\nhelloworld\r\n0\r\n\r\n", true),
		body("chunk-17-digits", "10000000000000000\r\nhello", true),
		body("chunk-16-digits", "ffffffffffffffff\r\nhello", true),
		body("tiny-chunks", strings.Repeat("1\r\nx\r\n", 400)+"0\r\n\r\n", false),
		body("extensions", strings.Repeat("1;"+strings.Repeat("e", 2000)+"\r\nx\r\n", 10)+"0\r\n\r\n", true),
		body("zeros-4094", strings.Repeat("0", 4094)+"\r\n\r\n", false),
		body("zeros-4095", strings.Repeat("0", 4095)+"\r\n\r\n", true),
		body("zeros-9000", strings.Repeat("0", 9000), true),
	}
}

func trailerAnswers() []Answer {
	trailer := func(name, lines string, ends bool) Answer { return Answer{name, chunked + "\r\n0\r\n" + lines, ends} }
	return []Answer{
		{"trailer", chunked + "Trailer: X\r\n\r\n0\r\nX: y\r\n\r\n", false},
		{"trailer-forbidden", chunked + "Trailer: Content-Length\r\n\r\n0\r\nX: y\r\n\r\n", true},
		trailer("trailer-no-colon", "no colon\r\n\r\n", true),
		trailer("trailer-lf", "\n", true),
		trailer("trailer-lf-more", "X: y\n\nmore\r\n\r\n", true),
		trailer("trailer-folded-first", " X: y\r\n\r\n", true),
		trailer("trailer-surplus", "X: y\r\n\r\nsurplus", true),
		trailer("trailer-5000", "X: "+strings.Repeat("y", 5000)+"\r\n\r\n", true),
		trailer("trailer-4096", "X: "+strings.Repeat("y", 4089)+"\r\n\r\n", false),
		trailer("trailer-4097", "X: "+strings.Repeat("y", 4090)+"\r\n\r\n", true),
		trailer("trailer-half", "X: y\r\n", true),
	}
}
