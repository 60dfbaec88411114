#include "detector/ring_impl.hpp"

namespace mend::detector {

template class BasicRing<AllRules>;

}  // namespace mend::detector
