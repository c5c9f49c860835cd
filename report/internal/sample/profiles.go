package sample

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
)

// Stacks of the shop, outermost function first; every one stands below serve.
const serve = "net/http.(*conn).serve;net/http.serverHandler.ServeHTTP;net/http.(*ServeMux).ServeHTTP;"

// shopStacks are in hundredths of a second of CPU.
const shopStacks = `main.(*shop).listPosts;main.(*shop).authorOf;database/sql.(*DB).QueryContext;github.com/go-sql-driver/mysql.(*mysqlConn).query;github.com/go-sql-driver/mysql.(*packets).readPacket;syscall.Syscall 61
main.(*shop).listPosts;main.(*shop).authorOf;database/sql.(*DB).QueryContext;github.com/go-sql-driver/mysql.(*mysqlConn).query;github.com/go-sql-driver/mysql.interpolate 22
main.(*shop).listPosts;main.(*shop).authorOf;database/sql.(*Rows).Scan;database/sql.convertAssignRows 14
main.(*shop).listPosts;main.render;html/template.(*Template).Execute;text/template.(*state).walk;text/template.(*state).evalField;reflect.Value.FieldByName 41
main.(*shop).listPosts;main.render;html/template.(*Template).Execute;text/template.(*state).walk;fmt.Fprint 17
main.(*shop).listPosts;main.render;main.digestOf;crypto/sha512.block 212
main.(*shop).listPosts;main.render;main.digestOf;runtime.mallocgc 31
main.(*shop).showPost;database/sql.(*DB).QueryContext;github.com/go-sql-driver/mysql.(*mysqlConn).query 26
main.(*shop).order;encoding/json.(*Decoder).Decode;encoding/json.(*decodeState).object 9
main.(*shop).order;main.<script>alert(1)</script> 3`

const shopRuntime = `runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject 48
runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;runtime.stealWork 19`

// shopProfiles are what the shop's process spent; after, authors are asked for at once
// and digests are kept.
func shopProfiles(after bool) []kasoku.Profile {
	stacks := ""
	for line := range strings.Lines(shopStacks) {
		switch {
		case after && strings.Contains(line, "digestOf"):
			continue
		case after && strings.Contains(line, "authorOf"):
			line = strings.Replace(line, "authorOf", "authorsOf", 1)
			line = line[:strings.LastIndexByte(line, ' ')] + " 5\n"
		}
		stacks += serve + line
	}
	stacks += "\n" + shopRuntime
	scaled := func(by string) string {
		var b strings.Builder
		for line := range strings.Lines(stacks) {
			b.WriteString(strings.TrimSpace(line) + by + "\n")
		}
		return b.String()
	}
	var out []kasoku.Profile
	for _, x := range []struct {
		kind kasoku.ProfileKind
		unit string
		text string
		note string
	}{
		{kasoku.ProfileCPU, "nanoseconds", scaled("0000000"), ""},
		{kasoku.ProfileAllocs, "bytes", scaled("00000"), ""},
		{kasoku.ProfileHeap, "bytes", "main.main;main.newCache 41000000\nmain.main;main.loadTemplates 8200000\n", ""},
		{kasoku.ProfileMutex, "nanoseconds", "",
			"nothing was sampled since the program's start: it samples waits for locks only with " +
				"`runtime.SetMutexProfileFraction(100)` in its main function"},
		{kasoku.ProfileGoroutine, "count",
			"net/http.(*conn).serve;net/http.(*conn).readRequest 41\nmain.main;net/http.(*Server).Serve 1\n", ""},
	} {
		p, err := profile.ReadFolded(x.text, x.kind, x.unit)
		if err != nil {
			panic(err) // it is written above
		}
		p.Host, p.Program, p.Address, p.Note = "web1", "shop", "http://127.0.0.1:6060/debug/pprof/", x.note
		p.Interval = kasoku.Interval{From: 6 * time.Second, To: 16 * time.Second}
		for i := range p.Functions {
			if f := &p.Functions[i]; strings.HasPrefix(f.Name, "main.") {
				f.File, f.Line = "/src/shop/main.go", 20+i
			}
		}
		out = append(out, p)
	}
	return out
}
