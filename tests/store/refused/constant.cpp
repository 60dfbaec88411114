#include "store/store.hpp"

void protect_what_cannot_be_written(mend::Store& store, const int& step) { store.protect("step", step); }
