// CPU time of one 6D update of VQF with bias estimation, defaults, and of reading its quaternion: nanoseconds.
// Usage: vqf_cost LOG.imu. Reads the log first, then times passes over all its samples and prints their median.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "vqf.hpp"

static double threadSeconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

int main(int argc, char** argv) {
    FILE* file = argc == 2 ? fopen(argv[1], "rb") : nullptr;
    unsigned char header[64], record[64];
    if (!file || fread(header, 64, 1, file) != 1) {
        fprintf(stderr, "usage: vqf_cost LOG.imu\n");
        return 66;
    }
    double hertz;
    memcpy(&hertz, header + 16, sizeof hertz);
    std::vector<vqf_real_t> samples;
    while (fread(record, 64, 1, file) == 1) {
        float values[6];
        memcpy(values, record + 8, sizeof values);
        samples.insert(samples.end(), values, values + 6);
    }
    fclose(file);
    const size_t count = samples.size() / 6;

    std::vector<double> rounds;
    double sink = 0;
    for (int round = 0; round < 7; round++) {
        VQF filter(1 / hertz);
        const double start = threadSeconds();
        for (size_t i = 0; i < count; i++) {
            vqf_real_t quaternion[4];
            filter.update(&samples[6 * i], &samples[6 * i + 3]);
            filter.getQuat6D(quaternion);
            sink += quaternion[0];
        }
        rounds.push_back((threadSeconds() - start) * 1e9 / double(count));
    }
    std::sort(rounds.begin(), rounds.end());
    printf("%.2f\n", rounds[rounds.size() / 2]);
    // The sum keeps the loop from being optimised away.
    return sink == sink ? 0 : 1;
}
