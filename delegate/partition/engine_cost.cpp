#include "delegate/partition/engine_cost.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "arch/host_timing.h"
#include "arch/npu_timing.h"
#include "arch/queue_entry.h"
#include "delegate/ops/copies.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

double host_period(const CompileOptions& o) { return 1e6 / o.host.clock_mhz; }
double npu_period(const CompileOptions& o) { return 1e6 / o.npu.clock_mhz; }
Cost rounded(double picoseconds) { return static_cast<Cost>(std::llround(picoseconds)); }

std::int64_t output_elements(const Graph& graph, const Op& op) {
  std::int64_t total = 0;
  for (const TensorId id : op.outputs) total += graph.tensor(id).desc.elements();
  return total;
}

// Bytes that the operator reads (weights and other constants too) and writes.
struct Bytes {
  std::int64_t maps_in = 0, constants = 0, out = 0;
  std::int64_t external = 0;  // of maps_in and out, outside the arenas
  bool external_in = false, external_out = false;
};
Bytes bytes_of(const Graph& graph, const Op& op, const CompileOptions& options) {
  Bytes out;
  // Which of them cannot be external is only known when storage is planned.
  const auto is_external = [&](TensorId id) {
    if (options.io == IoPlacement::kArena) return false;
    const auto among = [&](const std::vector<TensorId>& ids) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    return among(graph.inputs) || among(graph.outputs);
  };
  std::set<TensorId> seen;
  for (const TensorId id : op.inputs)
    if (id != kNoTensor && seen.insert(id).second) {
      const std::int64_t bytes = graph.tensor(id).desc.bytes();
      (graph.tensor(id).constant ? out.constants : out.maps_in) += bytes;
      if (!graph.tensor(id).constant && is_external(id))
        out.external += bytes, out.external_in = true;
    }
  for (const TensorId id : op.outputs) {
    out.out += graph.tensor(id).desc.bytes();
    if (is_external(id)) out.external += graph.tensor(id).desc.bytes(), out.external_out = true;
  }
  return out;
}

// Whether the maps that an operator reads, or those that it writes, are in SRAM.
bool maps_in_sram(const Bytes& b, bool external, const CompileOptions& o) {
  if (external && o.io == IoPlacement::kDram) return false;
  return static_cast<std::uint64_t>(b.maps_in + b.out - b.external) <= o.sram_bytes;
}

// A compute instruction that does as much as the whole operator.
double compute_cycles(const Graph& graph, const Op& op, const CompileOptions& options) {
  const std::int64_t elements = output_elements(graph, op);
  const auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(elements, 1 << 24));
  if (count == 0) return 0;
  const double repeat = static_cast<double>(elements) / count;
  const auto cycles = [&](const arch::Operation& operation) {
    return repeat * static_cast<double>(arch::compute_cost(operation, options.npu).cycles);
  };
  switch (op.kind) {
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM: {
      arch::Eltwise e;
      e.ofm_h = e.ofm_w = 1, e.ofm_c = count;
      return cycles(e);
    }
    case OpKind::SOFTMAX: {
      arch::Softmax s;
      const Shape& shape = graph.tensor(op.inputs[0]).desc.shape;
      s.length = shape.empty() ? 1 : static_cast<std::uint32_t>(std::max(1, shape.back()));
      s.rows = std::max(1u, count / s.length);
      return cycles(s);
    }
    case OpKind::PAD:
    case OpKind::PADV2:
      return 0;  // moved, not computed
    default: {
      if (moves_only(op.kind)) return 0;
      arch::Lut lut;
      lut.count = count;
      return cycles(lut);
    }
  }
}

}  // namespace

