#include "host_runtime/runtime/verify_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "arch/instruction_check.h"
#include "arch/npu_timing.h"
#include "arch/progress_bound.h"
#include "arch/registers.h"
#include "host_runtime/runtime/scratchpad_state.h"

namespace deputy::host_runtime {
namespace {

constexpr double kBudgetFloorPs = 100e9, kBudgetCeilingPs = 1000e12, kBudgetFactor = 16;
constexpr double kProgressFloorPs = 1e9;
constexpr std::uint64_t kMostCycles = 1'000'000'000'000;  // what the ceiling allows for is less
constexpr double kCyclesPerInstruction = 1000, kCyclesPerRow = 256, kCyclesPerByte = 4;

// Sorts and joins ranges that touch.
std::vector<RegionRange> merged(std::vector<RegionRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<RegionRange> out;
  for (const RegionRange& r : ranges) {
    if (!out.empty() && out.back().region == r.region && r.begin <= out.back().end)
      out.back().end = std::max(out.back().end, r.end);
    else
      out.push_back(r);
  }
  return out;
}

class Verifier {
 public:
  Verifier(const ProgramLimits& limits, const std::string& where)
      : limits_(limits), where_(where), scratchpad_(limits.target) {
    for (const auto& contents : limits.contents)
      contents_known_ = contents_known_ || !contents.empty();
  }

  base::Result<ProgramFootprint> run(std::span<const std::uint32_t> words) {
    std::size_t at = 0;
    for (bool ended = false; !ended;) {
      offset_ = at * 4;
      if (at == words.size()) return bad("the stream ends without END");
      const arch::Decoded decoded = arch::decode(words.subspan(at));
      if (decoded.fault != arch::DecodeFault::kNone)
        return bad(std::string(arch::npu_error_text(static_cast<arch::NpuError>(decoded.fault))) +
                   (decoded.field ? fmt::format(" ({})", decoded.field) : ""));
      const arch::Instruction& instruction = decoded.instruction;
      const double before = cycles_;
      if (const std::string problem = check(instruction); !problem.empty())
        return bad(fmt::format("{}: {}", arch::opcode_name(instruction.header.opcode), problem));
      longest_ = std::max(longest_, cycles_ - before);
      at += instruction.header.words;
      ended = std::holds_alternative<arch::End>(instruction.op);
    }
    offset_ = at * 4;
    if (at != words.size()) return bad("instructions follow END");
    const double period_ps = 1e6 / limits_.target.clock_mhz;
    const double budget_ps =
        std::min(kBudgetFloorPs + kBudgetFactor * cycles_ * period_ps, kBudgetCeilingPs);
    const double progress_ps =
        std::min(kProgressFloorPs + kBudgetFactor * longest_ * period_ps, kBudgetCeilingPs);
    const std::uint64_t gap_ps =
        arch::npu_progress_gap_ps(limits_.target, std::min(longest_compute_, kMostCycles),
                                  limits_.transaction_ps, limits_.clock_division);
    return ProgramFootprint{merged(std::move(reads_)), merged(std::move(writes_)),
                            static_cast<std::uint64_t>(budget_ps),
                            std::max(static_cast<std::uint64_t>(progress_ps), gap_ps)};
  }

 private:
  base::Error bad(const std::string& what) const {
    return {base::ErrorKind::kModel, where_,
            fmt::format("command stream, offset {:#x}: {}", offset_, what),
            "compile the model again"};
  }

  std::string check(const arch::Instruction& instruction) {
    const arch::Header& h = instruction.header;
    if (h.wait_load > issued(arch::Queue::kLoad) ||
        h.wait_compute > issued(arch::Queue::kCompute) ||
        h.wait_store > issued(arch::Queue::kStore))
      return "waits for an instruction that is not earlier in the stream";
    const bool end = std::holds_alternative<arch::End>(instruction.op);
    if (!end && h.tag >= limits_.op_count)
      return fmt::format("tag {} of {} operators", h.tag, limits_.op_count);
    std::string problem = std::visit(
        [&]<class T>(const T& op) -> std::string {
          if constexpr (std::is_base_of_v<arch::Transfer, T>)
            return transfer(op, std::is_same_v<T, arch::Store>);
          else if constexpr (std::is_same_v<T, arch::LoadWeights>)
            return load_weights(op);
          else
            return {};
        },
        instruction.op);
    if (problem.empty()) problem = state(instruction.op);
    if (!problem.empty()) return problem;
    ++issued_[static_cast<std::size_t>(instruction.queue())];
    cycles_ += kCyclesPerInstruction;
    if (instruction.queue() == arch::Queue::kCompute) {
      const std::uint64_t cycles = arch::compute_cost(instruction.op, limits_.target).cycles;
      longest_compute_ = std::max(longest_compute_, cycles);
      cycles_ += static_cast<double>(cycles);
    }
    return {};
  }

