package mysqlflags

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

const hintRights = "to read status, a user needs PROCESS; as an administrator: " +
	"CREATE USER kasoku@localhost IDENTIFIED BY '…'; GRANT PROCESS ON *.* TO kasoku@localhost"

// hintFor returns what to do about an error, or nothing.
//
// Source: MySQL 9.7 "Server Error Message Reference"; the numbers are MariaDB's too.
func hintFor(err error) string {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return serverHint(server.Number)
	}
	if hint := tlsHintFor(err); hint != "" {
		return hint
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.Err == "unknown port":
		return "a port is a number, such as 3306"
	case errors.As(err, &dns):
		return "the host name is not known; check its spelling, or give an address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there; is the server running, and on that port? (ss -ltn)"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such socket; ask the server: SELECT @@socket, or connect by host and port"
	case errors.Is(err, fs.ErrPermission):
		return "the socket may not be opened by this user; connect by host and port, or change the user"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the host"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return "no answer in time; a firewall may drop the packets, the server is overloaded, or what listens there is not MySQL"
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, syscall.ECONNRESET):
		return "the far end closed the connection; is it MySQL that listens there, and is it still up? Look at its error log"
	case errors.Is(err, mysql.ErrMalformPkt):
		return "what answers there does not speak MySQL's protocol"
	}
	return ""
}

// tlsHintFor returns what to do about an error of TLS, or nothing.
func tlsHintFor(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, mysql.ErrNoTLS):
		return "the server offers no TLS: give it ssl_cert and ssl_key, or use ssl-mode PREFERRED or DISABLED"
	case errors.As(err, &unknown):
		return "name the authority that signed the server's certificate with ssl-ca, or verify nothing with ssl-mode REQUIRED"
	case errors.As(err, &name):
		return "the certificate is for another host: connect by the name in it, or use ssl-mode VERIFY_CA"
	case errors.As(err, &certificate):
		return "look at the server's certificate: openssl s_client -starttls mysql -connect HOST:PORT"
	}
	return ""
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func serverHint(number uint16) string {
	switch number {
	case 1045: // ER_ACCESS_DENIED_ERROR
		return "wrong user or password; " + hintRights
	case 1698: // MariaDB's ER_ACCESS_DENIED_NO_PASSWORD_ERROR
		return "wrong user or password; the account may be for the system's user of its name alone, as root is in Debian's packages: " +
			"put sudo before the command; or " + hintRights
	case 1227: // ER_SPECIFIC_ACCESS_DENIED_ERROR, which names the privilege
		return "the user lacks a privilege of the whole server, for reading status PROCESS; as an administrator: GRANT PROCESS ON *.* TO … (SELECT CURRENT_USER() says whom)"
	case 1044: // ER_DBACCESS_DENIED_ERROR, also of a database that is not there
		return "there is no such database, or this user may not use it: SHOW DATABASES lists those that it sees; " +
			"as an administrator: GRANT SELECT ON that database.* TO … (SELECT CURRENT_USER() says whom)"
	case 1142, 1370: // table, routine
		return hintRights
	case 1203: // ER_TOO_MANY_USER_CONNECTIONS
		return "the user has all the connections that max_user_connections allows; raise it, or look for what holds them: SHOW PROCESSLIST"
	case 1226: // ER_USER_LIMIT_REACHED
		return "the user has a limit of its own, which is reached; raise it: ALTER USER … WITH MAX_USER_CONNECTIONS … (or the other that is named)"
	case 3118, 4151: // ER_ACCOUNT_HAS_BEEN_LOCKED, MariaDB's
		return "unlock the user: ALTER USER … ACCOUNT UNLOCK"
	case 1040: // ER_CON_COUNT_ERROR
		return "all connections are taken; raise max_connections, or look for what holds them: SHOW PROCESSLIST"
	case 1049: // ER_BAD_DB_ERROR
		return "there is no such database; SHOW DATABASES lists them"
	case 1129: // ER_HOST_IS_BLOCKED
		return "the server blocked this host after too many failed connections; FLUSH HOSTS, or TRUNCATE performance_schema.host_cache"
	case 1130: // ER_HOST_NOT_PRIVILEGED
		return "the server lets no user in from this host; create one, or connect from the server itself"
	case 1251, 1820, 1862: // old authentication protocol; expired password
		return "change the user's password or its authentication plugin with ALTER USER"
	}
	return ""
}