Cost cpu_cost(const Graph& graph, const Op& op, const CompileOptions& options) {
  std::vector<arch::TensorView> inputs, outputs;
  for (const TensorId id : op.inputs)
    inputs.push_back(id == kNoTensor ? arch::TensorView{}
                                     : arch::TensorView{&graph.tensor(id).desc, nullptr});
  for (const TensorId id : op.outputs) outputs.push_back({&graph.tensor(id).desc, nullptr});
  // Bytes go in chunks, a few in flight; constants lie in DRAM.
  const Bytes b = bytes_of(graph, op, options);
  const MemoryEstimate& m = options.memory;
  const auto moving = [&](std::int64_t bytes, bool sram) {
    const double latency = sram ? m.sram_latency_cycles : m.dram_latency_cycles;
    const double chunk =
        options.host.chunk_bytes / (sram ? m.sram_bytes_per_cycle : m.dram_bytes_per_cycle);
    const double step = std::max(chunk, (latency + chunk) / options.host.outstanding);
    return static_cast<double>(bytes) / options.host.chunk_bytes * step * npu_period(options);
  };
  const bool in_sram = maps_in_sram(b, b.external_in, options),
             out_sram = maps_in_sram(b, b.external_out, options);
  const double maps = in_sram == out_sram ? moving(b.maps_in + b.out, in_sram)
                                          : moving(b.maps_in, in_sram) + moving(b.out, out_sram);
  double transfers = maps + moving(b.constants, false);
  double total = 0;
  for (const arch::HostWork& work : arch::host_work(op.kind, op.attrs, inputs, outputs)) {
    const double computing =
        static_cast<double>(arch::host_cycles(options.host, work.kernel, work.amount)) *
        host_period(options);
    total += std::max(computing, transfers);
    transfers = 0;  // they go with the first work
  }
  return rounded(total);
}

Cost npu_cost(const Graph& graph, const Op& op, const CompileOptions& options,
              TilingCache& tilings) {
  const Bytes b = bytes_of(graph, op, options);
  const TransferRates rates = transfer_rates(options, maps_in_sram(b, b.external_in, options),
                                             maps_in_sram(b, b.external_out, options));
  if (const auto shape = window_shape(graph, op))
    if (const auto tiling = tilings.choose(*shape, options.npu, rates))
      return rounded(estimate_cycles(*shape, *tiling, options.npu, rates) * npu_period(options));
  // The three queues work side by side on about four tiles; a tile fills and one drains the
  // pipeline.
  constexpr double kTiles = 4;
  const double load = static_cast<double>(b.maps_in) * rates.ifm_per_byte +
                      static_cast<double>(b.constants) * rates.weights_per_byte;
  const double store = static_cast<double>(b.out) * rates.ofm_per_byte;
  const double compute = compute_cycles(graph, op, options) + 3 * options.npu.ctrl.start_cycles;
  const double slowest = std::max({load, store, compute});
  const double ends = (load + store + compute - slowest) / kTiles;
  const double overhead =
      kTiles * (rates.ifm_setup + rates.ofm_setup) / 2 + 3 * kTiles * rates.command / 2;
  return rounded((slowest + ends + overhead) * npu_period(options));
}

Cost npu_compute_cost(const Graph& graph, const Op& op, const CompileOptions& options) {
  return rounded(compute_cycles(graph, op, options) * npu_period(options));
}

Cost npu_launch_cost(const CompileOptions& options) {
  const double access =
      options.host.register_access * host_period(options) + options.register_bus_ns * 1000;
  const double driver =
      static_cast<double>(arch::kLaunchRegisterAccesses) * access +
      static_cast<double>(arch::launch_cycles(options.host, arch::kQueueEntryBytes) +
                          arch::interrupt_cycles(options.host)) *
          host_period(options);
  // The queue manager reads the entry, then the command processor the stream.
  const double fetch =
      2 * options.memory.dram_latency_cycles +
      (arch::kQueueEntryBytes + options.npu.ctrl.fetch_bytes) / options.memory.dram_bytes_per_cycle;
  return rounded(driver + fetch * npu_period(options));
}

Cost boundary_call_cost(const CompileOptions& options) {
  return rounded(options.host.maintenance_call * host_period(options));
}
Cost boundary_byte_cost(const CompileOptions& options) {
  return rounded(static_cast<double>(options.host.maintenance_line) /
                 options.host.cache_line_bytes * host_period(options));
}

std::int64_t npu_cycles(Cost picoseconds, const CompileOptions& options) {
  return std::llround(static_cast<double>(picoseconds) / npu_period(options));
}

}  // namespace deputy::delegate
