// From the compiler's graph to an ONNX model. As in the importer (lowering.h) a tensor may exist in
// several orders of its dimensions, made when somebody asks for them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delegate/import/onnx/model.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate::onnx_import {

inline constexpr int kExportedOpset = 17;

/// The tensor's dimension at each dimension of the value.
using Order = std::vector<int>;

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph(graph) {}
  base::Result<Model> run();

  // For the operators (export_*.cpp).

  const Graph& graph;

  const arch::TensorDesc& desc(TensorId id) const { return graph.tensor(id).desc; }
  const Shape& shape(TensorId id) const { return desc(id).shape; }
  std::size_t rank(TensorId id) const { return shape(id).size(); }
  static Order plain(std::size_t rank);
  static Order image() { return {0, 3, 1, 2}; }  ///< of NHWC: NCHW
  /// The order that the first of these computed tensors exists in, if it is of `rank`; else the
  /// plain one.
  Order order_of(const std::vector<TensorId>& ids, std::size_t rank) const;

  /// The tensor's reals in this order.
  int get(TensorId id, const Order& order);
  int get(TensorId id) { return get(id, plain(rank(id))); }
  /// An operand that is repeated along missing dimensions before its first, in the order of the
  /// others. nullopt: it is computed and has fewer dimensions, which only the plain order can
  /// repeat.
  std::optional<int> get_repeated(TensorId id, const Order& order);
  /// Makes `value` the tensor in this order: through Q and DQ where it is an integer.
  void put(TensorId id, const Order& order, int value);
  /// The value is the tensor as it is.
  void alias(TensorId id, const Order& order, int value) { values_[id].emplace_back(order, value); }

  /// An ONNX operator of the graph, whose results come one after the other from the one returned.
  int add(const Op& op, const arch::OnnxNode& node, std::vector<int> inputs);
  /// A node with one result, which is returned. Its shape is not needed.
  int add(const std::string& op, std::vector<int> inputs, std::vector<arch::OnnxAttr> attrs = {},
          std::size_t results = 1);
  int add_constant(const std::string& name, DType dtype, Shape shape,
                   std::vector<std::uint8_t> data);
  int add_floats(const std::string& name, Shape shape, const std::vector<float>& values);
  int add_ints(const std::string& name, const std::vector<std::int64_t>& values);
  /// The same value through Q and DQ of this tensor's quantisation; itself for floats.
  int quantised(TensorId like, int value);
  /// With the operator's fused activation.
  int activated(const Op& op, int value);

 private:
  int name_value(std::string name);
  std::string numbered(const char* letter) const;
  /// Of the newest node: 16 bits are com.microsoft's in the exported operator set.
  void in_domain_of(DType dtype) { model_.nodes.back().microsoft = sixteen_bits(dtype); }
  int dequantised(int value, const Quantisation& quant, std::int64_t axis, bool zero_point,
                  DType dtype);
  int constant(TensorId id, const Order& order);
  int output(TensorId id);

  Model model_;
  std::set<std::string> names_;
  std::map<TensorId, std::vector<std::pair<Order, int>>> values_;  ///< reals
};

arch::OnnxAttr ints_attr(std::string name, std::vector<std::int64_t> values);
arch::OnnxAttr float_attr(std::string name, float value);
arch::OnnxAttr text_attr(std::string name, std::string value);

/// kUnsupported: ONNX has no words for it.
base::Status export_op(Exporter& e, const Op& op);
// Families; each returns whether it took the operator.
bool export_weighted(Exporter& e, const Op& op);
bool export_window(Exporter& e, const Op& op);
bool export_elementwise(Exporter& e, const Op& op);
bool export_movement(Exporter& e, const Op& op);
bool export_rows(Exporter& e, const Op& op);

/// Why a node that means what it does in an older operator set means something else in the exported
/// one.
std::optional<std::string> changed_meaning(const arch::OnnxNode& node);

/// The model as a file. Attributes get the types that the operator's schema says.
base::Result<std::vector<std::uint8_t>> write_proto(const Model& model);

}  // namespace deputy::delegate::onnx_import
