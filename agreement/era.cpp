#include "agreement/era_rules.hpp"

namespace mend::agreement {

template class BasicEra<Rule::none>;

}  // namespace mend::agreement
