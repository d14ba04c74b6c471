// This target consists of its header. SwiftPM requires at least one source file for a C target.
#include "CMathShim.h"
