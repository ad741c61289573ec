#include "quantize/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::Tensor;
using delegate::TensorId;

class Rewriter {
 public:
  Rewriter(const Graph& graph, const Plan& plan, const std::vector<TensorStatistics>& statistics,
           const InputMoments& moments, const WeightOptions& options)
      : from_(graph), plan_(plan), statistics_(statistics), moments_(moments), options_(options) {}

  base::Result<Rewritten> run(bool float_io) {
    Graph& to = out_.graph;
    to.name = from_.name, to.tensors = from_.tensors, to.inputs = from_.inputs;
    out_.twin.resize(from_.tensors.size());
    for (std::size_t t = 0; t < out_.twin.size(); ++t) out_.twin[t] = static_cast<TensorId>(t);
    if (!float_io)
      for (const TensorId id : to.inputs)
        if (has_integers(id)) make_integer(id, false);
    for (std::size_t i = 0; i < from_.ops.size(); ++i) {
      origin_ = i;
      const Op& op = from_.ops[i];
      if (plan_.integer[i]) {
        if (auto status = integer_op(i, op); !status.ok()) out_.refusals[i] = status.error().text();
      } else {
        Op same = op;
        for (TensorId& id : same.inputs)
          if (id != kNoTensor) id = as_float(id);
        push(std::move(same));
      }
    }
    origin_ = kGraphOutput;
    for (const TensorId id : from_.outputs)
      to.outputs.push_back(float_io ? float_output(id) : byte_output(id));
    for (std::size_t t = 0; t < out_.twin.size(); ++t)
      for (const bool wide : {false, true})  // the finer one, where there are two
        if (const auto at = integers_.find({static_cast<TensorId>(t), key(form(t, wide))});
            at != integers_.end())
          out_.twin[t] = at->second;
    if (out_.refusals.empty()) tidy();
    return std::move(out_);
  }

 private:
  /// A tensor's integers, of one of two types.
  struct Form {
    Quantisation quant;
    DType dtype = DType::kInt8;
  };
  using Key = std::tuple<float, std::int32_t, DType>;
  static Key key(const Form& f) {
    return f.quant.present() ? Key{f.quant.scale[0], f.quant.zero_point[0], f.dtype}
                             : Key{0, 0, DType::kFloat32};
  }
  Form form(std::size_t tensor, bool wide) const {
    return wide ? Form{plan_.wide_quantisation[tensor], DType::kInt16}
                : Form{plan_.quantisation[tensor], DType::kInt8};
  }
  Form form(TensorId id, bool wide) const { return form(static_cast<std::size_t>(id), wide); }
  bool has_integers(TensorId id) const {
    return plan_.quantisation[static_cast<std::size_t>(id)].present();
  }
  Tensor& tensor(TensorId id) { return out_.graph.tensor(id); }
  bool is_integer(TensorId id) {
    return tensor(id).desc.dtype == DType::kInt8 || tensor(id).desc.dtype == DType::kInt16;
  }

  void make_integer(TensorId id, bool wide) {
    Tensor& t = tensor(id);
    const Form f = form(id, wide);
    t.desc.dtype = f.dtype, t.desc.quant = f.quant;
    integers_[{id, key(f)}] = id;
  }
  void push(Op op) {
    out_.graph.ops.push_back(std::move(op));
    out_.origin.push_back(origin_);
  }
  TensorId add(Tensor t) {
    out_.graph.tensors.push_back(std::move(t));
    return static_cast<TensorId>(out_.graph.tensors.size() - 1);
  }
  TensorId convert(OpKind kind, TensorId from, Tensor like) {
    const TensorId to = add(std::move(like));
    Op op;
    op.kind = kind, op.inputs = {from}, op.outputs = {to};
    const std::size_t origin = origin_;
    origin_ = kGraphOutput;
    push(std::move(op));
    origin_ = origin;
    return to;
  }

