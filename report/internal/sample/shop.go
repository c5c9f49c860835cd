package sample

import "github.com/kasoku/kasoku"

// shopPlans are how the server runs statements of the shop, without an index for the
// first of them and with it.
func shopPlans(indexed bool) []kasoku.Plan {
	posts := kasoku.PlanRow{Select: "SIMPLE", Table: "posts", Access: "ALL", Rows: 98211, Filtered: -1,
		Extra: "Using where; Using filesort"}
	if indexed {
		posts.Access, posts.PossibleKeys, posts.Key, posts.KeyLen, posts.Ref, posts.Rows, posts.Extra = "ref",
			"shop_created", "shop_created", "5", "const,const", 1204, "Using where"
	}
	stock := kasoku.PlanRow{Select: "SIMPLE", Table: "stock", Access: "const", PossibleKeys: "PRIMARY", Key: "PRIMARY",
		KeyLen: "4", Ref: "const", Rows: 1, Filtered: -1}
	tags := kasoku.PlanRow{Select: "SIMPLE", Table: "tags <b>\x1b[31m", Access: "index", Key: "PRIMARY", KeyLen: "4",
		Rows: 64, Filtered: 100, Extra: "Using index"}
	return []kasoku.Plan{
		{Host: "web1", QueryID: postsID, Schema: "shop", Format: "table", Text: "id\tselect_type\n1\tSIMPLE\n",
			Rows: []kasoku.PlanRow{posts}},
		{Host: "web1", QueryID: tagsID, Schema: "shop", Format: "table", Rows: []kasoku.PlanRow{tags}},
		{Host: "web1", QueryID: stockID, Schema: "shop", Format: "table", Rows: []kasoku.PlanRow{stock}},
		{Host: "web1", QueryID: orderID, Schema: "shop", Format: "table",
			Note: "no statement of the class was kept whole"},
	}
}

func shopTables(indexed bool) []kasoku.TableDef {
	d := kasoku.TableDef{
		Host: "web1", Schema: "shop", Name: "posts", Engine: "InnoDB", Rows: 98211, DataBytes: 61 << 20, IndexBytes: 0,
		Create: "CREATE TABLE `posts` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"},
			Cardinality: []int64{98211}}},
	}
	if indexed {
		d.IndexBytes = 4 << 20
		d.Indexes = append(d.Indexes, kasoku.IndexDef{Name: "shop_created",
			Columns: []string{"shop_id", "deleted", "created_at DESC"}, Cardinality: []int64{81, 96, -1}})
	}
	return []kasoku.TableDef{d}
}

func shopAdvice() []kasoku.Advice {
	return []kasoku.Advice{
		{
			Host: "web1", ID: "MYS-25", Area: "memory", Title: "The buffer pool is smaller than what is read",
			Variable: "innodb_buffer_pool_size",
			Value:    "134217728", Proposed: "2147483648",
			Formula:   "Innodb_buffer_pool_reads / Innodb_buffer_pool_read_requests",
			Measured:  "12.4 %: 51,201 of 412,911",
			Threshold: "> 1 %", Window: "1 min of load", Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 2,
				Of: 2},
			SetGlobal: "SET GLOBAL innodb_buffer_pool_size = 2147483648", ConfLine: "innodb_buffer_pool_size = 2G",
			Risk: kasoku.RiskNone,
			Gain: "pages come from memory", Note: "Half of the memory, because the application runs on the same host.",
		},
		{
			Host: "web1", ID: "MYS-14", Area: "queries", Title: "Sorts are written to disk",
			Variable: "tmp_table_size", Value: "16777216", Proposed: "67108864",
			Formula: "Created_tmp_disk_tables / Created_tmp_tables", Measured: "31 %: 1,302 of 4,200",
			Threshold: "> 25 %", Window: "1 min of load",
			Confidence: kasoku.Confidence{Level: kasoku.Medium}, SetGlobal: "SET GLOBAL tmp_table_size = 67108864",
			ConfLine: "tmp_table_size = 64M", Risk: kasoku.RiskNone,
			Price: "up to 64 MiB for each connection that sorts",
		},
		{
			Host: "web1", ID: "MYS-14", Area: "queries", Title: "Sorts are written to disk",
			Variable: "max_heap_table_size", Value: "16777216", Proposed: "67108864",
			Formula: "Created_tmp_disk_tables / Created_tmp_tables", Measured: "31 %: 1,302 of 4,200",
			Threshold: "> 25 %", Window: "1 min of load",
			Confidence: kasoku.Confidence{Level: kasoku.Medium},
			SetGlobal:  "SET GLOBAL max_heap_table_size = 67108864", ConfLine: "max_heap_table_size = 64M",
			Risk:  kasoku.RiskNone,
			Price: "up to 64 MiB for each connection that sorts",
		},
		{
			Host: "web1", ID: "DBC-01", Area: "durability", Title: "Each commit waits for the disk",
			Variable: "innodb_flush_log_at_trx_commit", Value: "1", Proposed: "2",
			Formula: "Innodb_os_log_fsyncs / Com_commit", Measured: "1.0", Threshold: "≥ 0.5", Window: "1 min of load",
			Confidence: kasoku.Confidence{Level: kasoku.Medium},
			SetGlobal:  "SET GLOBAL innodb_flush_log_at_trx_commit = 2", ConfLine: "innodb_flush_log_at_trx_commit = 2",
			Risk: kasoku.RiskDurability,
			Gain: "commits wait for no disk", Price: "up to 1 s of commits is lost in a crash of the host",
		},
		{
			Host: "web1", ID: "MYS-37", Area: "caches", Title: "Tables are MyISAM: <i>log\x1b[31m",
			Formula: "tables of the engine MyISAM", Measured: "1 table", Threshold: "any",
			Window: "now", Confidence: kasoku.Confidence{Level: kasoku.High},
			Note: "ALTER TABLE … ENGINE=InnoDB locks the table while it copies.",
		},
	}
}
