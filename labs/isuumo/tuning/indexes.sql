CREATE INDEX chair_popularity ON chair (popularity DESC, id); # mends IDX-06
