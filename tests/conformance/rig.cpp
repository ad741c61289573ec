#include "tests/conformance/rig.h"

#include <cstring>

#include "arch/dma_descriptor.h"
#include "arch/isa.h"
#include "arch/memory_map.h"

namespace deputy::conformance {

Bytes lut_table(const Affine& f) {
  Bytes out(256);
  for (int v = -128; v < 128; ++v)
    out[static_cast<std::size_t>(v + 128)] = f(static_cast<std::uint8_t>(v));
  return out;
}

Bytes ramp(int start, std::size_t bytes) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::uint8_t>(start + static_cast<int>(i));
  return out;
}

std::vector<std::uint32_t> map_stream(std::uint8_t tables, std::uint64_t table, std::uint8_t in,
                                      std::uint64_t from, std::uint8_t out, std::uint64_t to,
                                      std::uint16_t tag) {
  std::vector<std::uint32_t> words;
  const auto add = [&](const arch::Operation& op, std::uint32_t loads, std::uint32_t computes) {
    arch::Instruction i;
    i.header.tag = tag, i.header.wait_load = loads, i.header.wait_compute = computes;
    i.op = op;
    arch::encode(i, words);
  };
  arch::Load load;
  load.region = tables, load.mem_offset = table, load.row_bytes = 256;
  add(load, 0, 0);
  load.region = in, load.mem_offset = from, load.row_bytes = kJobBytes, load.spm_addr = 256;
  add(load, 0, 0);
  arch::Lut lut;
  lut.ifm_addr = 256, lut.ofm_addr = 512, lut.count = kJobBytes, lut.lut_addr = 0;
  add(lut, 2, 0);
  arch::Store store;
  store.region = out, store.mem_offset = to, store.row_bytes = kJobBytes, store.spm_addr = 512;
  add(store, 2, 1);
  add(arch::End{}, 0, 0);
  return words;
}

Rig::Rig(HwPort& p)
    : port(p),
      intc(p),
      sync(p, intc),
      npu(p, intc, arch::kNpuQueueBase, arch::IrqLine::kNpuQueue),
      dma(p, intc, arch::kDmaQueueBase, arch::IrqLine::kDmaQueue),
      memory(*p.alloc(MemoryKind::kDram, 1 << 19, arch::kPageBytes)) {
  REQUIRE(intc.probe().ok());
  REQUIRE(sync.probe().ok());
  REQUIRE(npu.probe().ok());
  REQUIRE(dma.probe().ok());
}

void Rig::put(std::uint64_t offset, const Bytes& bytes) {
  std::memcpy(memory.host + offset, bytes.data(), bytes.size());
  const MemoryTouch touch{memory.address + offset, bytes.size(), true};
  port.charge(CpuKernel::kCopy, bytes.size(), std::span(&touch, 1));
  port.clean(touch.address, touch.bytes);
}

Bytes Rig::get(std::uint64_t offset, std::size_t bytes) {
  port.invalidate(memory.address + offset, bytes);
  const MemoryTouch touch{memory.address + offset, bytes, false};
  port.charge(CpuKernel::kCopy, bytes, std::span(&touch, 1));
  return Bytes(memory.host + offset, memory.host + offset + bytes);
}

std::uint64_t Rig::place(const std::vector<std::uint32_t>& words) {
  Bytes bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  const std::uint64_t offset = next_;
  next_ += (bytes.size() + 255) / 256 * 256;
  REQUIRE(next_ <= memory.bytes);
  put(offset, bytes);
  return offset;
}

arch::QueueEntry Rig::npu_job(std::uint64_t from, std::uint64_t to, const Affine& f) {
  const std::uint64_t table = next_;
  next_ += 256;
  put(table, lut_table(f));
  const auto words = map_stream(1, table, 1, from, 1, to, 7);
  arch::QueueEntry e;
  e.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  e.address = memory.address + place(words);
  e.bytes = static_cast<std::uint32_t>(words.size() * 4);
  e.region_base[1] = memory.address, e.region_bytes[1] = static_cast<std::uint32_t>(memory.bytes);
  return e;
}

arch::QueueEntry Rig::bad_npu_job(std::uint64_t from) { return npu_job(from, memory.bytes, {}); }

arch::QueueEntry Rig::dma_job(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
  arch::DmaDescriptor d;
  d.src = memory.address + from, d.dst = memory.address + to, d.row_bytes = bytes;
  std::vector<std::uint32_t> words;
  arch::pack(d, words);
  arch::QueueEntry e;
  e.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  e.address = memory.address + place(words);
  return e;
}

arch::QueueEntry Rig::bad_dma_job(std::uint64_t from) {
  constexpr std::uint64_t kNobody = 0x7000'0000;
  return dma_job(from, kNobody - memory.address);
}

bool Rig::wait(std::uint32_t timeline, std::uint64_t value, std::uint64_t limit_ps) {
  const auto t = static_cast<std::uint8_t>(timeline);
  const std::uint64_t deadline = port.now_ps() + limit_ps;
  for (;;) {
    sync.arm(t, value);
    const bool failed = sync.failure(t) != arch::SyncFailure::kNone,
               reached = sync.value(t) >= value;
    if (!failed && !reached &&
        port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kSync), deadline)) {
      sync.take_interrupts();
      continue;
    }
    sync.disarm(t);
    sync.take_interrupts();
    return reached;
  }
}

bool Rig::halted(host_runtime::QueueDriver& queue, std::uint32_t ring) {
  for (int i = 0; i < 1000; ++i) {
    if (queue.state(ring) == arch::RingState::kHalted) return true;
    rest(10 * kUs);
  }
  return false;
}

void on_rig(PortUnderTest& board, const sim::FaultPlan& plan,
            const std::function<void(Rig&)>& program) {
  board.run(plan, [&](HwPort& port) -> base::Status {
    Rig rig(port);
    program(rig);
    return {};
  });
}

}  // namespace deputy::conformance
