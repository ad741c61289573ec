// A DSP image: kernels assembled for one DSP and put one behind the other, as a file or as part of
// a firmware. Programs are independent of where they lie (branches name distances), so a kernel is
// where it begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace deputy::arch {

inline constexpr std::uint32_t kDspImageVersion = 1;

struct DspKernelEntry {
  std::string name;
  std::uint32_t entry = 0;  ///< word
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.name, base::Field{.name = "name", .doc = "of the kernel"});
    v(s.entry,
      base::Field{
          .name = "entry", .doc = "its first word", .unit = "words", .min = 0, .max = 1 << 24});
  }
};
struct DspImage {
  std::vector<DspKernelEntry> kernels;
  std::vector<std::uint32_t> words;
  std::uint64_t tcm_bytes = 0;  ///< of data memory that the kernels were assembled for
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.tcm_bytes, base::Field{.name = "tcm_bytes",
                               .doc = "data memory that the kernels need",
                               .unit = "bytes",
                               .min = 0,
                               .max = 1e9});
    v(s.kernels, base::Field{.name = "kernels"});
    v(s.words, base::Field{.name = "words"});
  }
  /// nullptr when there is none of this name.
  const DspKernelEntry* find(const std::string& name) const;
};

/// Magic, versions of image and instruction set, content hash, then the record (byte_io.h).
std::vector<std::uint8_t> write_dsp_image(const DspImage& image);
/// kInput with `name` and what is wrong: another version, a damaged file, entries outside the
/// words.
base::Result<DspImage> read_dsp_image(const std::vector<std::uint8_t>& bytes,
                                      const std::string& name);

}  // namespace deputy::arch
