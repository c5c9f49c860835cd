import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** A server of the JDK, with a thread for each request, whose statements carry their endpoint as a comment. */
public class Server {
  static final int THREADS = 200;
  static final byte[] BODY = "ok\n".getBytes(StandardCharsets.US_ASCII);
  static HikariDataSource pool;

  /** Arguments: the port to listen on, and options of the driver. */
  public static void main(String[] args) throws Exception {
    open(args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 1024);
    server.setExecutor(Executors.newFixedThreadPool(THREADS));
    server.createContext("/", Server::handle);
    server.start();
  }

  /** Opens the pool and starts the job; with options of the driver. */
  static void open(String options) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:mariadb://127.0.0.1:" + System.getenv("PORT") + "/" + options);
    config.setUsername(System.getenv("USER_NAME"));
    config.setPassword(System.getenv("PASSWORD"));
    config.setMaximumPoolSize(8);
    pool = new HikariDataSource(config);
    Thread job = new Thread(() -> job(config));
    job.setDaemon(true);
    job.start();
  }

  /** Runs a statement again and again, on a connection of its own: in the pool it would wait behind 200 threads. */
  static void job(HikariConfig config) {
    try (Connection c = DriverManager.getConnection(config.getJdbcUrl(), config.getUsername(), config.getPassword())) {
      while (true) {
        query(c, "/*job*/ SELECT 'a job' AS job");
        Thread.sleep(20);
      }
    } catch (SQLException | InterruptedException e) {
      e.printStackTrace();
    }
  }

  static void query(Connection c, String sql) throws SQLException {
    try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery(sql)) {
      while (rows.next()) {
      }
    }
  }

  static void handle(HttpExchange x) throws IOException {
    String path = x.getRequestURI().getPath(), tag = "/*" + x.getRequestMethod() + " " + path + "*/ ";
    try {
      work(path, tag);
    } catch (Exception e) {
      e.printStackTrace();
      x.sendResponseHeaders(500, -1);
      x.close();
      return;
    }
    x.sendResponseHeaders(200, BODY.length);
    if (path.equals("/late")) {
      afterAnswer(tag);
    }
    x.getResponseBody().write(BODY);
    x.close();
  }

  static void afterAnswer(String tag) throws IOException {
    try (Connection c = pool.getConnection()) {
      query(c, tag + "SELECT 'after the answer'");
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  static void work(String path, String tag) throws Exception {
    switch (path) {
      case "/start":
        new ProcessBuilder("/bin/sh", "-c", "true; /bin/true").start().waitFor();
        return;
      case "/call":
        call();
        return;
      case "/none":
      case "/late":
        return;
    }
    try (Connection c = pool.getConnection()) {
      switch (path) {
        case "/one":
          query(c, tag + "SELECT 1 + 1");
          break;
        case "/posts":
          query(c, tag + "SELECT 20 AS posts");
          for (int i = 0; i < 20; i++) query(c, tag + "SELECT 'user', " + i);
          break;
        case "/prepared":
          try (PreparedStatement s = c.prepareStatement(tag + "SELECT 'prepared', ?")) {
            for (int i = 0; i < 3; i++) {
              s.setInt(1, i);
              s.executeQuery().close();
            }
          }
          break;
        case "/batch": // several commands are sent before an answer is read
          try (PreparedStatement s = c.prepareStatement(tag + "DO ?")) {
            for (int i = 0; i < 3; i++) {
              s.setInt(1, i);
              s.addBatch();
            }
            s.executeBatch();
          }
          break;
        case "/tx":
        case "/held": // another service is asked with rows locked
          c.setAutoCommit(false);
          query(c, tag + "SELECT id FROM java.stock WHERE id = " + ThreadLocalRandom.current().nextInt(1000)
              + (path.equals("/held") ? " FOR UPDATE" : ""));
          if (path.equals("/held")) call();
          c.commit();
          break;
        case "/slow": // it goes on when the client has given up
          query(c, tag + "SELECT 'slow', SLEEP(0.05)");
          query(c, tag + "SELECT 'after the client gave up'");
          break;
      }
    }
  }

  static void call() throws IOException {
    new URL(System.getenv("OTHER") + "/rates/17").openStream().readAllBytes();
  }
}
