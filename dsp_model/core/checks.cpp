// What can go wrong in a packet is found before any of it happens; and how often a bank is needed.
#include <algorithm>

#include "dsp_model/core/core.h"

namespace deputy::dsp_model {

using arch::DspControl, arch::DspFault, arch::DspOp, arch::DspOpcode, arch::kDspVectorBytes;

namespace {

// Calls f(address) for each element that a gather or scatter accesses.
template <class F>
void for_each_element(const Machine& m, const DspOp& op, F&& f) {
  for (int i = 0; i < kDspVectorBytes; i += op.size)
    if (selected(m, op, i)) f(element_address(m, op, i));
}
// The first and last byte that the predicate of a masked vector access selects; first > last: none.
std::pair<int, int> selected_span(const Machine& m, const DspOp& op) {
  int first = 0, last = kDspVectorBytes - 1;
  while (first < kDspVectorBytes && !selected(m, op, first)) ++first;
  while (last > first && !selected(m, op, last)) --last;
  return {first, last};
}

}  // namespace

DspFault DspCore::check_memory(const DspOp& op) {
  const auto bytes = static_cast<std::uint64_t>(tcm_.size());
  if (is_indexed(op.code)) {
    DspFault fault = DspFault::kNone;
    for_each_element(m_, op, [&](std::uint32_t address) {
      if (fault != DspFault::kNone) return;
      if (address % op.size)
        fault = DspFault::kAlign;
      else if (address + std::uint64_t{op.size} > bytes)
        fault = DspFault::kAddress;
      fault_detail_ = address;
    });
    return fault;
  }
  const bool reversed = op.code == DspOpcode::kLLdwbr || op.code == DspOpcode::kLStwbr;
  const Access at = reversed ? Access{m_.x.r[op.a], 0, true} : access_of(m_, op);
  fault_detail_ = at.address;
  if (!at.good) return DspFault::kCircular;
  const bool any_address = op.code == DspOpcode::kLVldu || op.code == DspOpcode::kLVstu ||
                           op.code == DspOpcode::kLVldm || op.code == DspOpcode::kLVstm;
  if (!any_address && at.address % op.size) return DspFault::kAlign;
  std::uint64_t first = 0, end = op.size;
  if (op.p) {
    const auto span = selected_span(m_, op);
    if (span.first > span.second) return DspFault::kNone;
    first = static_cast<std::uint64_t>(span.first),
    end = static_cast<std::uint64_t>(span.second) + 1;
  }
  return at.address + std::max(first, end) > bytes ? DspFault::kAddress : DspFault::kNone;
}

DspFault DspCore::check_control(const DspOp& op) {
  fault_detail_ = static_cast<std::uint32_t>(op.imm);
  switch (op.code) {
    case DspOpcode::kSTrap:
      return DspFault::kTrap;
    case DspOpcode::kSMtc:
    case DspOpcode::kSMfc: {
      const char needed = op.code == DspOpcode::kSMtc ? 'w' : 'r';
      const std::string_view access = arch::dsp_controls()[static_cast<std::size_t>(op.imm)].access;
      if (access.find(needed) == std::string_view::npos) return DspFault::kControl;
      if (needed == 'r' || op.imm != static_cast<int>(DspControl::kDmaStart))
        return DspFault::kNone;
      const std::uint32_t kind = m_.x.r[op.d];
      if (kind != 1 && kind != 2) return DspFault::kControl;
      const auto at = [&](DspControl which) { return std::uint64_t{control(which)}; };
      const std::uint64_t rows = at(DspControl::kDmaRows), row = at(DspControl::kDmaRowBytes);
      if (rows == 0 || row == 0) return DspFault::kDma;
      // Factors of 32 bits: the product plus two such numbers fits 64 bits.
      const std::uint64_t end =
          at(DspControl::kDmaTcm) + (rows - 1) * at(DspControl::kDmaTcmStride) + row;
      return end > tcm_.size() ? DspFault::kDma : DspFault::kNone;
    }
    case DspOpcode::kSLoop:
    case DspOpcode::kSLoopi: {
      // A loop's body begins after its packet.
      const std::uint32_t pc = m_.next, start = pc + packets_[pc].count,
                          end = pc + static_cast<std::uint32_t>(op.imm);
      fault_detail_ = op.d;
      if (op.imm <= 0 || end <= start || end > words_.size()) return DspFault::kLoop;
      for (int l = 0; l < arch::kDspLoopLevels; ++l) {
        const LoopState& loop = m_.loops[static_cast<std::size_t>(l)];
        if (!loop.active) continue;
        if (l >= op.d) return DspFault::kLoop;
        if (pc >= loop.start && pc < loop.end && end > loop.end) return DspFault::kLoop;
      }
      return DspFault::kNone;
    }
    default:
      return DspFault::kNone;
  }
}

bool DspCore::must_wait(const DspOp& op, Stop& why) const {
  if (op.code == DspOpcode::kSWait) {
    why = Stop::kWaiting;
    return (control(DspControl::kPending) & static_cast<std::uint32_t>(op.imm)) == 0;
  }
  if (op.code != DspOpcode::kSMtc) return false;
  why = Stop::kBlocked;
  if (op.imm == static_cast<int>(DspControl::kMailOut))
    return mail_out_.size() >= static_cast<std::size_t>(config_.mailbox_depth);
  return op.imm == static_cast<int>(DspControl::kDmaStart) && dma_busy_;
}

std::uint32_t DspCore::bank_conflicts(const DspOp& op) {
  const auto banks = static_cast<std::uint32_t>(config_.tcm.banks);
  if (is_indexed(op.code)) {
    // Lanes that want one word share an access. Words of a bank are kept in a small table of their
    // own.
    std::array<std::array<std::uint32_t, 64>, 32> words;
    std::array<std::uint8_t, 32> counts{};
    std::uint32_t most = 1;
    for_each_element(m_, op, [&](std::uint32_t address) {
      const std::uint32_t word = address / 4, b = word % banks;
      auto& list = words[b];
      if (std::find(list.begin(), list.begin() + counts[b], word) != list.begin() + counts[b])
        return;
      list[counts[b]++] = word;
      most = std::max<std::uint32_t>(most, counts[b]);
    });
    return most - 1;
  }
  if (op.size < kDspVectorBytes) return 0;
  const std::uint32_t words = kDspVectorBytes / 4 + (access_of(m_, op).address % 4 != 0);
  return (words + banks - 1) / banks - 1;
}

}  // namespace deputy::dsp_model
