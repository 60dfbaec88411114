#include "framework/epoch/waiting_place.hpp"

#include <variant>

namespace mend {

using agreement::Proposal;

std::optional<Place> waiting_place(const recovery::Action& action) {
  if (const auto* cast = std::get_if<recovery::CastBallot>(&action)) {
    return cast->proposal == Proposal::finish    ? Place::finish
           : cast->proposal == Proposal::abandon ? Place::end
                                                 : Place::recovery;
  }
  if (const auto* decide = std::get_if<recovery::DecideJob>(&action)) {
    return decide->intent == Intent::finish    ? Place::finish
           : decide->intent == Intent::abandon ? Place::end
                                               : Place::recovery;
  }
  return std::nullopt;
}

}  // namespace mend
