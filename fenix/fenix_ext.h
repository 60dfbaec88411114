/* The header of this name in older trees of Fenix has what is internal to it. Programs that include it find the
 * interface here, and nothing more. */

#ifndef MEND_FENIX_EXT_H
#define MEND_FENIX_EXT_H

#include "fenix.h"

#endif
