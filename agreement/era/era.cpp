#include "agreement/era/era_impl.hpp"

namespace mend::agreement {

template class BasicEra<Rule::none>;

}  // namespace mend::agreement
