package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// A case is one check on both sides of its threshold.
type checkCase struct {
	id     string
	server func() Input
	fire   string // what makes it speak: name=value; status variables begin with a capital
	under  string // what does not, just
	change func(in *Input, fires bool)
	want   string // variable=value, in order; empty for an advice without one
	title  string // part of it, to distinguish the advices of one check
}

func set(t *testing.T, in *Input, pairs string) {
	t.Helper()
	in.Variables, in.Status = maps.Clone(in.Variables), maps.Clone(in.Status)
	for _, p := range strings.Fields(pairs) {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			t.Fatalf("bad pair %q", p)
		}
		if v, number := parseNumber(value); number && name[0] >= 'A' && name[0] <= 'Z' {
			in.Status[name] = v
			continue
		}
		in.Variables[name] = value
	}
}

func innodb(name string, data, index, free int64) Table {
	return Table{Table: mysql.Table{Schema: "shop", Name: name, Engine: "InnoDB", Rows: 1000, DataBytes: data, IndexBytes: index}, FreeBytes: uint64(free)}
}

func primary(table string) mysql.Index {
	return mysql.Index{Table: table, Name: "PRIMARY", Unique: true, Parts: []string{"id"}}
}

// checkCases has every check of the table, and each of what one check looks at.
var checkCases = []checkCase{
	// 85 % of 8 GiB are 6.8 GiB; the pool and what else is fixed take most of it.
	{id: "MYS-01", fire: "innodb_buffer_pool_size=7247757312 innodb_log_file_size=2147483648", under: "innodb_buffer_pool_size=6174015488 innodb_log_file_size=2147483648", want: "innodb_buffer_pool_size=5368709120"},
	{id: "MYS-02", fire: "max_connections=302 sort_buffer_size=8388608", under: "max_connections=250 sort_buffer_size=8388608"},
	{id: "MYS-02", fire: "sort_buffer_size=33554432", under: "sort_buffer_size=2097152", want: "sort_buffer_size=4194304"},
	{id: "MYS-02", fire: "max_connections=2000 Max_used_connections=40", under: "max_connections=200", want: "max_connections=151"},
	{id: "MYS-03", fire: "max_connections=217", under: "max_connections=215", change: func(in *Input, fires bool) { in.Memory.Others = 3500 << 20 }},
	{id: "MYS-04", fire: "Uptime=86399", under: "Uptime=86400"},
	{id: "MYS-05", fire: "Slow_queries=50001", under: "Slow_queries=50000"},
	{id: "MYS-06", fire: "long_query_time=10.1", under: "long_query_time=10", want: "long_query_time=1"},
	{id: "MYS-07", fire: "slow_query_log=OFF", under: "slow_query_log=ON", want: "slow_query_log=ON"},
	{id: "MYS-08", fire: "Max_used_connections=129", under: "Max_used_connections=128", want: "max_connections=250"},
	{id: "MYS-08", fire: "Max_used_connections=152 Connection_errors_max_connections=9", under: "Max_used_connections=100", want: "max_connections=300"},
	{id: "MYS-09", fire: "Aborted_connects=31", under: "Aborted_connects=30"},
	{id: "MYS-10", fire: "skip_name_resolve=OFF bind_address=*", under: "skip_name_resolve=ON bind_address=*", want: "skip_name_resolve=ON"},
	{id: "MYS-10", fire: "skip_name_resolve=OFF bind_address=::", under: "skip_name_resolve=OFF bind_address=127.0.0.1,::1", change: func(in *Input, _ bool) {
		in.Accounts = []Account{{User: "app", Host: "localhost"}, {User: "app", Host: "10.0.%"}}
	}},
	{id: "MYS-11", fire: "query_cache_type=ON Qcache_hits=19999", under: "query_cache_type=ON Qcache_hits=20000", want: "query_cache_size=0 query_cache_type=OFF"},
	{id: "MYS-12", fire: "query_cache_type=ON Qcache_hits=90000 Qcache_lowmem_prunes=495", under: "query_cache_type=ON Qcache_hits=90000 Qcache_lowmem_prunes=490", want: "query_cache_size=67108864"},
	{id: "MYS-13", fire: "Sort_merge_passes=201", under: "Sort_merge_passes=200", want: "sort_buffer_size=4194304"},
	{id: "MYS-14", fire: "Select_full_join=1251", under: "Select_full_join=1250"},
	{id: "MYS-14", fire: "Select_full_join=1251", under: "Select_range_check=9 Uptime=100"},
	{id: "MYS-14", fire: "Select_full_join=1500 Com_select=150000", under: "Select_full_join=1499 Com_select=150000"},
	{id: "MYS-15", fire: "Created_tmp_disk_tables=251", under: "Created_tmp_disk_tables=250", want: "max_heap_table_size=67108864 tmp_table_size=67108864"},
	{id: "MYS-15", server: mySQL, fire: "Created_tmp_disk_tables=251", under: "Created_tmp_disk_tables=250", want: "tmp_table_size=67108864"},
	{id: "MYS-15", fire: "Created_tmp_disk_tables=251 tmp_table_size=268435456 max_heap_table_size=268435456", under: "Created_tmp_disk_tables=99 Created_tmp_tables=99"},
	{id: "MYS-15", fire: "Created_tmp_disk_tables=251 Handler_tmp_write=1028096", under: "Created_tmp_disk_tables=250", want: "max_heap_table_size=67108864 tmp_table_size=67108864"},
	{id: "MYS-15", fire: "Created_tmp_disk_tables=251 Handler_tmp_write=1028095", under: "Created_tmp_disk_tables=250"},
	{id: "MYS-16", fire: "thread_cache_size=0", under: "thread_cache_size=1", want: "thread_cache_size=24"},
	{id: "MYS-17", fire: "Threads_created=500 thread_cache_size=8", under: "Threads_created=499 thread_cache_size=8", want: "thread_cache_size=24"},
	{id: "MYS-18", fire: "Table_open_cache_hits=199 Table_open_cache_misses=801 Open_tables=400 table_open_cache=400", under: "Table_open_cache_hits=200 Table_open_cache_misses=800", want: "table_open_cache=2000"},
	{id: "MYS-19", fire: "table_definition_cache=1", under: "table_definition_cache=2", want: "table_definition_cache=3",
		change: func(in *Input, _ bool) {
			in.Schema = &Schema{Tables: []Table{innodb("a", 0, 0, 0), innodb("b", 0, 0, 0)}, Indexes: []mysql.Index{primary("shop.a"), primary("shop.b")}}
		}},
	{id: "MYS-20", fire: "open_files_limit=1000 Open_files=851", under: "open_files_limit=1000 Open_files=850", want: "open_files_limit=65535"},
	{id: "MYS-21", fire: "Table_locks_immediate=9499 Table_locks_waited=501", under: "Table_locks_immediate=9500 Table_locks_waited=500"},
	{id: "MYS-22", server: mySQL, fire: "Binlog_cache_use=1000 Binlog_cache_disk_use=101", under: "Binlog_cache_use=1000 Binlog_cache_disk_use=100", want: "binlog_cache_size=4194304"},
	// 300 sessions keep 4 MiB each, of 8 GiB.
	{id: "MYS-22", server: mySQL, fire: "Binlog_cache_use=1000 Binlog_cache_disk_use=101 max_connections=400 Max_used_connections=300", under: "Binlog_cache_use=1000 Binlog_cache_disk_use=100"},
	{id: "MYS-23", fire: "Innodb_buffer_pool_reads=120000", change: func(in *Input, fires bool) {
		in.Schema = &Schema{Tables: []Table{innodb("a", 100<<20, 28<<20, 0)}, Indexes: []mysql.Index{primary("shop.a")}}
		if fires {
			in.Schema.Tables[0].DataBytes++
		}
	}, want: "innodb_buffer_pool_size=268435456"},
	// Of 1e6 pages 1 % more would come from memory at most: nothing is set.
	{id: "MYS-23", fire: "Innodb_buffer_pool_reads=10000", change: func(in *Input, fires bool) {
		in.Schema = &Schema{Tables: []Table{innodb("a", 100<<20, 28<<20, 0)}, Indexes: []mysql.Index{primary("shop.a")}}
		if fires {
			in.Schema.Tables[0].DataBytes++
		}
	}},
	{id: "MYS-24", fire: "innodb_log_file_size=26843545", under: "innodb_log_file_size=26843546", want: "innodb_log_file_size=50331648"},
	{id: "MYS-24", server: mySQL, fire: "Innodb_os_log_written=128849019000 innodb_redo_log_capacity=1073741823", under: "Innodb_os_log_written=128849019000 innodb_redo_log_capacity=1073741824", want: "innodb_redo_log_capacity=1073741824"},
	{id: "MYS-25", fire: "Innodb_buffer_pool_read_requests=8999 Innodb_buffer_pool_reads=1001", under: "Innodb_buffer_pool_read_requests=9000 Innodb_buffer_pool_reads=1000",
		change: func(in *Input, _ bool) {
			in.Schema = nil
			in.Lacks = []Lack{{PartTables, "no", ""}, {PartIndexes, "no", ""}}
		}, want: "innodb_buffer_pool_size=4294967296"},
	{id: "MYS-26", fire: "Innodb_log_waits=1 Innodb_log_writes=10001 innodb_log_buffer_size=1048576 Innodb_log_write_requests=100000", under: "Innodb_log_waits=0 Innodb_log_writes=10001"},
	{id: "MYS-27", fire: "Innodb_log_waits=2 Innodb_log_writes=1000000 innodb_log_buffer_size=8388608 Innodb_log_write_requests=1e9", under: "Innodb_log_waits=1 Innodb_log_writes=1000000 Innodb_log_write_requests=1e9", want: "innodb_log_buffer_size=67108864"},
	{id: "MYS-28", fire: "innodb_file_per_table=OFF", under: "innodb_file_per_table=1", want: "innodb_file_per_table=ON"},
	{id: "MYS-29", server: mySQL, fire: "version=8.0.36 innodb_buffer_pool_size=2147483648 innodb_buffer_pool_instances=1", under: "version=8.0.36 innodb_buffer_pool_size=2147483648 innodb_buffer_pool_instances=2", want: "innodb_buffer_pool_instances=2"},
	{id: "MYS-29", server: mySQL, fire: "version=8.0.36 innodb_buffer_pool_size=1073741824 innodb_buffer_pool_instances=8", under: "version=8.0.36 innodb_buffer_pool_size=2147483648 innodb_buffer_pool_instances=8", want: "innodb_buffer_pool_instances=1"},
	{id: "MYS-30", server: mySQL, fire: "innodb_buffer_pool_size=335544320", under: "innodb_buffer_pool_size=402653184", want: "innodb_buffer_pool_size=268435456"},
	{id: "MYS-31", fire: "Innodb_buffer_pool_wait_free=43200", under: "Innodb_buffer_pool_wait_free=43199", want: "innodb_io_capacity_max=4000 innodb_io_capacity=2000"},
	{id: "MYS-31", fire: "Innodb_buffer_pool_wait_free=43200", under: "Innodb_buffer_pool_wait_free=43199", change: func(in *Input, _ bool) {
		in.System.Rotational, in.Lacks = nil, []Lack{{PartDisk, "virtual", ""}}
	}},
	{id: "MYS-32", fire: "Innodb_buffer_pool_read_ahead=1000 Innodb_buffer_pool_read_ahead_evicted=201", under: "Innodb_buffer_pool_read_ahead=1000 Innodb_buffer_pool_read_ahead_evicted=200", want: "innodb_read_ahead_threshold=64"},
	{id: "MYS-33", fire: "Innodb_history_list_length=100001 innodb_purge_threads=1", under: "Innodb_history_list_length=100000 innodb_purge_threads=1", want: "innodb_purge_threads=4"},
	{id: "MYS-33", server: mySQL, change: func(in *Input, fires bool) {
		in.Transactions = &Transactions{Counted: true, History: 100000}
		if fires {
			in.Transactions.History++
		}
	}},
	{id: "MYS-34", change: func(in *Input, fires bool) {
		in.Transactions = &Transactions{Oldest: time.Hour}
		if fires {
			in.Transactions.Oldest += time.Second
		}
	}},
	{id: "MYS-35", fire: "innodb_flush_neighbors=1", under: "innodb_flush_neighbors=0", want: "innodb_flush_neighbors=0", title: "neighbours"},
	{id: "MYS-35", fire: "innodb_io_capacity=200", under: "innodb_io_capacity=201", want: "innodb_io_capacity_max=4000 innodb_io_capacity=2000", title: "turning"},
	{id: "MYS-36", fire: "innodb_snapshot_isolation=OFF", under: "innodb_snapshot_isolation=OFF tx_isolation=READ-COMMITTED"},
	{id: "MYS-37", fire: "Key_read_requests=10000 Key_reads=501", under: "Key_read_requests=10000 Key_reads=500", title: "read from disk"},
	{id: "MYS-37", fire: "key_buffer_size=536870912 Key_blocks_used=102400", under: "key_buffer_size=268435456 Key_blocks_used=102400", title: "larger than", want: "key_buffer_size=134217728"},
	{id: "MYS-37", title: "are MyISAM", change: func(in *Input, fires bool) {
		x := innodb("old", 1, 1, 0)
		if fires {
			x.Engine = "MyISAM"
		}
		in.Schema = &Schema{Tables: []Table{x}, Indexes: []mysql.Index{primary("shop.old")}}
	}},
	{id: "MYS-38", title: "holes", change: func(in *Input, fires bool) {
		x := innodb("t", 101<<20, 0, 11<<20)
		if fires {
			x.FreeBytes += 1 << 20
		}
		in.Schema = &Schema{Tables: []Table{x}, Indexes: []mysql.Index{primary("shop.t")}}
	}},
	{id: "MYS-38", title: "out of numbers", change: func(in *Input, fires bool) {
		x := innodb("t", 1, 0, 0)
		x.AutoType, x.Next = "int(11)", 1610612735
		if fires {
			x.Next++
		}
		in.Schema = &Schema{Tables: []Table{x}, Indexes: []mysql.Index{primary("shop.t")}}
	}},
	{id: "MYS-38", title: "small or large", change: func(in *Input, fires bool) {
		x := innodb("t", 1000, 600, 0)
		x.Rows = 50001
		if fires {
			x.IndexBytes++
		}
		in.Schema = &Schema{Tables: []Table{x}, Indexes: []mysql.Index{primary("shop.t")}}
	}},
	{id: "MYS-38", title: "no primary key", change: func(in *Input, fires bool) {
		in.Schema = &Schema{Tables: []Table{innodb("t", 1, 0, 0)}}
		if !fires {
			in.Schema.Indexes = []mysql.Index{primary("shop.t")}
		}
	}},
	{id: "MYS-38", title: "is covered by", change: func(in *Input, fires bool) {
		x := mysql.Index{Table: "shop.t", Name: "by_a", Parts: []string{"a"}}
		if !fires {
			x.Parts = []string{"b"}
		}
		in.Schema = &Schema{Tables: []Table{innodb("t", 1, 0, 0)}, Indexes: []mysql.Index{primary("shop.t"), x, {Table: "shop.t", Name: "by_a_b", Parts: []string{"a", "b"}}}}
	}},
	{id: "MYS-38", title: "Nothing used", change: func(in *Input, fires bool) {
		in.Schema = &Schema{
			Tables: []Table{innodb("t", 1, 0, 0)}, Uses: map[string]uint64{"shop.t.PRIMARY": 5, "shop.t.by_a": 0},
			Indexes: []mysql.Index{primary("shop.t"), {Table: "shop.t", Name: "by_a", Parts: []string{"a"}}},
		}
		if !fires {
			in.Schema.Uses["shop.t.by_a"] = 1
		}
	}},
	{id: "MYS-39", title: "stopped", change: replicates(func(r *Replica) { r.SQL = "No" })},
	{id: "MYS-39", title: "lags", change: replicates(func(r *Replica) { r.Lag = time.Second })},
	{id: "MYS-39", title: "written to", fire: "read_only=OFF", under: "read_only=ON", want: "read_only=ON", change: replicates(nil)},
	{id: "MYS-39", title: "written to", fire: "read_only=OFF", under: "read_only=ON", change: func(in *Input, fires bool) {
		replicates(nil)(in, fires)
		in.Readers = 1
	}},
	{id: "MYS-39", title: "One thread", fire: "slave_parallel_threads=1", under: "slave_parallel_threads=2", want: "slave_parallel_threads=4", change: replicates(nil)},
	{id: "MYS-39", title: "One thread", server: mySQL, fire: "replica_parallel_workers=1", under: "replica_parallel_workers=2", want: "replica_parallel_workers=4", change: replicates(nil)},
	{id: "MYS-40", title: "swaps early", change: kernel("vm.swappiness", "11", "10")},
	{id: "MYS-40", title: "requests to disks", change: kernel("fs.aio-max-nr", "999999", "1000000")},
	{id: "MYS-40", title: "does not report its statements", fire: "performance_schema=OFF", under: "performance_schema=ON", want: "performance_schema=ON"},
	{id: "MYS-40", title: "without a name", change: account(Account{User: "", Host: "localhost"}, Account{User: "a", Host: "localhost"})},
	{id: "MYS-40", title: "no password", change: account(Account{User: "a", Host: "%", NoPassword: true}, Account{User: "a", Host: "%"})},
	{id: "MYS-40", title: "from any host", change: account(Account{User: "a", Host: "%", Super: true}, Account{User: "a", Host: "10.0.0.1", Super: true})},
	{id: "MYS-40", title: "not encrypted", fire: "bind_address=* have_ssl=DISABLED", under: "bind_address=* have_ssl=YES"},
	{id: "MYS-40", title: "old encryption", fire: "bind_address=* tls_version=TLSv1.1,TLSv1.2", under: "bind_address=* tls_version=TLSv1.2,TLSv1.3"},
	{id: "DBC-01", change: load(10*time.Second, map[string]float64{"Com_commit": 1000, "Com_begin": 1000, "Innodb_data_fsyncs": 800}, map[string]float64{"Com_commit": 1000, "Com_begin": 1000, "Innodb_data_fsyncs": 799}),
		want: "innodb_flush_log_at_trx_commit=2 innodb_flush_log_at_timeout=3 innodb_doublewrite=OFF innodb_flush_method=O_DIRECT_NO_FSYNC"},
	{id: "DBC-01", server: mySQL, fire: "sync_binlog=1 innodb_flush_log_at_trx_commit=2 innodb_doublewrite=OFF innodb_flush_method=O_DIRECT_NO_FSYNC innodb_flush_log_at_timeout=3", under: "sync_binlog=0 innodb_flush_log_at_trx_commit=2",
		change: load(10*time.Second, map[string]float64{"Com_insert": 1000, "Innodb_os_log_fsyncs": 1000}, map[string]float64{"Com_insert": 1000, "Innodb_os_log_fsyncs": 1000}), want: "sync_binlog=0"},
	{id: "DBC-02", title: "no replica is connected", server: mySQL, fire: "Binlog_cache_use=1", under: "Binlog_cache_use=0",
		want: "log_bin=OFF"},
	{id: "DBC-02", server: mySQL, fire: "Binlog_cache_use=1", under: "Binlog_cache_use=1", change: func(in *Input, fires bool) {
		if !fires {
			in.Readers = 1
		}
	}, want: "log_bin=OFF"},
	{id: "DBC-03", fire: "innodb_flush_log_at_trx_commit=2", under: "innodb_flush_log_at_trx_commit=2", change: func(in *Input, fires bool) {
		if in.System.WriteTime = 2 * time.Millisecond; fires {
			in.System.WriteTime++
		}
	}},
	{id: "DBC-04", server: mySQL, fire: "innodb_flush_log_at_trx_commit=0", under: "innodb_flush_log_at_trx_commit=1",
		change: load(10*time.Second, map[string]float64{"Innodb_os_log_written": 100 << 20}, map[string]float64{"Innodb_os_log_written": 100 << 20})},
	{id: "DBC-04", server: mySQL, fire: "innodb_flush_log_at_trx_commit=0", under: "innodb_flush_log_at_trx_commit=0",
		change: load(10*time.Second, map[string]float64{"Innodb_os_log_written": 100 << 20}, map[string]float64{"Innodb_os_log_written": 100<<20 - 1})},
	{id: "DBC-05", fire: "innodb_adaptive_hash_index=ON Innodb_adaptive_hash_hash_searches=499 Innodb_adaptive_hash_non_hash_searches=501", under: "innodb_adaptive_hash_index=ON Innodb_adaptive_hash_hash_searches=500 Innodb_adaptive_hash_non_hash_searches=500", want: "innodb_adaptive_hash_index=OFF"},
	{id: "DBC-05", server: mySQL, fire: "innodb_adaptive_hash_index=ON Com_insert=1000 Com_select=1000", under: "innodb_adaptive_hash_index=ON Com_insert=999 Com_select=1000", want: "innodb_adaptive_hash_index=OFF"},
}

