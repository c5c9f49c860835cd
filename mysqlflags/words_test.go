package mysqlflags

import (
	"strings"
	"testing"
)

func FuzzReplicaQuery(f *testing.F) {
	for _, seed := range []string{"SHOW SLAVE STATUS", "/* a */ show all replicas status", "SHOW REPLICA STATUS FOR CHANNEL 'SLAVE'", "SHOW ALL", "/*", "SHOW SLAVE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		other, is := replicaQuery(query)
		if !is {
			return
		}
		back, still := replicaQuery(other)
		if !still || !strings.EqualFold(back, strings.TrimSpace(query)) {
			t.Fatalf("%q, %q, %q", query, other, back)
		}
	})
}

func FuzzOtherName(f *testing.F) {
	for _, seed := range []string{"Slave_IO_Running", "Seconds_Behind_Source", "Get_master_public_key", "Connection_name", "_", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if back := otherName(otherName(name)); back != name {
			t.Fatalf("%q, %q, %q", name, otherName(name), back)
		}
	})
}
