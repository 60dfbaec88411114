// The time of each phase of miniFE, and its number of floating-point operations, for the report.

#pragma once

#include "base/clock.hpp"

#include <array>
#include <cstddef>
#include <exception>

namespace apps::minife {

enum class Phase { structure, assembly, dirichlet, load, solve, matvec, dot, waxpby };
inline constexpr std::size_t phase_count = 8;

struct Meter {
  mend::Seconds time{};
  double flops = 0;
};

/// The meters of one process.
class Meters {
 public:
  Meter& operator[](Phase phase) { return meters_[static_cast<std::size_t>(phase)]; }
  const Meter& operator[](Phase phase) const { return meters_[static_cast<std::size_t>(phase)]; }

 private:
  std::array<Meter, phase_count> meters_;
};

/// Adds the time of its lifetime, and `flops`, to a meter. It adds nothing if the phase is left by an exception,
/// because the phase has not done its work then.
class Measured {
 public:
  explicit Measured(Meter& meter, double flops = 0) : meter_(meter), flops_(flops) {}
  ~Measured() {
    if (std::uncaught_exceptions() > exceptions_) return;
    meter_.time += watch_.elapsed();
    meter_.flops += flops_;
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  Meter& meter_;
  double flops_;
  int exceptions_ = std::uncaught_exceptions();
  mend::Stopwatch watch_;
};

}  // namespace apps::minife
