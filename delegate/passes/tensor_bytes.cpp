#include "delegate/passes/tensor_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "delegate/ops/copies.h"

namespace deputy::delegate {
namespace {

std::uint64_t dense_bytes(const Graph& graph, TensorId id) {
  return static_cast<std::uint64_t>(graph.tensor(id).desc.bytes());
}

bool same_scale(const Graph& graph, TensorId a, TensorId b) {
  const Quantisation &qa = graph.tensor(a).desc.quant, &qb = graph.tensor(b).desc.quant;
  return qa.scale == qb.scale && qa.zero_point == qb.zero_point;
}

}  // namespace

TensorBytes::TensorBytes(const Graph& graph, const std::vector<TensorView>& views,
                         const std::vector<Action>& actions)
    : graph_(graph),
      views_(views),
      producer_(graph.tensors.size(), -1),
      action_of_(graph.ops.size(), -1),
      numbers_(graph.tensors.size()) {
  std::uint64_t next = 1;
  for (const Tensor& tensor : graph.tensors) {
    first_.push_back(next);
    next += static_cast<std::uint64_t>(tensor.desc.bytes());
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const TensorId id : graph.ops[i].outputs)
      producer_[index(id)] = static_cast<std::ptrdiff_t>(i);
  for (std::size_t a = 0; a < actions.size(); ++a)
    for (const auto& kernel : actions[a].kernels)
      for (const std::size_t op : kernel) action_of_[op] = static_cast<std::ptrdiff_t>(a);
}

bool TensorBytes::in_arena(TensorId id) const {
  return view(id).stored && view(id).at.region != arch::Region::kConstants;
}

bool TensorBytes::computed_in(TensorId id, std::ptrdiff_t action) const {
  if (id == kNoTensor || graph_.tensor(id).constant || producer(id) < 0) return false;
  const auto op = static_cast<std::size_t>(producer(id));
  if (runs(op)) return action_of(op) == action;
  const std::vector<TensorId>& from = graph_.ops[op].inputs;
  return std::any_of(from.begin(), from.end(),
                     [&](TensorId in) { return computed_in(in, action); });
}

TensorBytes::Runs TensorBytes::addresses(TensorId id) const {
  const arch::TensorDesc& desc = graph_.tensor(id).desc;
  const TensorView& v = view(id);
  Runs out;
  if (dense_bytes(graph_, id) == 0) return out;
  // The inner dimensions that lie end to end make one run.
  std::uint64_t run = dtype_size(desc.dtype);
  std::size_t rank = desc.shape.size();
  while (rank > 0 &&
         (desc.shape[rank - 1] == 1 || static_cast<std::uint64_t>(v.strides[rank - 1]) == run)) {
    run *= static_cast<std::uint64_t>(desc.shape[rank - 1]);
    --rank;
  }
  std::vector<std::int64_t> at(rank, 0);
  for (std::uint64_t begin = 0;; begin += run) {
    std::uint64_t address = v.at.offset;
    for (std::size_t i = 0; i < rank; ++i)
      address += static_cast<std::uint64_t>(at[i] * v.strides[i]);
    out.push_back({begin, address, run});
    std::size_t i = rank;
    while (i > 0 && ++at[i - 1] == desc.shape[i - 1]) at[--i] = 0;
    if (i == 0) return out;
  }
}

template <class Visit>
void TensorBytes::overlaps(const Runs& runs, std::uint64_t begin, std::uint64_t bytes,
                           Visit&& visit) {
  auto it = std::upper_bound(runs.begin(), runs.end(), begin,
                             [](std::uint64_t at, const Run& run) { return at < run.begin; });
  if (it != runs.begin()) --it;
  for (; it != runs.end() && it->begin < begin + bytes; ++it) {
    const std::uint64_t from = std::max(begin, it->begin),
                        to = std::min(begin + bytes, it->begin + it->bytes);
    if (from < to) visit(Run{from, it->value + (from - it->begin), to - from});
  }
}

void TensorBytes::add_copied(Runs& out, const Runs& from, std::uint64_t from_begin,
                             std::uint64_t to_begin, std::uint64_t bytes) {
  overlaps(from, from_begin, bytes, [&](const Run& run) {
    out.push_back({to_begin + (run.begin - from_begin), run.value, run.bytes});
  });
}

bool TensorBytes::share_bytes(TensorId a, TensorId b) const {
  if (!in_arena(a) || !in_arena(b) || region(a) != region(b)) return false;
  if (view(a).ring != 0 || view(b).ring != 0) return false;
  const auto extent = [&](TensorId id) {
    const Runs runs = addresses(id);
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
    for (const Run& run : runs)
      low = std::min(low, run.value), high = std::max(high, run.value + run.bytes);
    return std::pair(low, high);
  };
  const auto [a0, a1] = extent(a);
  const auto [b0, b1] = extent(b);
  return a0 < b1 && b0 < a1;
}

// The numbers of a tensor whose operator moves bytes without work, or, where it runs, of the bytes
// that are in their place already.
TensorBytes::Runs TensorBytes::inherited(TensorId id, const Op& op, bool runs) const {
  Runs out;
  const bool bytewise = dtype_size(graph_.tensor(id).desc.dtype) == 1;
  const auto list = bytewise ? copies(graph_, op) : std::nullopt;
  if (!list) {  // the same bytes in another shape
    if (!runs) out = numbers(op.inputs[0]);
    return out;
  }
  for (const Copy& copy : *list) {
    if (copy.to != id || graph_.tensor(copy.from).constant) continue;
    if (runs && (!share_bytes(copy.from, copy.to) || !same_scale(graph_, copy.from, copy.to)))
      continue;
    const Runs &source = numbers(copy.from), from_at = runs ? addresses(copy.from) : Runs(),
               to_at = runs ? addresses(copy.to) : Runs();
    const auto bytes = static_cast<std::uint64_t>(copy.dims.back().size);
    std::vector<std::int64_t> at(copy.dims.size() - 1, 0);
    for (bool more = true; more;) {
      auto from = static_cast<std::uint64_t>(copy.from_offset),
           to = static_cast<std::uint64_t>(copy.to_offset);
      for (std::size_t i = 0; i < at.size(); ++i)
        from += static_cast<std::uint64_t>(at[i] * copy.dims[i].from),
            to += static_cast<std::uint64_t>(at[i] * copy.dims[i].to);
      if (!runs) add_copied(out, source, from, to, bytes);
      if (runs)
        overlaps(to_at, to, bytes, [&](const Run& sink) {
          overlaps(from_at, from + (sink.begin - to), sink.bytes, [&](const Run& run) {
            const std::uint64_t begin = to + (run.begin - from);
            if (run.value == sink.value + (begin - sink.begin))
              add_copied(out, source, run.begin, begin, run.bytes);
          });
        });
      std::size_t i = at.size();
      while (i > 0 && ++at[i - 1] == copy.dims[i - 1].size) at[--i] = 0;
      more = i > 0;
    }
  }
  std::sort(out.begin(), out.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  return out;
}

const TensorBytes::Runs& TensorBytes::numbers(TensorId id) const {
  std::optional<Runs>& known = numbers_[index(id)];
  if (known) return *known;
  Runs out;
  if (producer(id) >= 0) {
    const auto op = static_cast<std::size_t>(producer(id));
    out = inherited(id, graph_.ops[op], runs(op));
  }
  // What is not inherited is the tensor's own.
  Runs own;
  std::uint64_t at = 0;
  const auto until = [&](std::uint64_t end) {
    if (at < end) own.push_back({at, first_[index(id)] + at, end - at});
  };
  for (const Run& run : out) {
    until(run.begin);
    at = run.begin + run.bytes;
  }
  until(dense_bytes(graph_, id));
  out.insert(out.end(), own.begin(), own.end());
  std::sort(out.begin(), out.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  return known.emplace(std::move(out));
}

std::vector<Piece> TensorBytes::pieces(TensorId id) const {
  std::vector<Piece> out;
  if (view(id).ring != 0) {
    const Shape& shape = graph_.tensor(id).desc.shape;
    return {{view(id).at.offset, first_number(id),
             static_cast<std::uint64_t>(shape[0] * view(id).strides[0])}};
  }
  const Runs& owners = numbers(id);
  for (const Run& run : addresses(id))
    overlaps(owners, run.begin, run.bytes, [&](const Run& part) {
      const std::uint64_t address = run.value + (part.begin - run.begin);
      const auto number = static_cast<std::uint32_t>(part.value);
      if (!out.empty() && out.back().address + out.back().bytes == address &&
          out.back().number + static_cast<std::uint32_t>(out.back().bytes) == number &&
          is_own(id, number) == is_own(id, out.back().number))
        out.back().bytes += part.bytes;
      else
        out.push_back({address, number, part.bytes});
    });
  return out;
}

std::vector<Piece> TensorBytes::computed(TensorId id) const {
  std::vector<Piece> out = pieces(id);
  std::erase_if(out, [&](const Piece& piece) { return !is_own(id, piece.number); });
  return out;
}

bool TensorBytes::is_own(TensorId id, std::uint32_t number) const {
  return static_cast<std::uint32_t>(number - first_number(id)) < dense_bytes(graph_, id);
}

std::string TensorBytes::owner(std::uint32_t number) const {
  const TensorId id = owner_id(number);
  return id == kNoTensor ? "nothing"
                         : fmt::format("tensor {} '{}'", id, graph_.tensor(id).desc.name);
}

TensorId TensorBytes::owner_id(std::uint32_t number) const {
  // The last tensor that begins at or before the number; empty tensors begin where the next does.
  auto it = std::upper_bound(first_.begin(), first_.end(), std::uint64_t{number});
  while (it != first_.begin()) {
    --it;
    const auto id = static_cast<TensorId>(it - first_.begin());
    if (is_own(id, number)) return id;
    if (*it < number) break;
  }
  return kNoTensor;
}

ByteOwners::ByteOwners(const arch::Executable& executable) {
  for (int r = 1; r < arch::kRegionCount; ++r)  // all but the constants
    numbers_[static_cast<std::size_t>(r)].assign(
        executable.region_bytes(static_cast<arch::Region>(r)), 0);
}

bool ByteOwners::inside(arch::Region region, std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t size = numbers_[index(region)].size();
  return address <= size && bytes <= size - address;
}

bool ByteOwners::write(arch::Region region, const Piece& piece) {
  if (!inside(region, piece.address, piece.bytes)) return false;
  std::uint32_t* to = numbers_[index(region)].data() + piece.address;
  for (std::uint64_t i = 0; i < piece.bytes; ++i)
    to[i] = piece.number + static_cast<std::uint32_t>(i);
  return true;
}

void ByteOwners::forget(arch::Region region, std::uint64_t address, std::uint64_t bytes) {
  std::fill_n(numbers_[index(region)].begin() + static_cast<std::ptrdiff_t>(address), bytes, 0);
}

std::optional<std::uint32_t> ByteOwners::differs(arch::Region region, const Piece& piece) const {
  if (!inside(region, piece.address, piece.bytes)) return 0;
  const std::uint32_t* at = numbers_[index(region)].data() + piece.address;
  std::uint32_t wrong = 0;
  for (std::uint64_t i = 0; i < piece.bytes; ++i)
    wrong |= at[i] ^ (piece.number + static_cast<std::uint32_t>(i));
  if (wrong == 0) return std::nullopt;
  for (std::uint64_t i = 0;; ++i)
    if (at[i] != piece.number + static_cast<std::uint32_t>(i)) return at[i];
}

}  // namespace deputy::delegate
