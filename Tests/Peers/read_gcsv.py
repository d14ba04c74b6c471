#!/usr/bin/env python3
"""Reads a .gcsv file with telemetry-parser, which is Gyroflow's reader, and prints its samples as JSON.

Usage: read_gcsv.py FILE.gcsv
Each sample has the time since the first sample, s, and rates, rad/s, and specific force, m/s², about and along Gyroflow's axes before its own
rotation: up, left, back.
"""
import json
import math
import sys

import telemetry_parser

parser = telemetry_parser.Parser(sys.argv[1])
samples = parser.normalized_imu()
print(json.dumps({
    "camera": parser.camera,
    "t": [s["timestamp_ms"] / 1000 for s in samples],
    "rate": [[math.radians(value) for value in s["gyro"]] for s in samples],
    "force": [list(s["accl"]) for s in samples],
}))
