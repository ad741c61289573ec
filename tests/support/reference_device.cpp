#include "tests/support/reference_device.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "arch/dma_descriptor.h"
#include "base/check.h"
#include "tests/support/npu_interpreter.h"

namespace deputy::test {
namespace {

using host_runtime::FakePort;
using sim::FaultKind;

constexpr std::uint64_t kBases[] = {arch::kNpuQueueBase, arch::kDmaQueueBase};
const std::uint64_t kDescriptorWords =
    static_cast<std::uint64_t>(arch::packed_words<arch::DmaDescriptor>());
const char* const kEngine[] = {"npu", "dma"};
const char* const kQueue[] = {"npu.queue", "dma.queue"};

// The last byte that a transfer touches in memory, plus one.
std::uint64_t extent(const arch::Transfer& t) {
  return t.mem_offset + std::uint64_t{t.planes - 1} * t.mem_plane_stride +
         std::uint64_t{t.rows - 1} * t.mem_row_stride + t.row_bytes;
}

}  // namespace

std::vector<FaultKind> ReferenceDevice::faults_it_has() {
  return {FaultKind::kEngineFault,   FaultKind::kEngineHang,    FaultKind::kEngineSlow,
          FaultKind::kLostInterrupt, FaultKind::kLateInterrupt, FaultKind::kLostDoorbell};
}

ReferenceDevice::ReferenceDevice(const arch::NpuConfig& npu, const sim::FaultPlan& faults)
    : FakePort(npu), config_(npu), faults_(faults), seen_(faults.faults.size()) {
  const auto has = faults_it_has();
  for (const sim::Fault& fault : faults.faults)
    DEPUTY_CHECK(std::ranges::find(has, sim::fault_kind(fault)) != has.end(),
                 "a fault that the reference device does not have");
  on_write(kNpu, arch::npu_reg::kCmd, [this](std::uint32_t) { on_start(kNpu); });
  on_write(kDma, arch::dma_reg::kCmd, [this](std::uint32_t) { on_start(kDma); });
  filter_interrupts([this](std::uint32_t rising) {
    std::uint32_t seen = 0;
    for (std::uint32_t line = 0; line < 32; ++line) {
      if (!(rising >> line & 1)) continue;
      const std::string name(arch::irq_line_name(static_cast<arch::IrqLine>(line)));
      const sim::Fault* late = nullptr;
      if (hit(FaultKind::kLostInterrupt, name)) continue;
      if (!hit(FaultKind::kLateInterrupt, name, &late)) {
        seen |= 1u << line;
        continue;
      }
      after(kIntc, static_cast<std::uint64_t>(late->delay_ns) * 1000, [this, line] {
        set(kIntc, arch::intc_reg::kPending, get(kIntc, arch::intc_reg::kPending) | 1u << line);
      });
    }
    return seen;
  });
}

bool ReferenceDevice::hit(FaultKind kind, const std::string& target, const sim::Fault** which) {
  bool any = false;
  for (std::size_t i = 0; i < faults_.faults.size(); ++i) {
    const sim::Fault& f = faults_.faults[i];
    if (sim::fault_kind(f) != kind || f.target != target) continue;
    const std::int64_t nth = ++seen_[i];
    if (nth < f.nth || (f.repeat != 0 && nth >= f.nth + f.repeat)) continue;
    any = true;
    if (which) *which = &f;
  }
  return any;
}

void ReferenceDevice::write32(std::uint64_t address, std::uint32_t value) {
  for (int q = 0; q < 2; ++q)
    for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
      if (address == kBases[q] + arch::queue_reg::kRing0Tail + ring * arch::kRingStride &&
          hit(FaultKind::kLostDoorbell, kQueue[q])) {
        (void)read32(kBases[q] + arch::queue_reg::kId);  // it takes its time all the same
        return;
      }
  FakePort::write32(address, value);
}

std::vector<std::uint32_t> ReferenceDevice::words_at(std::uint64_t address, std::uint64_t count) {
  std::vector<std::uint32_t> words(count);
  const std::uint8_t* bytes = at(address, count * 4);
  if (!bytes) return {};
  std::memcpy(words.data(), bytes, count * 4);
  return words;
}

ReferenceDevice::Fate ReferenceDevice::fate(Device engine) {
  Fate out;
  std::size_t taken = 0;
  // One command or descriptor is taken up; false when nothing behind it is.
  const auto take = [&] {
    const sim::Fault* slow = nullptr;
    if (hit(FaultKind::kEngineFault, kEngine[engine])) return out.fault_at = taken, false;
    if (hit(FaultKind::kEngineSlow, kEngine[engine], &slow))
      out.factor = static_cast<std::uint64_t>(slow->factor);
    if (hit(FaultKind::kEngineHang, kEngine[engine])) return out.hang = true, false;
    return ++taken, true;
  };
  if (engine == kNpu) {
    const auto stream =
        words_at(reg64(kNpu, arch::npu_reg::kQBaseLo), get(kNpu, arch::npu_reg::kQSize) / 4);
    std::span<const std::uint32_t> words = stream;
    while (!words.empty()) {
      const arch::Decoded d = arch::decode(words);
      if (d.fault != arch::DecodeFault::kNone || !take()) break;
      if (const auto* load = std::get_if<arch::Load>(&d.instruction.op)) out.bytes += load->bytes();
      if (const auto* store = std::get_if<arch::Store>(&d.instruction.op))
        out.bytes += store->bytes();
      words = words.subspan(d.instruction.header.words);
    }
    return out;
  }
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = reg64(kDma, arch::dma_reg::kDescLo); at != 0 && seen.insert(at).second;) {
    const auto words = words_at(at, kDescriptorWords);
    if (words.empty() || !take()) break;
    const auto d = arch::unpack<arch::DmaDescriptor>(words);
    out.bytes += d.bytes();
    at = d.next;
  }
  return out;
}