  // What the engine would say, and what it could not know.
  std::string state(const arch::Operation& op) {
    if (const arch::NpuError error = arch::check_instruction(op, limits_.target);
        error != arch::NpuError::kNone)
      return std::string(arch::npu_error_text(error));
    std::span<const std::uint8_t> contents;
    if (const auto* load = std::get_if<arch::Load>(&op)) contents = limits_.contents[load->region];
    if (const auto* load = std::get_if<arch::LoadWeights>(&op))
      contents = limits_.contents[load->region];
    return scratchpad_.follow(op, contents, contents_known_);
  }

  std::string scratchpad(std::uint64_t end) const {
    const auto bytes = static_cast<std::uint64_t>(limits_.target.spm.bytes);
    if (end <= bytes) return {};
    return fmt::format("touches the scratchpad up to byte {}, it has {}", end, bytes);
  }
  std::string transfer(const arch::Transfer& t, bool store) {
    const std::string problem = scratchpad(t.spm_addr + t.spm_extent());
    return problem.empty() ? memory(t, store) : problem;
  }
  std::string load_weights(const arch::LoadWeights& l) {
    std::uint64_t end = l.spm_addr + std::uint64_t{l.bytes};
    if (!l.fixed_code) end = std::max(end, l.table_addr + std::uint64_t{arch::kCodeTableBytes});
    if (const std::string problem = scratchpad(end); !problem.empty()) return problem;
    const arch::WeightDecoderConfig& decoder = limits_.target.wdec;
    cycles_ += decoder.setup_cycles + static_cast<double>(l.bytes) / decoder.bytes_per_cycle;
    arch::Transfer stream;
    stream.region = static_cast<std::uint8_t>(l.region);
    stream.mem_offset = l.mem_offset;
    stream.row_bytes = l.stream_bytes;
    return memory(stream, false);
  }

  std::string memory(const arch::Transfer& t, bool store) {
    const std::uint64_t size = limits_.region_bytes[t.region];
    const std::uint64_t end = t.mem_offset + t.mem_extent();  // 40 bits and 48: no wrap
    if (size == 0) return fmt::format("region {} is not bound", t.region);
    if (end > size)
      return fmt::format("bytes {} to {} leave region {} of {} bytes", t.mem_offset, end, t.region,
                         size);
    if (store && !limits_.writable[t.region])
      return fmt::format("writes to region {}, which is constant", t.region);
    (store ? writes_ : reads_).push_back({t.region, t.mem_offset, end});
    cycles_ += kCyclesPerByte * static_cast<double>(t.bytes()) +
               kCyclesPerRow * t.rows * static_cast<double>(t.planes);
    return {};
  }

  std::uint64_t issued(arch::Queue queue) const { return issued_[static_cast<std::size_t>(queue)]; }

  const ProgramLimits& limits_;
  const std::string& where_;
  ScratchpadState scratchpad_;
  bool contents_known_ = false;
  std::size_t offset_ = 0;
  std::array<std::uint64_t, 4> issued_{};
  std::vector<RegionRange> reads_, writes_;
  double cycles_ = 0, longest_ = 0;    ///< of all instructions, of one
  std::uint64_t longest_compute_ = 0;  ///< cycles of the formula
};

}  // namespace

base::Result<ProgramFootprint> verify_program(std::span<const std::uint32_t> words,
                                              const ProgramLimits& limits,
                                              const std::string& where) {
  return Verifier(limits, where).run(words);
}

}  // namespace deputy::host_runtime