// replicates makes the server a replica that is well but for one thing.
func replicates(wrong func(*Replica)) func(*Input, bool) {
	return func(in *Input, fires bool) {
		in.Replica = &Replica{Is: true, IO: "Yes", SQL: "Yes", LagKnown: true}
		if wrong != nil && fires {
			wrong(in.Replica)
		}
		for name, value := range map[string]string{"read_only": "ON", "slave_parallel_threads": "4"} {
			if _, ok := in.Variables[name]; ok && wrong != nil {
				in.Variables[name] = value
			}
		}
	}
}

func kernel(name, fires, under string) func(*Input, bool) {
	return func(in *Input, speaks bool) {
		in.System.Settings = maps.Clone(in.System.Settings)
		in.System.Settings[name] = under
		if speaks {
			in.System.Settings[name] = fires
		}
	}
}

func account(fires, under Account) func(*Input, bool) {
	return func(in *Input, speaks bool) {
		in.Accounts = []Account{under}
		if speaks {
			in.Accounts = []Account{fires}
		}
	}
}

// load gives the input a window of load in which only these counters grew.
func load(over time.Duration, fires, under map[string]float64) func(*Input, bool) {
	return func(in *Input, speaks bool) {
		in.Grown = map[string]float64{}
		for name := range in.Status {
			in.Grown[name] = 0
		}
		in.Window, in.Load, in.Over = over, true, "10 s of load"
		if speaks {
			maps.Copy(in.Grown, fires)
		} else {
			maps.Copy(in.Grown, under)
		}
	}
}

