package sqlshape

import (
	"bytes"
	"fmt"
	"net/url"
	"testing"
)

// A Field is what a comment of a statement says of where the statement comes
// from: a key and its value, decoded. A comment that is a plain name has no key.
type Field struct {
	Key, Value string
}

func TestComments(t *testing.T) {
	f := func(sql, want, tag string) {
		t.Helper()
		got := ""
		for _, x := range fieldsOf([]byte(sql)) {
			got += fmt.Sprintf("[%s=%s]", x.Key, x.Value)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", sql, got, want)
		}
		if got := string(AppendTag(nil, []byte(sql))); got != tag {
			t.Errorf("%q: tag %q, want %q", sql, got, tag)
		}
	}
	f("SELECT 1", "", "")
	f("COMMIT /* RegisterScores */", "[=RegisterScores]", "RegisterScores")
	f("SELECT /* controller:items,action:show */ 1", "[controller=items][action=show]", "controller:items,action:show")
	f("SELECT 1 /*action='%2Fparam*d',controller='index',traceparent='00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01'*/",
		"[action=/param*d][controller=index][traceparent=00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01]",
		"action:%2Fparam*d,controller:index")
	f("SELECT 1 /*name='it\\'s',db_driver='a'*/", "[name=it's][db_driver=a]", `name:it\'s,db_driver:a`)
	f("SELECT '/* a:b */' /* c:d */", "[c=d]", "c:d")
	f("SELECT `/*x*/`, \"/*y*/\" -- /* z */\n/* c */", "[=c]", "c")
	f("SELECT /*! SQL_NO_CACHE */ /*+ hint */ 1 /*M! x */", "", "")
	f("SELECT 1 /* what is this? */", "", "")
	f("SELECT 1 /* a:b", "[a=b]", "a:b")
	f("SELECT 1 /*", "", "")
	f("/* a */ /* b:c */ SELECT 1", "[=a][b=c]", "a,b:c")
}

func FuzzComments(f *testing.F) {
	for _, s := range []string{"SELECT 1 /* a:b,c='d%20' */", "/*'*/", "/*a='\\'*/", "COMMIT /* x */", "SELECT '/*' /*", "/*M!*/", "a-/*b:*/"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		if n := len(fieldsOf(sql)); n > maxFields {
			t.Errorf("%d fields", n)
		}
		if n := len(AppendTag(nil, sql)); n > 3*maxField {
			t.Errorf("a tag of %d bytes", n)
		}
	})
}

// fieldsOf returns the fields of a statement's block comments, in order: those of
// sqlcommenter (key='url%20encoded',key='…'), of marginalia
// (key:value,key:value), and plain tags. There are at most 32.
//
// Sources: the sqlcommenter specification of OpenTelemetry; the README of
// basecamp/marginalia; Rails 7, ActiveRecord::QueryLogs.
func fieldsOf(sql []byte) []Field {
	var out []Field
	eachComment(sql, func(text []byte) bool {
		eachField(text, func(key, value []byte) bool {
			out = append(out, Field{string(key), decodeText(value)})
			return len(out) < maxFields
		})
		return len(out) < maxFields
	})
	return out
}

// decodeText returns a value without its quotes and escapes.
func decodeText(value []byte) string {
	if n := len(value); n >= 2 && value[0] == '\'' && value[n-1] == '\'' {
		value = bytes.ReplaceAll(value[1:n-1], []byte(`\'`), []byte("'"))
	}
	if s, err := url.PathUnescape(string(value)); err == nil {
		return s
	}
	return string(value)
}
