package capture

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
)

// Each case is a text with its secrets between « and »; what is not marked must stay.
var maskCases = []struct{ name, kind, text string }{
	{"option file", KindMySQL, "[client]\nuser = app\npassword = «s3cret»\n[mysqld]\nmax_connections = 500\nloose-password=«\"a b\"»\n"},
	{"option file names", KindMySQL, "default_authentication_plugin = caching_sha2_password\nold_passwords = 0\nwsrep_sst_auth=«sst:pw»\nreport-password=«x»\nskip_name_resolve\nmysql_native_password = ON\n"},
	{"commented", KindMySQL, "# password = «old one»\n"},
	{"dsn", KindFile, "dsn: app:«p@ss:w/rd»@tcp(127.0.0.1:3306)/shop?parseTime=true\n"},
	{"dsn socket", KindFile, "DSN=app:«pw»@unix(/run/mysqld/mysqld.sock)/shop"},
	{"dsn short", KindFile, "dsn = root:«pw»@/shop"},
	{"url", KindFile, "redis = \"redis://:«s3cret»@127.0.0.1:6379/0\"\nurl = http://user:«pw»@host:8080/a@b\nplain = http://127.0.0.1:3000/users/@me\n"},
	{"database url", KindFile, "postgres://app:«p/w#1?»@db:5432/shop"},
	{"yaml", KindFile, "db:\n  user: app\n  password: «hunter2 and more»\n  pool: 10\n"},
	{"yaml block", KindFile, "tls:\n  secret: |\n    «line one»\n    «line two»\n  port: 443\n"},
	{"yaml next line", KindFile, "password:\n  «hunter2»\nport: 1\nsecret:\n  name: x\n"},
	{"yaml list", KindFile, "tokens:\n  - «one»\n  - «two»\nport: 1\n"},
	{"yaml env", KindFile, "env:\n  - name: DB_PASSWORD\n    value: «hunter2»\n  - name: PORT\n    value: 80\n"},
	{"compose", KindFile, "environment:\n  - MYSQL_ROOT_PASSWORD=«root»\n  - MYSQL_USER=app\n"},
	{"json", KindFile, `{"user":"app","password":"«a\"b»","port":3306,"api_key": "«k»"}`},
	{"json pair", KindFile, `[{"name":"DB_PASSWORD","value":"«x»"},{"name":"PORT","value":"80"}]`},
	{"toml", KindFile, "password = '«x»' # the old one\nsecret = \"\"\"«\n»\"\"\"\n"},
	{"env", KindFile, "export DB_PASS=«x y»\nPWD=/home/app\nMYSQL_PWD=«z»\nDB_PASSWORD=${DB_PASSWORD}\nPASSWORD_FILE=/run/secrets/pw\n"},
	{"php", KindFile, "$config['password'] = '«x»';\ndefine('DB_PASSWORD', '«y»');\n'secret' => '«z»',\n"},
	{"xml", KindFile, "<password>«x»</password>\n<add key=\"DbPassword\" value=\"«y»\"/>\n"},
	{"key", KindFile, "a = 1\n-----BEGIN RSA PRIVATE KEY-----\n«MIIEpAIBAAKCAQEA»\n  «q83vEjRWeJCrze8=»\n-----END RSA PRIVATE KEY-----\nb = 2\n"},
	{"key in a string", KindFile, `{"private":"-----BEGIN PRIVATE KEY-----«\nMIIEvQ\n»-----END PRIVATE KEY-----\n","port":1}`},
	{"certificate", KindFile, "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA\n-----END CERTIFICATE-----\n"},
	{"aws", KindFile, "aws_access_key_id = «AKIAIOSFODNN7EXAMPLE»\naws_secret_access_key = «wJalrXUtnFEMI/K7MDENG»\n"},
	{"tokens", KindFile, "x = «ghp_0123456789abcdefghijABCDEFGHIJ012345»\ny = «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d»\nmax_tokens: 100\n"},
	{"htpasswd", KindFile, "admin:«$apr1$q8vEjRWe$0123456789abcdefghijkl»\n"},
	{"redis", KindFile, "bind 127.0.0.1\nrequirepass «x y»\n"},
	{"netrc", KindFile, "machine db login app password «x»\n"},
	{"nginx", KindNginx, "server_tokens off;\nproxy_pass http://127.0.0.1:8080;\nproxy_set_header Authorization \"«Bearer abc»\";\nproxy_set_header Authorization $http_authorization;\n" +
		"proxy_set_header X-Api-Key «abc»;\nproxy_set_header Host $host;\nproxy_set_header Cookie «a=b»;\nset $api_token '«x»';\nfastcgi_param DB_PASSWORD «pw»;\n"},
	{"nginx words", KindNginx, "secure_link_md5 \"«$secure_link_expires$uri word»\";\nsecure_link_secret «word»;\nssl_certificate_key /etc/key.pem;\nssl_password_file /etc/pw;\nauth_basic_user_file /etc/htpasswd;\n"},
	{"nginx on a line", KindNginx, "location / { proxy_set_header X-Token «a»; proxy_pass http://app; }\nif ($http_x_api_key != \"«k»\") { return 403; }\n"},
	{"nginx map", KindNginx, "map $http_authorization $who {\n  \"Bearer «abcdef»\" app;\n}\nlog_format main '$remote_addr auth:$http_authorization ua:$http_user_agent';\n"},
	{"nginx rewrite", KindNginx, "rewrite ^/a/(.*)$ /$1$is_args$args last;\nlimit_req_zone $http_authorization zone=one:10m rate=1r/s;\n"},
	{"vcl", KindVCL, "set req.http.Authorization = \"«Basic abc»\";\nset req.http.X-Token = req.http.X;\nif (req.http.X-Api-Key != \"«k»\") { return (synth(403)); }\n.host = \"127.0.0.1\";\n"},
	{"unit", KindUnit, "[Service]\nEnvironment=\"DB_PASSWORD=«a b»\" \"PORT=80\"\nEnvironment=API_TOKEN=«x» PORT=80\nExecStart=/app --db-password=«'p w'» --workers=4 --token «t» --port 80\nEnvironmentFile=/etc/app.env\n"},
	{"unit shell", KindUnit, "ExecStart=/bin/sh -c 'SECRET_KEY=«x exec app»'\nExecStartPre=/usr/bin/mysql -uroot -p«pw» -e 'SELECT 1'\nExecStop=/usr/bin/curl -u admin:«pw» http://127.0.0.1/\n"},
	{"sql", KindFile, "CREATE USER app@localhost IDENTIFIED BY '«p''w»';\nALTER USER app IDENTIFIED WITH mysql_native_password AS '«*0123»';\nSET PASSWORD = «PASSWORD('x');»\nGRANT ALL ON *.* TO a IDENTIFIED BY PASSWORD '«y»';\n"},
	{"schema", KindSchema, "CREATE TABLE `users` (\n  `password` varchar(255) NOT NULL,\n  `token` char(32) DEFAULT NULL,\n  KEY `idx_token` (`token`)\n) ENGINE=FEDERATED CONNECTION='mysql://fed:«pw»@127.0.0.1:3306/a/b'\n"},
	{"git", KindGit, "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1,2 +1,2 @@\n PORT=80\n-DB_PASSWORD=«old»\n+DB_PASSWORD=«new»\n"},
	{"git key", KindGit, " «MIIEpAIBAAKCAQEAq83vEjRWeJCrze8MIIEpAIBAAKCAQEAq83vEjRWeJCrze8abc»\n+port = 1\n"},
	{"git go", KindGit, "+\tcfg.Passwd = \"«x»\"\n+\tfor i := range tokenizer.Next() {\n+\tToken::new()\n"},
	{"code in carriage returns", KindFile, "password=«x»\r\nport=1\r\n"},
	{"camel", KindFile, "dbPass = \"«x»\"\ncompass = 1\npassenger = 2\n"},
}

