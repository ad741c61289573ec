#include "host_runtime/runtime/sensor_ring.h"

#include <algorithm>

namespace deputy::host_runtime {

base::Result<std::unique_ptr<SensorRing>> SensorRing::start(Device& device,
                                                            const SensorRingOptions& options) {
  std::unique_ptr<SensorRing> out(new SensorRing(device));
  DEPUTY_TRY(device.start());
  const std::uint64_t align = std::max(kCacheLine, device.space().page);
  const std::uint64_t stride = (options.frame_bytes + align - 1) / align * align;
  DEPUTY_ASSIGN(Buffer ring,
                Buffer::make(device.space(), options.kind, stride * options.frames, align));
  for (std::uint32_t i = 0; i < options.frames; ++i) {
    DEPUTY_ASSIGN(out->slots_.emplace_back(), ring.view(i * stride, options.frame_bytes));
    hand_over(out->slots_.back());
  }
  DEPUTY_ASSIGN(out->timeline_, device.create_timeline());
  out->started_ = true;
  DEPUTY_TRY(out->driver_.start({.base = ring.address(),
                                 .count = options.frames,
                                 .stride = static_cast<std::uint32_t>(stride),
                                 .frame_bytes = options.frame_bytes,
                                 .period_ns = options.period_ns,
                                 .twos_complement = options.twos_complement,
                                 .timeline = out->timeline_}));
  return out;
}

SensorRing::~SensorRing() {
  if (!started_) return;
  driver_.stop();
  device_.retire_timeline(timeline_);
}

void SensorRing::release(std::uint64_t n) {
  for (; released_ <= n; ++released_) hand_over(buffer(released_));
  driver_.release(static_cast<std::uint32_t>(n + 1));
}

}  // namespace deputy::host_runtime
