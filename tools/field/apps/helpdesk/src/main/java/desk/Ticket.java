package desk;

import jakarta.persistence.*;
import java.time.LocalDateTime;
import java.util.*;

@Entity
@Table(name = "tickets")
public class Ticket {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    Long id;
    String title;
    @Column(columnDefinition = "text")
    String description;
    String status;
    int priority;
    LocalDateTime createdAt;
    LocalDateTime updatedAt;
    @ManyToOne(fetch = FetchType.LAZY)
    Customer customer;
    @ManyToOne(fetch = FetchType.LAZY)
    Agent agent;
    @ManyToMany(fetch = FetchType.LAZY)
    @JoinTable(name = "ticket_tags", joinColumns = @JoinColumn(name = "ticket_id"), inverseJoinColumns = @JoinColumn(name = "tag_id"))
    Set<Tag> tags = new HashSet<>();
    @OneToMany(mappedBy = "ticket")
    @OrderBy("createdAt")
    List<Comment> comments = new ArrayList<>();
}
