package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/mysqlflags"
)

func TestHide(t *testing.T) {
	f := func(args, want string) {
		t.Helper()
		got := string(hidePasswords([]byte(strings.ReplaceAll(args, " ", "\x00") + "\x00")))
		if got = strings.TrimSuffix(strings.ReplaceAll(got, "\x00", " "), " "); got != want || len(got) != len(args) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("kasoku record --for 3s", "kasoku record --for 3s")
	f("kasoku record --mysql u:geheim@tcp(h:1)/d", "kasoku record --mysql u:xxxxxx@tcp(h:1)/d")
	f("kasoku advise --dsn u:geheim@tcp(h:1)/d", "kasoku advise --dsn u:xxxxxx@tcp(h:1)/d")
	f("kasoku digest --as slowquery2tsv -u root -p geheim -P 1", "kasoku digest --as slowquery2tsv -u root -p xxxxxx -P 1")
	f("kasoku digest --as=slowquery2tsv -p=geheim", "kasoku digest --as=slowquery2tsv -p=xxxxxx")
	f("kasoku attack -p geheim", "kasoku attack -p geheim")
	f("kasoku record --mysql=u:ge@h/:im@tcp(h:1)/d?x=1 --for 3s", "kasoku record --mysql=u:xxxxxxxx@tcp(h:1)/d?x=1 --for 3s")
	f("kasoku record --mysql u@tcp(h:1)/ -- cmd --mysql u:geheim@tcp(h:1)/", "kasoku record --mysql u@tcp(h:1)/ -- cmd --mysql u:geheim@tcp(h:1)/")
	f("kasoku record --mysql tcp(h:1)/", "kasoku record --mysql tcp(h:1)/")
	f("kasoku record --mysql u:geheim@tcp(h:1", "kasoku record --mysql xxxxxxxxxxxxxxxx")
	f("kasoku record --mysql", "kasoku record --mysql")
	f("kasoku record --mysql=", "kasoku record --mysql=")
	f("kasoku export a --push http://me:geheim@h:1/w", "kasoku export a --push http://xxxxxxxxx@h:1/w")
	f("kasoku export a --push=https://me:ge@heim@h/w --to x", "kasoku export a --push=https://xxxxxxxxxx@h/w --to x")
	f("kasoku export a --push http://h:1/w", "kasoku export a --push http://h:1/w")
	f("kasoku export a --push me:geheim@h:1/w", "kasoku export a --push xxxxxxxxx@h:1/w")
	f("kasoku export a --push http://me:ge/heim@h:1/w", "kasoku export a --push "+strings.Repeat("x", 23))
	f("kasoku export a --push", "kasoku export a --push")
	f("kasoku init --url http://token@h/", "kasoku init --url http://xxxxx@h/")
	f("kasoku run -- cmd --push http://me:geheim@h/", "kasoku run -- cmd --push http://me:geheim@h/")
	f("kasoku attack http://me:geheim@h:1/", "kasoku attack http://xxxxxxxxx@h:1/")
	f("kasoku attack --target=GET\thttp://me:geheim@h:1/a@b", "kasoku attack --target=GET\thttp://xxxxxxxxx@h:1/a@b")
	f("kasoku attack http://h:1/me:geheim@h", "kasoku attack http://h:1/me:geheim@h")
	f("kasoku attack -H Authorization:geheim http://h/", "kasoku attack -H Authorization:xxxxxx http://h/")
	f("kasoku attack -header=Cookie:s=geheim", "kasoku attack -header=Cookie:xxxxxxxx")
	f("kasoku attack -H geheim -H", "kasoku attack -H geheim -H")
	f("", "")
}

func TestHide_NoPassword(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := rapid.StringMatching(`[a-w]{1,8}`).Draw(t, "user")
		password := rapid.StringMatching(`[A-Z0-9@:/()?=&]{4,20}`).Draw(t, "password")
		addr := rapid.SampledFrom([]string{"h:1", "/run/mysqld/mysqld.sock"}).Draw(t, "address")
		dsn, err := mysqlflags.FormatDSN(user, password, addr, rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "database"), nil)
		if err != nil {
			t.Skip()
		}
		if got := hideDSN(dsn); strings.Contains(got, password) || len(got) != len(dsn) {
			t.Fatalf("%q hidden as %q", dsn, got)
		}
	})
}
