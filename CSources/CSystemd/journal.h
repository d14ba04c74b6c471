#ifndef AIRFRAME_CSYSTEMD_JOURNAL_H
#define AIRFRAME_CSYSTEMD_JOURNAL_H

// Without this definition, the header would add fields with the place in the source code.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#endif
