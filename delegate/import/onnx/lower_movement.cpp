// Operators that move elements: on whatever the float is made of, so that integers stay integers.
#include <algorithm>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

/// The same movement on the integers that the operand is made of, whose twin the result then is.
/// `node`'s results are floats; f(operand, results) emits.
template <class F>
bool moved(Lowering& l, const Node& node, F&& f) {
  const int x = node.inputs[0];
  if (const Twin* t = l.twin(x); t && !l.constant(x)) {
    const Twin operand = *t;
    std::vector<int> results;
    for (const int y : node.outputs) results.push_back(l.new_twin(y, operand.value, operand.quant));
    if (f(operand.value, results)) return true;
    for (const int y : node.outputs) l.quant.twins.erase(y);
  }
  return f(x, node.outputs);
}

/// y is x with its dimensions in this order: nothing is to be done.
void permuted(Lowering& l, int x, int y, const std::vector<int>& order) {
  const Twin* t = l.twin(x);
  if (t && !l.constant(x)) {
    const Twin operand = *t;
    l.view(l.new_twin(y, operand.value, operand.quant), operand.value, order);
  } else {
    l.view(y, x, order);
  }
}

bool reshape(Lowering& l, int from, int to) {
  const Shape &a = l.shape(from), &b = l.shape(to);
  // Where only dimensions of size 1 come or go, any order of the others can stay.
  std::vector<int> da, db;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] != 1) da.push_back(static_cast<int>(d));
  for (std::size_t d = 0; d < b.size(); ++d)
    if (b[d] != 1) db.push_back(static_cast<int>(d));
  bool same = da.size() == db.size() && l.only_permuted(from);
  for (std::size_t i = 0; same && i < da.size(); ++i)
    same = a[static_cast<std::size_t>(da[i])] == b[static_cast<std::size_t>(db[i])];
  if (same) {
    const Form have = l.available(from).front();
    Form form;
    for (std::size_t d = 0; d < b.size(); ++d)
      if (b[d] == 1) form.push_back(static_cast<int>(d));
    for (const int d : have) {
      const auto at = std::find(da.begin(), da.end(), d);
      if (at != da.end()) form.push_back(db[static_cast<std::size_t>(at - da.begin())]);
    }
    Shape shape;
    for (const int d : form) shape.push_back(b[static_cast<std::size_t>(d)]);
    if (l.emit(OpKind::RESHAPE, {}, {l.get(from, have), l.constant_ints(shape)}, {{to, form}}))
      return true;
  }
  l.reshaped(to, from);
  return true;
}

