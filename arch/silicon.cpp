#include "arch/silicon.h"

namespace deputy::arch {
namespace {

base::Result<std::uint32_t> half(const std::string& text, const char* key) {
  DEPUTY_ASSIGN(const base::Version version, base::Version::parse(text, key));
  const auto& parts = version.parts;
  if (parts.size() != 2 || parts[0] > 255 || parts[1] > 255)
    return base::Error{base::ErrorKind::kConfig, key, "'" + text + "' does not fit its register",
                       "write MAJOR.MINOR, each from 0 to 255"};
  return parts[0] << 8 | parts[1];
}

}  // namespace

base::Result<std::uint32_t> revision_register(const Silicon& silicon) {
  DEPUTY_ASSIGN(const std::uint32_t hardware, half(silicon.revision, "silicon.revision"));
  DEPUTY_ASSIGN(const std::uint32_t firmware, half(silicon.firmware, "silicon.firmware"));
  return hardware << 16 | firmware;
}

base::Version hardware_version(std::uint32_t revision) {
  return {{revision >> 24, revision >> 16 & 0xFF}};
}
base::Version firmware_version(std::uint32_t revision) {
  return {{revision >> 8 & 0xFF, revision & 0xFF}};
}

}  // namespace deputy::arch
