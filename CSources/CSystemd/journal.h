#ifndef AIRFRAME_CSYSTEMD_JOURNAL_H
#define AIRFRAME_CSYSTEMD_JOURNAL_H

// Without it the header would add the place in the code as fields of its own.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#endif