  TensorId as_float(TensorId id) {
    if (!is_integer(id) || from_.tensor(id).desc.dtype != DType::kFloat32) return id;
    if (const auto at = floats_.find(id); at != floats_.end()) return at->second;
    Tensor like = from_.tensor(id);
    like.desc.name += "/float";
    return floats_[id] = convert(OpKind::DEQUANTIZE, id, std::move(like));
  }
  TensorId float_output(TensorId id) {
    if (!is_integer(id) || from_.tensor(id).desc.dtype != DType::kFloat32) return id;
    const std::string name = from_.tensor(id).desc.name;
    const TensorId out = as_float(id);
    tensor(id).desc.name = fmt::format("{}/{}", name, dtype_name(tensor(id).desc.dtype));
    tensor(out).desc.name = name;
    return out;
  }
  /// Whoever asked for int8 at the ends gets it though the last operator works on int16.
  TensorId byte_output(TensorId id) {
    if (tensor(id).desc.dtype != DType::kInt16 || from_.tensor(id).desc.dtype != DType::kFloat32)
      return id;
    const std::string name = from_.tensor(id).desc.name;
    const TensorId out = as_integer(id, form(id, false));
    tensor(id).desc.name = name + "/int16", tensor(out).desc.name = name;
    return out;
  }
  TensorId as_integer(TensorId id, const Form& wanted) {
    if (const auto at = integers_.find({id, key(wanted)}); at != integers_.end()) return at->second;
    Tensor like = from_.tensor(id);
    like.desc.dtype = wanted.dtype, like.desc.quant = wanted.quant;
    const bool again = integers_.contains({id, key(form(id, wanted.dtype == DType::kInt16))});
    like.desc.name += fmt::format("/{}{}", dtype_name(wanted.dtype), again ? "/rescaled" : "");
    TensorId out;
    if (like.constant) {
      const auto values = floats_of(from_.tensor(id));
      const std::size_t width = dtype_size(wanted.dtype);
      like.data.resize(values.size() * width);
      const float least = width == 1 ? -128 : -32768, most = width == 1 ? 127 : 32767;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const float q = std::nearbyint(values[k] / wanted.quant.scale[0]) +
                        static_cast<float>(wanted.quant.zero_point[0]);
        const auto n = static_cast<std::int16_t>(std::clamp(q, least, most));
        std::memcpy(&like.data[k * width], &n, width);  // little-endian, as everything here
      }
      out = add(std::move(like));
    } else {
      // TFLite's QUANTIZE makes no int16 of int8: through floats, whose numbers hold every int8
      // step.
      const bool widens = wanted.dtype == DType::kInt16 && tensor(id).desc.dtype == DType::kInt8;
      const TensorId from = widens ? as_float(id) : id;
      out = convert(OpKind::QUANTIZE, from, std::move(like));
    }
    return integers_[{id, key(wanted)}] = out;
  }
  Form constant_form(TensorId id, bool wide) const {
    Range range;
    for (const float v : floats_of(from_.tensor(id))) range = hull(range, {v, v});
    return wide ? Form{symmetric_int16(range), DType::kInt16}
                : Form{asymmetric_int8(range), DType::kInt8};
  }

  base::Status integer_op(std::size_t index, const Op& op) {
    Op made = op;
    const bool wide = plan_.wide[index];
    const Form result = form(op.outputs[0], wide);
    for (const std::size_t k : map_operands(op)) {
      if (!from_.has_input(op, k)) continue;
      const TensorId id = op.inputs[k];
      const Form wanted = keeps_scale(op.kind)        ? result
                          : from_.tensor(id).constant ? constant_form(id, wide)
                                                      : form(id, wide);
      made.inputs[k] = as_integer(id, wanted);
    }
    if (is_weighted(from_, op)) {
      DEPUTY_ASSIGN(auto integers,
                    quantise_weights(from_, op, tensor(made.inputs[0]).desc.quant, wide,
                                     statistics_[static_cast<std::size_t>(op.inputs[0])],
                                     moments_.find(index), options_));
      if (integers.compensated_db) out_.compensated[index] = *integers.compensated_db;
      if (integers.raised)
        out_.notes[index] =
            fmt::format("{} weight scales raised by up to {:.3g} so that the bias fits",
                        integers.raised, integers.most_raised);
      made.inputs.resize(3, kNoTensor);
      made.inputs[1] = add(std::move(integers.weights));
      made.inputs[2] = add(std::move(integers.bias));
    }
    for (const TensorId id : op.outputs) make_integer(id, wide);
    push(std::move(made));
    return {};
  }

  /// Without tensors that nothing uses any more; twins follow.
  void tidy() {
    std::vector<std::string> names;
    Graph& g = out_.graph;
    std::vector<bool> used(g.tensors.size());
    const auto use = [&](const std::vector<TensorId>& ids) {
      for (const TensorId id : ids)
        if (id != kNoTensor) used[static_cast<std::size_t>(id)] = true;
    };
    use(g.inputs), use(g.outputs);
    for (const Op& op : g.ops) use(op.inputs), use(op.outputs);
    std::vector<TensorId> renamed(g.tensors.size(), kNoTensor);
    std::vector<Tensor> kept;
    for (std::size_t t = 0; t < used.size(); ++t)
      if (used[t])
        renamed[t] = static_cast<TensorId>(kept.size()), kept.push_back(std::move(g.tensors[t]));
    const auto rename = [&](std::vector<TensorId>& ids) {
      for (TensorId& id : ids)
        if (id != kNoTensor) id = renamed[static_cast<std::size_t>(id)];
    };
    for (Op& op : g.ops) rename(op.inputs), rename(op.outputs);
    rename(g.inputs), rename(g.outputs), rename(out_.twin);
    g.tensors = std::move(kept);
  }

  const Graph& from_;
  const Plan& plan_;
  const std::vector<TensorStatistics>& statistics_;
  const InputMoments& moments_;
  const WeightOptions& options_;
  Rewritten out_;
  std::size_t origin_ = kGraphOutput;
  std::map<std::pair<TensorId, Key>, TensorId> integers_;  ///< integer forms of a float tensor
  std::map<TensorId, TensorId> floats_;
};

}  // namespace

base::Result<Rewritten> rewrite(const Graph& graph, const Plan& plan,
                                const std::vector<TensorStatistics>& statistics,
                                const InputMoments& moments, const WeightOptions& options,
                                bool float_io) {
  return Rewriter(graph, plan, statistics, moments, options).run(float_io);
}

}  // namespace deputy::quantize
