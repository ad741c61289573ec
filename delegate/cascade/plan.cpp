#include "delegate/cascade/plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/check.h"

namespace deputy::delegate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kLongest = 16;  // kernels of a cascade
constexpr std::int64_t kAlign = 64;   // of a tensor in an arena
constexpr double kStartCycles =
    150;  // filling and draining the queues, for kernels that are not searched

std::vector<CascadeStage> stages_of(const Graph& graph, Numerics numerics,
                                    const std::vector<Kernel>& kernels, const Run& run) {
  std::vector<CascadeStage> out;
  for (std::size_t k = run.first; k < run.first + run.count; ++k) {
    const auto stage = stage_of(graph, numerics, kernels[k]);
    DEPUTY_CHECK(stage, "a kernel in a cascade that cannot be made row by row");
    out.push_back(*stage);
  }
  return out;
}

std::int64_t most_rows(const Stripes& stripes, std::size_t stage) {
  return stripes.rows.empty() ? 1 : stripes.rows[0][stage].nominal;
}

// Those in which the stage makes anything.
std::int64_t stripes_of(const Stripes& stripes, std::size_t stage) {
  return std::count_if(stripes.rows.begin(), stripes.rows.end(),
                       [&](const auto& rows) { return rows[stage].end > rows[stage].begin; });
}

}  // namespace

class CascadePlanner::Search {
 public:
  Search(CascadeProblem problem, KernelCosts& costs, std::int64_t most)
      : p_(std::move(problem)), costs_(costs), n_(p_.kernels.size()), choices_(n_) {
    for (std::size_t k = 0; k < n_; ++k) {
      stages_.push_back(stage_of(p_.graph, p_.options.numerics, p_.kernels[k]));
      for (const TensorId id : p_.kernels[k].reads)
        if (const auto it = lives_.find(p_.root(id)); it != lives_.end()) it->second.second = k;
      for (const TensorId id : p_.kernels[k].writes)
        lives_.try_emplace(p_.root(id), k, k).first->second.second = k;
    }
    for (std::size_t first = 0; first < n_; ++first)
      for (std::size_t count = 1; count <= kLongest && first + count <= n_; ++count) {
        if (count > 1 && !joins(first, count)) break;
        if (count == 1)
          add({first, 1, 0}, 0, {});
        else
          add_cascades(first, count, most);
      }
  }

