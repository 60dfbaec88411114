// docs/messages.md has every sentence that mend may write to a user.

#include "tests/docs/documents.hpp"
#include "tests/docs/sentences.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array rooms{"base",   "transport", "agreement", "detector", "spares", "store",
                           "replay", "framework", "bindings",  "fenix",    "jobs"};

/// Files with sentences of Open MPI, or of checks that only tests make, or that are no sentences.
constexpr std::array not_said_to_users{
    "jobs/run/output_filter.cpp",
    "jobs/manual/completion.cpp",  // its words are in scripts for shells
    "transport/simulated/explorer.hpp",
    "transport/simulated/interned.hpp",
    "transport/simulated/timed_explorer.hpp",
    "agreement/simulated/simulation.cpp",
    "detector/simulated/simulation.cpp",
    "transport/simulated/simulator.hpp",
    "transport/simulated/simulator.cpp",
    "framework/recovery/simulated/simulation.cpp",
    "framework/recovery/core/recovery_core.cpp",  // its words are used in transcripts
    "replay/uncoordinated/message.cpp",           // the same
    "replay/uncoordinated/protocol.cpp",
};

TEST(SentencesInSources, are_joined_and_stripped_of_values_and_comments) {
  EXPECT_THAT(documents::sentences_in(R"(
    // "a comment has no sentences at all"
    throw UsageError(fmt::format("there is no rank {} among "
                                 "the {} that are left", rank, 'x'));
    log::debug("nobody needs to read this");
    app.add_option("--x", x, "How many of them there are")->check(y);
    app.add_option("--x", [](int x) -> std::string { return "this is said of an x"; }, "How many of them there are");
    say("two words");
    #include "a file of four words")"),
              ElementsAre("there is no rank", "this is said of an x"));
  EXPECT_THAT(
      documents::sentences_in(R"(f("it's {} 'one' of five words", 1'000); g("and \"another\" one of\n" "five");)"),
      ElementsAre("one' of five words", "and \"another\" one of"));
}

TEST(TheListOfMessages, has_every_sentence_in_the_sources) {
  const std::string list = documents::squeezed(documents::text_of("docs/messages.md"));
  std::string missing;
  int found = 0;
  for (const char* room : rooms) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(MEND_SOURCE_DIR) / room)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      const fs::path file = fs::relative(entry.path(), MEND_SOURCE_DIR);
      if (std::ranges::find(not_said_to_users, file) != not_said_to_users.end()) continue;
      for (const std::string& sentence : documents::sentences_in(documents::text_of(file))) {
        ++found;
        if (list.find(sentence) == std::string::npos) missing += fmt::format("  {}: \"{}\"\n", file.string(), sentence);
      }
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_THAT(missing, IsEmpty())
      << "Add a row to the table in docs/messages.md for each of these, with the words as they are here (values that "
         "are "
         "put in may be called N, RANK, ...): the sentence, the exit code, its cause, what to do.\n";
}

}  // namespace
