// Replacements for fsync(2) and fdatasync(2) of the C library, see SlowDisk.c.
#ifndef SLOWDISK_H
#define SLOWDISK_H

int fsync(int file);
int fdatasync(int file);

#endif
