// The files in jobs/report/page, which the build embeds into this program (cmake/EmbedFiles.cmake).

#pragma once

#include <string_view>

namespace mend::jobs {

/// Returns the content of the file with this name, which must exist.
std::string_view page_part(std::string_view name);

}  // namespace mend::jobs
