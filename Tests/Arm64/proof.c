// Runs the proofs of Proof.swift and writes their numbers, as they lie in memory, to standard output.
//
//     proof estimate FILE.imu      proof torque|servo|field TICKS
//
// The core needs no runtime here but libc's memory and libm.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void proof_estimate(const double *samples, long count, double *out);
void proof_closed_loop(long motor, long ticks, double *out);

static int write_all(const double *numbers, size_t count)
{
    return fwrite(numbers, sizeof *numbers, count, stdout) == count && fflush(stdout) == 0 ? 0 : 1;
}

// The format is described in Sources/Recording/IMULog.swift.
static int estimate(const char *path)
{
    unsigned char record[64];
    FILE *file = fopen(path, "rb");
    if (!file || fread(record, sizeof record, 1, file) != 1 || memcmp(record, "IMU1", 4) != 0) {
        fprintf(stderr, "proof: %s is not a recorded trial\n", path);
        return 1;
    }
    long count = 0, room = 1 << 16;
    double *samples = malloc(7 * room * sizeof *samples), last = 0;
    while (count < room && fread(record, sizeof record, 1, file) == 1) {
        double time, *s = samples + 7 * count;
        float values[6];
        memcpy(&time, record, sizeof time);
        memcpy(values, record + 8, sizeof values);
        for (int i = 0; i < 6; i++) s[i] = values[i];
        s[6] = count == 0 ? 0 : time - last;
        last = time;
        count++;
    }
    fclose(file);
    double *out = malloc(4 * count * sizeof *out);
    proof_estimate(samples, count, out);
    return write_all(out, 4 * count);
}

int main(int argc, char **argv)
{
    static const char *const motors[] = {"torque", "servo", "field"};
    if (argc == 3 && strcmp(argv[1], "estimate") == 0) return estimate(argv[2]);
    for (long motor = 0; argc == 3 && motor < 3; motor++) {
        if (strcmp(argv[1], motors[motor]) != 0) continue;
        long ticks = atol(argv[2]);
        double *out = calloc(13 * ticks, sizeof *out);
        proof_closed_loop(motor, ticks, out);
        return write_all(out, 13 * ticks);
    }
    fprintf(stderr, "usage: proof estimate FILE.imu | proof torque|servo|field TICKS\n");
    return 64;
}
