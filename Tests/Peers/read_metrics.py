"""Reads metrics on standard input with Prometheus's own parser, and prints name, kind and number of samples of each family.

Ends with an error if the parser refuses the text, or if a family has no help, no kind or no sample."""

import sys

from prometheus_client.parser import text_fd_to_metric_families

for family in text_fd_to_metric_families(sys.stdin):
    if not family.documentation or family.type not in ("gauge", "counter") or not family.samples:
        sys.exit(f"the metric is incomplete: {family}")
    print(family.name, family.type, len(family.samples))
