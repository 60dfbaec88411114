// Members of objects, for tests.

#pragma once

#include "store/member.hpp"

#include <memory>

/// Returns a member of the data of `object`, which must outlive it.
template <class T>
std::unique_ptr<mend::Member> member_of(T& object) {
  return mend::MemberOf<T>::make(object);
}
