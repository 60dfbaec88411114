#include "agreement/core.hpp"

#include "agreement/era/era.hpp"
#include "agreement/baselines/log2phases.hpp"
#include "agreement/baselines/validate_all.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace mend::agreement {

Protocol parse_protocol(std::string_view name) {
  for (const auto& [known, protocol] : protocols) {
    if (name == known) return protocol;
  }
  throw UsageError(fmt::format(
      "\"{}\" is not an agreement protocol: give era, log2phases, validate-all or validate-all-loose", name));
}

std::unique_ptr<Core> make_core(Protocol protocol, Member self, std::shared_ptr<const Tree> tree,
                                std::shared_ptr<const Operations> operations, Rebalancing rebalancing) {
  switch (protocol) {
    case Protocol::era: return std::make_unique<Era>(self, std::move(tree), std::move(operations), rebalancing);
    case Protocol::log2phases: return std::make_unique<Log2Phases>(self, std::move(tree), std::move(operations));
    case Protocol::validate_all:
      return std::make_unique<ValidateAll>(self, std::move(tree), Semantics::strict, std::move(operations));
    case Protocol::validate_all_loose:
      return std::make_unique<ValidateAll>(self, std::move(tree), Semantics::loose, std::move(operations));
  }
  throw UsageError("no such protocol");
}

}  // namespace mend::agreement
