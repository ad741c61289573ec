// What the random graphs are made of: tensors with plausible quantisations, constants, and
// operators whose attributes are completed and checked as an importer would. Everything follows
// from the seed by integer and exactly rounded arithmetic, so a seed means the same graph on every
// machine.
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"
#include "workloads/random.h"

namespace deputy::graphs {

using arch::OpKind;
using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::Tensor;
using delegate::TensorId;

/// How large a graph may become.
struct Limits {
  int steps = 6;                 ///< random steps; one step adds one to about eight operators
  std::int64_t elements = 4096;  ///< of one feature map
  std::int64_t macs = 200000;    ///< of one operator
};

class Maker {
 public:
  Maker(std::string name, std::uint64_t seed, Limits limits) : limits(limits), random_(seed) {
    graph_.name = std::move(name);
  }
  const Limits limits;
  DType type = DType::kInt8;  ///< of new feature maps and weights; or uint8, whose zero points are
                              ///< 128 higher

  /// A zero point in int8's terms as one of `type`.
  std::int32_t zero(std::int32_t signed_zero) const {
    return type == DType::kUint8 ? signed_zero + 128 : signed_zero;
  }

  // Chance.
  int pick(int low, int high) {  ///< low and high included
    return low + static_cast<int>(random_.below(static_cast<std::uint32_t>(high - low + 1)));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[pick(0, static_cast<int>(values.size()) - 1)];
  }
  /// (1 .. 2) * 2^low .. (1 .. 2) * 2^high
  float scale(int low, int high);
  /// A feature map's quantisation: real values of order 1, any zero point, the extremes often.
  Quantisation quantisation();

  // The graph so far.
  Graph& graph() { return graph_; }
  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }
  const Shape& shape(TensorId id) const { return tensor(id).desc.shape; }
  const Quantisation& quant(TensorId id) const { return tensor(id).desc.quant; }
  std::int64_t elements(TensorId id) const { return tensor(id).desc.elements(); }
  bool is_image(TensorId id) const { return shape(id).size() == 4; }

  /// Feature maps that steps may read: inputs and results, oldest first.
  const std::vector<TensorId>& maps() const { return maps_; }
  /// A feature map of `type` for which `suits`: a recent one most of the time; kNoTensor if there
  /// is none.
  TensorId pick_map(const std::function<bool(TensorId)>& suits);
  TensorId pick_image() {
    return pick_map([this](TensorId id) { return is_image(id); });
  }

  // New tensors.
  TensorId input(Shape shape, Quantisation quant);
  TensorId ints(const std::vector<std::int32_t>& values);
  TensorId int_matrix(const std::vector<std::int32_t>& values, std::int32_t columns);
  /// A constant of `type` with values over its whole range.
  TensorId constant_map(Shape shape, Quantisation quant);
  /// Weights whose scales, per tensor or per channel of `axis`, take x's values to out's range over
  /// `fan_in` products; the values' distribution varies (full range, small, sparse, one value).
  /// Unsigned ones have one scale and any zero point near the middle.
  TensorId weights(Shape shape, std::int32_t axis, std::int64_t fan_in, TensorId x,
                   const Quantisation& out);
  /// Absent one time in six, unless `required`.
  TensorId bias(std::int32_t channels, bool required = false);

  /// Appends an operator with one result. Throws std::logic_error when it is not legal: the step is
  /// wrong.
  TensorId emit(OpKind kind, arch::OpAttrs attrs, std::vector<TensorId> inputs, Shape out,
                Quantisation quant);
  std::vector<TensorId> emit_parts(OpKind kind, arch::OpAttrs attrs, std::vector<TensorId> inputs,
                                   std::vector<Shape> outs, Quantisation quant);

 private:
  TensorId add(Tensor t);
  TensorId add_constant(Shape shape, DType dtype, Quantisation quant, const void* data,
                        std::size_t bytes);
  std::int8_t weight(int distribution);

  workloads::Random random_;
  Graph graph_;
  std::vector<TensorId> maps_;
};

}  // namespace deputy::graphs
