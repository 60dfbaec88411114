// A job of ranks that run the replay protocol above small programs, for the explorer and for golden transcripts, and
// the promises of the protocol, as a check of a situation.
//
// A program is a line of words, one for each action of a rank, in order:
//   s1   sends to rank 1          S1   sends a large message to rank 1
//   r1   receives from rank 1     *    receives from any rank
//   c    commits with its cluster, if all its ranks may      o    commits or does not
// All ranks of a cluster come to their commits together, so each of its programs has the same number of commits.
//
// Each message carries the set of messages on which it depends: those that its sender had received, and those that
// their senders had received. So the test can check that deliveries respect causality. The messages that may be
// received at each place are learned from all runs without failures.
//
// A rank that dies is taken over at once by another process. When a process enters the round of a recovery, messages of
// earlier rounds are lost, because the communicator of a round is a new one.

#pragma once

#include "replay/uncoordinated/protocol_impl.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace mend::replay {

struct Scene {
  std::vector<std::string> programs;       ///< by rank
  std::vector<int> clusters = {};          ///< by rank; empty: each its own
  std::vector<std::uint32_t> epochs = {};  ///< by rank, the first epochs; empty: 1
  int deaths = 1;
  std::vector<int> mortal = {};  ///< ranks that may die; empty: all
  bool collect_early = false;    ///< garbage may be collected at any time, once
  std::size_t most_unacknowledged = 64;
  bool may_go_back_further = false;  ///< see broken()
};

struct Word {
  enum class Kind : std::uint8_t { send, send_large, receive, receive_any, commit, may_commit } kind;
  int peer = -1;
};

inline std::vector<Word> words_of(const std::string& program) {
  std::vector<Word> words;
  std::istringstream in(program);
  for (std::string word; in >> word;) {
    const int peer = word.size() > 1 ? word[1] - '0' : -1;
    switch (word[0]) {
      case 's': words.push_back({Word::Kind::send, peer}); break;
      case 'S': words.push_back({Word::Kind::send_large, peer}); break;
      case 'r': words.push_back({Word::Kind::receive, peer}); break;
      case '*': words.push_back({Word::Kind::receive_any}); break;
      case 'c': words.push_back({Word::Kind::commit}); break;
      case 'o': words.push_back({Word::Kind::may_commit}); break;
      default: throw std::invalid_argument("there is no such word: " + word);
    }
  }
  return words;
}

/// The messages that a rank may receive at each word of its program.
using Matches = std::set<std::tuple<std::size_t, std::size_t, int>>;

template <class Rules>
class System {
 public:
  using Core = BasicReplay<Rules>;

  struct Step {
    enum class Kind : std::uint8_t { act, commit, letter, control, enter, die, collect } kind = Kind::act;
    std::uint8_t who = 0;
    std::uint8_t other = 0;
  };

  /// `matches`: the allowed deliveries. With `learns`, the deliveries that occur are added to it instead.
  System(const Scene& scene, std::shared_ptr<Matches> matches, bool learns)
      : shared_(std::make_shared<Shared>()), letters_(scene.programs.size()), controls_(scene.programs.size()) {
    shared_->scene = scene;
    shared_->matches = std::move(matches);
    shared_->learns = learns;
    const std::size_t n = scene.programs.size();
    Setup& setup = shared_->setup;
    for (std::size_t p = 0; p < n; ++p) {
      shared_->programs.push_back(words_of(scene.programs[p]));
      setup.clusters.push_back(scene.clusters.empty() ? static_cast<int>(p) : scene.clusters[p]);
      if (!scene.epochs.empty()) setup.first_epochs.push_back(CommitEpoch{scene.epochs[p]});
      shared_->first_message.push_back(shared_->messages);
      for (const Word& word : shared_->programs.back()) shared_->messages += sends(word);
    }
    setup.most_unacknowledged = scene.most_unacknowledged;
    if (shared_->messages > 56) throw std::invalid_argument("too many messages for a system of the explorer");
    deaths_left_ = scene.deaths;
    collect_early_ = scene.collect_early;
    for (std::size_t p = 0; p < n; ++p) {
      ranks_.push_back(Process{Core(setup, rank(p)), App{}, {}});
      ranks_[p].store[ranks_[p].core.epoch()] = {ranks_[p].core.commit(), ranks_[p].app};
      letters_[p].resize(n);
      controls_[p].resize(n);
    }
  }

  // ---- the possible steps

