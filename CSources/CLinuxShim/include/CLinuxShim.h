#ifndef CLINUXSHIM_H
#define CLINUXSHIM_H
#endif
