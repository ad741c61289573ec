// What is done to the float graph before anything is measured. The function that it computes stays
// the same.
#pragma once

#include <string>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::quantize {

/// Users of each tensor, once per use; a graph output counts as one (kGraphOutput).
inline constexpr std::size_t kGraphOutput = static_cast<std::size_t>(-1);
std::vector<std::vector<std::size_t>> users_of(const delegate::Graph& graph);
/// The operator that makes each tensor; kGraphOutput where none does.
std::vector<std::size_t> makers_of(const delegate::Graph& graph);

std::vector<float> floats_of(const delegate::Tensor& tensor);
void set_floats(delegate::Tensor& tensor, const std::vector<float>& values);
delegate::TensorId add_floats(delegate::Graph& graph, std::string name, Shape shape,
                              const std::vector<float>& values);

/// CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED on floats with constant weights and a constant
/// bias, or none.
bool is_weighted(const delegate::Graph& graph, const delegate::Op& op);
/// Output channels of a weighted operator, and the channel of the weight at a flat index.
std::size_t weight_channels(const delegate::Graph& graph, const delegate::Op& op);
std::size_t weight_channel(const delegate::Graph& graph, const delegate::Op& op, std::size_t index);

/// RELU, RELU6 and RELU_N1_TO_1 become the fused activation of the operator before, so that no
/// range is spent on what they cut off.
void fuse_activations(delegate::Graph& graph);

/// What the importer leaves of batch normalisations, multiplications and additions by a constant
/// per channel: into the weights and bias of a weighted operator before. Returns how many went.
int fold_scales(delegate::Graph& graph);

/// Constants of weighted operators that anybody else reads too become their own: passes change them
/// in place.
void separate_weights(delegate::Graph& graph);

/// Removes operators and tensors that no output needs.
void remove_unused(delegate::Graph& graph);

}  // namespace deputy::quantize
