// Every knob of a SoC, as read from configs/soc/*.yaml.
#pragma once

#include <string>
#include <vector>

#include "arch/dsp_config.h"
#include "arch/host_config.h"
#include "arch/npu_config.h"
#include "arch/silicon.h"
#include "base/config.h"
#include "base/result.h"
#include "sim/energy.h"
#include "soc/dram/spec.h"
#include "soc/energy_tables.h"
#include "soc/power_config.h"

namespace deputy::soc {

using arch::HostConfig;

struct NocConfig {
  double clock_mhz = 200;
  std::int32_t width_bytes = 8, latency = 4;
  std::string arbitration = "round_robin";
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.clock_mhz, Field{.name = "clock_mhz",
                         .doc = "interconnect and SRAM clock",
                         .unit = "MHz",
                         .min = 1,
                         .max = 5000});
    v(s.width_bytes, Field{.name = "width_bytes",
                           .doc = "bytes per cycle of one memory's channel",
                           .unit = "bytes",
                           .min = 1,
                           .max = 256});
    v(s.latency, Field{.name = "latency",
                       .doc = "request and response through the switch",
                       .unit = "cycles",
                       .min = 0,
                       .max = 10000});
    v(s.arbitration, Field{.name = "arbitration",
                           .doc = "who goes next: round_robin, priority (host, dma, npu) or fifo"});
  }
};

struct SramConfig {
  std::int64_t bytes = 1 << 20;
  std::int32_t width_bytes = 8, latency = 2;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.bytes,
      Field{.name = "bytes", .doc = "shared SRAM", .unit = "bytes", .min = 4096, .max = 268435456});
    v(s.width_bytes,
      Field{
          .name = "width_bytes", .doc = "bytes per cycle", .unit = "bytes", .min = 1, .max = 256});
    v(s.latency, Field{.name = "latency",
                       .doc = "access to first data",
                       .unit = "cycles",
                       .min = 0,
                       .max = 10000});
  }
};

/// The rows of the simple model default to JEDEC LPDDR4-3200, 8 Gb x16 (the DRAMSys memory
/// specification of that name). The full model has rows of its own: a device, which has no
/// defaults, and its controller.
struct DramConfig {
  std::string model = "simple";
  std::int64_t bytes = 64 << 20;
  double tck_ns = 0.625;
  std::int32_t width_bits = 16, burst_length = 16, banks = 8, row_bytes = 2048;
  std::int32_t read_latency = 28, write_latency = 14, trcd = 29, trp = 29, tras = 68, trrd = 16,
               tfaw = 64, tccd = 8, twr = 29, twtr = 16, trtp = 12;
  std::int32_t trefi = 6246, trfc = 448;
  double fixed_latency_ns = 128, fixed_mb_per_s = 500;
  std::int32_t fixed_burst_bytes = 32;
  dram::Spec
      device;  ///< from the file that the key dram.device.file names, then dram.device.* overrides
  dram::ControllerConfig controller;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto ck = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "tCK", .min = 0, .max = 1e6};
    };
    v(s.model, Field{.name = "model",
                     .doc = "simple (row state, in order), full (controller and device, "
                            "docs/dram.md) or fixed (latency and bandwidth)"});
    v(s.bytes,
      Field{
          .name = "bytes", .doc = "DRAM size", .unit = "bytes", .min = 65536, .max = 2147483648.0});
    v(s.tck_ns,
      Field{.name = "tck_ns", .doc = "clock period", .unit = "ns", .min = 0.1, .max = 100});
    v(s.width_bits,
      Field{.name = "width_bits", .doc = "data bus width", .unit = "bits", .min = 8, .max = 256});
    v(s.burst_length,
      Field{.name = "burst_length", .doc = "beats of a burst, two per clock", .min = 2, .max = 64});
    v(s.banks, Field{.name = "banks", .doc = "banks", .min = 1, .max = 64});
    v(s.row_bytes, Field{.name = "row_bytes",
                         .doc = "bytes of an open row",
                         .unit = "bytes",
                         .min = 64,
                         .max = 65536});
    v(s.read_latency, ck("read_latency", "RL: read command to data"));
    v(s.write_latency, ck("write_latency", "WL: write command to data"));
    v(s.trcd, ck("trcd", "activate to read or write"));
    v(s.trp, ck("trp", "precharge to activate"));
    v(s.tras, ck("tras", "activate to precharge"));
    v(s.trrd, ck("trrd", "activate to activate, other bank"));
    v(s.tfaw, ck("tfaw", "window in which at most four activates fall"));
    v(s.tccd, ck("tccd", "column command to column command"));
    v(s.twr, ck("twr", "end of write data to precharge"));
    v(s.twtr, ck("twtr", "end of write data to read command"));
    v(s.trtp, ck("trtp", "read command to precharge"));
    v(s.trefi, Field{.name = "trefi",
                     .doc = "refresh interval; 0: no refresh",
                     .unit = "tCK",
                     .min = 0,
                     .max = 1e9});
    v(s.trfc, ck("trfc", "refresh duration, all banks"));
    v(s.fixed_latency_ns, Field{.name = "fixed_latency_ns",
                                .doc = "fixed model: access latency",
                                .unit = "ns",
                                .min = 0,
                                .max = 1e6});
    v(s.fixed_burst_bytes, Field{.name = "fixed_burst_bytes",
                                 .doc = "fixed model: accesses are rounded to whole bursts",
                                 .unit = "bytes",
                                 .min = 1,
                                 .max = 4096});
    v(s.fixed_mb_per_s, Field{.name = "fixed_mb_per_s",
                              .doc = "fixed model: bandwidth, 10^6 bytes/s",
                              .unit = "MB/s",
                              .min = 0.001,
                              .max = 1e6});
    v(s.device, Field{.name = "device", .doc = "full model: the device"});
    v(s.controller, Field{.name = "controller", .doc = "full model: what the controller does"});
  }
};