func TestChecks(t *testing.T) {
	for i, c := range checkCases {
		t.Run(fmt.Sprintf("%s-%d", c.id, i), func(t *testing.T) {
			make := func(pairs string, fires bool) []string {
				in := mariaDB()
				if c.server != nil {
					in = c.server()
				}
				if c.change != nil {
					in.Variables = maps.Clone(in.Variables)
					c.change(&in, fires)
				}
				set(t, &in, pairs)
				var got []string
				r := check1(t, in)
				for _, a := range of(r.Advice, c.id) {
					if !strings.Contains(a.Title, c.title) {
						continue
					}
					got = append(got, strings.TrimSuffix(a.Variable+"="+a.Proposed, "="))
				}
				return got
			}
			want := strings.Fields(c.want)
			if c.want == "" {
				want = []string{""}
			}
			if got := make(c.fire, true); !slices.Equal(got, want) && !(c.want == "" && len(got) > 0) {
				t.Errorf("proposes %q, want %q", got, want)
			}
			if got := make(c.under, false); len(got) > 0 {
				t.Errorf("just under the threshold it proposes %q", got)
			}
		})
	}
}

// TestEveryCheckHasACase: of each check there is one that fires and one just under.
func TestEveryCheckHasACase(t *testing.T) {
	have := map[string]bool{}
	for _, c := range checkCases {
		have[c.id] = true
	}
	for _, c := range checks() {
		if !have[c.id] {
			t.Errorf("%s has no case", c.id)
		}
	}
	ids := map[string]bool{}
	for _, c := range checks() {
		ids[c.id] = true
	}
	for n := 1; n <= 40; n++ {
		if id := fmt.Sprintf("MYS-%02d", n); !ids[id] {
			t.Errorf("%s is missing", id)
		}
	}
	for n := 1; n <= 5; n++ {
		if id := fmt.Sprintf("DBC-%02d", n); !ids[id] {
			t.Errorf("%s is missing", id)
		}
	}
}

