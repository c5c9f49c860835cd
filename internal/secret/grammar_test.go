package secret

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// places are notations that hold a secret, with the characters that the notation
// cannot hold as they are.
var places = []struct{ format, not string }{
	{"http://app:%s@127.0.0.1:8080/a?b=c", " \"'<>(,@"},
	{"GET /login?user=a&password=%s&x=1 HTTP/1.1", " ,;&)}]'\""},
	{"POST /a;token=%s;b=c", " ,;&)}]'\""},
	{"mysql://root:%s@db:3306/shop", " \"'<>(,@"},
	{"app:%s@tcp(127.0.0.1:3306)/shop?parseTime=true", " \"'<>(,@"},
	{"redis://:%s@cache:6379/0", " \"'<>(,@"},
	{"postgres://u:%s@h/d?sslmode=off", " \"'<>(,@"},
	{"host=db user=app password=%s dbname=shop", " ,;&)}]'\""},
	{"Server=db;Pwd=%s;Database=shop", " ,;&)}]'\""},
	{"Authorization: Bearer %s\r\nHost: a", "'\""},
	{"Cookie: sid=%s; theme=dark\r\nHost: a", "'\""},
	{"x-api-key: %s\r\nHost: a", " ,;&)}]'\""},
	{"Set-Cookie: session=%s; Path=/", "'\""},
	{`{"user":"a","password":"%s","n":1}`, `"\`},
	{`{"a":{"accessToken": "%s"},"b":[1]}`, `"\`},
	{`{'api_key' => '%s', 'b' => 1}`, `'\`},
	{`{"body":"{\"secret\":\"%s\",\"a\":1}"}`, `"\`},
	{`{"body":"{\"a\":1,\"client_secret\": \"%s\"}","t":2}`, `"\`},
	{"CREATE USER a@b IDENTIFIED BY '%s'", `'\`},
	{"ALTER USER a IDENTIFIED WITH mysql_native_password BY '%s'", `'\`},
	{"CREATE USER a IDENTIFIED VIA ed25519 USING '%s' OR unix_socket", `'\`},
	{"GRANT ALL ON *.* TO a IDENTIFIED BY PASSWORD '%s'", `'\`},
	{"SET PASSWORD FOR a = PASSWORD('%s')", `'\`},
	{"UPDATE users SET password = '%s' WHERE id = 1", `'\`},
	{"Error 1062: Duplicate entry '%s' for key 'mail'", `'\`},
	{"DB_PASSWORD=%s ./app", " ,;&)}]'\""},
	{"a:token=AAAA%s&b@c", " ,;&)}]'\"<>("},
}

// aSecret draws a value that the place can hold.
func aSecret(t *rapid.T, not string) string {
	return "Zq9" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(not, r) {
			return -1
		}
		return r
	}, rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\é日")), 0, 24, -1).Draw(t, "secret")) + "q9Z"
}

// aText draws a text of the grammar with a secret in it.
func aText(t *rapid.T) string {
	p := rapid.SampledFrom(places).Draw(t, "place")
	return fmt.Sprintf(p.format, aSecret(t, p.not))
}

// pieces are what texts that mean no good are made of.
var pieces = strings.Split("password token= secret: cookie authorization: identified| with| by |bearer |duplicate entry |api_key|"+
	`"|'|\"|\\"|\|\\|@|@|:|:|://|//|/|&|;|,|(|)|<|}| |  |=|=>|a|b|yes|?|***|***@|`+"\n|\t|é|\xff|passwordpassword|u:p@h", "|")

// aSoup draws pieces in any order.
func aSoup(t *rapid.T) string {
	all := append(pieces, strings.Fields(pieces[0])...)
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 0, 30).Draw(t, "pieces"), "")
}
