// One Verilated shape of rtl/npu behind RtlCore. `Top` is the class that Verilator made.
#pragma once

#include <algorithm>
#include <cstring>
#include <variant>

#include "arch/flat_fields.h"
#include "base/check.h"
#include "npu_model/rtl/rtl_core.h"
#include "npu_model/rtl/rtl_decoder.h"

namespace deputy::npu_model {

template <class Top>
class RtlModel : public RtlCore {
 public:
  explicit RtlModel(const arch::NpuConfig& config) {
    top_.start_cycles = static_cast<std::uint16_t>(config.ctrl.start_cycles);
    top_.rst = 1;
    clock();
    clock();
    top_.rst = 0;
    reset();
  }

  std::span<std::uint8_t> spm() override {
    auto& banks = top_.rootp->npu__DOT__spm_i__DOT__bank;  // [row][bank]: in order of address
    static_assert(sizeof banks[0] % 8 == 0);
    return {reinterpret_cast<std::uint8_t*>(&banks[0][0]), sizeof banks};
  }
  std::span<std::int32_t> accumulators() override {
    auto& kept = top_.rootp->npu__DOT__drain_i__DOT__kept;
    return {reinterpret_cast<std::int32_t*>(&kept[0]), sizeof kept / 4};
  }

  arch::CodeFault load_weights(const arch::LoadWeights& op,
                               std::span<const std::uint8_t> stream) override {
    return decoder_.decode(op, stream, spm()).fault;
  }

  std::optional<std::uint64_t> execute(const arch::Operation& op) override {
    std::visit(
        [&]<class T>(const T& o) {
          DEPUTY_CHECK(T::kQueue == arch::Queue::kCompute,
                       "only compute instructions can be executed");
          top_.opcode = static_cast<std::uint8_t>(T::kOpcode);
          arch::flatten(o, std::span(words_));
        },
        op);
    std::memcpy(&top_.instr[0], words_, sizeof words_);
    top_.start = 1;
    clock();
    top_.start = 0;
    const std::uint64_t first = cycles_;
    while (!top_.done) {
      clock();
      DEPUTY_CHECK(cycles_ - first < kHangCycles, "the RTL does not come to an end");
    }
    return cycles_ - first;
  }

  void reset() override {
    std::ranges::fill(spm(), 0);
    std::ranges::fill(accumulators(), 0);
  }
  std::uint64_t cycles() const override { return cycles_; }

 private:
  // No instruction on the largest scratchpad that is built takes as long.
  static constexpr std::uint64_t kHangCycles = std::uint64_t{1} << 28;

  void clock() {
    top_.clk = 0;
    top_.eval();
    top_.clk = 1;
    top_.eval();
    ++cycles_;
  }

  Top top_;
  RtlDecoder decoder_;
  std::uint32_t words_[sizeof(Top::instr) / 4] = {};
  std::uint64_t cycles_ = 0;
};

}  // namespace deputy::npu_model
