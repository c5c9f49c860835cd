package mysqlflags_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A flag beats the extra file. What neither says would come from my.cnf.
func ExampleCreateDSN() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	extra := filepath.Join(dir, "extra.cnf")
	text := "[client]\nuser = monitor\npassword = \"p#ss\"\nhost = db1\nport = 3307\nssl-mode = REQUIRED\n"
	if err := os.WriteFile(extra, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	dsn, err := mysqlflags.CreateDSN(mysqlflags.MyOpts{
		MySQLDefaultsExtraFile: extra,
		MySQLHost:              "db2",
		MySQLDBName:            "shop",
		MySQLDSNParams:         map[string]string{"loc": "Asia/Tokyo", "charset": "utf8mb4"},
	}, 2*time.Second, false)
	fmt.Println(mysqlflags.Redact(dsn), err)
	// Output: monitor:xxxx@tcp(db2:3307)/shop?charset=utf8mb4&loc=Asia%2FTokyo&timeout=2s&tls=skip-verify <nil>
}

func ExampleQueryMap_Scan() {
	db := fake{"SHOW GLOBAL STATUS": {{"Variable_name", "Value"}, {"Threads_running", "3"}, {"Bytes_sent", "18446744073709551615"}}}.open()
	defer db.Close()
	var status struct {
		Running int64   `mysqlvar:"Threads_running"`
		Sent    uint64  `mysqlvar:"Bytes_sent"`
		Cached  *uint64 `mysqlvar:"Qcache_hits"` // MySQL 8 has none
		Opened  uint64  `mysqlvar:"Opened_tables,optional"`
	}
	err := mysqlflags.Query(db, "SHOW GLOBAL STATUS").Scan(&status)
	fmt.Println(status.Running, status.Sent, status.Cached == nil, status.Opened, err)
	// Output: 3 18446744073709551615 true 0 <nil>
}

func ExampleReplicaStatus() {
	db := fake{
		"SELECT VERSION() AS version": {{"version"}, {"10.11.14-MariaDB"}},
		"SHOW ALL SLAVES STATUS": {
			{"Connection_name", "Master_Host", "Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"},
			{"east", "db1", "Yes", "Yes", "12"},
			{"west", "db2", "Connecting", "Yes", nil},
		},
	}.open()
	defer db.Close()
	replicas, err := mysqlflags.ReplicaStatus(context.Background(), db)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range replicas {
		lag, known := r.Lag()
		fmt.Println(r.Channel, r.SourceHost, r.IO, r.SQL, r.Running(), lag, known)
	}
	// Output:
	// east db1 Yes Yes true 12s true
	// west db2 Connecting Yes false 0s false
}

func ExampleBool() {
	db := fake{"SHOW SLAVE STATUS": {{"Slave_IO_Running", "Slave_SQL_Running"}, {"Connecting", "Yes"}}}.open()
	defer db.Close()
	var s struct {
		IO  mysqlflags.Bool `mysqlvar:"Slave_IO_Running"`
		SQL mysqlflags.Bool `mysqlvar:"Slave_SQL_Running"`
	}
	err := mysqlflags.Query(db, "SHOW SLAVE STATUS").Scan(&s)
	fmt.Println(s.IO, s.IO.Yes(), s.SQL, s.SQL.Yes(), err)
	// Output: Connecting false Yes true <nil>
}

func ExampleRedact() {
	fmt.Println(mysqlflags.Redact("monitor:secret@tcp(db1:3306)/shop?timeout=2s"))
	// Output: monitor:xxxx@tcp(db1:3306)/shop?timeout=2s
}