  std::vector<Run> run(std::int64_t limit) {
    // best_[k][b]: kernels before k done, kernel k - 1's output in the fast arena if b.
    best_.assign(n_ + 1, {Entry{}, Entry{}});
    best_[0][0] = best_[0][1] = {0, {}, 0};
    for (std::size_t first = 0; first < n_; ++first) {
      std::size_t full =
          0;  // cascades of so many kernels have rings beyond the limit, with more rows too
      for (Choice& choice : choices_[first]) {
        if (choice.rings > limit) full = choice.run.count;
        if (choice.run.count != full) consider(choice, limit);
      }
    }
    std::vector<Run> out;
    int b = best_[n_][1].cost <= best_[n_][0].cost;
    for (std::size_t k = n_; k > 0;) {
      const Entry& entry = best_[k][b];
      out.push_back(entry.run);
      k = entry.run.first, b = entry.before;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  struct Entry {
    double cost = kNever;
    Run run;
    int before = 0;
  };
  // A run that may be taken.
  struct Choice {
    Run run;
    std::vector<std::pair<std::int64_t, std::int64_t>>
        rows;                // of each kernel's output that a stripe makes at most; stripes
    std::int64_t rings = 0;  // bytes
    std::int64_t in = 0,
                 out = 0;  // bytes of the output before it, if that is still read, and of its own
    std::int64_t others = 0;  // bytes of tensors alive beside those
    // By whether its input and its output are in the fast arena; negative: not worked out yet.
    std::array<std::array<double, 2>, 2> cycles{{{-1, -1}, {-1, -1}}};
  };

  // Kernel first + count - 1 may be the next stage; all that are not last must live in rings.
  bool joins(std::size_t first, std::size_t count) const {
    return stages_[first] && stages_[first + count - 1] &&
           p_.may_ring(stages_[first + count - 2]->output);
  }

  bool closed(std::size_t first, std::size_t count) const {
    for (std::size_t k = first; k + 1 < first + count; ++k)
      if (lives_.at(stages_[k]->output).second >= first + count) return false;
    return true;
  }

  void add_cascades(std::size_t first, std::size_t count, std::int64_t most) {
    if (!closed(first, count)) return;
    std::vector<CascadeStage> stages;
    for (std::size_t k = first; k < first + count; ++k) stages.push_back(*stages_[k]);
    const std::vector<std::int64_t> fast = {1, 2, 4, 8, 16},
                                    full = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    for (const std::int64_t step : p_.options.effort == Effort::kFast ? fast : full) {
      if (step >= stages.back().height && step > 1) break;
      const Stripes stripes = plan_stripes(stages, step, p_.style.skewed);
      std::int64_t rings = 0;
      for (const CascadeStage& stage : stages)
        if (const auto it = stripes.rings.find(stage.output); it != stripes.rings.end())
          rings += align_up(std::min(it->second, stage.height) * stage.row_bytes, kAlign);
      if (p_.style.staged)
        for (std::size_t k = first; k < first + count; ++k)
          rings += align_up(costs_.constant_bytes(p_.kernels[k]), kAlign);
      if (rings > most) break;
      std::vector<std::pair<std::int64_t, std::int64_t>> rows;
      for (std::size_t i = 0; i < count; ++i)
        rows.emplace_back(most_rows(stripes, i), stripes_of(stripes, i));
      add({first, count, step, p_.style.skewed}, rings, std::move(rows));
    }
  }

  void add(const Run& run, std::int64_t rings,
           std::vector<std::pair<std::int64_t, std::int64_t>> rows) {
    const TensorId before = run.first ? output(run.first - 1) : kNoTensor;
    const bool before_lives = before != kNoTensor && lives_.at(before).second >= run.first;
    choices_[run.first].push_back({run, std::move(rows), rings, before_lives ? bytes(before) : 0,
                                   bytes(output(run.first + run.count - 1)), beside(run, before)});
  }

  // Room that a tensor takes in an arena.
  std::int64_t bytes(TensorId id) const {
    return p_.external(id) ? 0 : align_up(p_.graph.tensor(id).desc.bytes(), kAlign);
  }

  // Bytes of tensors that are alive beside a run's own and the output before it.
  std::int64_t beside(const Run& run, TensorId before) const {
    std::int64_t sum = 0;
    for (std::size_t k = run.first; k < run.first + run.count; ++k)
      sum = std::max(sum, p_.others[k]);
    for (const auto& [id, life] : lives_)
      if (id != before && life.first < run.first && life.second >= run.first) sum += bytes(id);
    return sum;
  }

  double cycles(Choice& choice, int before, int after) {
    double& known =
        choice.cycles[static_cast<std::size_t>(before)][static_cast<std::size_t>(after)];
    if (known >= 0) return known;
    const Run& run = choice.run;
    const std::size_t last = run.first + run.count - 1;
    known = 0;
    for (std::size_t k = run.first; k <= last; ++k) {
      const bool in = k > run.first || before, out = k < last || after;
      if (choice.rows.empty()) {
        known += costs_.cycles(p_.kernels[k], 0, in, out);
      } else {
        const auto [rows, stripes] = choice.rows[k - run.first];
        known +=
            costs_.striped(p_.kernels[k], rows, stages_[k]->height, stripes, in, out, p_.style);
      }
    }
    return known;
  }

  void consider(Choice& choice, std::int64_t limit) {
    const Run& run = choice.run;
    const bool external = p_.external(output(run.first + run.count - 1)),
               external_sram = p_.options.io == IoPlacement::kSram;
    for (int b = 0; b < 2; ++b)
      for (int a = 0; a < 2; ++a) {
        if (external && a != external_sram) continue;  // not ours to choose
        const std::int64_t own = choice.rings + (b ? choice.in : 0) + (a ? choice.out : 0);
        if (own > limit || best_[run.first][static_cast<std::size_t>(b)].cost == kNever) continue;
        double cost = best_[run.first][static_cast<std::size_t>(b)].cost;
        // What does not fit beside the run leaves for the slow arena and comes back.
        if (own + choice.others > limit)
          cost += 2 * static_cast<double>(std::min(choice.others, own + choice.others - limit)) /
                  p_.options.memory.dram_bytes_per_cycle /
                  static_cast<double>(std::max<std::size_t>(1, run.count));
        cost += cycles(choice, run.first ? b : first_in_sram(0, limit), a);
        Entry& entry = best_[run.first + run.count][static_cast<std::size_t>(a)];
        if (cost < entry.cost) entry = {cost, run, b};
      }
  }

  // The operands of a kernel with no other before it in the group.
  bool first_in_sram(std::size_t k, std::int64_t limit) const {
    for (const TensorId id : p_.kernels[k].reads)
      if (!p_.graph.tensor(id).constant && p_.external(id))
        return p_.options.io == IoPlacement::kSram;
    return p_.others.empty() || p_.others[0] <= limit;
  }
  TensorId output(std::size_t k) const { return p_.root(p_.kernels[k].writes.back()); }

  const CascadeProblem p_;
  KernelCosts& costs_;
  const std::size_t n_;
  std::vector<std::optional<CascadeStage>> stages_;
  std::map<TensorId, std::pair<std::size_t, std::size_t>>
      lives_;                                 // written by a kernel, last read by one
  std::vector<std::vector<Choice>> choices_;  // by first kernel
  std::vector<std::array<Entry, 2>> best_;
};

CascadePlanner::CascadePlanner(CascadeProblem problem, KernelCosts& costs, std::int64_t most)
    : search_(std::make_unique<Search>(std::move(problem), costs, most)) {}
CascadePlanner::~CascadePlanner() = default;
CascadePlanner::CascadePlanner(CascadePlanner&&) noexcept = default;
std::vector<Run> CascadePlanner::runs(std::int64_t limit) { return search_->run(limit); }

std::vector<Run> single_runs(std::size_t kernels) {
  std::vector<Run> out;
  for (std::size_t k = 0; k < kernels; ++k) out.push_back({k, 1, 0});
  return out;
}

double KernelCosts::cycles(const Kernel& kernel, std::int64_t rows, bool in_sram, bool out_sram) {
  const auto [it, missing] = known_.try_emplace({kernel.main, rows, in_sram, out_sram}, 0);
  if (missing) it->second = estimate(kernel, rows, in_sram, out_sram);
  return it->second;
}

double KernelCosts::striped(const Kernel& kernel, std::int64_t rows, std::int64_t height,
                            std::int64_t stripes, bool in_sram, bool out_sram, CascadeStyle style) {
  const double share = static_cast<double>(height) / static_cast<double>(rows);
  const double once = cycles(kernel, rows, in_sram, out_sram);
  // Of stripes that overlap, each costs what another one adds.
  double each = once;
  if (style.skewed && 2 * rows <= height)
    each = std::min(once, cycles(kernel, 2 * rows, in_sram, out_sram) - once);
  const double weights =
      static_cast<double>(constant_bytes(kernel)) /
      (style.staged ? options_.memory.sram_bytes_per_cycle : options_.memory.dram_bytes_per_cycle);
  return once + each * (share - 1) +
         std::max(0.0, static_cast<double>(stripes) - (each < once ? 1 : share)) * weights;
}

std::int64_t KernelCosts::constant_bytes(const Kernel& kernel) {
  const auto [it, missing] = constants_.try_emplace(kernel.main, 0);
  if (missing)
    if (const auto s = fused_window(graph_, options_.numerics, kernel); s && s->has_weights())
      it->second = s->weight_bytes() + s->param_bytes();
  return it->second;
}

double KernelCosts::estimate(const Kernel& kernel, std::int64_t rows, bool in_sram, bool out_sram) {
  TransferRates rates = transfer_rates(options_, in_sram, out_sram);
  rates.spm_kept = spm_kept_;
  if (auto shape = fused_window(graph_, options_.numerics, kernel)) {
    if (rows > 0) *shape = rows_shape(*shape, rows);
    if (const auto tiling = tilings_.choose(*shape, options_.npu, rates))
      return estimate_cycles(*shape, *tiling, options_.npu, rates);
  }
  double in = 0, out = 0;
  for (const TensorId id : kernel.reads) in += static_cast<double>(graph_.tensor(id).desc.bytes());
  for (const TensorId id : kernel.writes)
    out += static_cast<double>(graph_.tensor(id).desc.bytes());
  const auto& shape = graph_.tensor(kernel.writes.back()).desc.shape;
  const double share =
      rows > 0 && shape.size() == 4 ? static_cast<double>(rows) / static_cast<double>(shape[1]) : 1;
  return kStartCycles + share * std::max({in * rates.ifm_per_byte, out * rates.ofm_per_byte,
                                          out / options_.npu.vec.ew_lanes});
}

double runs_cycles(const Graph& graph, Numerics numerics, const std::vector<Kernel>& kernels,
                   const std::vector<Run>& runs, KernelCosts& costs,
                   const std::function<bool(TensorId)>& in_sram, bool staged) {
  double sum = 0;
  for (const Run& run : runs) {
    std::vector<CascadeStage> stages;
    Stripes stripes;
    if (run.count > 1)
      stages = stages_of(graph, numerics, kernels, run),
      stripes = plan_stripes(stages, run.step, run.skewed);
    for (std::size_t i = 0; i < run.count; ++i) {
      const Kernel& kernel = kernels[run.first + i];
      bool in = true;
      for (const TensorId id : kernel.reads) in = in && (graph.tensor(id).constant || in_sram(id));
      const bool out = in_sram(kernel.writes.back());
      if (run.count == 1) {
        sum += costs.cycles(kernel, 0, in, out);
      } else {
        sum += costs.striped(kernel, most_rows(stripes, i), stages[i].height,
                             stripes_of(stripes, i), in, out, {run.skewed, staged});
      }
    }
  }
  return sum;
}

Stripes run_stripes(const Graph& graph, Numerics numerics, const std::vector<Kernel>& kernels,
                    const Run& run) {
  return plan_stripes(stages_of(graph, numerics, kernels, run), run.step, run.skewed);
}

std::map<TensorId, std::int64_t> rings_of(const Graph& graph, Numerics numerics,
                                          const std::vector<Kernel>& kernels,
                                          const std::vector<Run>& runs) {
  std::map<TensorId, std::int64_t> out;
  for (const Run& run : runs) {
    if (run.count == 1) continue;
    const std::vector<CascadeStage> stages = stages_of(graph, numerics, kernels, run);
    const Stripes stripes = plan_stripes(stages, run.step, run.skewed);
    for (std::size_t s = 0; s + 1 < stages.size(); ++s)
      if (const auto it = stripes.rings.find(stages[s].output);
          it != stripes.rings.end() && it->second < stages[s].height)
        out.emplace(it->first, it->second);
  }
  return out;
}

}  // namespace deputy::delegate