func TestMask(t *testing.T) {
	for _, c := range maskCases {
		t.Run(c.name, func(t *testing.T) {
			var want strings.Builder
			n := 0
			plain := strings.NewReplacer("«", "", "»", "").Replace(c.text)
			for i, part := range strings.Split(c.text, "«") {
				if i == 0 {
					want.WriteString(part)
					continue
				}
				secret, rest, ok := strings.Cut(part, "»")
				if !ok {
					t.Fatalf("a secret has no end: %q", part)
				}
				for k, l := range strings.SplitAfter(secret, "\n") { // one a line
					if body := strings.Trim(l, "\n\"'"); body != "" {
						n++
						want.WriteString(strings.Replace(l, body, kasoku.MaskedSecret, 1))
					} else if k >= 0 {
						want.WriteString(l)
					}
				}
				want.WriteString(rest)
			}
			got, gotN := Mask(c.kind, plain)
			if c.kind == KindUnit { // a word of a shell is masked with its quotes
				want2 := strings.ReplaceAll(want.String(), "'"+kasoku.MaskedSecret+"'", kasoku.MaskedSecret)
				got = strings.ReplaceAll(got, "'"+kasoku.MaskedSecret+"'", kasoku.MaskedSecret)
				want.Reset()
				want.WriteString(want2)
			}
			if got != want.String() {
				t.Errorf("masked\n%s\nwant\n%s", got, want.String())
			}
			if gotN != n {
				t.Errorf("%d secrets, want %d", gotN, n)
			}
			if again, _ := Mask(c.kind, got); again != got {
				t.Errorf("masked again\n%s", again)
			}
		})
	}
}

