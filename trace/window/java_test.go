package window

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTruth_Java: the same of servers in Java, the JDK's own and Tomcat, which is also asked in pipelines, with
// HikariCP's pool, whose driver writes values into the text, or has statements prepared and sends their first
// execution with that.
func TestTruth_Java(t *testing.T) {
	needRights(t)
	if os.Getenv("KASOKU_LONG") == "" {
		t.Skip("needs what tools/setup long fetches: KASOKU_LONG=1")
	}
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	sandboxtest.Exec(t, sandboxtest.DB(t, db, ""), "CREATE DATABASE java",
		"CREATE TABLE java.stock (id INT PRIMARY KEY) ENGINE=InnoDB",
		"INSERT INTO java.stock WITH RECURSIVE n AS (SELECT 0 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 999) "+
			"SELECT id FROM n")
	other := startOther(t)
	classes := compileJava(t)
	piped := []string{"/one", "/posts", "/prepared", "/batch", "/tx", "/none", "/slow"}
	paths := append(piped, "/late")
	for _, server := range []struct {
		name, class string
		paths       []string
		piped       bool
	}{{"jdk", "Server", paths, false}, {"tomcat", "TomcatServer", paths, false}, {"pipelines", "TomcatServer", piped, true}} {
		for _, driver := range []struct{ name, options string }{{"text", ""},
			{"prepared", "?useServerPrepStmts=true&cachePrepStmts=false"}} {
			a := app{"java", func(t *testing.T, dir, listen string) *exec.Cmd {
				_, port, _ := strings.Cut(listen, ":")
				return exec.Command("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
					"-Dsun.net.httpserver.nodelay=true", "-Dsun.net.httpserver.maxIdleConnections=1000",
					"-cp", classes, server.class, port, driver.options, dir)
			}, nil, server.piped, true, server.paths, "select id from java.stock where id = ? for update", "jspawnhelper"}
			t.Run(server.name+"/"+driver.name, func(t *testing.T) { a.truth(t, db, other) })
		}
	}
}

// compileJava compiles the servers and returns where they, and what they need, are.
func compileJava(t *testing.T) (classes string) {
	t.Helper()
	sums, err := os.ReadFile("testdata/java/jars.sha256")
	if err != nil {
		t.Fatal(err)
	}
	places := []string{t.TempDir()}
	for line := range strings.Lines(string(sums)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		places = append(places, filepath.Join(peertest.Dir(t, "java"), name))
	}
	classes = strings.Join(places, ":")
	compile := exec.Command("javac", "-cp", classes, "-d", places[0], "testdata/java/Server.java",
		"testdata/java/TomcatServer.java")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return classes
}
