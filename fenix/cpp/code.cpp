#include "fenix/cpp/code.hpp"

#include "fenix/fenix.hpp"

#include <fmt/format.h>

#include <utility>

namespace mend::fenix {

std::string_view name_of(int code) {
  switch (static_cast<Fenix_Return_codes>(code)) {
    case FENIX_SUCCESS: return "FENIX_SUCCESS";
    case FENIX_ERROR_UNINITIALIZED: return "FENIX_ERROR_UNINITIALIZED";
    case FENIX_ERROR_NOCATEGORY: return "FENIX_ERROR_NOCATEGORY";
    case FENIX_ERROR_CALLBACK_NOT_REGISTERED: return "FENIX_ERROR_CALLBACK_NOT_REGISTERED";
    case FENIX_ERROR_GROUP_CREATE: return "FENIX_ERROR_GROUP_CREATE";
    case FENIX_ERROR_MEMBER_CREATE: return "FENIX_ERROR_MEMBER_CREATE";
    case FENIX_ERROR_MEMBER_EXISTS: return "FENIX_ERROR_MEMBER_EXISTS";
    case FENIX_ERROR_MEMBER_STAGING: return "FENIX_ERROR_MEMBER_STAGING";
    case FENIX_ERROR_MEMBER_LOADING: return "FENIX_ERROR_MEMBER_LOADING";
    case FENIX_ERROR_COMMIT_BARRIER: return "FENIX_ERROR_COMMIT_BARRIER";
    case FENIX_ERROR_INVALID_GROUPID: return "FENIX_ERROR_INVALID_GROUPID";
    case FENIX_ERROR_INVALID_MEMBERID: return "FENIX_ERROR_INVALID_MEMBERID";
    case FENIX_ERROR_INVALID_LOGIC_CALL: return "FENIX_ERROR_INVALID_LOGIC_CALL";
    case FENIX_ERROR_INVALID_POLICY_NAME: return "FENIX_ERROR_INVALID_POLICY_NAME";
    case FENIX_ERROR_INVALID_TIMESTAMP: return "FENIX_ERROR_INVALID_TIMESTAMP";
    case FENIX_ERROR_INVALID_TIMESTART: return "FENIX_ERROR_INVALID_TIMESTART";
    case FENIX_ERROR_INVALID_DEPTH: return "FENIX_ERROR_INVALID_DEPTH";
    case FENIX_ERROR_INVALID_ATTRIBUTE_NAME: return "FENIX_ERROR_INVALID_ATTRIBUTE_NAME";
    case FENIX_ERROR_INVALID_ATTRIBUTE_VALUE: return "FENIX_ERROR_INVALID_ATTRIBUTE_VALUE";
    case FENIX_ERROR_INVALID_POSITION: return "FENIX_ERROR_INVALID_POSITION";
    case FENIX_ERROR_INVALID_SUBSET: return "FENIX_ERROR_INVALID_SUBSET";
    case FENIX_ERROR_DATA_WAIT: return "FENIX_ERROR_DATA_WAIT";
    case FENIX_ERROR_SUBSET_NUM_BLOCKS: return "FENIX_ERROR_SUBSET_NUM_BLOCKS";
    case FENIX_ERROR_SUBSET_START_OFFSET: return "FENIX_ERROR_SUBSET_START_OFFSET";
    case FENIX_ERROR_SUBSET_END_OFFSET: return "FENIX_ERROR_SUBSET_END_OFFSET";
    case FENIX_ERROR_SUBSET_STRIDE: return "FENIX_ERROR_SUBSET_STRIDE";
    case FENIX_ERROR_NODATA_FOUND: return "FENIX_ERROR_NODATA_FOUND";
    case FENIX_ERROR_INTERN: return "FENIX_ERROR_INTERN";
    case FENIX_ERROR_CANCELLED: return "FENIX_ERROR_CANCELLED";
    case FENIX_ERROR_INVALID_SETTING_NAME: return "FENIX_ERROR_INVALID_SETTING_NAME";
    case FENIX_ERROR_INVALID_SETTING_OPTION: return "FENIX_ERROR_INVALID_SETTING_OPTION";
    case FENIX_ERROR_INVALID_MLOGID: return "FENIX_ERROR_INVALID_MLOGID";
    case FENIX_ERROR_MLOG_EXISTS: return "FENIX_ERROR_MLOG_EXISTS";
    case FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE: return "FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE";
    case FENIX_ERROR_PROCESS_FAILURE: return "FENIX_ERROR_PROCESS_FAILURE";
    case FENIX_ERROR_INVALID_POLICY_VALUE: return "FENIX_ERROR_INVALID_POLICY_VALUE";
    case FENIX_ERROR_MEMBER_UNSTORED: return "FENIX_ERROR_MEMBER_UNSTORED";
    case FENIX_WARNING_SPARE_RANKS_DEPLETED: return "FENIX_WARNING_SPARE_RANKS_DEPLETED";
    case FENIX_WARNING_PARTIAL_RESTORE: return "FENIX_WARNING_PARTIAL_RESTORE";
  }
  return "an unknown code";
}

int require(int code, const char* function, std::source_location where) {
  if (code >= 0 || code == FENIX_ERROR_CANCELLED) return code;
  const std::string_view name = name_of(code);
  throw ::fenix::RuntimeException(code, name, fmt::format("{} ended with {} ({})", function, name, code), where);
}

}  // namespace mend::fenix

namespace fenix {

RuntimeException::RuntimeException(int code, std::string_view name, std::string sentence, Location where)
    : error(code), error_string(name), location(where), sentence_(std::move(sentence)) {}

std::string RuntimeException::to_string(int depth) const {
  return fmt::format("{:{}}{}:{} {}: {}", "", 2 * depth, location.file_name(), location.line(),
                     location.function_name(), sentence_);
}

}  // namespace fenix
