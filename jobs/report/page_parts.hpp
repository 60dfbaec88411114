// The files in jobs/report/page, which the build puts into this program (cmake/EmbedFiles.cmake).

#pragma once

#include <string_view>

namespace mend::jobs {

/// The content of a file by its name; the file must be there.
std::string_view page_part(std::string_view name);

}  // namespace mend::jobs
