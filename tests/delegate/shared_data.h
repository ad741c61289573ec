// The models that outside tools wrote, read from ../shared/data where it exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/source_dir.h"

namespace deputy::delegate::testing {

inline std::filesystem::path shared_data() {
  return std::filesystem::path(tests::source_dir()) / ".." / "shared" / "data";
}

inline std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every .tflite below `folder`, sorted; empty when the folder is absent.
inline std::vector<std::filesystem::path> tflite_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace deputy::delegate::testing