void ReferenceDevice::prepare(Device engine) { fates_[engine] = fate(engine); }

void ReferenceDevice::on_start(Device engine) {
  prepare(engine);
  const Fate& fate = fates_[engine];
  if (fate.hang) return;
  // The work is done at the end, in one moment: what reads too early finds the old bytes.
  after(engine, (kJobPs + fate.bytes * kPsPerByte) * fate.factor,
        [this, engine] { complete(engine); });
}

void ReferenceDevice::complete(Device engine) {
  const Error error = engine == kNpu ? run_npu(fates_[engine]) : run_dma(fates_[engine]);
  const Device queue = engine == kNpu ? kNpuQueue : kDmaQueue;
  set(queue, arch::queue_reg::kProgress, get(queue, arch::queue_reg::kProgress) + 1);
  if (error.code != 0) {
    const std::uint32_t low =
        engine == kNpu ? arch::npu_reg::kErrAddrLo : arch::dma_reg::kErrAddrLo;
    set(engine, low, static_cast<std::uint32_t>(error.address));
    set(engine, low + 4, static_cast<std::uint32_t>(error.address >> 32));
    if (engine == kNpu) set(kNpu, arch::npu_reg::kErrInfo, error.info);
  }
  finish(engine, error.code);
}

ReferenceDevice::Error ReferenceDevice::run_npu(const Fate& fate) {
  const auto code = [](arch::NpuError e) { return static_cast<std::uint32_t>(e); };
  const std::uint64_t base = reg64(kNpu, arch::npu_reg::kQBaseLo);
  const auto stream = words_at(base, get(kNpu, arch::npu_reg::kQSize) / 4);
  if (stream.empty()) return {code(arch::NpuError::kBus), 0, base};
  std::vector<std::span<std::uint8_t>> regions;
  for (std::uint32_t r = 0; r < arch::kRegionCount; ++r) {
    const std::uint64_t bytes = get(kNpu, arch::npu_reg::kSize0 + 4 * r);
    std::uint8_t* memory =
        bytes == 0 ? nullptr : at(reg64(kNpu, arch::npu_reg::kBase0Lo + 8 * r), bytes);
    regions.emplace_back(memory, memory ? bytes : 0);
  }
  NpuInterpreter npu(config_, regions);
  std::span<const std::uint32_t> words = stream;
  for (std::size_t i = 0; !words.empty(); ++i) {
    const std::uint64_t offset = (stream.size() - words.size()) * 4;
    const arch::Decoded d = arch::decode(words);
    if (d.fault != arch::DecodeFault::kNone)
      return {static_cast<std::uint32_t>(d.fault), 0xFF, offset};
    const arch::Header& header = d.instruction.header;
    const std::uint32_t info = header.opcode | header.tag << 8;
    if (fate.fault_at == i) return {code(arch::NpuError::kInternal), info, offset};
    const arch::Transfer* transfer = std::get_if<arch::Load>(&d.instruction.op);
    if (!transfer) transfer = std::get_if<arch::Store>(&d.instruction.op);
    if (transfer) {
      if (extent(*transfer) > get(kNpu, arch::npu_reg::kSize0 + 4 * transfer->region))
        return {code(arch::NpuError::kRegionBounds), info, offset};
      if (regions[transfer->region].empty())  // nobody is there
        return {code(arch::NpuError::kBus), info,
                reg64(kNpu, arch::npu_reg::kBase0Lo + 8 * transfer->region) + transfer->mem_offset};
    }
    if (std::holds_alternative<arch::End>(d.instruction.op)) return {};
    npu.execute(d.instruction.op);
    words = words.subspan(header.words);
  }
  return {code(arch::NpuError::kTruncated), 0xFF, stream.size() * 4};
}

ReferenceDevice::Error ReferenceDevice::run_dma(const Fate& fate) {
  const auto code = [](arch::DmaError e) { return static_cast<std::uint32_t>(e); };
  std::uint64_t next = reg64(kDma, arch::dma_reg::kDescLo);
  for (std::size_t i = 0; next != 0; ++i) {
    const auto words = words_at(next, kDescriptorWords);
    if (words.empty()) return {code(arch::DmaError::kBus), 0, next};
    if (fate.fault_at == i) return {code(arch::DmaError::kInternal), 0, next};
    const auto d = arch::unpack<arch::DmaDescriptor>(words);
    if (arch::first_bad_field(d)) return {code(arch::DmaError::kBadDescriptor), 0, next};
    for (std::uint64_t p = 0; p < d.planes; ++p)
      for (std::uint64_t r = 0; r < d.rows; ++r) {
        const std::uint64_t from = d.src + p * d.src_plane_stride + r * d.src_row_stride;
        const std::uint64_t to = d.dst + p * d.dst_plane_stride + r * d.dst_row_stride;
        const std::uint8_t* source = at(from, d.row_bytes);
        std::uint8_t* target = at(to, d.row_bytes);
        if (!source || !target) return {code(arch::DmaError::kBus), 0, source ? to : from};
        std::memmove(target, source, d.row_bytes);
      }
    next = d.next;
  }
  return {};
}

}  // namespace deputy::test
