#include "tools/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace deputy::tools {

std::string beside(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();  // an absolute name replaces the folder
}

base::Result<std::vector<std::uint8_t>> read_file(const std::string& path) {
  const auto fail = [&](std::string message) {
    return base::Error{base::ErrorKind::kIo, path, std::move(message), "check the path"};
  };
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) return fail("is a folder, not a file");
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return fail(std::string("cannot open the file: ") + std::strerror(errno));
  const std::streamsize size = in.tellg();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size < 0 ? 0 : size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    return fail("cannot read the file");
  return bytes;
}

base::Status write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  namespace fs = std::filesystem;
  const auto fail = [&](const std::string& message) {
    return base::Error{base::ErrorKind::kIo, path, message,
                       "check the folder's permissions and free space"};
  };
  std::error_code ec;
  const fs::path target(path);
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), ec);
  if (ec) return fail("cannot create the folder: " + ec.message());
  const fs::path part(path + ".part");
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    if (!out) return fail(std::string("cannot write the file: ") + std::strerror(errno));
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      out.close();
      fs::remove(part, ec);
      return fail("cannot write the whole file");
    }
  }
  fs::rename(part, target, ec);
  if (ec) return fail("cannot move the finished file into place: " + ec.message());
  return {};
}

base::Status write_text(const std::string& path, std::string_view text) {
  return write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace deputy::tools
