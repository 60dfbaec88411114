#include "detector/ring_rules.hpp"

namespace mend::detector {

template class BasicRing<Rule::none>;

}  // namespace mend::detector