struct DmaEngineConfig {
  double clock_mhz = 200;
  std::int32_t chunk_bytes = 512, outstanding = 4, descriptor_cycles = 8;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.clock_mhz,
      Field{.name = "clock_mhz", .doc = "DMA engine clock", .unit = "MHz", .min = 1, .max = 5000});
    v(s.chunk_bytes, Field{.name = "chunk_bytes",
                           .doc = "largest bus transaction",
                           .unit = "bytes",
                           .min = 16,
                           .max = 4096});
    v(s.outstanding,
      Field{.name = "outstanding", .doc = "transactions in flight each way", .min = 1, .max = 64});
    v(s.descriptor_cycles, Field{.name = "descriptor_cycles",
                                 .doc = "decode of one descriptor",
                                 .unit = "cycles",
                                 .min = 0,
                                 .max = 10000});
  }
};

struct IommuConfig {
  std::int32_t entries = 32, hit_cycles = 1;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.entries,
      Field{.name = "entries", .doc = "translations that the IOTLB holds", .min = 1, .max = 4096});
    v(s.hit_cycles, Field{.name = "hit_cycles",
                          .doc = "look-up before each transaction of a translated context, at the "
                                 "interconnect's clock",
                          .unit = "cycles",
                          .min = 0,
                          .max = 1000});
  }
};

struct SensorConfig {
  double mb_per_s = 50;
  std::int32_t chunk_bytes = 512, outstanding = 4;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.mb_per_s, Field{.name = "mb_per_s",
                        .doc = "rate at which a frame comes in, 10^6 bytes/s",
                        .unit = "MB/s",
                        .min = 0.001,
                        .max = 1e6});
    v(s.chunk_bytes, Field{.name = "chunk_bytes",
                           .doc = "largest bus transaction",
                           .unit = "bytes",
                           .min = 16,
                           .max = 4096});
    v(s.outstanding,
      Field{.name = "outstanding", .doc = "transactions in flight", .min = 1, .max = 64});
  }
};

/// The host CPU: what its work costs, which the compiler knows too, and what its cache does to
/// data, which it does not.
struct HostParams : HostConfig {
  bool coherent = true;
  std::int32_t evict_seed = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    HostConfig::fields(s, v);
    v(s.coherent,
      Field{.name = "coherent",
            .doc = "engines and CPU see each other's writes without clean and invalidate"});
    v(s.evict_seed,
      Field{.name = "evict_seed",
            .doc = "not 0: written lines leave the cache at random moments of this seed, too",
            .min = 0,
            .max = 2147483647});
  }
};

/// The NPU: what the compiler tiles for, and which model of it runs.
struct NpuParams : arch::NpuConfig {
  std::string engine = "tlm";
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    NpuConfig::fields(s, v);
    v(s.engine, Field{.name = "engine",
                      .doc = "tlm: fast kernels, time by formula; rtl: the Verilated compute path, "
                             "its own cycles (docs/rtl.md)"});
  }
};

using DspParams = arch::DspTarget;

struct SocConfig {
  std::string name = "unnamed";
  HostParams host;
  NocConfig noc;
  SramConfig sram;
  DramConfig dram;
  DmaEngineConfig dma;
  IommuConfig iommu;
  SensorConfig sensor;
  NpuParams npu;
  DspParams dsp;
  arch::Silicon silicon;
  sim::EnergyTable
      energy;  ///< from the tables that the configuration names, then energy.* overrides
  RowSources energy_sources;  ///< of every row of `energy`
  PowerConfig power;
  std::vector<OperatingPoint> operating_points;  ///< key power.points
  BatteryConfig battery;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown in reports"});
    v(s.host, Field{.name = "host", .doc = "host CPU cost model"});
    v(s.noc, Field{.name = "noc", .doc = "interconnect"});
    v(s.sram, Field{.name = "sram", .doc = "shared SRAM"});
    v(s.dram, Field{.name = "dram", .doc = "DRAM"});
    v(s.dma, Field{.name = "dma", .doc = "system DMA engine"});
    v(s.iommu, Field{.name = "iommu", .doc = "address translation of the engines' accesses"});
    v(s.sensor, Field{.name = "sensor", .doc = "camera or other source of frames"});
    v(s.npu, Field{.name = "npu", .doc = "neural processing unit"});
    v(s.dsp, Field{.name = "dsp", .doc = "vector DSP"});
    v(s.silicon, Field{.name = "silicon", .doc = "versions and faults of this NPU"});
    v(s.energy, Field{.name = "energy", .doc = "energy of each event"});
    v(s.power, Field{.name = "power", .doc = "voltage, clock and power gating"});
    v(s.battery, Field{.name = "battery", .doc = "what the device lives on"});
  }
};

/// Reads a SoC file and applies `sets` ("key=value"). The key `energy.file` names an energy table
/// (energy.dram_file, host.file: soc/energy_tables.h), relative to the SoC file; keys under
/// `energy` override its rows: a plain value, or a mapping with its source. `dram.device.file`
/// names a DRAM device (configs/dram) in the same way. Errors say file:line, key and what to do.
base::Result<SocConfig> load_soc_config(const std::string& path,
                                        const std::vector<std::string>& sets);
base::Result<SocConfig> parse_soc_config(base::Config config, const std::string& folder);

/// Every knob with its value as YAML that load_soc_config reads back to an equal configuration.
std::string effective_config_yaml(const SocConfig& config);

}  // namespace deputy::soc
