#ifndef AIRFRAME_CSYSTEMD_JOURNAL_H
#define AIRFRAME_CSYSTEMD_JOURNAL_H

// This definition prevents the header from adding fields with the location in the source code.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#endif
