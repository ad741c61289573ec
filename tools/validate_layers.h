// Layers against a reference's table of layers: how long each takes and what limits it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/report.h"

namespace deputy::tools {

/// One layer of the reference.
struct LayerRow {
  std::string name;
  bool winograd = false, strided = false;  ///< Winograd's algorithm; a 1x1 kernel with a stride
  double cycles = 0;
  std::string bound;  ///< MAC, DRAM or CVSRAM
};

/// Reads a table: comment lines with '#', then the titles layer,winograd,strided,cycles,bound, then
/// one line a layer.
base::Result<std::vector<LayerRow>> load_layer_table(const std::string& path);

/// Sums over the layers that do not use Winograd's algorithm.
struct LayerComparison {
  int count = 0, same_bound = 0;
  double cycles = 0, reference_cycles = 0;
  double unstrided_cycles = 0,
         unstrided_reference_cycles = 0;  ///< of those that are not strided, too
  std::vector<std::string> differing;     ///< "Res2a_branch1: DRAM there, MAC here"
};

/// An operator belongs to the layer whose name begins its own (up to a '/' or the end), else to the
/// layer before: element-wise operators and pools that follow a convolution. A layer's bottleneck
/// is the largest sum of its operators' bounds. Error: a layer of the table is not in the report.
/// `where` names the row in errors.
base::Result<LayerComparison> compare_layers(const Report& report,
                                             const std::vector<LayerRow>& table,
                                             const std::string& where);

}  // namespace deputy::tools
