// The example of mend's README, with a death on request: `heat kill` loses rank 1 at step 500.

#include "heat.hpp"

#include "mend.hpp"

#include <csignal>
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  const bool kill = argc > 1 && std::string_view(argv[1]) == "kill";
  return mend::run(argc, argv, [&](mend::Session& session) {
    Heat heat(session.comm());
    mend::Store& store = session.store();
    store.protect("temperature", heat.temperature);
    store.protect("step", heat.step);
    store.restore();
    while (heat.step < 1000) {
      if (kill && session.role() == mend::Role::initial && session.rank().value == 1 && heat.step == 500) {
        raise(SIGKILL);
      }
      heat.advance();
      if (session.commit_due()) store.commit();
    }
    const double fingerprint = heat.fingerprint();
    if (session.rank().value == 0) {
      std::printf("%zu recoveries\nheat %.17g\n", session.recoveries().size(), fingerprint);
    }
  });
}