  std::vector<Step> steps() const {
    std::vector<Step> steps;
    const auto add = [&](typename Step::Kind kind, std::size_t who, std::size_t other = 0) {
      steps.push_back({kind, static_cast<std::uint8_t>(who), static_cast<std::uint8_t>(other)});
    };
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      const bool here = ranks_[p].round == round_;
      const Word* next = word(p);
      if (!here) add(Step::Kind::enter, p);
      if (!ranks_[p].dead && ranks_[p].core.may_run() && next != nullptr) {
        if (sends(*next)) add(Step::Kind::act, p);
        if (commits(*next) && all_come_to_commit(p)) {
          if (all_may_commit(p)) add(Step::Kind::commit, p, 1);
          if (!all_may_commit(p) || next->kind == Word::Kind::may_commit) add(Step::Kind::commit, p, 0);
        }
      }
      if (ranks_[p].dead) continue;
      for (std::size_t q = 0; q < ranks_.size(); ++q) {
        if (arrives(controls_[q][p], p)) add(Step::Kind::control, p, q);
        if (takes_letter(q, p)) add(Step::Kind::letter, p, q);
      }
    }
    if (may_collect()) add(Step::Kind::collect, round_ % ranks_.size());
    if (deaths_left_ > 0 && !all_done_) {
      for (std::size_t p = 0; p < ranks_.size(); ++p) {
        if (!ranks_[p].dead && is_mortal(p)) add(Step::Kind::die, p);
      }
    }
    return steps;
  }
  bool progresses(Step step) const { return step.kind != Step::Kind::die; }

  bool take(Step step, std::string* told) {
    told_ = told;
    perform(step);
    told_ = nullptr;
    all_done_ = true;
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      all_done_ = all_done_ && word(p) == nullptr && ranks_[p].core.at_peace() && ranks_[p].round == round_;
    }
    return true;
  }

  // ---- the promises

  std::optional<std::string> broken(bool at_rest) const {
    if (!complaint_.empty()) return complaint_;
    if (!at_rest) return std::nullopt;
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      if (word(p) != nullptr) return fmt::format("Termination: {} never ends", p);
      if (!ranks_[p].core.at_peace()) return fmt::format("Termination: the recovery of {} never ends", p);
    }
    if (floors_ < ranks_.size()) return "Termination: garbage is never collected";
    return left_over();
  }

  transport::Fingerprint print() const {
    transport::Fingerprint print;
    for (const Process& process : ranks_) {
      print.add(process.round);
      print.add(process.dead);
      add_to(print, process.app);
      if (!process.dead) process.core.add_to(print);
      print.add(process.store.size());
      for (const auto& [epoch, saved] : process.store) {
        print.add(epoch.value);
        add_to(print, saved.app);
        print.add(saved.print);
      }
    }
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      for (std::size_t q = 0; q < ranks_.size(); ++q) {
        print.add(letters_[p][q].size());
        for (const auto& [round, letter] : letters_[p][q]) {
          print.add(round);
          replay::add_to(print, letter);
        }
        print.add(controls_[p][q].size());
        for (const auto& [round, control] : controls_[p][q]) {
          print.add(round);
          replay::add_to(print, control);
        }
      }
    }
    print.add(round_);
    print.add(static_cast<std::uint64_t>(deaths_left_));
    print.add(std::uint64_t{collect_early_} | std::uint64_t{collecting_} << 1U | std::uint64_t{floors_} << 2U);
    print.add(complaint_.size());
    return print;
  }

  std::string describe() const {
    std::string text;
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      const auto& process = ranks_[p];
      text += fmt::format("{}: word {} of {}, epoch {}, phase {}\n", p, process.app.at, shared_->programs[p].size(),
                          process.core.epoch().value, process.core.phase().value);
    }
    return text;
  }

  const Core& core(std::size_t p) const { return ranks_[p].core; }
  std::size_t word_of(std::size_t p) const { return ranks_[p].app.at; }
  bool done() const { return all_done_; }
  const std::string& complaint() const { return complaint_; }
  std::uint64_t messages() const { return shared_->messages; }

 private:
  /// The state of a rank's program. A commit keeps it.
  struct App {
    std::size_t at = 0;           // the next word
    int sent = 0;                 // messages
    std::uint64_t delivered = 0;  // to this rank, by number of the message
    std::uint64_t past = 0;       // ... and to those on whose messages it depends
  };
  struct Saved {
    Commit commit;
    App app;
    transport::Fingerprint print = {};
  };
  struct Process {
    Core core;
    App app;
    std::map<CommitEpoch, Saved> store;  // outlives the process
    std::uint32_t round = 0;
    bool dead = false;
  };
  struct Shared {
    Scene scene;
    Setup setup;
    std::shared_ptr<Matches> matches;
    bool learns = false;
    std::vector<std::vector<Word>> programs;
    std::vector<int> first_message;  // of each rank
    int messages = 0;
  };

  /// The messages under way, with the round in which they were sent: [from][to].
  template <class Message>
  using Channels = std::vector<std::vector<std::deque<std::pair<std::uint32_t, Message>>>>;

  static bool sends(const Word& word) { return word.kind == Word::Kind::send || word.kind == Word::Kind::send_large; }
  static bool commits(const Word& word) {
    return word.kind == Word::Kind::commit || word.kind == Word::Kind::may_commit;
  }
  static Rank rank(std::size_t p) { return Rank{static_cast<int>(p)}; }
  static void add_to(transport::Fingerprint& print, const App& app) {
    print.add(app.at);
    print.add(app.delivered);
    print.add(app.past);
  }

  const Word* word(std::size_t p) const {
    const auto& program = shared_->programs[p];
    return ranks_[p].app.at < program.size() ? &program[ranks_[p].app.at] : nullptr;
  }
  bool is_mortal(std::size_t p) const {
    const auto& mortal = shared_->scene.mortal;
    return mortal.empty() || std::find(mortal.begin(), mortal.end(), static_cast<int>(p)) != mortal.end();
  }
  template <class Predicate>
  bool all_mates(std::size_t p, Predicate predicate) const {
    for (std::size_t q = 0; q < ranks_.size(); ++q) {
      if (shared_->setup.clusters[q] == shared_->setup.clusters[p] && !predicate(q)) return false;
    }
    return true;
  }
  /// The first rank of the cluster acts for it.
  bool all_come_to_commit(std::size_t p) const {
    return all_mates(p, [&](std::size_t q) {
      const Word* next = word(q);
      return q >= p && !ranks_[q].dead && ranks_[q].round == ranks_[p].round && next != nullptr && commits(*next) &&
             ranks_[q].core.may_run();
    });
  }
  bool all_may_commit(std::size_t p) const {
    return all_mates(p, [&](std::size_t q) { return ranks_[q].core.may_commit(); });
  }
  bool takes_letter(std::size_t from, std::size_t to) const {
    if (!arrives(letters_[from][to], to) || !ranks_[to].core.listens()) return false;
    if (ranks_[to].core.is_known(rank(from), letters_[from][to].front().second)) return true;
    const Word* next = word(to);
    if (next == nullptr || !ranks_[to].core.may_run()) return false;
    return next->kind == Word::Kind::receive_any ||
           (next->kind == Word::Kind::receive && next->peer == static_cast<int>(from));
  }
  template <class Message>
  bool arrives(const std::deque<std::pair<std::uint32_t, Message>>& channel, std::size_t to) const {
    return !channel.empty() && channel.front().first == ranks_[to].round;
  }
  bool may_collect() const {
    if (collecting_ || (!all_done_ && !collect_early_)) return false;
    for (const Process& process : ranks_) {
      if (process.dead || process.round != round_ || !process.core.at_peace()) return false;
    }
    if (!all_done_) return true;
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      for (std::size_t q = 0; q < ranks_.size(); ++q) {
        if (!letters_[p][q].empty() || !controls_[p][q].empty()) return false;
      }
    }
    return true;
  }

  // ---- the effects of a step

  void perform(Step step) {
    const std::size_t p = step.who;
    Process& process = ranks_[p];
    switch (step.kind) {
      case Step::Kind::act: {
        const Word& next = *word(p);
        const int number = shared_->first_message[p] + process.app.sent++;
        ++process.app.at;
        const std::uint64_t content = process.app.past | static_cast<std::uint64_t>(number) << 56U;
        return dispatch(p, Sends{Rank{next.peer}, content, next.kind == Word::Kind::send_large});
      }
      case Step::Kind::commit: {
        for (std::size_t q = 0; q < ranks_.size(); ++q) {
          if (shared_->setup.clusters[q] != shared_->setup.clusters[p]) continue;
          ++ranks_[q].app.at;
          if (step.other == 0) {
            tell("  {} does not commit\n", q);
          } else {
            dispatch(q, Commits{});
          }
        }
        return;
      }
      case Step::Kind::letter: {
        const Letter letter = letters_[step.other][p].front().second;
        letters_[step.other][p].pop_front();
        if (!process.core.is_known(rank(step.other), letter)) judge_order(p, step.other, letter);
        return dispatch(p, Arrives{rank(step.other), letter});
      }
      case Step::Kind::control: {
        const Control control = controls_[step.other][p].front().second;
        controls_[step.other][p].pop_front();
        return dispatch(p, Hears{rank(step.other), control});
      }
      case Step::Kind::enter: return enter(p);
      case Step::Kind::die: {
        tell("  {} dies\n", p);
        --deaths_left_;
        ++round_;
        process.dead = true;
        process.app = App{};
        collecting_ = false;
        for (std::size_t q = 0; q < ranks_.size(); ++q) {
          letters_[q][p].clear();
          controls_[q][p].clear();
        }
        return;
      }
      case Step::Kind::collect: {
        (all_done_ ? collecting_ : collect_early_) = all_done_;
        floors_ = 0;
        return dispatch(p, Collects{});
      }
    }
  }

  void enter(std::size_t p) {
    Process& process = ranks_[p];
    for (std::size_t q = 0; q < ranks_.size(); ++q) {
      const auto is_old = [&](const auto& sent) { return sent.first < round_; };
      std::erase_if(letters_[q][p], is_old);
      std::erase_if(controls_[q][p], is_old);
    }
    process.round = round_;
    const Recovers recovers{round_, rank(round_ % ranks_.size())};
    if (!process.dead) return dispatch(p, recovers);
    process.dead = false;
    const Saved& saved = process.store.rbegin()->second;
    process.app = saved.app;
    Actions actions;
    process.core = Core(shared_->setup, rank(p), saved.commit, recovers, actions);
    tell("  {} is held by a newcomer, which {} with epoch {}", p, to_string(Event{recovers}),
         process.core.epoch().value);
    carry_out(p, actions);
  }

  void dispatch(std::size_t p, const Event& event) {
    tell("  {} {}", p, to_string(event));
    carry_out(p, ranks_[p].core.step(event));
  }

  void carry_out(std::size_t p, const Actions& actions) {
    for (const Action& action : actions) tell("; {}", to_string(action));
    tell("\n");
    for (const Action& action : actions) std::visit([&](const auto& what) { carry_out_one(p, what); }, action);
  }

  void carry_out_one(std::size_t p, const Send& send) {
    const auto to = static_cast<std::size_t>(send.to.value);
    if (reaches(p, to)) letters_[p][to].emplace_back(ranks_[p].round, send.letter);
  }
  void carry_out_one(std::size_t p, const Tell& one) {
    const auto to = static_cast<std::size_t>(one.to.value);
    if (std::holds_alternative<Decree>(one.message)) judge_depth(p);
    if (reaches(p, to)) controls_[p][to].emplace_back(ranks_[p].round, one.message);
  }
  /// A process of a later round takes nothing from an earlier round. A process of an earlier round gets it when it
  /// enters that round.
  bool reaches(std::size_t p, std::size_t to) const {
    if (ranks_[to].dead) return ranks_[p].round == round_;
    return ranks_[to].round <= ranks_[p].round;
  }
  void carry_out_one(std::size_t p, const Deliver& deliver) {
    Process& process = ranks_[p];
    const int message = static_cast<int>(deliver.content >> 56U);
    const std::uint64_t past = deliver.content & ((std::uint64_t{1} << 56U) - 1);
    if (shared_->learns) {
      shared_->matches->emplace(p, process.app.at, message);
    } else if (!shared_->matches->contains({p, process.app.at, message})) {
      complain(fmt::format("Validity: {} receives message {} at word {}", p, message, process.app.at));
    }
    if ((past & messages_to(p) & ~process.app.delivered) != 0) {
      complain(fmt::format("Causality: {} receives message {} before one on which it depends", p, message));
    }
    ++process.app.at;
    process.app.delivered |= std::uint64_t{1} << message;
    process.app.past |= past | std::uint64_t{1} << message;
  }
  void carry_out_one(std::size_t p, const Discard& discard) {
    if (discard.date > ranks_[p].core.received(discard.from)) complain(fmt::format("Validity: {} loses a message", p));
  }
  void carry_out_one(std::size_t p, const Save& save) {
    transport::Fingerprint print;
    Core(shared_->setup, rank(p)).add_to(print);
    ranks_[p].core.add_to(print);
    ranks_[p].store[save.commit.epoch] = {save.commit, ranks_[p].app, print};
  }
  void carry_out_one(std::size_t p, const Restore& restore) {
    Process& process = ranks_[p];
    const auto saved = process.store.find(restore.epoch);
    if (saved == process.store.end()) {
      return complain(fmt::format("Rollback: {} has no commit of epoch {}", p, restore.epoch.value));
    }
    process.store.erase(std::next(saved), process.store.end());
    process.app = saved->second.app;
    dispatch(p, Restored{saved->second.commit});
  }
  void carry_out_one(std::size_t p, const DropCommits& drop) {
    auto& store = ranks_[p].store;
    store.erase(store.begin(), store.lower_bound(drop.before));
    if (collecting_) ++floors_;
  }

  /// A channel must carry its sender's messages in order, each once.
  void judge_order(std::size_t to, std::size_t from, const Letter& letter) {
    const Date last = ranks_[to].core.received(rank(from));
    int number = shared_->first_message[from];
    std::uint32_t date = 0;
    for (const Word& word : shared_->programs[from]) {
      if (!sends(word)) continue;
      if (word.peer == static_cast<int>(to) && ++date == letter.date.value) break;
      ++number;
    }
    if (letter.date != last.next() || number != static_cast<int>(letter.content >> 56U)) {
      complain(fmt::format("Sequence: {} gets #{} from {} after #{}", to, letter.date.value, from, last.value));
    }
  }

  /// No rank may go back further than the smallest epoch to which a lost rank goes back.
  void judge_depth(std::size_t holder) {
    if (shared_->scene.may_go_back_further) return;
    const auto& core = ranks_[holder].core;
    std::optional<CommitEpoch> smallest;
    for (const auto& report : core.reports()) {
      if (report->back && (!smallest || report->epoch < *smallest)) smallest = report->epoch;
    }
    for (const auto& target : core.line()) {
      if (!target || *target >= *smallest) continue;
      complain(fmt::format("Rollback: a rank goes back to epoch {}, though none that was lost goes back below {}",
                           target->value, smallest->value));
    }
  }

  /// Checks what is left after all have ended and garbage was collected.
  std::optional<std::string> left_over() const {
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
      for (std::size_t q = 0; q < ranks_.size(); ++q) {
        if (p == q) continue;
        Date committed;
        const auto& commit = ranks_[q].store.begin()->second.commit;
        if (!commit.channels[p].received.empty()) committed = commit.channels[p].received.back().last;
        for (const auto& kept : ranks_[p].core.commit().channels[q].kept) {
          if (kept.date <= committed)
            return fmt::format("Garbage: {} keeps #{} for {} of no use", p, kept.date.value, q);
        }
        if (old_rows(p, q) > 1) {
          return fmt::format("Garbage: {} keeps {} rows of what it received from {} before their floors", q,
                             old_rows(p, q), p);
        }
      }
    }
    return std::nullopt;
  }

  /// Returns how many rows `to` keeps of messages from `from` that both will never roll back. The first row of a report
  /// is that of the epoch to which its rank can roll back at most.
  std::size_t old_rows(std::size_t from, std::size_t to) const {
    const Commit& receiver = ranks_[to].core.commit();
    const CommitEpoch floor = receiver.rows.front().epoch;
    const Date sent = ranks_[from].core.commit().rows.front().begin[to];
    const auto& received = receiver.channels[from].received;
    return static_cast<std::size_t>(std::count_if(
        received.begin(), received.end(), [&](const auto& row) { return row.epoch < floor && row.last <= sent; }));
  }

  std::uint64_t messages_to(std::size_t p) const {
    std::uint64_t mask = 0;
    int number = 0;
    for (const auto& program : shared_->programs) {
      for (const Word& word : program) {
        if (!sends(word)) continue;
        if (word.peer == static_cast<int>(p)) mask |= std::uint64_t{1} << number;
        ++number;
      }
    }
    return mask;
  }

  void complain(std::string complaint) {
    if (complaint_.empty()) complaint_ = std::move(complaint);
  }
  template <class... Values>
  void tell(fmt::format_string<Values...> format, Values&&... values) {
    if (told_ != nullptr) *told_ += fmt::format(format, std::forward<Values>(values)...);
  }

  std::shared_ptr<Shared> shared_;
  std::vector<Process> ranks_;
  Channels<Letter> letters_;
  Channels<Control> controls_;
  std::uint32_t round_ = 0;
  int deaths_left_ = 0;
  bool all_done_ = false;
  bool collect_early_ = false;  // the early collection has not been done yet
  bool collecting_ = false;     // after the end
  std::size_t floors_ = 0;      // how many ranks have dropped unneeded data since then
  std::string complaint_;
  std::string* told_ = nullptr;
};

}  // namespace mend::replay
