// What a particular NPU is besides what it can do: its revision, the firmware of its command
// processor, and the fault it was made with. None of it is part of NpuConfig: a compiler may know
// the versions, never the fault.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/result.h"
#include "base/version.h"

namespace deputy::arch {

struct Silicon {
  std::string revision = "1.0";
  std::string firmware = "1.0";
  std::string defect = "none";
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.revision,
      Field{.name = "revision", .doc = "hardware revision that REVISION reports, MAJOR.MINOR"});
    v(s.firmware,
      Field{.name = "firmware", .doc = "firmware version that REVISION reports, MAJOR.MINOR"});
    v(s.defect, Field{.name = "defect",
                      .doc = "a fault the NPU was made with, for developing drivers and probes "
                             "(docs/quirks.md); none in sound silicon"});
  }
};

/// The register's value. kConfig when a version is not MAJOR.MINOR with both below 256.
base::Result<std::uint32_t> revision_register(const Silicon& silicon);

/// What the register says.
base::Version hardware_version(std::uint32_t revision);
base::Version firmware_version(std::uint32_t revision);

}  // namespace deputy::arch
