#include "delegate/passes/check_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "delegate/passes/needed_bytes.h"
#include "delegate/passes/places.h"
#include "delegate/passes/program_order.h"
#include "delegate/passes/staged_constants.h"
#include "delegate/passes/tensor_bytes.h"

namespace deputy::delegate {
namespace {

using arch::Region;

template <class T>
using ByRegion = std::array<T, arch::kRegionCount>;
std::size_t index(Region region) { return static_cast<std::size_t>(region); }
std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

struct KernelUse {
  const std::vector<std::size_t>* ops = nullptr;
  ByRegion<Places> operands, results;
  std::map<TensorId, std::vector<bool>> loaded;  // by the tensor that the numbers belong to
  bool ready = false;
};

class Replay {
 public:
  explicit Replay(const MemoryUse& use)
      : use_(use),
        graph_(use.graph),
        bytes_(use.graph, use.views, use.actions),
        owners_(use.executable),
        kernel_of_(use.graph.ops.size(), -1),
        stored_(use.graph.tensors.size()) {
    for (std::size_t r = 1; r < last_load_.size(); ++r)
      last_load_[r].resize(use.executable.region_bytes(static_cast<Region>(r)));
    last_store_ = last_load_;
    for (const Action& action : use.actions) {
      if (action.host) continue;
      for (const auto& ops : action.kernels) {
        for (const std::size_t op : ops)
          kernel_of_[op] = static_cast<std::ptrdiff_t>(kernels_.size());
        kernels_.emplace_back().ops = &ops;
      }
    }
  }

  std::optional<std::string> run() {
    for (const TensorId id : graph_.inputs) write(id);
    for (const arch::Step& step : use_.executable.steps) {
      if (problem_) return problem_;
      step.kind == arch::StepKind::kHost ? host(step) : program(step.program);
    }
    for (std::size_t k = 0; k < kernels_.size() && !problem_; ++k) finished(kernels_[k]);
    for (const TensorId id : graph_.outputs) read(id, "the graph's end");
    return problem_;
  }

 private:
  void report(std::string text) {
    if (!problem_) problem_ = where_ + std::move(text);
  }
  std::string name(TensorId id) const {
    return fmt::format("tensor {} '{}'", id, graph_.tensor(id).desc.name);
  }

  // The CPU reads and writes whole tensors.
  void host(const arch::Step& step) {
    const Op& op = graph_.ops[step.source_op];
    for (const TensorId id : op.inputs)
      if (id != kNoTensor) read(id, op_label(graph_, op));
    for (const TensorId id : op.outputs) write(id);
  }
  void write(TensorId id) {
    if (!bytes_.in_arena(id)) return;
    for (const Piece& piece : bytes_.computed(id))
      if (!owners_.write(bytes_.region(id), piece)) report(name(id) + " leaves its region");
  }
  void read(TensorId id, const std::string& when) {
    if (graph_.tensor(id).constant || problem_ || !bytes_.in_arena(id)) return;
    for (const Piece& piece : bytes_.pieces(id))
      if (const auto other = owners_.differs(bytes_.region(id), piece))
        return report(
            fmt::format("{} has a byte of {} at {}", name(id), bytes_.owner(*other), when));
  }

  void program(std::uint32_t number) {
    ProgramOrder order;
    staged_.emplace(use_.executable, use_.executable.programs[number]);
    for (auto* last : {&last_load_, &last_store_})
      for (auto& region : *last) std::fill(region.begin(), region.end(), 0);
    std::span<const std::uint32_t> words = use_.executable.programs[number].words;
    while (!words.empty() && !problem_) {
      const arch::Decoded decoded = arch::decode(words);
      if (decoded.fault != arch::DecodeFault::kNone)
        return report("an instruction does not decode");
      const arch::Instruction& instruction = decoded.instruction;
      words = words.subspan(instruction.header.words);
      const auto started = order.add(instruction);
      if (const auto* load = std::get_if<arch::Load>(&instruction.op))
        transfer(number, instruction, *load, started, order.last(arch::Queue::kLoad));
      else if (const auto* store = std::get_if<arch::Store>(&instruction.op))
        transfer(number, instruction, *store, started, order.last(arch::Queue::kStore));
      else if (const auto* weights = std::get_if<arch::LoadWeights>(&instruction.op))
        constants(weights->region, weights->mem_offset, weights->stream_bytes, started,
                  order.last(arch::Queue::kLoad));
      staged_->follow(instruction.op);
      where_.clear();
    }
  }

