// What the compiler may do beyond the plain translation, each with a switch of its own: an
// architect turns one off and sees what it was worth. With everything off the result is one
// operator after the other, each tile loaded, computed and stored in turn. Outputs never depend on
// a switch.
#pragma once

#include <cstdint>

#include "base/fields.h"

namespace deputy::delegate {

struct Optimisations {
  bool fusion = true;
  bool expansion = true;
  bool views = true;
  bool in_place = true;
  bool cascade = true;
  bool double_buffer = true;
  bool prefetch = true;
  bool staging = true;
  bool compression = true;
  bool tile_search = true;
  bool placement = true;
  /// The names are the switches' names: `--compare no-fusion,no-cascade`.
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.fusion, Field{.name = "fusion",
                      .doc = "join operators into one kernel: padding, activations, tables, "
                             "residual adds, pooling"});
    v(s.expansion, Field{.name = "expansion",
                         .doc = "a 1x1 convolution makes the depthwise layer's input behind it "
                                "tile by tile in the scratchpad; needs fusion"});
    v(s.views,
      Field{.name = "views",
            .doc = "CONCATENATION, SPLIT and the like write and read in place of copying"});
    v(s.in_place, Field{.name = "in-place",
                        .doc = "an operator may overwrite an input that nobody reads again"});
    v(s.cascade,
      Field{.name = "cascade",
            .doc = "run several layers stripe by stripe, with rolling line buffers between them"});
    v(s.double_buffer,
      Field{.name = "double-buffer",
            .doc = "overlap a tile's transfers with the computation of its neighbours"});
    v(s.prefetch, Field{.name = "prefetch",
                        .doc = "load a layer's first weights while the layer before it computes"});
    v(s.staging, Field{.name = "staging",
                       .doc = "copy constants into SRAM that no tensor needs while the DRAM is "
                              "idle; needs prefetch"});
    v(s.compression,
      Field{.name = "compression", .doc = "compress weights where that makes them smaller"});
    v(s.tile_search,
      Field{.name = "tile-search",
            .doc = "search tile shapes and loop orders by cost; off: the largest tile that fits"});
    v(s.placement,
      Field{.name = "placement",
            .doc = "place operators by cost; off: on the first engine that takes them"});
  }
};

/// How long the compiler may search.
enum class Effort : std::uint8_t { kFast, kFull };

}  // namespace deputy::delegate
