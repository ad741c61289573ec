// deputy doctor: does this installation work?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "explore/store.h"
#include "tools/cli/common.h"
#include "tools/explore/area.h"
#include "tools/json_text.h"
#include "tools/table.h"
#include "tools/worker_pool.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

namespace fs = std::filesystem;

/// What was found, or what is wrong.
using Finding = base::Result<std::string>;

Finding machine() {
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
  const std::string text =
      fmt::format("{} processors, {:.1f} GiB", sysconf(_SC_NPROCESSORS_ONLN), gib);
  if (gib >= 1) return text;
  return base::Error{base::ErrorKind::kIo, "memory", text, "large networks need 1 GiB"};
}

Finding configurations() {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(fs::path(DEPUTY_CONFIG_DIR) / "soc", ec))
    files.push_back(entry.path());
  if (files.empty())
    return base::Error{base::ErrorKind::kIo, DEPUTY_CONFIG_DIR, "has no SoC configurations",
                       "was the source folder moved after the build?"};
  std::ranges::sort(files);
  for (const auto& file : files) {
    DEPUTY_TRY(soc::load_soc_config(file.string(), {}));
  }
  DEPUTY_TRY(load_area("28nm"));
  return fmt::format("{} SoCs in {}", files.size(), DEPUTY_CONFIG_DIR);
}

// The smallest convolutional network, on the NPU and on the CPU: the same bytes by two ways.
Finding inference() {
  CommonOptions common;
  common.effort = "fast";
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  DEPUTY_ASSIGN(const auto graph, workloads::build_network("ecg_tcn"));
  DEPUTY_ASSIGN(const auto inputs, load_inputs(graph, {}, 1));
  DEPUTY_ASSIGN(const auto on_npu, simulate(graph, options, inputs));
  options.engine = delegate::EnginePolicy::kCpu;
  DEPUTY_ASSIGN(const auto on_cpu, simulate(graph, options, inputs));
  if (on_npu.outputs == on_cpu.outputs)
    return std::string("ecg_tcn: NPU and CPU give the same bytes");
  return base::Error{base::ErrorKind::kMismatch, "ecg_tcn", "NPU and CPU give different bytes",
                     "this build is broken; run the tests"};
}

Finding workers() {
  WorkerPool pool(2, 10, [](const std::string& job) { return job; });
  pool.submit(0, "a"), pool.submit(1, "b");
  std::size_t good = 0;
  while (const auto answer = pool.wait()) good += answer->end == WorkerPool::Answer::End::kDone;
  if (good == 2) return std::string("two answered");
  return base::Error{base::ErrorKind::kIo, "workers", fmt::format("{} of 2 answered", good),
                     "may this user start processes?"};
}

Finding results() {
  const fs::path file =
      fs::temp_directory_path() / fmt::format("deputy-doctor-{}.sqlite", getpid());
  const auto clean = [&] {
    std::error_code ec;
    for (const char* end : {"", ".lock", "-wal", "-shm"}) fs::remove(file.string() + end, ec);
  };
  const Finding out = [&]() -> Finding {
    DEPUTY_ASSIGN(auto store, explore::Store::open(file.string()));
    DEPUTY_TRY(store.add({"key", "", "", "ok", "", {{"value", 1.5}}}));
    DEPUTY_ASSIGN(const auto found, store.find("key"));
    if (found && found->values.at("value") == 1.5)
      return "SQLite in " + fs::temp_directory_path().string();
    return base::Error{base::ErrorKind::kMismatch, file.string(),
                       "gives back something else than was written", ""};
  }();
  clean();
  return out;
}

struct Check {
  const char* name;
  Finding (*run)();
};
constexpr Check kChecks[] = {{"machine", machine},
                             {"configurations", configurations},
                             {"inference", inference},
                             {"worker processes", workers},
                             {"result files", results}};

}  // namespace

int doctor_command(bool json) {
  int exit = 0;
  Table table({"check", "", "what"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Check& check : kChecks) {
    const Finding finding = check.run();
    const std::string text = finding.ok() ? *finding : finding.error().text();
    if (!finding.ok() && exit == 0) exit = static_cast<int>(finding.error().kind);
    table.row({check.name, finding.ok() ? "ok" : "BAD", text});
    rows.push_back({{"check", check.name}, {"good", finding.ok()}, {"what", text}});
  }
  if (json)
    fmt::print("{}", json_text("deputy-doctor-1", {{"good", exit == 0}, {"checks", rows}}));
  else
    fmt::print("{}", table.text());
  return exit;
}

}  // namespace deputy::tools
