#include "soc/sensor.h"

#include <algorithm>
#include <cmath>

#include "sim/process.h"
#include "sim/register_access.h"
#include "sim/time.h"

namespace deputy::soc {
namespace reg = arch::sensor_reg;

Sensor::Sensor(sc_core::sc_module_name name, const SensorConfig& config, GivenFrames frames,
               SyncUnit& sync, bool functional, std::function<void(bool)> irq)
    : sc_module(name),
      registers("registers"),
      writer("sensor", config.outstanding),
      config_(config),
      given_(std::move(frames)),
      sync_(sync),
      functional_(functional),
      irq_(std::move(irq)),
      file_(arch::sensor_registers()) {
  registers.register_b_transport(this, &Sensor::b_transport);
  sc_core::sc_spawn([this] { thread(); }, sc_core::sc_gen_unique_name("frames"));
}

void Sensor::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return file_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

void Sensor::write(std::uint32_t offset, std::uint32_t value) {
  file_.bus_write(offset, value);
  if (offset == reg::kReset && (value & 1)) {
    ++epoch_;
    sequence_ = 0;
    file_.reset();
    writer.abandon();
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
  raise(0);
}

// The watermark is a level: acknowledged while enough frames wait, it comes back with the next one.
void Sensor::raise(std::uint32_t bits) {
  file_.set(reg::kIrqStatus, file_.get(reg::kIrqStatus) | bits);
  irq_((file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0);
}

void Sensor::thread() {
  for (;;) {
    while (!running()) sim::wait_on(changed_);
    const std::uint64_t epoch = epoch_;
    sc_core::sc_time next = sc_core::sc_time_stamp();
    while (running() && epoch == epoch_) {
      const std::uint32_t period = file_.get(reg::kPeriod), count = file_.get(reg::kCount);
      if (sc_core::sc_time_stamp() < next) {
        sim::wait_on(changed_, next - sc_core::sc_time_stamp());
        continue;
      }
      const bool late = period > 0 && next < sc_core::sc_time_stamp();
      next =
          period > 0 ? next + sim::from_ps(std::uint64_t{period} * 1000) : sc_core::sc_time_stamp();
      // The scene does not wait: what began while a frame was still on its way is lost.
      if (late || (!given_.empty() && given_[sequence_ % given_.size()].empty())) {
        miss();
        continue;
      }
      if (waiting() >= count) {
        if (period == 0) {
          sim::wait_on(changed_);
          continue;
        }
        ++sequence_, ++dropped_;
        file_.set(reg::kDropped, file_.get(reg::kDropped) + 1);
        raise(arch::kSensorDropped);
        continue;
      }
      const std::uint64_t base = file_.get(reg::kBaseLo) | std::uint64_t{file_.get(reg::kBaseHi)}
                                                               << 32;
      const std::uint64_t start = sim::to_ps(sc_core::sc_time_stamp());
      writing_ = true;
      const bool whole = write_frame(base + std::uint64_t{file_.get(reg::kHead) % count} *
                                                file_.get(reg::kStride));
      writing_ = false;
      const std::uint64_t end = sim::to_ps(sc_core::sc_time_stamp());
      busy_.add(start, end, end - start);
      if (whole) frame_done();
      clean_ = clean_ && whole;
    }
  }
}

void Sensor::miss() {
  ++sequence_, ++missed_;
  file_.set(reg::kMissed, file_.get(reg::kMissed) + 1);
}

bool Sensor::write_frame(std::uint64_t address) {
  const std::uint64_t epoch = epoch_;
  const std::uint64_t bytes = file_.get(reg::kFrameBytes);
  const sc_core::sc_time start = sc_core::sc_time_stamp();
  std::vector<std::uint8_t> data;
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t to_page = 4096 - (address + at) % 4096;
    const auto n = static_cast<std::uint32_t>(
        std::min({static_cast<std::uint64_t>(config_.chunk_bytes), to_page, bytes - at}));
    // A chunk can be written when its last byte has come in.
    sim::wait_until(start + sim::from_ps(static_cast<std::uint64_t>(std::llround(
                                static_cast<double>(at + n) * 1e6 / config_.mb_per_s))));
    if (epoch != epoch_) return false;
    if (functional_) fill(data, at, n);
    const bool ok = writer.issue(address + at, functional_ ? data.data() : nullptr, n, true);
    if (epoch != epoch_) return false;
    if (!ok) {
      file_.set(reg::kErrAddrLo, static_cast<std::uint32_t>(address + at));
      file_.set(reg::kErrAddrHi, static_cast<std::uint32_t>((address + at) >> 32));
      file_.set(reg::kCtrl, 0);
      raise(arch::kSensorFailed);
      return false;
    }
    at += n;
  }
  writer.drain();
  return epoch == epoch_;
}

void Sensor::fill(std::vector<std::uint8_t>& out, std::uint64_t offset, std::uint32_t bytes) const {
  out.resize(bytes);
  const std::uint8_t flip = (file_.get(reg::kFormat) & 1) ? 0 : 0x80;
  if (!given_.empty()) {
    const auto& frame = given_[sequence_ % given_.size()];
    for (std::uint32_t i = 0; i < bytes; ++i)
      out[i] = static_cast<std::uint8_t>(frame[(offset + i) % frame.size()] ^ flip);
    return;
  }
  // A multiplicative hash of seed, frame and position.
  const std::uint64_t frame =
      (std::uint64_t{file_.get(reg::kSeed)} << 32 | (sequence_ & 0xFFFFFFFF)) * 0x9E3779B97F4A7C15u;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint64_t z = (frame ^ (offset + i)) * 0xD6E8FEB86659FD93u;
    out[i] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(z >> 56) ^ flip);
  }
}

void Sensor::frame_done() {
  ++sequence_;
  frame_bytes_written_ += file_.get(reg::kFrameBytes);
  const std::uint32_t head = file_.get(reg::kHead) + 1;
  file_.set(reg::kHead, head);
  ready_.push_back(sim::to_ps(sc_core::sc_time_stamp()));
  if (const std::uint32_t timeline = file_.get(reg::kTimeline); timeline >> 31)
    sync_.signal(timeline & 15, head);
  raise(waiting() >= file_.get(reg::kWatermark) ? arch::kSensorWatermark : 0);
}

}  // namespace deputy::soc
