#!/usr/bin/env python3
"""Reads a recording with PyPI's mcap reader, and prints its contents as JSON.

Every message is decoded with the schema in the file,
and every checksum is verified.
"""

import argparse
import json
import struct

from mcap.exceptions import McapError
from mcap.reader import NonSeekingReader, SeekingReader
from mcap_protobuf.decoder import DecoderFactory


def summary(reader):
    """Message count and first values of every channel."""
    counts, fields, last, disorder = {}, {}, None, 0
    for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=True):
        counts[channel.topic] = counts.get(channel.topic, 0) + 1
        fields.setdefault(channel.topic, sorted(f.name for f in decoded.DESCRIPTOR.fields))
        if last is not None and message.log_time < last:
            disorder += 1
        last = message.log_time
    return {"counts": counts, "fields": fields, "disorder": disorder}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--unfinished", action="store_true", help="the file is incomplete; read the messages that it contains")
    options = parser.parse_args()
    with open(options.file, "rb") as stream:
        if options.unfinished:
            reader = NonSeekingReader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
            counts = {}
            try:
                for _, channel, _, _ in reader.iter_decoded_messages(log_time_order=False):
                    counts[channel.topic] = counts.get(channel.topic, 0) + 1
                end = "whole"
            except (McapError, EOFError, struct.error) as error:
                end = type(error).__name__
            print(json.dumps({"counts": counts, "end": end}))
            return
        reader = SeekingReader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
        report = summary(reader)
        stated = reader.get_summary()
        report["statistics"] = {
            stated.channels[number].topic: count
            for number, count in stated.statistics.channel_message_counts.items()
        }
        report["chunks"] = len(stated.chunk_indexes)
        report["compression"] = sorted({chunk.compression for chunk in stated.chunk_indexes})
        report["attachments"] = {a.name: len(a.data) for a in reader.iter_attachments()}
        report["metadata"] = {m.name: m.metadata for m in reader.iter_metadata()}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
