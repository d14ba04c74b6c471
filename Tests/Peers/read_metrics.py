"""Reads metrics on standard input with Prometheus's own parser, and prints name, kind and number of samples of each family.

Ends with an error if the parser refuses the text, if a family has no help, no kind or no sample, or if two samples have
the same name and labels (node_exporter then refuses the file)."""

import sys

from prometheus_client.parser import text_fd_to_metric_families

for family in text_fd_to_metric_families(sys.stdin):
    if not family.documentation or family.type not in ("gauge", "counter") or not family.samples:
        sys.exit(f"the metric is incomplete: {family}")
    labels = [(sample.name, *sorted(sample.labels.items())) for sample in family.samples]
    if len(set(labels)) != len(labels):
        sys.exit(f"two samples have the same labels: {family}")
    print(family.name, family.type, len(family.samples))