  // Constants are read where they are, or where a STORE has put a copy.
  void constants(std::uint32_t region, std::uint64_t begin, std::uint64_t bytes,
                 const ProgramOrder::Clock& started, std::uint32_t number) {
    const std::uint64_t size = use_.executable.constants.size();
    if (region == static_cast<std::uint32_t>(Region::kFastArena)) {
      if (std::string problem = staged_->load(begin, bytes); !problem.empty())
        return report(std::move(problem));
      return in_order(Region::kFastArena, begin, bytes, true, started[2], number);
    }
    if (region != static_cast<std::uint32_t>(Region::kConstants))
      report("weights that are no constants");
    else if (begin > size || bytes > size - begin)
      report("reads beyond the constants");
  }
  void copy(const arch::Store& store, const ProgramOrder::Clock& started, std::uint32_t number) {
    if (!owners_.inside(Region::kFastArena, store.mem_offset, store.row_bytes))
      return report("leaves its region");
    if (std::string problem = staged_->store(store); !problem.empty())
      return report(std::move(problem));
    owners_.forget(Region::kFastArena, store.mem_offset, store.row_bytes);
    in_order(Region::kFastArena, store.mem_offset, store.row_bytes, false, started[0], number);
  }

  template <class T>
  void transfer(std::uint32_t program, const arch::Instruction& instruction, const T& t,
                const ProgramOrder::Clock& started, std::uint32_t number) {
    constexpr bool is_load = std::is_same_v<T, arch::Load>;
    const std::uint16_t tag = instruction.header.tag;
    if (tag >= kernel_of_.size() || kernel_of_[tag] < 0)
      return report(fmt::format("tag {} is no operator of the NPU's", tag));
    where_ = fmt::format("program {}, {} {} of {}: ", program, T::kName, number,
                         op_label(graph_, graph_.ops[tag]));
    if constexpr (!is_load)
      if (StagedConstants::stores_copy(t)) return copy(t, started, number);
    KernelUse& kernel = kernels_[static_cast<std::size_t>(kernel_of_[tag])];
    if (!kernel.ready) prepare(kernel);
    const bool parameters = t.traffic != static_cast<std::uint8_t>(arch::Traffic::kFeatureMap);
    shift_.reset();
    for (std::uint64_t p = 0; p < t.planes; ++p)
      for (std::uint64_t r = 0; r < t.rows && !problem_; ++r) {
        const std::uint64_t at = t.mem_offset + p * t.mem_plane_stride + r * t.mem_row_stride;
        if (is_load && (parameters || t.region == static_cast<std::uint8_t>(Region::kConstants))) {
          constants(t.region, at, t.row_bytes, started, number);
          continue;
        }
        if (t.region == static_cast<std::uint8_t>(Region::kConstants))
          return report("writes constants");
        const auto region = static_cast<Region>(t.region);
        if (!is_load && !use_.executable.region_written(region))
          return report("writes into the memory of an input");
        if (!owners_.inside(region, at, t.row_bytes)) return report("leaves its region");
        const Places& places = (is_load ? kernel.operands : kernel.results)[index(region)];
        is_load ? load_row(kernel, places, region, at, t.row_bytes)
                : store_row(places, region, at, t.row_bytes);
        in_order(region, at, t.row_bytes, is_load, is_load ? started[2] : started[0], number);
      }
  }

