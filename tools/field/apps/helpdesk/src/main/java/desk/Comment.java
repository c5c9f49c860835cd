package desk;

import jakarta.persistence.*;
import java.time.LocalDateTime;

@Entity
@Table(name = "comments")
public class Comment {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    Long id;
    @ManyToOne(fetch = FetchType.LAZY)
    Ticket ticket;
    @ManyToOne(fetch = FetchType.LAZY)
    Agent author;
    @Column(columnDefinition = "text")
    String body;
    LocalDateTime createdAt;
}
