#include "agreement/era/era_impl.hpp"

namespace mend::agreement {

template class BasicEra<AllRules>;

}  // namespace mend::agreement
