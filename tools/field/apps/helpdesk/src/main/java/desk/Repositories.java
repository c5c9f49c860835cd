package desk;

import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import org.springframework.data.domain.*;
import org.springframework.data.jpa.repository.*;

interface TicketRepository extends JpaRepository<Ticket, Long> {
    Page<Ticket> findByStatus(String status, Pageable page);

    List<Ticket> findByCustomerOrderByCreatedAtDesc(Customer customer);

    Page<Ticket> findByTitleContainingIgnoreCase(String words, Pageable page);

    long countByStatus(String status);

    long countByAgentAndStatus(Agent agent, String status);

    long countByCreatedAtAfter(LocalDateTime since);
}

interface CommentRepository extends JpaRepository<Comment, Long> {
    @Query("select c from Comment c join fetch c.ticket order by c.createdAt desc")
    List<Comment> latest(Limit limit);
}

interface CustomerRepository extends JpaRepository<Customer, Long> {
    Optional<Customer> findByEmail(String email);
}

interface AgentRepository extends JpaRepository<Agent, Long> {
}
