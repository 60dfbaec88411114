// Notes the keys of communicators' attributes, with their callbacks. MPI copies attributes only when it duplicates a
// communicator itself. Under local rollback it does not: beneath a duplicate are communicators of the epoch, which have
// no attributes (framework/local_rollback/derived_comms.hpp). The functions of MPI's profiling interface are
// intercepted, as in communicator_hooks.cpp.

#include "framework/process/hooks/attribute_hooks.hpp"

#include "transport/library_function.hpp"
#include "framework/local_rollback/plain_calls.hpp"

#include <algorithm>
#include <vector>

namespace mend {
namespace {

struct Key {
  int number;
  MPI_Comm_copy_attr_function* copy;
  void* extra;
};

std::vector<Key>& keys() {
  static std::vector<Key> all;
  return all;
}

/// Notes the key that MPI has made. Returns `code`, which is MPI's.
int note_key(int code, const int* number, MPI_Comm_copy_attr_function* copy, void* extra) {
  if (code != MPI_SUCCESS) return code;
  std::erase_if(keys(), [&](const Key& one) { return one.number == *number; });  // of a key that was freed
  keys().push_back({*number, copy, extra});
  return code;
}

}  // namespace

int copy_attributes(MPI_Comm from, MPI_Comm to) {
  for (const Key& key : keys()) {
    void* value = nullptr;
    int is_set = 0;
    // A key that was freed still has its attributes. One without attributes does not exist any more.
    const int known = quietly([&] { return PMPI_Comm_get_attr(from, key.number, &value, &is_set); });
    if (known != MPI_SUCCESS || is_set == 0) continue;
    void* copied = nullptr;
    int is_copied = 0;
    if (const int code = key.copy(from, key.number, key.extra, value, &copied, &is_copied); code != MPI_SUCCESS)
      return code;
    if (is_copied == 0) continue;
    if (const int code = PMPI_Comm_set_attr(to, key.number, copied); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* number,
                            void* extra) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_create_keyval)>("PMPI_Comm_create_keyval");
  return mend::note_key(library(copy, remove, number, extra), number, copy, extra);
}
MEND_SAME_AS_PMPI(MPI_Comm_create_keyval);

// Of MPI-1; older programs use it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* number, void* extra) {
  static const auto library = mend::of_the_library<decltype(&PMPI_Keyval_create)>("PMPI_Keyval_create");
  return mend::note_key(library(copy, remove, number, extra), number, copy, extra);
}
MEND_SAME_AS_PMPI(MPI_Keyval_create);
#pragma GCC diagnostic pop

// NOLINTEND(readability-identifier-naming)
