// Everything a user of mend needs: mend::run and the Session it hands to the body.

#pragma once

#include "base/error.hpp"
#include "framework/options.hpp"
#include "framework/run.hpp"
#include "framework/session.hpp"
#include "store/store.hpp"
#include "transport/requests.hpp"

#if __has_include(<Kokkos_Core.hpp>)
#include "store/kokkos.hpp"
#endif