  // Before a LOAD the STOREs of its bytes must have completed, before a STORE the LOADs.
  void in_order(Region region, std::uint64_t at, std::uint64_t bytes, bool is_load,
                std::uint32_t completed, std::uint32_t number) {
    const std::size_t a = index(region);
    const auto begin = static_cast<std::ptrdiff_t>(at),
               end = static_cast<std::ptrdiff_t>(at + bytes);
    const auto& other = is_load ? last_store_[a] : last_load_[a];
    std::uint32_t latest = 0;
    for (std::ptrdiff_t i = begin; i < end; ++i)
      latest = std::max(latest, other[static_cast<std::size_t>(i)]);
    if (latest > completed)
      report(fmt::format("does not wait for {} {} of the same bytes", is_load ? "STORE" : "LOAD",
                         latest));
    auto& own = is_load ? last_load_[a] : last_store_[a];
    std::fill(own.begin() + begin, own.begin() + end, number);
  }

  void load_row(KernelUse& kernel, const Places& places, Region region, std::uint64_t at,
                std::uint64_t bytes) {
    const bool inside =
        cover(places, at, bytes, [&](const Place& place, std::uint64_t begin, std::uint64_t end) {
          std::uint32_t number = place.number + static_cast<std::uint32_t>(begin - place.begin);
          if (place.ring != kNoTensor) {
            // Which lap a row is of is known from who lies there; all rows of one LOAD follow each
            // other.
            number = owners_.at(region, begin);
            const auto shift = number - static_cast<std::uint32_t>(begin);
            if (!in_its_slot(place, begin, number) || shift_.value_or(shift) != shift) {
              report(fmt::format("rows of {} that are not there", name(place.ring)));
              return false;
            }
            shift_ = shift;
          }
          if (const auto other = owners_.differs(region, {begin, number, end - begin})) {
            report(
                fmt::format("reads {} where {} lies", bytes_.owner(number), bytes_.owner(*other)));
            return false;
          }
          mark(kernel.loaded, number, end - begin);
          return true;
        });
    if (!inside) report(fmt::format("reads byte {} on, which is no operand's", at));
  }

  void store_row(const Places& places, Region region, std::uint64_t at, std::uint64_t bytes) {
    const bool inside =
        cover(places, at, bytes, [&](const Place& place, std::uint64_t begin, std::uint64_t end) {
          const std::uint32_t number =
              place.number + static_cast<std::uint32_t>(begin - place.begin);
          if (place.ring == kNoTensor) return put(region, {begin, number, end - begin});
          // The next lap of each row.
          const std::uint64_t row = row_bytes(place.ring);
          for (std::uint64_t b = begin; b < end;) {
            const std::uint64_t until = std::min(end, b + row - (b - place.begin) % row);
            const std::uint32_t before = owners_.at(region, b);
            const bool lap = bytes_.owner_id(before) == place.ring;
            const std::uint32_t next =
                lap ? before + static_cast<std::uint32_t>(lap_bytes(place.ring))
                    : first_lap(place, b);
            if (!put(region, {b, next, until - b})) return false;
            b = until;
          }
          return true;
        });
    if (!inside) report(fmt::format("writes byte {} on, which is no result's", at));
  }

  bool put(Region region, const Piece& piece) {
    const TensorId id = bytes_.owner_id(piece.number);
    if (id == kNoTensor) return report("writes rows that no tensor has"), false;
    std::vector<bool>& done = stored_[index(id)];
    done.resize(static_cast<std::size_t>(graph_.tensor(id).desc.bytes()));
    const std::size_t first = piece.number - bytes_.first_number(id);
    if (first + piece.bytes > done.size()) return report("writes beyond " + name(id)), false;
    for (std::size_t i = first; i < first + piece.bytes; ++i) {
      if (done[i]) return report(fmt::format("writes byte {} of {} again", i, name(id))), false;
      done[i] = true;
    }
    owners_.write(region, piece);
    if (region == Region::kFastArena) staged_->overwritten(piece.address, piece.bytes);
    return true;
  }

