#include "delegate/codegen/hazards.h"

#include <algorithm>

namespace deputy::delegate {
namespace {

using arch::Operation;

class Collector {
 public:
  explicit Collector(std::vector<Access>& out) : out_(out) {}

  void operator()(const arch::End&) {}
  void operator()(const arch::Load& t) { transfer(t, false); }
  void operator()(const arch::LoadWeights& l) {
    add(static_cast<int>(l.region), l.mem_offset, l.stream_bytes, false);
    if (!l.fixed_code) spm(l.table_addr, arch::kCodeTableBytes, false);
    spm(l.spm_addr, l.bytes, true);
  }
  void operator()(const arch::Store& t) { transfer(t, true); }
  void operator()(const arch::Conv& c) {
    tile(c.ifm_addr, c.ifm_h, c.ifm_row_stride, c.ifm_w, c.ifm_px_stride, c.ifm_c, false);
    spm(c.w_addr,
        std::uint64_t{c.ofm_c - 1} * c.w_oc_stride + std::uint64_t{c.k_h} * c.k_w * c.ifm_c, false);
    spm(c.prm_addr, std::uint64_t{c.ofm_c} * arch::kChannelParamBytes, false);
    table(c.lut_en, c.lut_addr);
    if (!c.acc_hold)
      tile(c.ofm_addr, c.ofm_h, c.ofm_row_stride, c.ofm_w, c.ofm_px_stride, c.ofm_c, true);
  }
  void operator()(const arch::Depthwise& d) {
    tile(d.ifm_addr, d.ifm_h, d.ifm_row_stride, d.ifm_w, d.ifm_px_stride, d.ifm_c, false);
    spm(d.w_addr, (std::uint64_t{d.k_h} * d.k_w - 1) * d.w_tap_stride + d.ofm_c, false);
    spm(d.prm_addr, std::uint64_t{d.ofm_c} * arch::kChannelParamBytes, false);
    table(d.lut_en, d.lut_addr);
    tile(d.ofm_addr, d.ofm_h, d.ofm_row_stride, d.ofm_w, d.ofm_px_stride, d.ofm_c, true);
  }
  void operator()(const arch::Pool& p) {
    tile(p.ifm_addr, p.ifm_h, p.ifm_row_stride, p.ifm_w, p.ifm_px_stride, p.ofm_c, false);
    table(p.lut_en, p.lut_addr);
    tile(p.ofm_addr, p.ofm_h, p.ofm_row_stride, p.ofm_w, p.ofm_px_stride, p.ofm_c, true);
  }
  void operator()(const arch::Eltwise& e) {
    tile(e.a_addr, e.ofm_h, e.a_row_stride, e.ofm_w, e.a_px_stride, e.a_ch_stride ? e.ofm_c : 1,
         false);
    tile(e.b_addr, e.ofm_h, e.b_row_stride, e.ofm_w, e.b_px_stride, e.b_ch_stride ? e.ofm_c : 1,
         false);
    table(e.lut_en, e.lut_addr);
    tile(e.ofm_addr, e.ofm_h, e.ofm_row_stride, e.ofm_w, e.ofm_px_stride, e.ofm_c, true);
  }
  void operator()(const arch::Lut& l) {
    spm(l.ifm_addr, l.count, false);
    spm(l.lut_addr, 256, false);
    spm(l.ofm_addr, l.count, true);
  }
  void operator()(const arch::Softmax& m) {
    tile(m.ifm_addr, m.rows, m.ifm_row_stride, 1, 0, m.length, false);
    spm(m.exp_addr, arch::kExpTableBytes, false);
    tile(m.ofm_addr, m.rows, m.ofm_row_stride, 1, 0, m.length, true);
  }
  void operator()(const arch::Fill& f) { spm(f.addr, f.count, true); }

 private:
  void add(int space, std::uint64_t begin, std::uint64_t bytes, bool write) {
    out_.push_back({space, begin, begin + bytes, write});
  }
  void spm(std::uint64_t begin, std::uint64_t bytes, bool write) {
    add(kSpmSpace, begin, bytes, write);
  }
  void table(std::uint32_t enabled, std::uint64_t addr) {
    if (enabled) spm(addr, 256, false);
  }
  void tile(std::uint64_t addr, std::uint64_t h, std::uint64_t row, std::uint64_t w,
            std::uint64_t px, std::uint64_t c, bool write) {
    spm(addr, (h - 1) * row + (w - 1) * px + c, write);
  }
  void transfer(const arch::Transfer& t, bool to_memory) {
    add(t.region, t.mem_offset, t.mem_extent(), to_memory);
    spm(t.spm_addr, t.spm_extent(), !to_memory);
  }

  std::vector<Access>& out_;
};

}  // namespace

std::vector<Access> accesses(const arch::Operation& op) {
  std::vector<Access> out;
  std::visit(Collector(out), op);
  return out;
}

HazardTracker::HazardTracker() {
  for (auto& space : spaces_) space.emplace(0, Last{});
}

HazardTracker::Intervals::iterator HazardTracker::split(Intervals& intervals, std::uint64_t at) {
  auto it = std::prev(intervals.upper_bound(at));
  return it->first == at ? it : intervals.emplace_hint(std::next(it), at, it->second);
}

HazardTracker::Needs HazardTracker::needs(const std::vector<Access>& touched) {
  Needs need{};
  for (const Access& access : touched) {
    Intervals& space = spaces_[access.space];
    const auto first = split(space, access.begin), last = split(space, access.end);
    for (auto it = first; it != last; ++it)
      for (int q = 0; q < kQueues; ++q) {
        need[q] = std::max(need[q], it->second.write[q]);
        if (access.write) need[q] = std::max(need[q], it->second.read[q]);
      }
  }
  return need;
}

namespace {

// In order within a queue: an instruction need not wait for its own.
Waits waits_of(std::array<std::uint32_t, 3> need, arch::Queue queue) {
  need[static_cast<std::size_t>(queue) - static_cast<std::size_t>(arch::Queue::kLoad)] = 0;
  return {need[0], need[1], need[2]};
}
arch::Queue queue_of(const arch::Operation& op) {
  return std::visit([](const auto& o) { return o.kQueue; }, op);
}

}  // namespace

Waits HazardTracker::peek(const arch::Operation& op) {
  if (queue_of(op) == arch::Queue::kControl) return {};
  return waits_of(needs(accesses(op)), queue_of(op));
}

Waits HazardTracker::add(const arch::Operation& op) {
  const arch::Queue name = queue_of(op);
  if (name == arch::Queue::kControl) return {};
  const int queue = static_cast<int>(name) - static_cast<int>(arch::Queue::kLoad);
  const std::uint32_t sequence = ++issued_[queue];
  const std::vector<Access> touched = accesses(op);
  const Needs need = needs(touched);
  for (const Access& access : touched) {
    Intervals& space = spaces_[access.space];
    const auto first = split(space, access.begin), last = split(space, access.end);
    if (access.write) {
      // Whoever waits for this write also waits for all that this write waited for.
      Last only;
      only.write[queue] = sequence;
      space.erase(std::next(first), last);
      first->second = only;
    } else {
      for (auto it = first; it != last; ++it) it->second.read[queue] = sequence;
    }
  }
  return waits_of(need, name);
}

}  // namespace deputy::delegate
