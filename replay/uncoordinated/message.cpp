#include "replay/uncoordinated/message.hpp"

#include <fmt/format.h>

namespace mend::replay {

namespace {

std::string say(const Receipt& receipt) {
  const std::string dates = receipt.first == receipt.last
                                ? fmt::format("{}", receipt.first.value)
                                : fmt::format("{} to {}", receipt.first.value, receipt.last.value);
  return fmt::format("{} in epoch {}{}", dates, receipt.epoch.value, receipt.logged ? ", logged" : "");
}

std::string say(const std::vector<Receipt>& receipts) {
  std::string text;
  for (const Receipt& receipt : receipts) text += (text.empty() ? "" : "; ") + say(receipt);
  return text;
}

std::string say(const std::optional<Phase>& phase) { return phase ? fmt::format("phase {}", phase->value) : "none"; }

struct ControlText {
  std::string operator()(const Receipts& some) const { return "received " + say(some.receipts); }
  std::string operator()(const Report& report) const {
    return fmt::format("report: {} epoch {}", report.back ? "back to" : "in", report.epoch.value);
  }
  std::string operator()(const Decree& decree) const { return "line: " + to_string(decree.line); }
  std::string operator()(const Missing& missing) const { return "orphans missing: " + say(missing.phase); }
  std::string operator()(const Ready& ready) const { return "orphans missing anywhere: " + say(ready.floor); }
  std::string operator()(const Ask&) const { return "ask"; }
  std::string operator()(const Answer& answer) const {
    return fmt::format("answer: epoch {}", answer.report.epoch.value);
  }
  std::string operator()(const Floors& floors) const { return "floors: " + to_string(floors.line); }
  std::string operator()(const Unneeded& unneeded) const {
    return fmt::format("unneeded up to {}", unneeded.date.value);
  }
};

struct Print {
  transport::Fingerprint& print;
  void operator()(const Receipts& some) const { add(some.receipts); }
  void operator()(const Report& report) const { add_to(print, report); }
  void operator()(const Decree& decree) const {
    add(decree.line);
    for (const Date date : decree.dates) print.add(date.value);
    for (const Date date : decree.received) print.add(date.value);
  }
  void operator()(const Missing& missing) const { print.add(missing.phase ? missing.phase->value + 1 : 0); }
  void operator()(const Ready& ready) const { print.add(ready.floor ? ready.floor->value + 1 : 0); }
  void operator()(const Ask&) const {}
  void operator()(const Answer& answer) const { add_to(print, answer.report); }
  void operator()(const Floors& floors) const {
    add(floors.line);
    for (const Date date : floors.dates) print.add(date.value);
  }
  void operator()(const Unneeded& unneeded) const { print.add(unneeded.date.value); }

  void add(const Line& line) const {
    for (const auto& epoch : line) print.add(epoch ? epoch->value + 1 : 0);
  }
  void add(const std::vector<Receipt>& receipts) const {
    print.add(receipts.size());
    for (const Receipt& receipt : receipts) {
      print.add(std::uint64_t{receipt.first.value} << 32U | receipt.last.value);
      print.add(std::uint64_t{receipt.epoch.value} << 1U | std::uint64_t{receipt.logged});
    }
  }
};

}  // namespace

std::string to_string(const Letter& letter) {
  std::string text =
      fmt::format("#{} of epoch {}, phase {}", letter.date.value, letter.epoch.value, letter.phase.value);
  if (letter.already_logged) text += ", logged already";
  if (letter.breaks_path) text += ", from the log";
  if (!letter.receipts.empty()) text += ", with received " + say(letter.receipts);
  return text;
}

std::string to_string(const Control& message) { return std::visit(ControlText{}, message); }

void add_to(transport::Fingerprint& print, const Letter& letter) {
  print.add(letter.date.value);
  print.add(std::uint64_t{letter.epoch.value} << 32U | letter.phase.value);
  print.add(letter.content);
  print.add(std::uint64_t{letter.large} | std::uint64_t{letter.already_logged} << 1U |
            std::uint64_t{letter.breaks_path} << 2U | std::uint64_t{letter.wants_receipt} << 3U);
  Print{print}.add(letter.receipts);
}

void add_to(transport::Fingerprint& print, const Control& message) {
  print.add(message.index());
  std::visit(Print{print}, message);
}

}  // namespace mend::replay
