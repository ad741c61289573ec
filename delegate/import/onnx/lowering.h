// From the ONNX model to the compiler's graph. A value may exist as several tensors, one for each
// order of its dimensions that somebody asked for (a Form); operators ask for the forms they need.
// So a transpose is only emitted between a maker and a user that want different orders, and ONNX's
// own Transpose nodes are views of their operands.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "delegate/import/onnx/model.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate::onnx_import {

/// The dimension of the value at each dimension of the tensor; kInserted: one of size 1 that the
/// value has not.
using Form = std::vector<int>;
inline constexpr int kInserted = -1;

struct Made {
  int value = kNoValue;
  Form form;
};

class Lowering {
 public:
  Lowering(Model& model, const OnnxOptions& options, std::vector<std::string>* notes);

  base::Result<Graph> run();

  // For the families of operators (lower_*.cpp). Each returns whether it took the node.

  Model& model;
  const OnnxOptions& options;
  QuantInfo quant;
  Graph graph;

  const arch::TensorDesc& desc(int value) const { return model.value(value).desc; }
  const Shape& shape(int value) const { return desc(value).shape; }
  std::size_t rank(int value) const { return shape(value).size(); }
  /// Whether Deputy's own kinds are used for it: int16 only where it is quantised.
  bool native_type(int value) const;
  bool constant(int value) const { return model.value(value).constant; }
  bool has(const Node& node, std::size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != kNoValue;
  }
  /// Integers of a constant operand; nullopt when there is none.
  std::optional<std::vector<std::int64_t>> integers(const Node& node, std::size_t i) const;
  std::optional<std::vector<float>> floats(int value) const;
  /// Axes from an operand or an attribute, from the front; nullopt when they are computed.
  std::optional<std::vector<std::int64_t>> axes(const Node& node, std::size_t i, const char* name,
                                                std::size_t rank) const;

  /// The value's own order.
  Form plain(int value) const;
  /// The tensor of a value in this form, made from another form where there is none yet.
  TensorId get(int value, const Form& form);
  /// Forms that exist, also through views.
  std::vector<Form> available(int value) const;
  /// Whether the value has it without a transpose.
  bool cheap(int value, const Form& form) const;
  /// The form of operands of `rank` that costs the fewest transposes; no plain one, where that
  /// costs no more.
  Form best_form(std::span<const int> values, std::size_t rank) const;
  /// Of an operand that is repeated to the rank of `form`.
  Form repeated(int value, const Form& form) const;

  TensorId constant_ints(std::vector<std::int32_t> values, bool scalar = false);
  TensorId add_constant(arch::TensorDesc desc, std::vector<std::uint8_t> data);

  /// Adds an operator if its rules and the CPU take it. The results get the quantisation of their
  /// values.
  bool emit(arch::OpKind kind, const arch::OpAttrs& attrs, std::vector<TensorId> inputs,
            const std::vector<Made>& outputs);
  /// As an ONNX operator, which the importer has checked.
  void emit_onnx(const arch::OnnxNode& node, std::vector<TensorId> inputs,
                 const std::vector<Made>& outputs);

  /// `value` has the elements of `of`; dimension d of it is dimension order[d] of `of`.
  void view(int value, int of, std::vector<int> order);
  void reshaped(int value, int of) { reshapes_[value] = of; }
  /// What a reshape is made of: {value, itself} when it is none.
  int reshape_source(int value) const;
  /// Whether the value has no dense tensor in its own order yet.
  bool only_permuted(int value) const;

  /// DQ - this node - [Relu or Clip] - Q: the node as an integer operator.
  struct Site {
    int value = kNoValue;         ///< the integer result
    std::uint8_t activation = 0;  ///< arch::Activation
    std::vector<int> absorbed;    ///< nodes that it does
  };
  std::optional<Site> site(const Node& node) const;
  const Twin* twin(int value) const;
  void done(const Site& site);
  /// A new integer value like `like`, which the float value `of` is from now on the dequantised
  /// form of.
  int new_twin(int of, int like, const Quantisation& quantisation);
  /// The integer value in another quantisation of the same type.
  std::optional<int> requantised(int value, const Quantisation& wanted);

  void note(const Node& node, const std::string& text);

 private:
  base::Status lower(const Node& node);
  bool native(const Node& node);
  void generic(const Node& node);
  bool quantize(const Node& node);
  TensorId convert(int value, const Form& from, const Form& to);
  TensorId constant_form(int value, const Form& form);
  TensorId add_tensor(int value, const Form& form);
  Shape shape_in(int value, const Form& form) const;
  Form squeezed(int value, const Form& form) const;
  void remove_dead();

  std::vector<std::string>* notes_;
  std::map<int, std::map<Form, TensorId>> forms_;
  struct View {
    int value;
    std::vector<int> order;
  };
  std::map<int, View> views_;
  std::map<int, int> reshapes_;
  std::vector<bool> done_;
  int source_ = -1;
};

/// run(operand, result) emits the node on the integers that its operand is made of, where it stands
/// between DQ and Q of one type and nothing else is to be done there. Returns whether it did.
template <class Run>
bool on_integers(Lowering& l, const Node& node, Run&& run) {
  const Twin* operand = l.twin(node.inputs[0]);
  if (!operand) return false;
  const int from = operand->value;  // what run() emits may move the twins
  const auto site = l.site(node);
  if (!site || site->activation || l.desc(site->value).dtype != l.desc(from).dtype) return false;
  if (!run(from, site->value)) return false;
  l.done(*site);
  return true;
}

// Families.
bool lower_convolution(Lowering& l, const Node& node);
bool lower_matrix(Lowering& l, const Node& node);
bool lower_pool(Lowering& l, const Node& node);
bool lower_elementwise(Lowering& l, const Node& node);
bool lower_rows(Lowering& l, const Node& node);
bool lower_movement(Lowering& l, const Node& node);
bool lower_reduction(Lowering& l, const Node& node);
bool lower_resize(Lowering& l, const Node& node);

/// Pads that make a window's result as the model says it: before as written or by auto_pad, after
/// as needed.
struct Pads {
  std::int64_t before = 0, after = 0;
};
Pads window_pads(const arch::OnnxNode& node, std::size_t dimension, std::size_t dimensions,
                 std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                 std::int64_t dilation);

/// BatchNormalization with constants: into the convolution before, or a convolution of its own, or
/// product and sum.
void fold_batch_norms(Model& model);

/// DepthToSpace in the order of PyTorch's PixelShuffle (CRD) behind a convolution: the other order,
/// which engines know, and the convolution's channels in the order that this one wants.
void reorder_pixel_shuffles(Model& model);

}  // namespace deputy::delegate::onnx_import
