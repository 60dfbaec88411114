#include "detector/ring_impl.hpp"

namespace mend::detector {

template class BasicRing<Rule::none>;

}  // namespace mend::detector
