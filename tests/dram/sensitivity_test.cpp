// Every row of a device and of its controller changes the commands or the energy of some traffic.
#include <fmt/format.h>

#include <cmath>

#include "base/config.h"
#include "soc/dram/energy.h"
#include "tests/dram/traffic.h"

namespace deputy::dram_test {
namespace {

struct Case {
  Spec spec;
  ControllerConfig config;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* name : {"lpddr4-3200", "ddr4-2400"})
    for (int i = 0; i < 4; ++i) {
      Case c{device(name), {}};
      c.spec.ranks = 2;
      c.spec.trrd_l = std::max(c.spec.trrd_l, c.spec.trrd_s + 1);
      if (i == 1) c.config.page_policy = "timeout", c.config.power_down = 30;
      if (i == 2) c.config.self_refresh = 300, c.config.window = 8;
      if (i == 3 && c.spec.trefi_pb > 0) c.config.refresh = "per_bank";
      out.push_back(c);
    }
  return out;
}

std::string signature(const Case& c) {
  Controller controller(c.spec, c.config, kBytes);
  std::vector<TraceEntry> trace;
  controller.record(&trace);
  std::mt19937_64 random(3);
  const std::uint64_t end = drive(controller, 1200, 20, [&](int i) {
    const std::uint64_t place =
        i % 200 < 100 ? random() : static_cast<std::uint64_t>(i) * 48 + random() % 2 * (1 << 20);
    // Pauses of every length: sleeps are interrupted at once, and long ones see refreshes come due.
    const std::uint64_t gap = i % 50 == 0 ? 40'000'000 : i % 5 == 0 ? random() % 400'000 : 0;
    return Ask{place % (kBytes - 4096), 96, random() % 3 == 0, gap};
  });
  controller.close(end + 1'000'000);
  std::uint64_t hash = 1469598103934665603u;
  for (const TraceEntry& e : trace)
    for (const auto v : {e.at, static_cast<Ck>(e.command), static_cast<Ck>(e.rank),
                         static_cast<Ck>(e.bank), static_cast<Ck>(e.row)})
      hash = (hash ^ static_cast<std::uint64_t>(v)) * 1099511628211u;
  const Spent s = spent(c.spec, controller.counters());
  return fmt::format("{:x} {} {} {}", hash, s.commands_nj, s.refresh_nj, s.standby_nj);
}

template <class T>
bool changes(const std::vector<Case>& all, const std::vector<std::string>& before,
             const base::ParamRow& row, T Case::*part, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    for (std::size_t i = 0; i < all.size(); ++i) {
      Case c = all[i];
      auto config = base::Config::from_text("{}", "t");
      if (!config.ok() || !config->set(row.key + "=" + value).ok() ||
          !config->load("", c.*part).ok())
        continue;
      if (check(c.spec, c.config).ok() && signature(c) != before[i]) return true;
    }
  return false;
}

}  // namespace

TEST_CASE("every row of the full DRAM model has an effect") {
  const auto all = cases();
  std::vector<std::string> before;
  for (const Case& c : all) before.push_back(signature(c));
  std::vector<base::ParamRow> rows;
  base::list_params("", all[0].spec, rows);
  for (const auto& row : rows) {
    if (row.key == "name" || row.key.starts_with("currents_")) continue;
    const double v = std::strtod(row.value.c_str(), nullptr);
    std::vector<std::string> values;
    for (const double other : {v + 1, v * 2, v / 2, v + 7, v * 16, 1.0, 5.0})
      values.push_back(base::param_text(other));
    INFO(row.key);
    CHECK(changes(all, before, row, &Case::spec, values));
  }
  rows.clear();
  base::list_params("", all[0].config, rows);
  for (const auto& row : rows) {
    std::vector<std::string> values = {"0", "1", "3", "100", "500"};
    if (row.key == "mapping") values = {"row_column_bank"};
    if (row.key == "page_policy") values = {"closed"};
    if (row.key == "refresh") values = {"none"};
    INFO(row.key);
    CHECK(changes(all, before, row, &Case::config, values));
  }
}

}  // namespace deputy::dram_test
