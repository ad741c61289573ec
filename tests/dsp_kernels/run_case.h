// Runs a kernel's case on the model.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dsp_kernels/kernels.h"
#include "dsp_model/core/core.h"

namespace deputy::dsp_test {

struct CaseRun {
  dsp_model::DspStats stats;
  std::string wrong;                               ///< the first byte that differs, or ""
  std::vector<std::vector<std::uint8_t>> outputs;  ///< what lies where the case expects something
};
inline CaseRun run_case(const dsp_kernels::KernelCase& c) {
  INFO(c.kernel << ": " << c.what);
  auto program = dsp_kernels::build_kernel(c.kernel, {.parameters = c.parameters});
  if (!program.ok()) FAIL(program.error().text());
  dsp_model::DspCore core{arch::DspConfig{}};
  REQUIRE(core.load(program->words));
  for (const auto& m : c.inputs) {
    REQUIRE(m.address + m.bytes.size() <= core.tcm().size());
    std::copy(m.bytes.begin(), m.bytes.end(), core.tcm().begin() + m.address);
  }
  core.start();
  for (std::size_t i = 0; i < c.arguments.size(); ++i) core.registers().r[i + 1] = c.arguments[i];
  const auto stop = core.run(10'000'000);
  INFO("fault " << arch::dsp_fault_text(core.fault()) << " at word " << core.fault_pc()
                << ", detail " << core.fault_detail());
  REQUIRE(stop == dsp_model::DspCore::Stop::kHalted);
  CaseRun out{core.stats(), "", {}};
  for (const auto& m : c.expected)
    out.outputs.emplace_back(core.tcm().begin() + m.address,
                             core.tcm().begin() + m.address + static_cast<long>(m.bytes.size()));
  for (const auto& m : c.expected)
    for (std::size_t i = 0; i < m.bytes.size() && out.wrong.empty(); ++i)
      if (core.tcm()[m.address + i] != m.bytes[i])
        out.wrong = "byte " + std::to_string(i) + " of what lies at " + std::to_string(m.address) +
                    ": " + std::to_string(core.tcm()[m.address + i]) + " not " +
                    std::to_string(m.bytes[i]);
  return out;
}

}  // namespace deputy::dsp_test
