#include "host_runtime/runtime/verify_dsp_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arch/dsp_isa.h"
#include "arch/dsp_job.h"
#include "arch/dsp_packet.h"

namespace deputy::host_runtime {
namespace {

using arch::DspCommand, arch::DspCommandKind, arch::Region;

class Verifier {
 public:
  Verifier(const arch::Executable& e, const arch::Step& step, const std::string& where)
      : e_(e), step_(step), where_(where) {}

  base::Result<DspFootprint> run() {
    const std::vector<std::uint32_t>& words = e_.dsp_jobs[step_.dsp_job].words;
    constexpr std::size_t kWords = arch::kDspCommandBytes / 4;
    if (words.empty() || words.size() % kWords != 0 ||
        words.size() / kWords > arch::kDspMostCommands)
      return bad("its list is no whole number of commands, or too long");
    for (std::size_t i = 0; i < words.size() / kWords; ++i) {
      const auto command = arch::unpack<DspCommand>(std::span(words).subspan(i * kWords, kWords));
      if (arch::first_bad_field(command)) return bad("a command's field is out of range", i);
      DEPUTY_TRY(check(command, i));
    }
    return std::move(out_);
  }

 private:
  base::Error bad(const std::string& what, std::optional<std::size_t> command = {}) const {
    return {base::ErrorKind::kModel, where_,
            command ? fmt::format("command {}: {}", *command, what) : what,
            "compile the model again"};
  }

  base::Status check(const DspCommand& c, std::size_t i) {
    const auto kind = static_cast<DspCommandKind>(c.kind);
    if ((kind == DspCommandKind::kProgram) != (i == 0))
      return bad("a job begins with its program, and has one", i);
    if (kind == DspCommandKind::kRun)
      return c.entry < out_.program_bytes / 4 ? base::Status()
                                              : bad("it runs outside the program", i);
    const auto region = static_cast<Region>(c.region);
    if (c.rows == 0 || c.row_bytes == 0) return bad("it moves nothing", i);
    const std::uint64_t last = std::uint64_t{c.rows - 1},
                        end = c.offset + last * c.memory_stride + c.row_bytes;
    if (end > e_.region_bytes(region)) return bad("it leaves its region", i);
    if (kind == DspCommandKind::kProgram) return program(c, i);
    out_.tcm_bytes = std::max(out_.tcm_bytes, c.tcm + last * c.tcm_stride + c.row_bytes);
    const RegionRange range{static_cast<int>(region), c.offset, end};
    if (kind == DspCommandKind::kLoad) {
      if (region != Region::kConstants) out_.reads.push_back(range);
      return {};
    }
    const bool its_own = std::ranges::any_of(step_.outputs, [&](std::uint32_t id) {
      const arch::PlacedTensor& t = e_.tensors[id];
      return t.placement == arch::Placement::kRegion && t.region == region &&
             t.offset <= range.begin &&
             range.end <= t.offset + static_cast<std::uint64_t>(t.desc.bytes());
    });
    if (!its_own) return bad("it stores outside its outputs", i);
    out_.writes.push_back(range);
    return {};
  }

  // Its own DMA channel would reach any address: no word of it may write the channel's registers.
  base::Status program(const DspCommand& c, std::size_t i) {
    if (static_cast<Region>(c.region) != Region::kConstants || c.row_bytes % 4 != 0)
      return bad("its program is no word sequence among the constants", i);
    out_.program_bytes = c.row_bytes;
    for (std::uint32_t at = 0; at < c.row_bytes; at += 4) {
      std::uint32_t word = 0;
      for (std::uint32_t b = 0; b < 4; ++b)
        word |= std::uint32_t{e_.constants[c.offset + at + b]} << (8 * b);
      arch::DspOp op;
      if (arch::decode_dsp_op(word, op) == arch::DspDecodeFault::kNone &&
          op.code == arch::DspOpcode::kSMtc && op.imm >= kFirstChannelRegister &&
          op.imm <= kLastChannelRegister)
        return bad("its program uses the DMA channel", i);
    }
    return {};
  }

  static constexpr std::int32_t kFirstChannelRegister =
                                    static_cast<std::int32_t>(arch::DspControl::kDmaMemLow),
                                kLastChannelRegister =
                                    static_cast<std::int32_t>(arch::DspControl::kDmaStart);
  const arch::Executable& e_;
  const arch::Step& step_;
  const std::string& where_;
  DspFootprint out_;
};

}  // namespace

base::Result<DspFootprint> verify_dsp_job(const arch::Executable& executable,
                                          const arch::Step& step, const std::string& where) {
  return Verifier(executable, step, where).run();
}

}  // namespace deputy::host_runtime
