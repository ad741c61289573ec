// What a compiled program depends on, as text and as the digest that names it in the cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "api/digest.h"
#include "base/config.h"
#include "base/version.h"
#include "delegate/compile.h"

namespace deputy::api {

/// The hardware and driver that a program is for.
struct DeviceIdentity {
  std::string engine = "npu";  ///< which engine, and its ID register's value in words
  base::Version hardware, firmware, driver;
};

struct KeyParts {
  std::span<const std::uint8_t> model;  ///< the model file's bytes
  std::string model_name;               ///< stands in the executable
  std::vector<Shape> input_shapes;      ///< when they differ from the model's own; else empty
  delegate::CompileOptions options;     ///< `trace` does not count: it never changes the result
  std::vector<std::string>
      rules;  ///< what else shaped the program: the quirk entries that applied, with their texts
  DeviceIdentity device;
  std::string compiler = compiler_identity();

  /// This build's compiler: a version by hand and a hash over its sources.
  static std::string compiler_identity();
};

/// One "name=value" a line, every part of the key.
std::string key_text(const KeyParts& parts);
inline Digest compile_key(const KeyParts& parts) { return sha256(key_text(parts)); }

/// Calls v(name, member) for every option that is a plain value. The structured binding does not
/// compile when CompileOptions gets a member that is not listed here.
template <class Options, class V>
void visit_options(Options& options, V&& v);

// --- implementation ---

template <class T, class V>
void visit_leaves(const std::string& name, T& value, V& v) {
  if constexpr (base::HasFields<std::remove_const_t<T>>) {
    std::remove_const_t<T>::fields(value, [&](auto& member, const base::Field& field) {
      visit_leaves(name + "." + field.name, member, v);
    });
  } else {
    v(name, value);
  }
}

template <class Options, class V>
void visit_options(Options& options, V&& v) {
  auto& [npu, dsp, numerics, engine, keep_all_tensors, placement, host, register_bus_ns, sram_bytes,
         memory, io, contract, fallback, optimisations, effort, trace] = options;
  visit_leaves("npu", npu, v);
  visit_leaves("dsp", dsp, v);
  visit_leaves("numerics", numerics, v);
  visit_leaves("engine", engine, v);
  visit_leaves("keep_all_tensors", keep_all_tensors, v);
  visit_leaves("io", io, v);
  visit_leaves("contract", contract, v);
  visit_leaves("fallback", fallback, v);
  auto& [rules, min_partition, max_partitions] = placement;
  visit_leaves("placement.rules", rules, v);
  visit_leaves("placement.min_partition", min_partition, v);
  visit_leaves("placement.max_partitions", max_partitions, v);
  visit_leaves("host", host, v);
  visit_leaves("register_bus_ns", register_bus_ns, v);
  visit_leaves("sram_bytes", sram_bytes, v);
  auto& [sram_rate, dram_rate, sram_latency, dram_latency, dram_burst] = memory;
  visit_leaves("memory.sram_bytes_per_cycle", sram_rate, v);
  visit_leaves("memory.dram_bytes_per_cycle", dram_rate, v);
  visit_leaves("memory.sram_latency_cycles", sram_latency, v);
  visit_leaves("memory.dram_latency_cycles", dram_latency, v);
  visit_leaves("memory.dram_burst_bytes", dram_burst, v);
  visit_leaves("optimisations", optimisations, v);
  visit_leaves("effort", effort, v);
  (void)trace;
}

}  // namespace deputy::api
