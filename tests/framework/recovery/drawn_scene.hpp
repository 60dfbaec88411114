// A random scene.

#pragma once

#include "tests/framework/recovery/recovery_scene.hpp"

#include <array>
#include <random>

namespace mend::recovery {

inline Scene drawn(std::mt19937_64& random) {
  const auto up_to = [&](int least, int last) { return std::uniform_int_distribution<int>(least, last)(random); };
  constexpr std::array<const char*, 5> policies{"spare", "spare,spawn", "spare,shrink", "spare,spawn,shrink",
                                                "spare,blank"};
  Scene scene;
  scene.ranks = up_to(2, 5);
  scene.spares = up_to(0, 3);
  scene.newcomers = up_to(0, 2);
  scene.policy = Policy::parse(policies[static_cast<std::size_t>(up_to(0, 4))]);
  scene.disk = up_to(0, 1) == 1;
  scene.spawn_tries = up_to(1, 4);
  scene.deaths = up_to(0, scene.ranks + scene.spares - 1);
  scene.errors = up_to(0, 2);
  scene.from_the_start = up_to(0, 3) == 0;
  scene.faulty = up_to(0, 3) == 0;
  return scene;
}

}  // namespace mend::recovery
