"""Converts the entries of CHANGELOG.md to the format of a Debian changelog: `  * `, and lines of at most 79 characters."""
import re, sys, textwrap

text = open(sys.argv[1]).read()
for entry in re.findall(r"^- (.*(?:\n  .*)*)", text, flags=re.M):
    words = " ".join(entry.replace("`", "").split())
    print(textwrap.fill(words, 79, initial_indent="  * ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False))
