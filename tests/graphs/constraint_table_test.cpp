// Every limit of the constraint table from both sides: at the limit the engine takes the operator
// and gives the kernels' bytes, just past it the operator is refused with that row's text.
#include <catch2/catch.hpp>

#include "delegate/ops/constraints.h"
#include "tests/support/graphs/agreement.h"
#include "workloads/selftest/limit_cases.h"

namespace deputy::graphs {
namespace {

using delegate::TableEngine;

std::optional<std::string> refusal(const delegate::OpRow& row, const delegate::Graph& g,
                                   const delegate::CompileOptions& o) {
  return row.engine == TableEngine::kNpu ? delegate::npu_refusal(g, g.ops[0], o)
                                         : delegate::cpu_refusal(g, g.ops[0]);
}

}  // namespace

TEST_CASE("each limit of the constraint table is taken exactly and refused just past it") {
  int limits = 0;
  for (const delegate::OpRow& row : delegate::constraint_table())
    for (const delegate::Demand& demand : row.demands) {
      const std::string text = delegate::rule_text(row, demand);
      INFO(arch::op_name(row.kind) << ": " << text);
      ++limits;
      const auto pair = limit_case(row, demand);
      if (!pair) {
        FAIL_CHECK("no pair of cases");
        continue;
      }
      CHECK(refusal(row, pair->at, pair->at_options).value_or("") == "");
      const std::string reason = refusal(row, pair->past, pair->past_options).value_or("taken");
      INFO("past the limit: " << reason);
      CHECK(reason.substr(0, text.size()) == text);
      Setting setting{pair->at_options, 1};
      setting.options.engine = row.engine == TableEngine::kNpu ? delegate::EnginePolicy::kNpu
                                                               : delegate::EnginePolicy::kCpu;
      const auto executable = delegate::compile(pair->at, setting.options);
      REQUIRE(executable.ok());
      CHECK(executable->ops[0].on_npu == (row.engine == TableEngine::kNpu));
      CHECK(disagreement(pair->at, setting, 1).value_or("") == "");
    }
  CHECK(limits > 200);
}

TEST_CASE("the table has every operator once for the CPU and at most once for the NPU") {
  for (const auto kind : arch::all_ops()) {
    int npu = 0, cpu = 0;
    for (const delegate::OpRow& row : delegate::constraint_table())
      if (row.kind == kind) ++(row.engine == TableEngine::kNpu ? npu : cpu);
    INFO(arch::op_name(kind));
    CHECK(cpu == 1);
    CHECK(npu <= 1);
  }
  CHECK(delegate::constraint_row(arch::OpKind::SOFTMAX, TableEngine::kNpu) != nullptr);
  CHECK(delegate::constraint_row(arch::OpKind::LOG_SOFTMAX, TableEngine::kNpu) == nullptr);
  for (const auto& row : delegate::constraint_texts())
    CHECK((row.engine == TableEngine::kCpu || !row.rules.empty()));
}

}  // namespace deputy::graphs
