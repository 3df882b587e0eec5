/* What zlib offers to atriumctl: inflate, for files that gzip packed. */
#include <zlib.h>
