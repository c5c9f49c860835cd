import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** The same work as that of Server in Tomcat, whose threads read the requests that they answer. */
public class TomcatServer extends HttpServlet {
  /** Arguments: the port to listen on, options of the driver, and a directory for what Tomcat writes. */
  public static void main(String[] args) throws Exception {
    Server.open(args[1]);
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(args[2]);
    Connector connector = new Connector();
    connector.setPort(Integer.parseInt(args[0]));
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxThreads", "200");
    connector.setProperty("acceptCount", "1024");
    connector.setProperty("maxKeepAliveRequests", "-1");
    tomcat.setConnector(connector);
    Tomcat.addServlet(tomcat.addContext("", args[2]), "work", new TomcatServer()).addMapping("/*");
    tomcat.start();
    tomcat.getServer().await();
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String path = request.getRequestURI(), tag = "/*" + request.getMethod() + " " + path + "*/ ";
    try {
      Server.work(path, tag);
    } catch (Exception e) {
      e.printStackTrace();
      response.setStatus(500);
      return;
    }
    response.setContentLength(Server.BODY.length);
    if (path.equals("/late")) {
      response.flushBuffer();
      Server.afterAnswer(tag);
    }
    response.getOutputStream().write(Server.BODY);
  }
}
