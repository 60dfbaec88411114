#include "store/engine/protected_members.hpp"

#include "base/error.hpp"
#include "store/array_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mend {
namespace {

/// The part of a shape that must stay the same when another object takes a member's place: for parts, the array; for
/// Views, all but the extents; otherwise the whole shape.
std::string kind_of(const Member& member) {
  if (auto array = array_of(member)) return *array;
  std::string shape = member.shape();
  if (shape.starts_with("View")) shape.erase(std::min(shape.find('['), shape.size()));
  return shape;
}

void require_same_kind(std::string_view name, const Member& known, const Member& wanted) {
  if (kind_of(known) == kind_of(wanted)) return;
  throw UsageError(
      fmt::format("member '{}' is protected as {} already, and {} cannot take its place: protect each object under a "
                  "name of its own; what "
                  "replaces another, as the two arrays of a double buffer do in turn, is of its kind and shape",
                  name, known.shape(), wanted.shape()));
}

/// Returns true if the two are known to be different objects, by address or shape.
bool is_another_object(const Member& known, const Member& wanted) {
  const bool elsewhere = known.address() && wanted.address() && known.address() != wanted.address();
  return elsewhere || known.shape() != wanted.shape();
}

}  // namespace

std::optional<std::string> array_of(const Member& member) {
  const auto part = parse_array_part(member.shape());
  if (!part) return std::nullopt;
  return fmt::format("{} array [{}]", part->element, fmt::join(part->whole, ","));
}

std::optional<std::string> ProtectedMembers::shape_of(std::string_view name) const {
  const auto known = members_.find(name);
  if (known == members_.end()) return std::nullopt;
  return known->second->shape();
}

void ProtectedMembers::protect(std::string_view name, std::shared_ptr<Member> member) {
  if (const auto known = members_.find(name); known != members_.end()) {
    require_same_kind(name, *known->second, *member);
    if (settled_.contains(name) && is_another_object(*known->second, *member)) {
      throw UsageError(fmt::format(
          "another object is protected as '{0}' already, and one of the two would not be restored: protect each under "
          "a name of its own; if this one takes the other's place, as the arrays of a double buffer do in turn, call "
          "store.replace(\"{0}\", object), or mend_replace in C and Fortran",
          name));
    }
  } else if (left_out_.contains(name) || elsewhere_.contains(name)) {
    too_late_.emplace(name);
  }
  set(name, std::move(member));
}

void ProtectedMembers::replace(std::string_view name, std::shared_ptr<Member> member) {
  const auto known = members_.find(name);
  if (known == members_.end())
    throw UsageError(fmt::format("there is no protected member '{}' to be replaced: protect the object", name));
  require_same_kind(name, *known->second, *member);
  set(name, std::move(member));
}

void ProtectedMembers::set(std::string_view name, std::shared_ptr<Member> member) {
  members_.insert_or_assign(std::string(name), std::move(member));
  settled_.emplace(name);
  given_up_.erase(std::string(name));
}

void ProtectedMembers::unprotect(std::string_view name) {
  const bool was_protected = members_.erase(std::string(name)) > 0;
  const bool was_left_out = left_out_.erase(std::string(name)) + elsewhere_.erase(std::string(name)) > 0;
  settled_.erase(std::string(name));
  too_late_.erase(std::string(name));
  if (!was_protected && !was_left_out)
    throw UsageError(fmt::format("there is no protected member '{}' that could be unprotected", name));
  given_up_.emplace(name);
}

void ProtectedMembers::forget() {
  members_.clear();
  settled_.clear();
  left_out_.clear();
  elsewhere_.clear();
  given_up_.clear();
  too_late_.clear();
}

void ProtectedMembers::note_restored(Version version, Names names, Names elsewhere) {
  restored_ = version;
  left_out_ = std::move(names);
  elsewhere_ = std::move(elsewhere);
  too_late_.clear();
  for (const auto& [name, member] : members_) {
    settled_.insert(name);
    left_out_.erase(name);
  }
  for (const std::string& name : given_up_) {
    left_out_.erase(name);
    elsewhere_.erase(name);
  }
}

void ProtectedMembers::require_restored() const {
  if (!too_late_.empty()) {
    throw UsageError(fmt::format(
        "member '{0}' was protected after restore(), so it does not have its data of version {1}: protect it before "
        "restore(), or call restore() again; to do without that data, call unprotect(\"{0}\") before you protect it",
        *too_late_.begin(), restored_.value));
  }
  if (!left_out_.empty()) {
    throw UsageError(fmt::format(
        "version {1} has data of '{0}', which this rank has not protected since, so they were not restored: protect it "
        "before restore(); to do without that data, call unprotect(\"{0}\")",
        *left_out_.begin(), restored_.value));
  }
}

}  // namespace mend
