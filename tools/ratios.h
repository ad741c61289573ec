// `deputy bench ratios`: our NPU cycles beside an outside reference's at equal arithmetic, clock,
// memories and SRAM, and the layers that make the difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/anchors.h"
#include "tools/bounds.h"
#include "tools/report.h"

namespace deputy::tools {

/// One of our operators, and the reference's cycles for the same layer (0: not known).
struct RatioLayer {
  std::uint32_t index = 0;
  std::string kind, name, bound;
  std::uint64_t cycles = 0;  ///< its share of the NPU's time
  double bound_cycles = 0;   ///< the largest of its bounds
  double reference_cycles = 0;
  Bounds bounds{};  ///< all of them
  /// Cycles over the reference's.
  double excess() const { return static_cast<double>(cycles) - reference_cycles; }
  double bound_ratio() const {
    return bound_cycles > 0 ? static_cast<double>(cycles) / bound_cycles : 0;
  }
  /// Why it takes longer than the reference's: what it was bound to take, or what it waited for
  /// beyond that.
  std::string reason() const;
};

inline constexpr double kWorthBounding = 20000, kCloseToBound = 1.15;

struct Ratio {
  AnchorRow anchor;
  std::uint64_t cycles = 0;      ///< first NPU job's start to the last one's end
  std::uint64_t sram_bytes = 0;  ///< of the compiler's arena
  std::uint64_t sram_allowed = 0;
  std::uint64_t dram_bytes = 0,
                dram_feature_map_bytes = 0;  ///< moved by the NPU, commands included
  std::size_t on_cpu = 0;                    ///< operators
  double bound_ratio = 0;                    ///< busy cycles over the bound of the whole network
  std::vector<RatioLayer> layers;            ///< on the NPU, in the model's order
  std::vector<RatioLayer> costly()
      const;  ///< those that take longer than the reference's, worst first
  /// Those whose bound is over kWorthBounding cycles and that take more than kCloseToBound times
  /// it.
  std::vector<RatioLayer> far_from_bound() const;
  double ratio() const { return static_cast<double>(cycles) / anchor.reference; }
};

/// Whether a row is one of these: cycles of a model on its file's SoC.
bool is_ratio_row(const AnchorRow& row);

/// Runs one row's model from the folder `data`, timing only, everything the NPU can take on the
/// NPU, with the SRAM the reference uses. `per_layer`: folder of the reference's tables, or empty.
base::Result<Ratio> measure_ratio(const AnchorRow& anchor, SimulateOptions options,
                                  const std::string& data, const std::string& per_layer);

/// The reference's cycles of each operator of `report`, from one of its tables (CSV with the
/// columns TFLite_operator and Op Cycles; several rows of one operator follow one another). The
/// n-th convolution is compared with its n-th one, and so on for each kind; fully connected layers
/// count as convolutions. 0 where it has none.
base::Result<std::vector<double>> reference_layers(const Report& report,
                                                   const std::string& csv_text,
                                                   const std::string& name);

}  // namespace deputy::tools
