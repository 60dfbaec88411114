// Finds out whether this process's memory may be written in a way that the kernel does not see as a write.
//
// The kernel sees what processors write through this process's page tables (store/snapshot/dirty_pages.hpp). It does
// not see the transfers of devices, of other processes through XPMEM, and of asynchronous input and output. All of
// these transfers need a file that this process holds open, or a mapping, so these are examined. A file or mapping that
// is not known to be harmless counts as a writer.

#pragma once

#include <string_view>

namespace mend {

/// Returns true if this process may have an unseen writer now. Looks at all open files: 0.1 ms, and 0.6 us more for
/// each connection.
bool has_unseen_writers();

/// Returns true for the name of an open file, such as "/dev/nvidia0", through which memory may be written unseen.
bool may_write_unseen(std::string_view open_file);

}  // namespace mend
