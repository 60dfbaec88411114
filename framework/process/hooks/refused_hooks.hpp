#pragma once

namespace mend {

/// Has the linker take refused_hooks.cpp, also into a program that calls none of its functions but uses a library that
/// does. Local.
void intercept_refused_calls();
/// The same for collective_hooks.cpp. Local.
void intercept_begun_collectives();
/// The same for neighbour_hooks.cpp. Local.
void intercept_neighbours();
/// The same for persistent_collective_hooks.cpp. Local.
void intercept_persistent_collectives();

}  // namespace mend