func TestNamedHosts(t *testing.T) {
	f := func(want string, all ...Account) {
		t.Helper()
		if got := strings.Join(namedHosts(all), " "); got != want {
			t.Errorf("%+v: %q, want %q", all, got, want)
		}
	}
	local := Account{User: "app", Host: "localhost"}
	f("app@localhost", local)
	f("app@localhost", local, Account{User: "other", Host: "%"}, Account{User: "app", Host: "10.%"})
	f("", local, Account{User: "app", Host: "%"})
	f("", local, Account{User: "app", Host: "127.0.0.1"})
	f("", local, Account{User: "app", Host: "::1"})
	f("", Account{User: "root", Host: "localhost", SocketOnly: true}, Account{User: "a", Host: "192.168.0.0/255.255.0.0"})
	f("a@web1", Account{User: "a", Host: "web1"}, Account{User: "a", Host: "%"})
}

// TestNameResolve_Unread: where the accounts are not known, nothing is to be pasted.
func TestNameResolve_Unread(t *testing.T) {
	in := with(mariaDB(), map[string]string{"skip_name_resolve": "OFF", "bind_address": "*"}, nil)
	in.AccountsRead = false
	got := of(check1(t, in).Advice, "MYS-10")
	if len(got) != 1 || got[0].ConfLine != "" || !strings.Contains(got[0].Note, "app@localhost") {
		t.Errorf("%+v", got)
	}
}

