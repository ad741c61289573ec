#include "delegate/passes/storage.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "delegate/codegen/views.h"

namespace deputy::delegate {
namespace {

std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

class Resolver {
 public:
  Resolver(const Graph& graph, const StorageWishes& wishes)
      : graph_(graph), anchor_(graph.tensors.size()), part_(graph.tensors.size(), nullptr) {
    const std::size_t count = graph.tensors.size();
    out_.tensors.resize(count);
    out_.bytes.assign(count, 0);
    resolved_.assign(count, State::kNot);
    for (std::size_t i = 0; i < count; ++i) anchor_[i] = static_cast<TensorId>(i);
    // Tensors of equal bytes form a class; the first source names it, unless a member is a part.
    for (const auto& [output, source] : wishes.aliases) join(output, source);
    for (const auto& [output, operand] : wishes.in_place) join(output, operand);
    for (const Part& part : wishes.parts) {
      const TensorId first = first_of(part.tensor);
      DEPUTY_CHECK(!part_[at(first)], "two parts share one storage");
      part_[at(first)] = &part;
    }
    for (const auto& [tensor, rows] : wishes.rings) ring_[first_of(tensor)] = {tensor, rows};
    for (const TensorId id : wishes.unstored) unstored_.insert(first_of(id));
  }

  StorageMap run() {
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) resolve(static_cast<TensorId>(i));
    return std::move(out_);
  }

 private:
  enum class State : std::uint8_t { kNot, kBusy, kDone };
  struct Ring {
    TensorId tensor;
    std::int64_t rows;
  };

  TensorId first_of(TensorId id) const {
    while (anchor_[at(id)] != id) id = anchor_[at(id)];
    return id;
  }
  void join(TensorId output, TensorId source) {
    DEPUTY_CHECK(anchor_[at(output)] == output && first_of(source) != output,
                 "a tensor is the alias of two others or of itself");
    DEPUTY_CHECK(graph_.tensor(output).desc.bytes() == graph_.tensor(source).desc.bytes(),
                 "an alias differs in size");
    anchor_[at(output)] = first_of(source);
  }

  const Storage& resolve(TensorId id) {
    Storage& out = out_.tensors[at(id)];
    if (resolved_[at(id)] == State::kDone) return out;
    DEPUTY_CHECK(resolved_[at(id)] == State::kNot, "a tensor lies inside itself");
    resolved_[at(id)] = State::kBusy;
    const TensorId first = first_of(id);
    const Part* part = part_[at(first)];
    const TensorId leader = part ? part->tensor : first;
    if (id != leader)
      out = seen_as(resolve(leader), leader, id);
    else
      out = part ? inside(*part) : whole(id);
    if (unstored_.contains(first)) out.stored = false;
    resolved_[at(id)] = State::kDone;
    return out;
  }

  // A buffer of its own.
  Storage whole(TensorId id) {
    const arch::TensorDesc& desc = graph_.tensor(id).desc;
    Storage out{id, 0, dense_view(desc, {}).strides, 0, true};
    out_.bytes[at(id)] = static_cast<std::uint64_t>(desc.bytes());
    const auto ring = ring_.find(id);
    if (ring == ring_.end()) return out;
    DEPUTY_CHECK(ring->second.tensor == id && desc.shape.size() == 4 && ring->second.rows > 0,
                 "a ring of something other than a feature map");
    if (ring->second.rows >= desc.shape[1]) return out;  // every row is kept
    out.ring = ring->second.rows;
    out.strides[0] = out.ring * out.strides[1];
    out_.bytes[at(id)] = static_cast<std::uint64_t>(desc.shape[0] * out.strides[0]);
    return out;
  }

  Storage inside(const Part& part) {
    DEPUTY_CHECK(!ring_.contains(first_of(part.tensor)), "a part cannot be a ring");
    const Storage& whole = resolve(part.whole);
    const Shape &shape = graph_.tensor(part.tensor).desc.shape,
                &bounds = graph_.tensor(part.whole).desc.shape;
    DEPUTY_CHECK(whole.ring == 0 && part.begin.size() == bounds.size() &&
                     part.axis.size() == shape.size() && part.step.size() == shape.size() &&
                     graph_.tensor(part.tensor).desc.dtype == graph_.tensor(part.whole).desc.dtype,
                 "a part does not fit the shape of its whole");
    Storage out = whole;
    out.strides.assign(shape.size(), 0);
    std::vector<std::int64_t> last = part.begin;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      DEPUTY_CHECK(part.axis[i] < bounds.size() && part.step[i] > 0, "a part along no dimension");
      out.strides[i] = whole.strides[part.axis[i]] * part.step[i];
      last[part.axis[i]] += (shape[i] - 1) * part.step[i];
    }
    for (std::size_t d = 0; d < bounds.size(); ++d) {
      DEPUTY_CHECK(part.begin[d] >= 0 && last[d] < bounds[d], "a part lies outside its whole");
      out.offset += part.begin[d] * whole.strides[d];
    }
    return out;
  }

