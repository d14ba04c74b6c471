// Header only; SwiftPM wants one source file per C target.
#include "CMathShim.h"
