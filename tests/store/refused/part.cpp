#include "store/store.hpp"

#include <list>

void protect_a_part_of_what_is_no_array(mend::Store& store, std::list<double>& values) {
  store.protect("values", mend::part(values, {10}, {0}));
}