bool concat(Lowering& l, const Node& node) {
  const int y = node.outputs[0];
  if (node.inputs.size() > 64) return false;
  std::int64_t axis = node.node.integer("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(l.rank(y));
  const auto run = [&](std::vector<int> operands, int result) {
    const Form form = l.best_form(operands, l.rank(result));
    arch::OpAttrs attrs;
    attrs.axis = static_cast<std::int32_t>(
        std::find(form.begin(), form.end(), static_cast<int>(axis)) - form.begin());
    std::vector<TensorId> inputs;
    for (const int id : operands) inputs.push_back(l.get(id, form));
    return l.emit(OpKind::CONCATENATION, attrs, std::move(inputs), {{result, form}});
  };
  bool twins = true, one = true;
  std::vector<Twin> operands;
  for (const int id : node.inputs) {
    const Twin* t = l.twin(id);
    twins &= t != nullptr && !l.constant(id);
    if (!twins) break;
    operands.push_back(*t);
    one &=
        t->quant == operands[0].quant && l.desc(t->value).dtype == l.desc(operands[0].value).dtype;
  }
  if (twins && !operands.empty()) {
    std::vector<int> values;
    for (const Twin& t : operands) values.push_back(t.value);
    if (one) {
      const int to = l.new_twin(y, operands[0].value, operands[0].quant);
      if (run(values, to)) return true;
      l.quant.twins.erase(y);
    } else if (const auto site = l.site(node); site && !site->activation) {
      bool ok = true;
      for (int& id : values) {
        const auto same = l.desc(id).dtype == l.desc(site->value).dtype
                              ? l.requantised(id, l.quant.integers[site->value])
                              : std::nullopt;
        ok = ok && same;
        if (same) id = *same;
      }
      if (ok && run(values, site->value)) {
        l.done(*site);
        return true;
      }
    }
  }
  return run(node.inputs, y);
}

/// f(form) emits in the form that costs the fewest transposes, or, where that has dimensions that
/// the value has not and the operator's rules refuse them, in the value's own.
template <class F>
bool in_best_form(Lowering& l, int value, F&& f) {
  const Form best = l.best_form(std::vector<int>{value}, l.rank(value));
  if (f(best)) return true;
  return std::count(best.begin(), best.end(), kInserted) && f(l.plain(value));
}

bool pad(Lowering& l, const Node& node) {
  if (node.node.text("mode", "constant") != "constant" || node.inputs.size() > 3) return false;
  const auto pads =
      l.has(node, 1)
          ? l.integers(node, 1)
          : std::optional(node.node.integers(node.node.has("pads") ? "pads" : "paddings"));
  const std::size_t rank = l.rank(node.inputs[0]);
  if (!pads || pads->size() != 2 * rank ||
      std::any_of(pads->begin(), pads->end(), [](auto p) { return p < 0; }))
    return false;
  if (std::all_of(pads->begin(), pads->end(), [](auto p) { return p == 0; })) {
    const int x = node.inputs[0];
    permuted(l, x, node.outputs[0], l.plain(x));  // PyTorch puts one before average pools
    return true;
  }
  float value = node.node.real("value", 0);
  if (l.has(node, 2)) {
    const auto v = l.floats(node.inputs[2]);
    if (!v || v->size() != 1) return false;
    value = (*v)[0];
  }
  if (value != 0) return false;
  return moved(l, node, [&](int from, const std::vector<int>& to) {
    return in_best_form(l, from, [&](const Form& form) {
      std::vector<std::int32_t> table;
      for (const int d : form) {
        const auto at = static_cast<std::size_t>(d);
        table.push_back(d == kInserted ? 0 : static_cast<std::int32_t>((*pads)[at]));
        table.push_back(d == kInserted ? 0 : static_cast<std::int32_t>((*pads)[at + rank]));
      }
      const TensorId pads_tensor = l.constant_ints(table);
      l.graph.tensor(pads_tensor).desc.shape = {static_cast<std::int32_t>(form.size()), 2};
      return l.emit(OpKind::PAD, {}, {l.get(from, form), pads_tensor}, {{to[0], form}});
    });
  });
}

bool slice(Lowering& l, const Node& node) {
  const int x = node.inputs[0], y = node.outputs[0];
  const std::size_t rank = l.rank(x);
  const auto list = [&](std::size_t i, const char* name) {
    return l.has(node, i) ? l.integers(node, i) : std::optional(node.node.integers(name));
  };
  const auto starts = list(1, "starts"), steps = list(4, "steps");
  const auto axes = l.axes(node, 3, "axes", rank);
  if (!starts || !steps || !axes ||
      std::any_of(steps->begin(), steps->end(), [](auto s) { return s != 1; }))
    return false;
  std::vector<std::int64_t> begin(rank, 0);
  for (std::size_t k = 0; k < starts->size(); ++k) {
    const auto d =
        static_cast<std::size_t>(axes->empty() ? static_cast<std::int64_t>(k) : (*axes)[k]);
    const std::int64_t n = l.shape(x)[d], s = (*starts)[k];
    begin[d] = std::clamp<std::int64_t>(s < 0 ? s + n : s, 0, n);
  }
  return moved(l, node, [&](int from, const std::vector<int>& to) {
    return in_best_form(l, from, [&](const Form& form) {
      std::vector<std::int32_t> first, size;
      for (const int d : form) {
        const auto at = static_cast<std::size_t>(d);
        first.push_back(d == kInserted ? 0 : static_cast<std::int32_t>(begin[at]));
        size.push_back(d == kInserted ? 1 : l.shape(y)[at]);
      }
      return l.emit(OpKind::SLICE, {},
                    {l.get(from, form), l.constant_ints(first), l.constant_ints(size)},
                    {{to[0], form}});
    });
  });
}

bool split(Lowering& l, const Node& node) {
  const int x = node.inputs[0];
  std::int64_t axis = node.node.integer("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(l.rank(x));
  if (std::count(node.outputs.begin(), node.outputs.end(), kNoValue)) return false;
  return moved(l, node, [&](int from, const std::vector<int>& to) {
    return in_best_form(l, from, [&](const Form& form) {
      arch::OpAttrs attrs;
      attrs.num = static_cast<std::int32_t>(to.size());
      const auto at = static_cast<std::int32_t>(
          std::find(form.begin(), form.end(), static_cast<int>(axis)) - form.begin());
      std::vector<std::int32_t> sizes;
      std::vector<Made> made;
      for (const int id : to) {
        sizes.push_back(l.shape(id)[static_cast<std::size_t>(axis)]);
        made.push_back({id, form});
      }
      return l.emit(OpKind::SPLIT_V, attrs,
                    {l.get(from, form), l.constant_ints(sizes), l.constant_ints({at}, true)}, made);
    });
  });
}

bool blocks(Lowering& l, const Node& node) {
  const bool to_space = node.node.op == "DepthToSpace";
  if (l.rank(node.inputs[0]) != 4 || (to_space && node.node.text("mode", "DCR") != "DCR"))
    return false;
  arch::OpAttrs attrs;
  attrs.block_size = static_cast<std::int32_t>(node.node.integer("blocksize", 1));
  const Form form = {0, 2, 3, 1};
  return moved(l, node, [&](int from, const std::vector<int>& to) {
    return l.emit(to_space ? OpKind::DEPTH_TO_SPACE : OpKind::SPACE_TO_DEPTH, attrs,
                  {l.get(from, form)}, {{to[0], form}});
  });
}

}  // namespace

bool lower_movement(Lowering& l, const Node& node) {
  const std::string& op = node.node.op;
  const int x = node.inputs.empty() ? kNoValue : node.inputs[0], y = node.outputs[0];
  if (x == kNoValue) return false;
  if (op == "Identity" || op == "Dropout" || op == "Transpose") {
    if (node.outputs.size() > 1) return false;
    Form order = l.plain(x);
    if (op == "Transpose") {
      const auto perm = node.node.integers("perm");
      for (std::size_t d = 0; d < order.size(); ++d)
        order[d] =
            perm.empty() ? static_cast<int>(order.size() - 1 - d) : static_cast<int>(perm[d]);
    }
    permuted(l, x, y, order);
    return true;
  }
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze")
    return moved(l, node,
                 [&](int from, const std::vector<int>& to) { return reshape(l, from, to[0]); });
  if (op == "Concat") return concat(l, node);
  if (op == "Pad") return pad(l, node);
  if (op == "Slice") return slice(l, node);
  if (op == "Split") return split(l, node);
  if (op == "DepthToSpace" || op == "SpaceToDepth") return blocks(l, node);
  return false;
}

}  // namespace deputy::delegate::onnx_import
