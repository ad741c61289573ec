#include "tests/rtl/rtl_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "arch/npu_timing.h"
#include "tests/support/run_executable.h"

namespace deputy::npu_test {

SideBySide::SideBySide() : rtl_(npu_model::make_rtl_core(arch::NpuConfig{})) {}

std::vector<std::vector<std::uint8_t>> SideBySide::run(
    const delegate::Graph& graph, Numerics numerics, const std::string& name,
    const std::vector<std::vector<std::uint8_t>>& inputs, bool npu_only) {
  delegate::CompileOptions options;
  options.numerics = numerics;
  if (npu_only) options.engine = delegate::EnginePolicy::kNpu;
  const auto executable = delegate::compile(graph, options);
  INFO(name << (executable.ok() ? "" : ": " + executable.error().text()));
  REQUIRE(executable.ok());
  test::ExecutableRunner runner(*executable, true);
  runner.run_programs_in(
      [&](auto words, auto regions) { run_program(*executable, words, std::move(regions), name); });
  return runner.run(inputs);
}

void SideBySide::run_program(const arch::Executable& e, std::span<const std::uint32_t> words,
                             std::vector<std::span<std::uint8_t>> regions,
                             const std::string& name) {
  test::FastNpu fast(e.target, regions);
  const std::span<std::uint8_t> spm = fast.executor().spm();
  std::vector<std::uint8_t> decoded;
  std::map<std::uint32_t, LayerCycles> by_tag;
  rtl_->reset();
  for (const arch::Instruction& instruction : test::decode_program(words)) {
    if (std::holds_alternative<arch::End>(instruction.op)) continue;
    INFO(name << ": " << arch::disassemble(instruction));
    if (const auto* load = std::get_if<arch::LoadWeights>(&instruction.op)) {
      decoded.assign(spm.begin(), spm.end());
      const auto result = decoder_.decode(
          *load, regions[load->region].subspan(load->mem_offset, load->stream_bytes), decoded);
      REQUIRE(static_cast<int>(result.fault) == 0);
      fast.execute(instruction.op);
      REQUIRE(std::ranges::equal(spm, decoded));
      ++blocks_;
      continue;
    }
    if (instruction.queue() != arch::Queue::kCompute) {
      fast.execute(instruction.op);
      continue;
    }
    std::ranges::copy(spm, rtl_->spm().begin());
    const std::uint64_t cycles = rtl_->execute(instruction.op).value();
    fast.execute(instruction.op);
    REQUIRE(std::ranges::equal(spm, rtl_->spm()));
    LayerCycles& layer = by_tag[instruction.header.tag];
    const std::uint64_t formula = arch::compute_cost(instruction.op, e.target).cycles;
    layer.rtl += cycles, layer.formula += formula, ++layer.tiles;
    const double error = std::abs(static_cast<double>(cycles) / static_cast<double>(formula) - 1);
    if (error > layer.tile_error)
      layer.tile_error = error,
      layer.tile = fmt::format("{} {}", cycles, arch::disassemble(instruction));
  }
  for (auto& [tag, layer] : by_tag) {
    layer.name = fmt::format("{} #{} {}", name, tag,
                             tag < e.ops.size() ? arch::op_name(e.ops[tag].kind) : "?");
    layers_.push_back(layer);
  }
}

LayerCycles SideBySide::total() const {
  LayerCycles sum;
  for (const LayerCycles& layer : layers_)
    sum.rtl += layer.rtl, sum.formula += layer.formula, sum.tiles += layer.tiles;
  return sum;
}

LayerCycles SideBySide::worst() const {
  return *std::ranges::max_element(layers_, {},
                                   [](const LayerCycles& l) { return std::abs(l.error()); });
}

}  // namespace deputy::npu_test
