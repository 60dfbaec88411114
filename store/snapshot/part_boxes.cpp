#include "store/snapshot/part_boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace mend {
namespace {

/// Reads a text piece by piece. After the first mismatch, all further reads fail.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  bool done() const { return fine_ && left_.empty(); }

  std::string_view until(char end) {
    const std::string_view word = left_.substr(0, left_.find(end));
    left_.remove_prefix(word.size());
    return word;
  }

  void expect(std::string_view word) {
    fine_ = fine_ && left_.starts_with(word);
    if (fine_) left_.remove_prefix(word.size());
  }

  Extents numbers() {
    Extents all;
    expect("[");
    while (fine_) {
      std::size_t value = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
      fine_ = error == std::errc{};
      if (!fine_) break;
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      all.push_back(value);
      if (!left_.starts_with(",")) break;
      left_.remove_prefix(1);
    }
    expect("]");
    return all;
  }

 private:
  std::string_view left_;
  bool fine_ = true;
};

}  // namespace

bool makes_sense(const ArrayPart& part) {
  if (part.whole.empty() || part.extents.size() != part.whole.size() || part.offset.size() != part.whole.size())
    return false;
  for (std::size_t axis = 0; axis < part.whole.size(); ++axis) {
    if (part.offset[axis] > part.whole[axis] || part.extents[axis] > part.whole[axis] - part.offset[axis]) return false;
  }
  return true;
}

std::optional<ArrayPart> parse_array_part(std::string_view text) {
  Scanner scanner(text);
  ArrayPart part;
  part.element = scanner.until(' ');
  scanner.expect(" array ");
  part.extents = scanner.numbers();
  scanner.expect(" at ");
  part.offset = scanner.numbers();
  scanner.expect(" of ");
  part.whole = scanner.numbers();
  if (!scanner.done() || element_bytes(part.element) == 0 || !makes_sense(part)) return std::nullopt;
  return part;
}

std::string to_text(const Parts& parts) {
  std::string text;
  for (const auto& [name, part] : parts) text += fmt::format("{}\t{}\n", to_string(part), name);
  return text;
}

Parts parse_parts(std::string_view text) {
  Parts parts;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    const auto tab = std::min(line.find('\t'), line.size());
    if (const auto part = parse_array_part(line.substr(0, tab)); part && tab < line.size())
      parts[std::string(line.substr(tab + 1))] = *part;
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::optional<Overlap> overlap(const ArrayPart& first, const ArrayPart& second) {
  Overlap common;
  for (std::size_t axis = 0; axis < first.whole.size(); ++axis) {
    const std::size_t begin = std::max(first.offset[axis], second.offset[axis]);
    const std::size_t end =
        std::min(first.offset[axis] + first.extents[axis], second.offset[axis] + second.extents[axis]);
    if (begin >= end) return std::nullopt;
    common.extents.push_back(end - begin);
    common.in_first.push_back(begin - first.offset[axis]);
    common.in_second.push_back(begin - second.offset[axis]);
  }
  return common;
}

Unfound::Unfound(const ArrayPart& wanted) {
  if (elements_in(wanted.extents) > 0) boxes_.push_back(wanted);
}

void Unfound::take_out(const ArrayPart& part) {
  std::vector<ArrayPart> left;
  for (ArrayPart& box : boxes_) {
    const auto common = overlap(box, part);
    if (!common) {
      left.push_back(std::move(box));
      continue;
    }
    // The parts before and after the overlap along each axis are left. The rest is as thick as the overlap there, and
    // is cut further.
    for (std::size_t axis = 0; axis < box.extents.size(); ++axis) {
      const std::size_t before = common->in_first[axis];
      const std::size_t behind = box.extents[axis] - before - common->extents[axis];
      const auto keep = [&](std::size_t begin, std::size_t thickness) {
        if (thickness == 0) return;
        ArrayPart& slab = left.emplace_back(box);
        slab.offset[axis] += begin;
        slab.extents[axis] = thickness;
      };
      keep(0, before);
      keep(before + common->extents[axis], behind);
      box.offset[axis] += before;
      box.extents[axis] = common->extents[axis];
    }
  }
  boxes_ = std::move(left);
}

std::size_t Unfound::elements() const {
  std::size_t count = 0;
  for (const ArrayPart& box : boxes_) count += elements_in(box.extents);
  return count;
}

Runs runs_of(const ArrayPart& part, const Extents& begin, const Extents& extents) {
  // Axes that are taken completely form one run with the axis before them.
  std::size_t last = part.extents.size() - 1;
  Runs runs{part.element_bytes() * extents[last], {}};
  while (last > 0 && extents[last] == part.extents[last]) runs.length *= extents[--last];
  if (elements_in(extents) == 0) return {};

  std::vector<ByteCount> strides(part.extents.size(), part.element_bytes());
  for (std::size_t axis = strides.size() - 1; axis > 0; --axis) strides[axis - 1] = strides[axis] * part.extents[axis];
  runs.offsets.push_back(0);
  for (std::size_t axis = 0; axis < part.extents.size(); ++axis) {
    const std::size_t count = axis < last ? extents[axis] : 1;
    std::vector<ByteCount> finer;
    finer.reserve(runs.offsets.size() * count);
    for (const ByteCount offset : runs.offsets) {
      for (std::size_t i = 0; i < count; ++i) finer.push_back(offset + (begin[axis] + i) * strides[axis]);
    }
    runs.offsets = std::move(finer);
  }
  return runs;
}

}  // namespace mend
