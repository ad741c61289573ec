#include "arch/dsp_isa.h"

#include <map>

namespace deputy::arch {
namespace {

constexpr std::array<DspOperand, 5> parse_syntax(std::string_view text) {
  std::array<DspOperand, 5> out{};
  int count = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == ' ' || text[i] == ',' || text[i] == ']') continue;
    out[count++] = {text[i], text[i + 1]};
    ++i;
  }
  return out;
}

std::array<DspOpInfo, kDspOpcodes> make_table() {
  std::array<DspOpInfo, kDspOpcodes> table{};
  std::array<std::uint8_t, kDspSlots> next{};
  int i = 0;
#define DEPUTY_DSP_ROW(id, name, slot, format, syntax, role, size, latency, doc)                 \
  table[i] = DspOpInfo{                                                                          \
      DspOpcode::id,       name,   DspSlot::slot,       next[static_cast<int>(DspSlot::slot)]++, \
      DspFormat::format,   syntax, DspRole::role,       size,                                    \
      DspLatency::latency, doc,    parse_syntax(syntax)};                                        \
  ++i;
  DEPUTY_DSP_OPS(DEPUTY_DSP_ROW)
#undef DEPUTY_DSP_ROW
  return table;
}
const std::array<DspOpInfo, kDspOpcodes>& table() {
  static const auto rows = make_table();
  return rows;
}

constexpr DspControlInfo kControls[] = {
    {"cbase0", "rw", "first byte of circular buffer 0"},
    {"cbase1", "rw", "first byte of circular buffer 1"},
    {"cbase2", "rw", "first byte of circular buffer 2"},
    {"cbase3", "rw", "first byte of circular buffer 3"},
    {"clen0", "rw", "bytes of circular buffer 0"},
    {"clen1", "rw", "bytes of circular buffer 1"},
    {"clen2", "rw", "bytes of circular buffer 2"},
    {"clen3", "rw", "bytes of circular buffer 3"},
    {"pending", "rw", "events: 1 mail, 2 DMA, 4 host; writing 1 clears"},
    {"enable", "rw", "events that interrupt"},
    {"vector", "rw", "word of the interrupt handler"},
    {"return", "rw", "word to return to"},
    {"interrupts", "rw", "bit 0: interrupts may be taken"},
    {"mail_in", "r", "the oldest word from the host; reading removes it; 0 when there is none"},
    {"mail_waiting", "r", "words from the host"},
    {"mail_out", "w", "a word to the host; while there is no room the packet waits"},
    {"mail_room", "r", "words to the host that there is room for"},
    {"cycle", "r", "cycles since the start, lower 32 bits"},
    {"dma_mem_low", "rw", "address in system memory, lower 32 bits"},
    {"dma_mem_high", "rw", "address in system memory, upper 8 bits"},
    {"dma_tcm", "rw", "address in the data memory"},
    {"dma_row_bytes", "rw", "contiguous bytes of a row"},
    {"dma_rows", "rw", "rows"},
    {"dma_mem_stride", "rw", "bytes from row to row in system memory"},
    {"dma_tcm_stride", "rw", "bytes from row to row in the data memory"},
    {"dma_start", "w",
     "1: memory to data memory; 2: data memory to memory; waits while a transfer runs"},
    {"dma_status", "r", "bit 0: a transfer runs; bit 1: the last one failed"},
    {"host_interrupt", "w", "raises the host's interrupt with this number"},
};
static_assert(std::size(kControls) == static_cast<std::size_t>(DspControl::kCount));

}  // namespace

const DspOpInfo& dsp_op_info(DspOpcode code) { return table()[static_cast<std::size_t>(code)]; }
std::span<const DspOpInfo> dsp_op_infos() { return table(); }
const DspOpInfo* find_dsp_op(std::string_view name) {
  static const auto names = [] {
    std::map<std::string_view, const DspOpInfo*> out;
    for (const auto& row : table()) out[row.name] = &row;
    return out;
  }();
  const auto at = names.find(name);
  return at == names.end() ? nullptr : at->second;
}
std::span<const DspControlInfo> dsp_controls() { return kControls; }

std::string_view dsp_fault_text(DspFault fault) {
  switch (fault) {
    case DspFault::kNone:
      return "none";
    case DspFault::kFetch:
      return "no program at this word";
    case DspFault::kDecode:
      return "not a packet";
    case DspFault::kAddress:
      return "outside the data memory";
    case DspFault::kAlign:
      return "misaligned address";
    case DspFault::kCircular:
      return "outside the circular buffer";
    case DspFault::kLoop:
      return "a loop that is not nested";
    case DspFault::kControl:
      return "no such access to a control register";
    case DspFault::kTrap:
      return "trap";
    case DspFault::kDma:
      return "a transfer outside the data memory";
  }
  return "?";
}

}  // namespace deputy::arch
