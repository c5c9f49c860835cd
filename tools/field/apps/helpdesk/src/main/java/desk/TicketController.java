package desk;

import java.time.LocalDateTime;
import java.util.*;
import org.springframework.data.domain.*;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/api")
public class TicketController {
    record Row(Long id, String title, String status, int priority, String customer, String agent, List<String> tags, int comments, LocalDateTime createdAt) {
        static Row of(Ticket t) {
            return new Row(t.id, t.title, t.status, t.priority, t.customer.name, t.agent == null ? null : t.agent.name,
                    t.tags.stream().map(tag -> tag.name).sorted().toList(), t.comments.size(), t.createdAt);
        }
    }

    record Said(Long id, String author, String body, LocalDateTime createdAt) {
    }

    record Detail(Row ticket, String description, String company, List<Said> comments) {
    }

    record Workload(String agent, String team, long open, long waiting) {
    }

    record Dashboard(long open, long waiting, long closed, long today, List<Workload> agents, List<String> latest) {
    }

    record NewComment(Long author, String body) {
    }

    record NewTicket(String email, String title, String description) {
    }

    private final TicketRepository tickets;
    private final CommentRepository comments;
    private final CustomerRepository customers;
    private final AgentRepository agents;

    TicketController(TicketRepository tickets, CommentRepository comments, CustomerRepository customers, AgentRepository agents) {
        this.tickets = tickets;
        this.comments = comments;
        this.customers = customers;
        this.agents = agents;
    }

    @GetMapping("/tickets")
    Page<Row> list(@RequestParam(defaultValue = "open") String status, @RequestParam(defaultValue = "0") int page) {
        return tickets.findByStatus(status, PageRequest.of(page, 25, Sort.by("createdAt").descending())).map(Row::of);
    }

    @GetMapping("/tickets/{id}")
    Detail ticket(@PathVariable Long id) {
        Ticket t = tickets.findById(id).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        return new Detail(Row.of(t), t.description, t.customer.company,
                t.comments.stream().map(c -> new Said(c.id, c.author.name, c.body, c.createdAt)).toList());
    }

    @GetMapping("/search")
    Page<Row> search(@RequestParam String q, @RequestParam(defaultValue = "0") int page) {
        return tickets.findByTitleContainingIgnoreCase(q, PageRequest.of(page, 25, Sort.by("createdAt").descending())).map(Row::of);
    }

    @GetMapping("/customers/{email}/tickets")
    List<Row> ofCustomer(@PathVariable String email) {
        Customer c = customers.findByEmail(email).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        return tickets.findByCustomerOrderByCreatedAtDesc(c).stream().map(Row::of).toList();
    }

    @GetMapping("/dashboard")
    Dashboard dashboard() {
        List<Workload> load = agents.findAll().stream()
                .map(a -> new Workload(a.name, a.team, tickets.countByAgentAndStatus(a, "open"), tickets.countByAgentAndStatus(a, "waiting"))).toList();
        return new Dashboard(tickets.countByStatus("open"), tickets.countByStatus("waiting"), tickets.countByStatus("closed"),
                tickets.countByCreatedAtAfter(LocalDateTime.now().minusDays(1)), load,
                comments.latest(Limit.of(10)).stream().map(c -> c.ticket.title).toList());
    }

    @PostMapping("/tickets/{id}/comments")
    @Transactional
    Said comment(@PathVariable Long id, @RequestBody NewComment in) {
        Ticket t = tickets.findById(id).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        Comment c = new Comment();
        c.ticket = t;
        c.author = agents.findById(in.author()).orElseThrow();
        c.body = in.body();
        c.createdAt = LocalDateTime.now();
        t.updatedAt = c.createdAt;
        comments.save(c);
        return new Said(c.id, c.author.name, c.body, c.createdAt);
    }

    @PostMapping("/tickets")
    @Transactional
    Row open(@RequestBody NewTicket in) {
        Customer c = customers.findByEmail(in.email()).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        Ticket t = new Ticket();
        t.customer = c;
        t.title = in.title();
        t.description = in.description();
        t.status = "open";
        t.createdAt = t.updatedAt = LocalDateTime.now();
        return Row.of(tickets.save(t));
    }
}
