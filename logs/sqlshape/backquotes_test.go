package sqlshape

import "testing"

// TestBackquoted: names in double quotes are known by what stands beside them; a text in
// double quotes stays one.
func TestBackquoted(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		got, names := Backquoted([]byte("before"), []byte(sql))
		if string(got) != "before"+want || names != (want != "") {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	f(`SELECT "base"."nid" AS "nid" FROM "node" "base" WHERE "base"."type" = 'a "page"'`,
		"SELECT `base`.`nid` AS `nid` FROM `node` `base` WHERE `base`.`type` = 'a \"page\"'")
	f(`SELECT "name", "value" FROM "key_value" WHERE "collection" = 'state'`,
		"SELECT `name`, `value` FROM `key_value` WHERE `collection` = 'state'")
	f(`INSERT INTO "watchdog" ("uid") VALUES (1)`, "INSERT INTO `watchdog` (`uid`) VALUES (1)")
	f(`UPDATE "sessions" SET "timestamp" = 5`, "UPDATE `sessions` SET `timestamp` = 5")
	f(`DELETE FROM /* all */ "cache" WHERE "cid" = 'x'`, "DELETE FROM /* all */ `cache` WHERE `cid` = 'x'")
	f(`SELECT 1 FROM (SELECT u."id" FROM users u) x`, "SELECT 1 FROM (SELECT u.`id` FROM users u) x")
	f(`SELECT * FROM users WHERE name = "bob"`, "")
	f(`SELECT * FROM users WHERE name = "from" AND b IN ("a", "b.c")`, "")
	f(`SELECT TRIM(LEADING 'x' FROM "xy"), EXTRACT(YEAR FROM "2026-01-01") FROM t`, "")
	f(`SELECT JSON_VALUE(doc, "$.a.b") FROM t`, "")
	f(`SELECT 1."x"`, "")
	f(`PREPARE s FROM "SELECT 1"`, "")
	f(`SET sql_mode = "ANSI"`, "")
	f(`SELECT "a"."b" FROM "t" WHERE "it's \"so\"" = 1`, "")
	f(`SELECT "a"."b" FROM "t" WHERE x = "`, "")
	f(`SELECT "a"."b" FROM "t" WHERE x = ""`, "")
	f("SELECT a FROM t", "")
	f("", "")
}
