// A campaign's runs in worker processes; the order of results does not depend on how many workers
// there are.
#include <fmt/format.h>

#include <cstdio>

#include "base/check.h"
#include "tools/campaign.h"
#include "tools/worker_pool.h"

namespace deputy::tools {
namespace {

std::string encode(const InjectionResult& r) {
  return fmt::format("{}\t{}\t{}\t{}\t{}", static_cast<int>(r.outcome), r.worst_ps, r.bound_ps,
                     r.error_kind, r.text);
}

InjectionResult decode(const std::string& text) {
  InjectionResult out;
  int outcome = 0, at = 0;
  unsigned long long worst = 0, bound = 0;
  const int found = std::sscanf(text.c_str(), "%d\t%llu\t%llu\t%d\t%n", &outcome, &worst, &bound,
                                &out.error_kind, &at);
  DEPUTY_CHECK(found == 4, "a worker's answer is damaged");
  out.outcome = static_cast<CampaignOutcome>(outcome), out.worst_ps = worst, out.bound_ps = bound;
  out.text = text.substr(static_cast<std::size_t>(at));
  return out;
}

}  // namespace

std::vector<InjectionResult> Campaign::run_all(int workers) const {
  std::vector<InjectionResult> results(size());
  WorkerPool pool(workers, most_seconds,
                  [&](const std::string& job) { return encode(run(std::stoull(job))); });
  for (std::size_t i = 0; i < size(); ++i) pool.submit(i, std::to_string(i));
  while (const auto answer = pool.wait()) {
    InjectionResult& result = results[answer->id];
    if (answer->end == WorkerPool::Answer::End::kDone) {
      result = decode(answer->text);
      continue;
    }
    result.outcome = CampaignOutcome::kCrash;
    result.text = "the process was " + answer->text;
  }
  return results;
}

}  // namespace deputy::tools
