// Whole files in and out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deputy::tools {

/// A file that another one in `folder` names: relative names begin there.
std::string beside(const std::string& folder, const std::string& name);

base::Result<std::vector<std::uint8_t>> read_file(const std::string& path);

/// Writes through a temporary file beside `path` and renames it, so that a failed write leaves the
/// old file. Creates missing folders.
base::Status write_file(const std::string& path, std::span<const std::uint8_t> bytes);
base::Status write_text(const std::string& path, std::string_view text);

}  // namespace deputy::tools
