#include "store/store.hpp"

#include <map>

void protect_what_is_not_plain(mend::Store& store, std::map<int, double>& table) { store.protect("table", table); }
