#include "base/death/catchable.hpp"

#include <cxxabi.h>
#include <unwind.h>

#include <bits/cxxabi_init_exception.h>

#include <memory>
#include <new>
#include <typeinfo>

#ifdef __GLIBCXX__
extern "C" _Unwind_Reason_Code __gxx_personality_v0(  // NOLINT(readability-identifier-naming): the runtime's name
    int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class, _Unwind_Exception* exception,
    _Unwind_Context* context);
#endif

namespace mend {
namespace {

#ifdef __GLIBCXX__

constexpr _Unwind_Exception_Class class_of_gcc = 0x474e5543432b2b00;  // "GNUCC++\0"

enum class Fate { unknown, caught, terminated };

struct Search {
  _Unwind_Exception* exception;
  Fate fate = Fate::unknown;
};

/// Returns the code of the handler that the search has found; null if the handler is std::terminate. This is the field
/// catchTemp of __cxa_exception, which ends with adjustedPtr and unwindHeader (Itanium C++ ABI, exception handling,
/// 2.2.1).
const void* landing_pad(const _Unwind_Exception* exception) {
  return reinterpret_cast<const void* const*>(exception)[-2];
}

/// Asks a frame as the first phase of unwinding does. A frame without exception tables lets exceptions pass.
_Unwind_Reason_Code ask(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  if (_Unwind_GetLanguageSpecificData(context) == nullptr) return _URC_NO_REASON;
  const _Unwind_Reason_Code answer = __gxx_personality_v0(1, _UA_SEARCH_PHASE, class_of_gcc, search.exception, context);
  if (answer != _URC_HANDLER_FOUND) return _URC_NO_REASON;
  search.fate = landing_pad(search.exception) == nullptr ? Fate::terminated : Fate::caught;
  return _URC_NORMAL_STOP;
}

template <class Error>
bool is_catchable_by_somebody(const Error& error) {
  void* const object = abi::__cxa_allocate_exception(sizeof(Error));
  const auto free = [](void* memory) { abi::__cxa_free_exception(memory); };
  const std::unique_ptr<void, decltype(free)> memory(object, free);
  const auto destroy = [](Error* copy) { copy->~Error(); };
  const std::unique_ptr<Error, decltype(destroy)> copy(::new (object) Error(error), destroy);
  abi::__cxa_init_primary_exception(object, const_cast<std::type_info*>(&typeid(Error)), nullptr);
  // The unwinder's header ends where the object begins.
  Search search{static_cast<_Unwind_Exception*>(object) - 1};
  _Unwind_Backtrace(&ask, &search);
  return search.fate != Fate::terminated;
}

#else

template <class Error>
bool is_catchable_by_somebody(const Error&) {
  return true;
}

#endif

}  // namespace

bool is_catchable(const ProcessFailure& error) { return is_catchable_by_somebody(error); }
bool is_catchable(const EnvironmentError& error) { return is_catchable_by_somebody(error); }
bool is_catchable(const UsageError& error) { return is_catchable_by_somebody(error); }

}  // namespace mend