// plants are notations that a secret can be planted into, with the characters that
// the notation cannot hold as they are.
var plants = []struct{ kind, format, not string }{
	{KindMySQL, "[client]\npassword=%s\n", "\r"},
	{KindMySQL, "password = \"%s\"\n", "\"\\"},
	{KindFile, "DB_PASSWORD=%s\n", ""},
	{KindFile, "  secret: '%s'\n  port: 1\n", "'\\"},
	{KindFile, "{\"token\":\"%s\",\"a\":1}\n", "\"\\"},
	{KindFile, "api_key: %s\nport: 1\n", "'\"`|>"},
	{KindFile, "dsn = app:%s@tcp(127.0.0.1:3306)/shop\n", " \t"},
	{KindFile, "mysql://app:%s@127.0.0.1:3306/shop\n", " \t"},
	{KindFile, "http://app:%s@127.0.0.1:3306/shop\n", " \t/?#"},
	{KindFile, "CREATE USER a IDENTIFIED BY '%s';\n", "'\\"},
	{KindFile, "<password>%s</password>\n", "<>\"'`"},
	{KindGit, "-DB_PASSWORD=old\n+DB_PASSWORD=%s\n", ""},
	{KindNginx, "proxy_set_header Authorization \"%s\";\n", "\"\\$"},
	{KindNginx, "proxy_set_header X-Api-Key %s;\n", " \t;'\"`\\${}"},
	{KindVCL, "set req.http.Authorization = \"%s\";\n", "\"\\"},
	{KindUnit, "Environment=\"DB_PASSWORD=%s\" PORT=1\n", "\"\\"},
	{KindUnit, "Environment=DB_PASSWORD=%s PORT=1\n", " \t\"'\\`"},
	{KindUnit, "ExecStart=/app --token=%s --port=1\n", " \t\"'\\`"},
	{KindSchema, ") ENGINE=FEDERATED CONNECTION='mysql://u:%s@h/db/t'\n", " \t'"},
}

// A planted secret is never in the masked text, and the text keeps its lines.
func TestMaskPlanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plants[rapid.IntRange(0, len(plants)-1).Draw(t, "notation")]
		secret := "Zq9" + strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || strings.ContainsRune(p.not, r) {
				return -1
			}
			return r
		}, rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\é日")), 0, 24, -1).Draw(t, "secret")) + "q9Z"
		before := rapid.SampledFrom([]string{"", "# a comment\nport = 1\n", "server {\n", "x: \"y\"\n"}).Draw(t, "before")
		text := before + fmt.Sprintf(p.format, secret) + "last = 1\n"
		got, n := Mask(p.kind, text)
		if n == 0 || strings.Contains(got, secret) || strings.Contains(got, "Zq9") {
			t.Fatalf("%d masked:\n%s\nof\n%s", n, got, text)
		}
		if a, b := strings.Count(got, "\n"), strings.Count(text, "\n"); a != b {
			t.Fatalf("%d lines of %d", a, b)
		}
		if !strings.HasSuffix(got, "last = 1\n") {
			t.Fatalf("more than the secret is masked:\n%s", got)
		}
	})
}
