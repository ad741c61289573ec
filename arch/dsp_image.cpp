#include "arch/dsp_image.h"

#include <algorithm>

#include "arch/byte_io.h"
#include "arch/dsp_isa.h"

namespace deputy::arch {
namespace {
constexpr std::uint32_t kMagic = 0x49505344;  // "DSPI"
constexpr std::size_t kHeaderBytes = 20;      // magic, two versions, hash

}  // namespace

const DspKernelEntry* DspImage::find(const std::string& name) const {
  const auto it = std::find_if(kernels.begin(), kernels.end(),
                               [&](const DspKernelEntry& k) { return k.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

std::vector<std::uint8_t> write_dsp_image(const DspImage& image) {
  ByteWriter body, out;
  body.put(image);
  const std::uint64_t hash = fnv1a(body.bytes());
  out.put(kMagic), out.put(kDspImageVersion), out.put(std::uint32_t{kDspIsaVersion});
  out.put(static_cast<std::uint32_t>(hash)), out.put(static_cast<std::uint32_t>(hash >> 32));
  out.append(body.bytes());
  return std::move(out.bytes());
}

base::Result<DspImage> read_dsp_image(const std::vector<std::uint8_t>& bytes,
                                      const std::string& name) {
  const auto bad = [&](std::string what) {
    return base::Error{base::ErrorKind::kInput, name, std::move(what), "build the image again"};
  };
  ByteReader in(bytes);
  const auto magic = in.get<std::uint32_t>(), version = in.get<std::uint32_t>(),
             isa = in.get<std::uint32_t>();
  const std::uint32_t low = in.get<std::uint32_t>(), high = in.get<std::uint32_t>();
  if (!in.ok() || magic != kMagic) return bad("this is no DSP image");
  if (version != kDspImageVersion)
    return bad("image version " + std::to_string(version) + ", not " +
               std::to_string(kDspImageVersion));
  if (isa != kDspIsaVersion)
    return bad("instruction set version " + std::to_string(isa) + ", not " +
               std::to_string(kDspIsaVersion));
  if (fnv1a(std::span(bytes).subspan(kHeaderBytes)) != (std::uint64_t{high} << 32 | low))
    return bad("the content hash is wrong: the file is damaged");
  auto image = in.get<DspImage>();
  if (!in.ok()) return bad(in.problem());
  if (in.remaining() != 0) return bad("bytes follow the image");
  for (const DspKernelEntry& kernel : image.kernels)
    if (kernel.entry >= image.words.size())
      return bad("kernel '" + kernel.name + "' begins outside the image");
  return image;
}

}  // namespace deputy::arch
