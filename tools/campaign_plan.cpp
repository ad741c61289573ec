// A campaign's plan, and the faults that are drawn from it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "tools/campaign.h"
#include "workloads/random.h"

namespace deputy::tools {

base::Result<CampaignPlan> parse_campaign(base::Config config) {
  CampaignPlan plan;
  DEPUTY_TRY(config.load("campaign", plan));
  for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
    const auto* entry = config.find(fmt::format("kinds.{}", kind.name));
    if (!entry) continue;
    char* end = nullptr;
    const double weight = std::strtod(entry->value.c_str(), &end);
    if (entry->value.empty() || *end != '\0' || !(weight >= 0 && weight <= 1e6))
      return base::Error{base::ErrorKind::kConfig, entry->where,
                         fmt::format("'{}' is no weight", entry->value),
                         "give a number from 0 to 1e6"};
    plan.weights[kind.name] = weight;
  }
  if (plan.policy != "full" && plan.policy != "none" && plan.policy != "mixed")
    return base::Error{base::ErrorKind::kConfig, "campaign.policy",
                       fmt::format("there is no policy '{}'", plan.policy),
                       "use full, none or mixed"};
  DEPUTY_TRY(config.finish());
  return plan;
}

namespace {

// Small and large values alike.
std::int64_t log_uniform(workloads::Random& random, double lo, double hi) {
  return static_cast<std::int64_t>(
      std::exp(random.uniform(static_cast<float>(std::log(lo)), static_cast<float>(std::log(hi)))));
}

std::uint64_t below(workloads::Random& random, std::uint64_t n) {
  return n == 0 ? 0 : random.bits() % n;
}

void draw_parameters(workloads::Random& random, sim::FaultKind kind, std::uint64_t span_ps,
                     bool permanent, sim::Fault& f) {
  using enum sim::FaultKind;
  if (kind == kEngineSlow || kind == kThrottle)
    f.factor = static_cast<std::int32_t>(log_uniform(random, 2, 64));
  if (kind == kLateInterrupt || kind == kLateSignal) f.delay_ns = log_uniform(random, 1e3, 3e7);
  if (kind == kEccSingle) f.delay_ns = random.below(1000);
  if (kind == kCommandParity) f.bit = static_cast<std::int32_t>(random.below(1024));
  if (kind == kThrottle && !permanent)
    f.duration_ns = 1 + static_cast<std::int64_t>(below(random, span_ps / 1000 + 1));
}

}  // namespace

bool Campaign::drawn(const std::string& target) const {
  const auto master = [&](const std::string& t) {
    return target == t || target.starts_with(t + ".");
  };
  return targets_.empty() || std::ranges::any_of(targets_, master);
}

Injection Campaign::injection(std::size_t index) const {
  workloads::Random random(seed_ * 0x9e3779b97f4a7c15u + index);
  Injection out;
  CampaignSetup& s = out.setup;
  s.network = random.below(static_cast<std::uint32_t>(networks_.size()));
  s.frames = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(plan_.frames)));
  s.contexts = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(plan_.contexts)));
  s.dma = random.below(2) != 0;
  s.full = plan_.policy == "full" || (plan_.policy == "mixed" && random.below(2) != 0);
  const Baseline& base = baseline(s);

  // A kind by weight, of those that can happen here; then a target.
  std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> possible;
  double sum = 0;
  for (const auto& [what, events] : base.events)
    if (drawn(what.second) && plan_.weight(what.first) > 0)
      possible[what.first].push_back({what.second, events});
  for (const auto& [kind, targets] : possible) sum += plan_.weight(kind);
  double left = random.uniform(0, 1) * sum;
  auto chosen = possible.begin();
  for (auto next = chosen; next != possible.end(); ++next) {
    chosen = next;
    if ((left -= plan_.weight(next->first)) < 0) break;
  }
  const auto& [target, events] =
      chosen->second[random.below(static_cast<std::uint32_t>(chosen->second.size()))];
  sim::Fault& f = out.fault;
  f.kind = chosen->first, f.target = target;
  const sim::FaultKind kind = sim::fault_kind(f);
  const bool permanent = random.uniform(0, 1) < plan_.permanent;
  // Half of them by time, half by event.
  const bool by_time = random.below(2) != 0 || kind == sim::FaultKind::kThrottle;
  if (by_time)
    f.at_ns = static_cast<std::int64_t>(below(random, base.span_ps / 1000 + 1));
  else
    f.nth = 1 + static_cast<std::int64_t>(below(random, events));
  if (kind != sim::FaultKind::kThrottle) f.repeat = permanent ? 0 : 1 + random.below(4);
  draw_parameters(random, kind, base.span_ps, permanent, f);
  return out;
}

std::string fault_plan_text(const sim::Fault& fault, const std::string& comment) {
  std::string out;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    out += "# " + comment.substr(at, end - at) + "\n";
    at = end + 1;
  }
  out += "faults:\n";
  const sim::Fault usual;
  std::vector<base::ParamRow> rows, defaults;
  base::list_params("", fault, rows);
  base::list_params("", usual, defaults);
  bool first = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].value == defaults[i].value) continue;
    out += fmt::format("  {} {}: {}\n", first ? "-" : " ", rows[i].field.name, rows[i].value);
    first = false;
  }
  return out;
}

}  // namespace deputy::tools
