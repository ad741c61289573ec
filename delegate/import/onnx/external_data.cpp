// Tensor data in files beside the model. The name comes from the model file, so it is not trusted:
// it must stay in the model's folder, also when links are followed.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "delegate/import/onnx/model.h"

namespace deputy::delegate::onnx_import {
namespace {

namespace fs = std::filesystem;

base::Error refused(const std::string& location, std::string message) {
  return {base::ErrorKind::kModel, "external data '" + location.substr(0, 200) + "'",
          std::move(message), "external data must be plain files in the model's folder"};
}

}  // namespace

base::Result<std::vector<std::uint8_t>> external_data(const std::string& folder,
                                                      const std::string& location,
                                                      std::uint64_t offset, std::int64_t length,
                                                      std::uint64_t expected) {
  const fs::path relative(location);
  if (folder.empty()) return refused(location, "the model was not read from a folder");
  if (location.empty() || location.find('\0') != std::string::npos || location.size() > 4096)
    return refused(location, "not a file name");
  if (relative.is_absolute() || relative.has_root_path())
    return refused(location, "the path is absolute");
  for (const fs::path& part : relative)
    if (part == "..") return refused(location, "the path leaves the model's folder");
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return refused(location, "the model's folder cannot be resolved");
  const fs::path real = fs::canonical(root / relative, error);
  if (error) return refused(location, "there is no such file");
  const fs::path inside = real.lexically_relative(root);
  if (inside.empty() || *inside.begin() == ".." || inside.is_absolute())
    return refused(location, "a link leads out of the model's folder");
  if (!fs::is_regular_file(real, error) || error) return refused(location, "not a regular file");
  const std::uint64_t size = fs::file_size(real, error);
  if (error) return refused(location, "its size cannot be read");
  if (offset > size)
    return refused(location, fmt::format("offset {} is beyond its {} bytes", offset, size));
  const std::uint64_t wanted = length < 0 ? size - offset : static_cast<std::uint64_t>(length);
  if (wanted > size - offset)
    return refused(location, fmt::format("{} bytes from offset {} are beyond its {} bytes", wanted,
                                         offset, size));
  if (wanted != expected)
    return refused(location,
                   fmt::format("holds {} bytes for the tensor, which needs {}", wanted, expected));
  std::ifstream in(real, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::vector<std::uint8_t> out(static_cast<std::size_t>(wanted));
  if (!out.empty() &&
      !in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size())))
    return refused(location, "it cannot be read");
  return out;
}

}  // namespace deputy::delegate::onnx_import