  // A ring of a tensor [n, h, w, c]: for each image `ring` rows.
  std::uint64_t row_bytes(TensorId id) const {
    return static_cast<std::uint64_t>(bytes_.view(id).strides[1]);
  }
  std::uint64_t lap_bytes(TensorId id) const {
    return row_bytes(id) * static_cast<std::uint64_t>(bytes_.view(id).ring);
  }
  std::uint32_t first_lap(const Place& place, std::uint64_t at) const {
    const std::uint64_t image_bytes =
        row_bytes(place.ring) * static_cast<std::uint64_t>(graph_.tensor(place.ring).desc.shape[1]);
    const auto stride = static_cast<std::uint64_t>(bytes_.view(place.ring).strides[0]);
    const std::uint64_t from = at - place.begin;
    return bytes_.first_number(place.ring) +
           static_cast<std::uint32_t>(from / stride * image_bytes + from % stride);
  }
  bool in_its_slot(const Place& place, std::uint64_t at, std::uint32_t number) const {
    if (bytes_.owner_id(number) != place.ring) return false;
    const std::uint32_t first = first_lap(place, at);
    return number >= first && (number - first) % lap_bytes(place.ring) == 0;
  }

  void mark(std::map<TensorId, std::vector<bool>>& by_tensor, std::uint32_t number,
            std::uint64_t bytes) {
    while (bytes > 0) {
      const TensorId id = bytes_.owner_id(number);
      const auto size = static_cast<std::size_t>(graph_.tensor(id).desc.bytes());
      std::vector<bool>& bits = by_tensor[id];
      bits.resize(size);
      const std::size_t first = number - bytes_.first_number(id);
      const std::size_t count = std::min<std::size_t>(bytes, size - first);
      std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(first), count, true);
      number += static_cast<std::uint32_t>(count), bytes -= count;
    }
  }

  // Operands: what the kernel's operators read and none of them makes.
  std::vector<std::pair<const Op*, TensorId>> operands(const KernelUse& kernel) const {
    std::vector<std::pair<const Op*, TensorId>> out;
    for (const std::size_t i : *kernel.ops)
      for (const TensorId id : graph_.ops[i].inputs) {
        if (id == kNoTensor || graph_.tensor(id).constant || !bytes_.in_arena(id)) continue;
        const bool own = std::any_of(kernel.ops->begin(), kernel.ops->end(), [&](std::size_t op) {
          return static_cast<std::ptrdiff_t>(op) == bytes_.producer(id);
        });
        if (!own) out.emplace_back(&graph_.ops[i], id);
      }
    return out;
  }

