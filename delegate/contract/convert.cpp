#include "delegate/contract/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

class Converter {
 public:
  Converter(const Graph& graph, const CompileOptions& options) : options_(options) {
    out_.graph = graph;
    out_.graph.ops.clear();
  }

  Converted run(const Graph& graph) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const auto mismatches = check_contract(graph, i, options_);
      bool mend = !mismatches.empty();
      for (const Mismatch& m : mismatches) mend = mend && m.convertible;
      if (!mend || !convert(graph.ops[i], i, mismatches)) out_.graph.ops.push_back(graph.ops[i]);
    }
    return std::move(out_);
  }

 private:
  // What is made for one operator, kept only when all of it works.
  struct Draft {
    Op op;
    std::vector<Op> before, after;
    std::vector<std::string> texts;
  };

  bool convert(const Op& op, std::size_t index, const std::vector<Mismatch>& mismatches) {
    Graph& g = out_.graph;
    const std::size_t tensors = g.tensors.size();
    Draft draft{op, {}, {}, {}};
    for (const Mismatch& m : mismatches)
      if (!mend(draft, m.rule)) {
        g.tensors.resize(tensors);
        std::erase_if(converted_, [&](const auto& entry) {
          return static_cast<std::size_t>(entry.second) >= tensors;
        });
        return false;
      }
    g.ops.insert(g.ops.end(), draft.before.begin(), draft.before.end());
    g.ops.push_back(std::move(draft.op));
    g.ops.insert(g.ops.end(), draft.after.begin(), draft.after.end());
    for (std::string& text : draft.texts) out_.conversions.push_back({index, std::move(text)});
    return true;
  }

  bool mend(Draft& d, Rule rule) {
    switch (rule) {
      case Rule::kOneType:
        return one_type(d);
      case Rule::kSameQuantisation:
        return one_quantisation(d);
      case Rule::kSoftmaxOutput:
        return softmax_output(d);
      case Rule::kWeights:
        return weights_type(d);
      case Rule::kBias:
        return bias_type(d);
      case Rule::kBiasScale:
        return bias_scale(d);
      default:
        return false;
    }
  }

  // A new tensor, under the name of the one it stands for.
  TensorId add(Tensor tensor, const std::string& suffix) {
    tensor.desc.name += suffix;
    out_.graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(out_.graph.tensors.size() - 1);
  }
  // As `like`, but not constant.
  TensorId add_computed(const Tensor& like, const std::string& suffix, DType dtype,
                        Quantisation quant) {
    Tensor tensor;
    tensor.desc = like.desc;
    tensor.desc.dtype = dtype, tensor.desc.quant = std::move(quant);
    return add(std::move(tensor), suffix);
  }
  Op quantize(const Op& serves, TensorId from, TensorId to) const {
    return {OpKind::QUANTIZE, {}, {from}, {to}, serves.source_index};
  }
  // That of the same numbers in bytes of the other signedness.
  Quantisation other_quantisation(TensorId id) const {
    Tensor tensor;
    tensor.desc = out_.graph.tensor(id).desc;
    return other_signedness(std::move(tensor)).desc.quant;
  }
  std::string name(TensorId id) const {
    return fmt::format("'{}'", out_.graph.tensor(id).desc.name);
  }

  // Reads `id` as `dtype` with `quant`: by a QUANTIZE before the operator, one for all who want the
  // same.
  TensorId read_as(Draft& d, TensorId id, DType dtype, const Quantisation& quant) {
    const auto key = std::tuple(id, dtype, quant.scale, quant.zero_point);
    const auto [it, fresh] = converted_.try_emplace(key, kNoTensor);
    if (!fresh) return it->second;
    const Tensor like = out_.graph.tensor(id);
    const bool exact = like.desc.dtype != dtype && other_quantisation(id) == quant;
    const TensorId to = add_computed(like, fmt::format("/{}", dtype_name(dtype)), dtype, quant);
    it->second = to;
    d.before.push_back(quantize(d.op, id, to));
    d.texts.push_back(
        exact ? fmt::format("{} as {}: QUANTIZE before it, exact", name(id), dtype_name(dtype))
              : fmt::format("{} with scale {:g}: QUANTIZE before it, rounds", name(id),
                            quant.scale[0]));
    return to;
  }
  // The operator writes output k as `dtype` with `quant`, and a QUANTIZE makes the real one of it.
  void write_as(Draft& d, std::size_t k, DType dtype, Quantisation quant) {
    const TensorId real = d.op.outputs[k];
    const Tensor like = out_.graph.tensor(real);
    d.texts.push_back(fmt::format("{} made with scale {:g}: QUANTIZE behind it, rounds", name(real),
                                  quant.scale[0]));
    d.op.outputs[k] = add_computed(like, "/as_made", dtype, std::move(quant));
    d.after.push_back(quantize(d.op, d.op.outputs[k], real));
  }

  bool one_type(Draft& d) {
    const DType want = out_.graph.tensor(d.op.outputs[0]).desc.dtype;
    for (const TensorId id : d.op.outputs)
      if (out_.graph.tensor(id).desc.dtype != want) return false;
    for (TensorId& id : d.op.inputs) {
      if (!is_data(d.op, id) || out_.graph.tensor(id).desc.dtype == want) continue;
      id = read_as(d, id, want, other_quantisation(id));
    }
    return weights_type(d);
  }

  // One input: the operator keeps its quantisation, and its outputs change theirs. Several: they
  // take the output's.
  bool one_quantisation(Draft& d) {
    const std::vector<TensorId> data = data_inputs(d.op);
    const Tensor& first = out_.graph.tensor(data[0]);
    if (data.size() == 1) {
      const DType dtype = first.desc.dtype;
      const Quantisation quant = first.desc.quant;
      for (std::size_t k = 0; k < d.op.outputs.size(); ++k)
        if (!same_quantisation(out_.graph.tensor(data[0]), out_.graph.tensor(d.op.outputs[k])))
          write_as(d, k, dtype, quant);
      return true;
    }
    const arch::TensorDesc want = out_.graph.tensor(d.op.outputs[0]).desc;
    for (TensorId& id : d.op.inputs)
      if (is_data(d.op, id) &&
          !same_quantisation(out_.graph.tensor(id), out_.graph.tensor(d.op.outputs[0])))
        id = read_as(d, id, want.dtype, want.quant);
    return true;
  }

  bool softmax_output(Draft& d) {
    const DType dtype = out_.graph.tensor(d.op.outputs[0]).desc.dtype;
    Quantisation quant = out_.graph.tensor(d.op.outputs[0]).desc.quant;
    quant.scale[0] = 1.0f / 256, quant.zero_point[0] = dtype == DType::kUint8 ? 0 : -128;
    write_as(d, 0, dtype, quant);
    return true;
  }

  bool weights_type(Draft& d) {
    if (!is_weighted_kind(d.op.kind)) return true;
    const DType want = out_.graph.tensor(d.op.inputs[0]).desc.dtype;
    Tensor w = out_.graph.tensor(d.op.inputs[1]);
    if (w.desc.dtype == want) return true;
    if (!w.constant || dtype_size(w.desc.dtype) != 1) return false;
    w = other_signedness(std::move(w));
    d.texts.push_back(fmt::format("'{}' as {}: rewritten, exact", w.desc.name, dtype_name(want)));
    d.op.inputs[1] = add(std::move(w), fmt::format("/{}", dtype_name(want)));
    return true;
  }

  template <class T>
  static std::vector<std::int64_t> numbers(const Tensor& t) {
    std::vector<std::int64_t> out(t.data.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) {
      T value;
      std::memcpy(&value, &t.data[i * sizeof(T)], sizeof(T));
      out[i] = value;
    }
    return out;
  }
  static bool store_int32(Tensor& t, const std::vector<double>& values) {
    t.data.assign(values.size() * 4, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(std::fabs(values[i]) < 2147483648.0)) return false;
      const auto value = static_cast<std::int32_t>(values[i]);
      std::memcpy(&t.data[i * 4], &value, 4);
    }
    t.desc.dtype = DType::kInt32;
    return true;
  }

  bool bias_type(Draft& d) {
    Tensor b = out_.graph.tensor(d.op.inputs[2]);
    if (!b.constant || b.desc.dtype != DType::kInt64) return false;
    std::vector<double> values;
    for (const std::int64_t v : numbers<std::int64_t>(b)) values.push_back(static_cast<double>(v));
    if (!store_int32(b, values)) return false;
    d.texts.push_back(fmt::format("'{}' as int32: rewritten, exact", b.desc.name));
    d.op.inputs[2] = add(std::move(b), "/int32");
    return true;
  }

  bool bias_scale(Draft& d) {
    Tensor b = out_.graph.tensor(d.op.inputs[2]);
    const Quantisation &x = out_.graph.tensor(d.op.inputs[0]).desc.quant,
                       &w = out_.graph.tensor(d.op.inputs[1]).desc.quant;
    if (!b.constant || b.desc.dtype != DType::kInt32) return false;
    const auto old = numbers<std::int32_t>(b);
    const std::vector<float> from = b.desc.quant.scale;
    std::vector<double> values;
    for (std::size_t i = 0; i < old.size(); ++i) {
      const double step = static_cast<double>(x.scale[0]) *
                          static_cast<double>(w.scale[w.scale.size() == 1 ? 0 : i]);
      const double own = static_cast<double>(from[from.size() == 1 ? 0 : i]);
      if (step == 0 && old[i] != 0) return false;
      values.push_back(step == 0 ? 0 : std::nearbyint(static_cast<double>(old[i]) * own / step));
    }
    b.desc.quant.scale.clear(), b.desc.quant.zero_point.assign(w.scale.size(), 0);
    for (const float scale : w.scale) b.desc.quant.scale.push_back(x.scale[0] * scale);
    b.desc.quant.axis = 0;
    if (!store_int32(b, values)) return false;
    d.texts.push_back(
        fmt::format("'{}' in steps of the product of the scales: rewritten, rounds", b.desc.name));
    d.op.inputs[2] = add(std::move(b), "/steps");
    return true;
  }

  static bool is_data(const Op& op, TensorId id) {
    const std::vector<TensorId> data = data_inputs(op);
    return std::find(data.begin(), data.end(), id) != data.end();
  }

  const CompileOptions& options_;
  Converted out_;
  std::map<std::tuple<TensorId, DType, std::vector<float>, std::vector<std::int32_t>>, TensorId>
      converted_;
};

}  // namespace

Converted convert_to_contract(const Graph& graph, const CompileOptions& options) {
  return Converter(graph, options).run(graph);
}

}  // namespace deputy::delegate
