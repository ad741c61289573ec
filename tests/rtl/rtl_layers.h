// Runs compiled networks instruction by instruction on the fast executor and the RTL side by side:
// same scratchpad before, same scratchpad after, and the cycles of each, layer by layer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "npu_model/rtl/rtl_core.h"
#include "npu_model/rtl/rtl_decoder.h"

namespace deputy::npu_test {

struct LayerCycles {
  std::string name;  ///< "model #op KIND"
  std::uint64_t rtl = 0, formula = 0, tiles = 0;
  std::string tile;  ///< the instruction that is furthest from its formula
  double tile_error = 0;
  double error() const { return static_cast<double>(rtl) / static_cast<double>(formula) - 1; }
};

class SideBySide {
 public:
  SideBySide();
  /// Compiles the graph for the RTL's default shape and runs it once on seeded inputs. Fails the
  /// test at the first tile, or decoded block, whose bytes differ. Returns the outputs.
  std::vector<std::vector<std::uint8_t>> run(const delegate::Graph& graph, Numerics numerics,
                                             const std::string& name,
                                             const std::vector<std::vector<std::uint8_t>>& inputs,
                                             bool npu_only = false);

  /// Layers in order of execution, over all runs.
  const std::vector<LayerCycles>& layers() const { return layers_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t rtl_cycles() const { return rtl_->cycles(); }
  /// Sums over all layers: RTL cycles, formula's.
  LayerCycles total() const;
  /// The layer that is furthest from the formula.
  LayerCycles worst() const;

 private:
  void run_program(const arch::Executable& e, std::span<const std::uint32_t> words,
                   std::vector<std::span<std::uint8_t>> regions, const std::string& name);

  std::unique_ptr<npu_model::RtlCore> rtl_;
  npu_model::RtlDecoder decoder_;
  std::vector<LayerCycles> layers_;
  std::uint64_t blocks_ = 0;
};

}  // namespace deputy::npu_test
