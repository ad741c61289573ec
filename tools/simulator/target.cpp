#include "tools/simulator/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/handles.h"
#include "arch/registers.h"
#include "host_runtime/hal/driver_version.h"
#include "soc/dram_rates.h"

namespace deputy::tools {

bool is_config_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

base::Result<std::string> find_config(const std::string& kind, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ec;
  const bool is_path = is_config_path(name);
  if (is_path && fs::is_regular_file(name, ec)) return name;
  if (!is_path)
    for (const std::string& folder : {std::string("configs"), std::string(DEPUTY_CONFIG_DIR)})
      if (const std::string path = fmt::format("{}/{}/{}.yaml", folder, kind, name);
          fs::is_regular_file(path, ec))
        return path;
  return base::Error{
      base::ErrorKind::kIo, name,
      kind == "soc" ? "no such SoC configuration" : "no such file of configs/" + kind,
      is_path ? "check the path" : "give a YAML file or a name under configs/" + kind};
}

namespace {

// What the compiler should expect of the memories: the slower of interconnect and memory, and the
// latency to the first byte, in NPU cycles.
delegate::MemoryEstimate memory_estimate(const soc::SocConfig& c) {
  const double noc = c.noc.width_bytes * c.noc.clock_mhz;  // 10^6 bytes a second
  const double sram = c.sram.width_bytes * c.noc.clock_mhz;
  const double dram = soc::dram_sustained_mb_per_s(c.dram),
               dram_ns = soc::dram_idle_latency_ns(c.dram);
  delegate::MemoryEstimate out;
  out.sram_bytes_per_cycle = std::min(noc, sram) / c.npu.clock_mhz;
  out.dram_bytes_per_cycle = std::min(noc, dram) / c.npu.clock_mhz;
  const double sram_ns = c.sram.latency * 1000 / c.noc.clock_mhz;
  out.dram_burst_bytes = soc::dram_burst_bytes(c.dram);
  const double noc_ns = c.noc.latency * 1000 / c.noc.clock_mhz;
  out.sram_latency_cycles = (noc_ns + sram_ns) * c.npu.clock_mhz / 1000;
  out.dram_latency_cycles = (noc_ns + dram_ns) * c.npu.clock_mhz / 1000;
  return out;
}

}  // namespace

delegate::CompileOptions soc_compile_options(const soc::SocConfig& soc) {
  delegate::CompileOptions out;
  out.npu = soc.npu;
  out.dsp = soc.dsp;
  out.host = soc.host;
  // There through the switch, and one cycle back.
  out.register_bus_ns = (soc.noc.latency + 1) * 1000 / soc.noc.clock_mhz;
  out.memory = memory_estimate(soc);
  out.sram_bytes = static_cast<std::uint64_t>(soc.sram.bytes);
  return out;
}

base::Result<api::DeviceIdentity> soc_identity(const soc::SocConfig& soc) {
  api::DeviceIdentity out;
  DEPUTY_ASSIGN(const std::uint32_t revision, arch::revision_register(soc.silicon));
  out.engine = fmt::format("npu {:08x}", arch::npu_registers()[0].reset);
  out.hardware = arch::hardware_version(revision), out.firmware = arch::firmware_version(revision);
  DEPUTY_ASSIGN(out.driver, base::Version::parse(host_runtime::kDriverVersion, "driver"));
  return out;
}

base::Result<Target> make_target(const soc::SocConfig& soc) {
  auto out = std::make_shared<api::TargetImpl>();
  out->name = soc.name;
  out->compile = soc_compile_options(soc);
  DEPUTY_ASSIGN(out->device, soc_identity(soc));
  return Target(std::move(out));
}

}  // namespace deputy::tools
