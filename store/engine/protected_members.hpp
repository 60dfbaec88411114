// The objects that this rank protects, by name, and whether each of them has the restored data of its name.
//
// A name stands for one object. The store cannot distinguish two objects of one kind under one name from a double
// buffer, whose two arrays take turns; but in the first case restore() would fill the wrong object. So another object
// takes over a name by replace() only:
//
//   protect("u", a);  restore();  protect("u", a);       the same object: nothing changes
//   protect("u", a);  restore();  protect("u", b);       refused
//   protect("u", a);  restore();  replace("u", b);       a double buffer
//   restore();  protect("u", a);                         refused by the next commit, if the version restored has a "u":
//                                                        a does not have that data
//   restore();                                           likewise: the data of "u" was not restored
//   restore();  protect("u", a);  restore();             a name that becomes known only after the first restore
//
// After a recovery, objects may take over names anew until the next restore, which fills them.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/snapshot.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace mend {

class ProtectedMembers {
 public:
  using Names = std::set<std::string, std::less<>>;

  const Members& all() const { return members_; }
  /// Returns the shape of the member with this name, if there is one.
  std::optional<std::string> shape_of(std::string_view name) const;

  /// Throws UsageError, without any change, if the name belongs to another object.
  void protect(std::string_view name, std::shared_ptr<Member> member);
  /// Throws UsageError if no object has this name, or if it is of another kind or shape.
  void replace(std::string_view name, std::shared_ptr<Member> member);
  /// Removes a member, or gives up the data of a name that only the restored version has. Throws UsageError if there is
  /// neither.
  void unprotect(std::string_view name);
  /// Forgets all objects, because the body is entered again.
  void forget();
  /// Survivors may have stayed in the body, so their objects must be restored again.
  void begin_epoch() { settled_.clear(); }

  /// Records that a version with members of these names was restored and has filled the members that are protected.
  /// `elsewhere`: arrays of the version in which this rank need not have a part.
  void note_restored(Version version, Names names, Names elsewhere = {});
  /// Throws UsageError if the restored version has data of a name that was protected too late, or was neither protected
  /// nor unprotected.
  void require_restored() const;

  /// Take the members out and put them back, for a restore that leaves them unchanged.
  Members set_aside() { return std::exchange(members_, {}); }
  void put_back(Members members) { members_ = std::move(members); }

 private:
  void set(std::string_view name, std::shared_ptr<Member> member);

  Members members_;
  Names settled_;   // protected or restored in this epoch: no other object may take these names silently
  Names left_out_;  // the version restored has these, but there was no member to fill
  Names elsewhere_;
  Names given_up_;  // unprotected: their data is not wanted any more
  Names too_late_;  // names of left_out_ or elsewhere_ that were protected after the restore
  Version restored_{};
};

/// Returns text such as "float64 array [10]" for a part of an array; otherwise nothing.
std::optional<std::string> array_of(const Member& member);

}  // namespace mend
