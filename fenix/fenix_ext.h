/* In older trees of Fenix, the header of this name has Fenix's internals. Here it has the interface, and nothing more.
 * */

#ifndef MEND_FENIX_EXT_H
#define MEND_FENIX_EXT_H

#include "fenix.h"

#endif
