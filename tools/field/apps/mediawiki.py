"""Prints a dump of 1,200 pages, each with links to others and a category."""
import random

random.seed(7)
words = "river stone light winter paper garden machine signal copper island forest engine window harbour letter".split()
print('<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">')
for i in range(1200):
    links = " ".join(f"See [[{random.choice(words).title()} {random.randrange(1200)}]]." for _ in range(12))
    text = " ".join(random.choice(words) for _ in range(200))
    print(f"<page><title>{words[i % len(words)].title()} {i}</title><ns>0</ns><revision>"
          f"<timestamp>2026-01-{i % 28 + 1:02}T10:00:{i % 60:02}Z</timestamp>"
          f"<contributor><ip>10.0.{i % 9}.{i % 200}</ip></contributor><model>wikitext</model><format>text/x-wiki</format>"
          f"<text>{text}. {links} [[Category:{words[i % 5].title()}]]</text></revision></page>")
print("</mediawiki>")
