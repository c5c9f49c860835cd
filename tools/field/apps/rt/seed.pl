# Queues, a group with rights on them, five agents: by Request Tracker's own objects.
use strict;
use warnings;
use lib '/usr/share/request-tracker5/lib';
use RT -init;

my $as = RT->SystemUser;
for my $name (qw(Support Network Billing)) {
    my $queue = RT::Queue->new($as);
    my ($id, $msg) = $queue->Create(Name => $name, CorrespondAddress => lc($name) . '@example.org');
    die $msg unless $id;
}
my $staff = RT::Group->new($as);
my ($id, $msg) = $staff->CreateUserDefinedGroup(Name => 'Staff');
die $msg unless $id;
for my $n (1 .. 5) {
    my $user = RT::User->new($as);
    ($id, $msg) = $user->Create(Name => "agent$n", Password => 'fieldfield', EmailAddress => "agent$n\@example.org", Privileged => 1);
    die $msg unless $id;
    $staff->AddMember($user->PrincipalId);
}
# Staff see three of the four queues; whoever asked sees his own tickets in all.
for my $name (qw(General Support Network)) {
    my $queue = RT::Queue->new($as);
    $queue->Load($name);
    $staff->PrincipalObj->GrantRight(Object => $queue, Right => $_)
      for qw(SeeQueue ShowTicket ShowTicketComments CreateTicket CommentOnTicket ReplyToTicket ModifyTicket OwnTicket TakeTicket);
}
$staff->PrincipalObj->GrantRight(Object => $RT::System, Right => $_) for qw(ModifySelf SeeDashboard ShowSavedSearches LoadSavedSearch);
my $asked = RT->System->RoleGroup('Requestor');
$asked->PrincipalObj->GrantRight(Object => $RT::System, Right => $_) for qw(ShowTicket ReplyToTicket);
