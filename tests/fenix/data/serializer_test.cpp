#include "fenix/data/serializer.hpp"

#include "fenix/data/call.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <limits>
#include <memory>

namespace {

using mend::fenix::Bytes;
using mend::fenix::Definition;
using mend::fenix::Refused;
using mend::fenix::Regions;

constexpr std::size_t most = std::numeric_limits<int>::max();

Definition with_serializer() {
  Definition member{.id = 7, .element_bytes = 1};
  member.serializer =
      std::make_shared<fenix::data::SerializeFunc>([](std::FILE*, int, void*, int, int) { FAIL() << "was called"; });
  return member;
}

TEST(Serializer, takes_as_many_elements_as_it_can_count) {
  EXPECT_NO_THROW(mend::fenix::require_countable(with_serializer(), most));
  EXPECT_THROW(mend::fenix::require_countable(with_serializer(), most + 1), Refused);
  EXPECT_NO_THROW(mend::fenix::require_countable({.id = 7, .element_bytes = 1}, most + 1));
}

TEST(Serializer, is_not_called_with_a_smaller_number_than_there_are_elements) {
  Bytes bytes;
  EXPECT_THROW(mend::fenix::write_elements_of(with_serializer(), Regions::first(most + 1), bytes), Refused);
  const mend::fenix::Elements elements{Regions::first(most + 1), {}};
  EXPECT_THROW(mend::fenix::read_elements_of(with_serializer(), elements.known, elements, nullptr), Refused);
}

}  // namespace
