#include "store/store.hpp"

#include <map>

void protect_what_is_no_array_as_replicated(mend::Store& store, std::map<int, int>& table) {
  store.protect("table", mend::replicated(table));
}
