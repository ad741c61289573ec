// Small executables and buffers for cases above the drivers.
#pragma once

#include "arch/executable.h"
#include "host_runtime/runtime/session.h"
#include "tests/conformance/rig.h"

namespace deputy::conformance {

constexpr std::uint64_t kLong = 100'000 * kMs;  ///< whoever waits longer waits for ever

constexpr std::uint32_t kRowBytes = 64;
/// An executable: f of the input on the NPU, behind a RELU on the CPU when `relu`. Input and output
/// are external, in rows.
Bytes model(const Affine& f, bool relu = false);
Bytes relu(Bytes bytes);

inline std::unique_ptr<host_runtime::Session> load(
    host_runtime::Device& device, const Bytes& file, int frames,
    std::shared_ptr<host_runtime::Context> context = nullptr) {
  auto session = host_runtime::Session::load(device, file, "m",
                                             {.context = std::move(context), .frames = frames});
  if (!session.ok()) FAIL(session.error().text());
  return std::move(*session);
}
inline host_runtime::Buffer buffer(host_runtime::Device& device, const Bytes& bytes) {
  auto out = host_runtime::Buffer::make(device.space(), MemoryKind::kDram, bytes.size(),
                                        host_runtime::kCacheLine);
  if (!out.ok()) FAIL(out.error().text());
  REQUIRE(out->write(bytes).ok());
  return *out;
}

}  // namespace deputy::conformance