  void prepare(KernelUse& kernel) {
    kernel.ready = true;
    for (const auto& [op, id] : operands(kernel)) add(kernel.operands, id, bytes_.pieces(id));
    for (const std::size_t i : *kernel.ops)
      for (const TensorId id : graph_.ops[i].outputs)
        if (bytes_.in_arena(id)) add(kernel.results, id, bytes_.computed(id));
    for (auto* side : {&kernel.operands, &kernel.results})
      for (Places& places : *side)
        if (!settle(places)) report("two tensors of one kernel in the same place");
  }
  void add(ByRegion<Places>& to, TensorId id, const std::vector<Piece>& pieces) const {
    for (const Piece& p : pieces)
      to[index(bytes_.region(id))].push_back(
          {p.address, p.address + p.bytes, p.number, bytes_.view(id).ring ? id : kNoTensor});
  }
  // Everything that the kernel's operators need was loaded, and all their results were stored.
  void finished(const KernelUse& kernel) {
    for (const auto& [op, id] : operands(kernel)) {
      where_ = op_label(graph_, *op) + ": ";
      const auto in_place = [&](const Copy& copy) {
        return !is_own(copy.to, static_cast<std::uint64_t>(copy.to_offset));
      };
      for (const auto& [begin, end] :
           needed_bytes(graph_, *op, id, window_behind(kernel, *op), in_place))
        if (const auto missing = first_missing(kernel, id, begin, end))
          return report(fmt::format("never loads byte {} of {}", *missing, name(id)));
    }
    for (const std::size_t i : *kernel.ops)
      for (const TensorId id : graph_.ops[i].outputs) {
        if (!bytes_.in_arena(id)) continue;
        where_ = op_label(graph_, graph_.ops[i]) + ": ";
        for (const TensorBytes::Run& run : bytes_.numbers(id)) {
          if (bytes_.owner_id(static_cast<std::uint32_t>(run.value)) != id) continue;
          const std::vector<bool>& done = stored_[index(id)];
          const auto b = static_cast<std::ptrdiff_t>(run.begin),
                     e = static_cast<std::ptrdiff_t>(run.begin + run.bytes);
          if (static_cast<std::ptrdiff_t>(done.size()) < e ||
              std::find(done.begin() + b, done.begin() + e, false) != done.begin() + e)
            return report(fmt::format("stores only a part of {}", name(id)));
        }
      }
    where_.clear();
  }
  const Op* window_behind(const KernelUse& kernel, const Op& op) const {
    if (kernel.ops->size() < 2 || &op != &graph_.ops[kernel.ops->front()]) return nullptr;
    const Op& next = graph_.ops[(*kernel.ops)[1]];
    return next.inputs[0] == op.outputs[0] ? &next : nullptr;
  }
  bool is_own(TensorId id, std::uint64_t at) const {
    for (const TensorBytes::Run& run : bytes_.numbers(id))
      if (run.begin <= at && at < run.begin + run.bytes)
        return bytes_.owner_id(static_cast<std::uint32_t>(run.value + (at - run.begin))) == id;
    return true;
  }
  // The first byte of [begin, end) of a tensor that the kernel has not loaded.
  std::optional<std::uint64_t> first_missing(const KernelUse& kernel, TensorId id,
                                             std::uint64_t begin, std::uint64_t end) const {
    const TensorBytes::Runs& runs = bytes_.numbers(id);
    auto it = std::upper_bound(
        runs.begin(), runs.end(), begin,
        [](std::uint64_t at, const TensorBytes::Run& run) { return at < run.begin + run.bytes; });
    for (; it != runs.end() && it->begin < end; ++it)
      for (std::uint64_t at = std::max(begin, it->begin),
                         stop = std::min(end, it->begin + it->bytes);
           at < stop;) {
        const auto number = static_cast<std::uint32_t>(it->value + (at - it->begin));
        const TensorId owner = bytes_.owner_id(number);
        const auto found = kernel.loaded.find(owner);
        if (found == kernel.loaded.end()) return at;
        const auto first = found->second.begin() + (number - bytes_.first_number(owner));
        const auto last = first + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(stop - at),
                                                           found->second.end() - first);
        const auto missing = std::find(first, last, false);
        if (missing != last) return at + static_cast<std::uint64_t>(missing - first);
        at += static_cast<std::uint64_t>(last - first);
      }
    return std::nullopt;
  }

  const MemoryUse& use_;
  const Graph& graph_;
  TensorBytes bytes_;
  ByteOwners owners_;
  std::vector<KernelUse> kernels_;
  std::vector<std::ptrdiff_t> kernel_of_;  // by operator; -1: none of the NPU's
  std::vector<std::vector<bool>> stored_;  // by tensor and byte
  ByRegion<std::vector<std::uint32_t>> last_load_,
      last_store_;                         // by byte; of this program
  std::optional<StagedConstants> staged_;  // of this program
  std::optional<std::uint32_t> shift_;     // of the ring rows that the present LOAD has read
  std::string where_;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> check_programs(const MemoryUse& use) { return Replay(use).run(); }

}  // namespace deputy::delegate