// TestBuffers_Others: what others use is not the server's to give to buffers.
func TestBuffers_Others(t *testing.T) {
	in := with(mariaDB(), nil, map[string]float64{"Created_tmp_disk_tables": 900})
	for others, want := range map[uint64]string{256 << 20: "67108864", 7 << 30: ""} {
		in.Memory.Others = others
		if got := changes(check1(t, in).Advice)["tmp_table_size"]; got != want {
			t.Errorf("beside %s: tmp_table_size %q, want %q", sizeWords(float64(others)), got, want)
		}
	}
}

// TestShowsInScore: checks that propose a pool say that a score shows it; none that has no statement to set it
// with, or is not sure.
func TestShowsInScore(t *testing.T) {
	for _, c := range checks() {
		a := kasoku.Advice{ID: c.id, SetGlobal: "SET GLOBAL a = 1;", Confidence: kasoku.Confidence{Level: kasoku.Medium}}
		if got, want := ShowsInScore(&a), c.id == "MYS-23" || c.id == "MYS-25"; got != want {
			t.Errorf("%s: %t", c.id, got)
		}
		restart, unsure := a, a
		restart.SetGlobal, unsure.Confidence.Level = "", kasoku.Low
		if ShowsInScore(&restart) || ShowsInScore(&unsure) {
			t.Errorf("%s: needs a restart, or is not sure", c.id)
		}
	}
}

// TestSlowQueries_OfARecording: statements that were counted while a recording had long_query_time at 0 are not
// said to be slow: so many of 10 s have no room in the time that the server is up.
func TestSlowQueries_OfARecording(t *testing.T) {
	for slow, fires := range map[string]bool{"2000": true, "2161": false, "12591": false} {
		in := mariaDB()
		set(t, &in, "Uptime=3600 Max_used_connections=6 Questions=24530 Slow_queries="+slow)
		r := check1(t, in)
		var why string
		for _, u := range r.Unseen {
			if u.ID == "MYS-05" {
				why = u.Why
			}
		}
		if got := len(of(r.Advice, "MYS-05")) == 1; got != fires || strings.Contains(why, "as during a recording") == fires {
			t.Errorf("%s slow: fires %v, want %v; not seen: %q", slow, got, fires, why)
		}
	}
}