  Storage seen_as(const Storage& storage, TensorId source, TensorId id) {
    const Shape &from = graph_.tensor(source).desc.shape, &to = graph_.tensor(id).desc.shape;
    Storage out = storage;
    if (from == to) return out;
    if (graph_.tensor(id).desc.bytes() == 0) {
      out.strides = dense_view(graph_.tensor(id).desc, {}).strides;
      return out;
    }
    DEPUTY_CHECK(storage.ring == 0, "a ring has no other shape");
    auto strides = reshaped_strides(from, storage.strides, to);
    DEPUTY_CHECK(strides, "an alias of a strided part has no strides");
    out.strides = std::move(*strides);
    return out;
  }

  const Graph& graph_;
  std::vector<TensorId> anchor_;   // towards the first tensor of each class
  std::vector<const Part*> part_;  // by the first of a class
  std::map<TensorId, Ring> ring_;  // by the first of a class
  std::set<TensorId> unstored_;    // the first of each class
  std::vector<State> resolved_;
  StorageMap out_;
};

}  // namespace

Part slice_part(const Graph& graph, TensorId tensor, TensorId whole, std::size_t axis,
                std::int64_t begin) {
  const std::size_t rank = graph.tensor(whole).desc.shape.size();
  Part part{tensor, whole, std::vector<std::int64_t>(rank, 0), {}, {}};
  part.begin[axis] = begin;
  for (std::size_t i = 0; i < rank; ++i) part.axis.push_back(i), part.step.push_back(1);
  return part;
}

StorageMap plan_storage(const Graph& graph, const StorageWishes& wishes) {
  return Resolver(graph, wishes).run();
}

bool fills_buffer(const Graph& graph, const StorageMap& storage, TensorId id) {
  const Storage& s = storage.of(id);
  const arch::TensorDesc& desc = graph.tensor(id).desc;
  return !graph.tensor(id).constant && s.stored && s.ring == 0 && s.offset == 0 &&
         !graph.tensor(s.root).constant &&
         storage.bytes[at(s.root)] == static_cast<std::uint64_t>(desc.bytes()) &&
         is_dense({{}, s.strides, 0, true}, desc);
}

std::vector<TensorId> unstored_tensors(const Graph& graph, const std::vector<Kernel>& kernels) {
  std::vector<TensorId> out;
  for (const Kernel& kernel : kernels)
    for (const std::size_t op : kernel.ops)
      for (const TensorId id : graph.ops[op].outputs)
        if (std::find(kernel.writes.begin(), kernel.writes.end(), id) == kernel.writes.end())
          out.push_back(id);
  return out;
}

std::optional<std::vector<std::int64_t>> reshaped_strides(const Shape& from,
                                                          const std::vector<std::int64_t>& strides,
                                                          const Shape& to) {
  // Dimensions are matched from the innermost: equal products of both shapes form a group, and
  // within a group the source must run on without gaps.
  std::vector<std::int64_t> out(to.size(), 0);
  std::size_t f = from.size(), t = to.size();
  std::int64_t stride = 1;
  while (f > 0 || t > 0) {
    while (f > 0 && from[f - 1] == 1) --f;
    if (f == 0) {  // only ones are left
      for (; t > 0; --t) {
        if (to[t - 1] != 1) return std::nullopt;
        out[t - 1] = stride;
      }
      break;
    }
    std::int64_t source = from[f - 1], next = strides[f - 1] * from[f - 1], target = 1;
    stride = strides[f - 1], --f;
    for (;;) {
      if (target == source) break;
      if (target < source) {
        if (t == 0) return std::nullopt;
        --t;
        out[t] = stride;
        target *= to[t], stride *= to[t];
      } else {
        while (f > 0 && from[f - 1] == 1) --f;
        if (f == 0 || strides[f - 1] != next) return std::nullopt;
        source *= from[f - 1], next = strides[f - 1] * from[f - 1], --f;
      }
    }
  }
  return out;
}

}  // namespace deputy::delegate
