#include "workloads/selftest/cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "delegate/ops/constraint_rules.h"
#include "workloads/random.h"
#include "workloads/selftest/legal_ops.h"
#include "workloads/selftest/limit_cases.h"

namespace deputy::graphs {
namespace {

struct Square {
  std::int32_t size = 12, channels = 8, kernel = 3, stride = 1, dilation = 1, pad = 0;
};

bool is_pool(OpKind k) { return k == OpKind::AVERAGE_POOL_2D || k == OpKind::MAX_POOL_2D; }

// A window operator, the same in both directions.
Graph window(OpKind kind, DType type, const Square& c) {
  Maker m(std::string(arch::op_name(kind)), 21, {});
  m.type = type;
  const Quantisation q = {{0.05f}, {m.zero(3)}, 0};
  const TensorId x = m.input({1, c.size, c.size, c.channels}, q);
  const std::int32_t span = (c.kernel - 1) * c.dilation + 1,
                     out = (c.size + 2 * c.pad - span) / c.stride + 1;
  arch::OpAttrs a;
  a.padding = static_cast<std::uint8_t>(arch::Padding::kExplicit);
  a.stride_h = a.stride_w = c.stride;
  a.pad_top = a.pad_left = c.pad;
  a.pad_bottom = a.pad_right = std::max(0, (out - 1) * c.stride + span - c.pad - c.size);
  std::vector<TensorId> inputs = {x};
  std::int32_t filters = c.channels;
  if (is_pool(kind)) {
    a.filter_h = a.filter_w = c.kernel;
  } else {
    a.dilation_h = a.dilation_w = c.dilation;
    const bool depthwise = kind == OpKind::DEPTHWISE_CONV_2D;
    if (!depthwise) filters = 10;
    inputs.push_back(
        depthwise ? m.weights({1, c.kernel, c.kernel, c.channels}, 3, c.kernel * c.kernel, x, q)
                  : m.weights({filters, c.kernel, c.kernel, c.channels}, 0,
                              c.kernel * c.kernel * c.channels, x, q));
    inputs.push_back(m.bias(filters, true));
  }
  m.emit(kind, a, inputs, {1, out, out, filters}, q);
  m.graph().outputs = m.graph().ops[0].outputs;
  return std::move(m.graph());
}

class Cases {
 public:
  void add(std::string name, Graph graph, Numerics numerics = Numerics::kTflite) {
    SelftestCase c{std::move(name), std::move(graph), numerics, {}};
    for (const TensorId id : c.graph.inputs)
      c.inputs.push_back(
          workloads::seeded_input(c.graph.tensor(id).desc, 77 + static_cast<std::uint64_t>(id)));
    out.push_back(std::move(c));
  }

  void windows(OpKind kind, DType type) {
    const auto one = [&](const char* what, std::int32_t value, const Square& square) {
      add(fmt::format("{} {} {} {}", arch::op_name(kind), dtype_name(type), what, value),
          window(kind, type, square));
    };
    for (const int k : {1, 2, 4, 5, 6, 7}) one("kernel", k, {.kernel = k});
    for (const int s : {1, 2, 3, 4, 5}) one("stride", s, {.stride = s});
    for (const int s : {2, 3}) one("kernel 1, stride", s, {.kernel = 1, .stride = s});
    for (const int p : {1, 2}) one("padding", p, {.pad = p});
    for (const int c : {1, 3, 16, 17, 33}) one("channels", c, {.channels = c});
    if (is_pool(kind)) return;
    for (const int d : {2, 3, 4}) one("dilation", d, {.dilation = d});
  }

  std::vector<SelftestCase> out;
};

}  // namespace

std::vector<SelftestCase> selftest_cases() {
  Cases cases;
  for (const delegate::OpRow& row : delegate::constraint_table()) {
    if (row.engine != delegate::TableEngine::kNpu) continue;
    for (const DType type : {DType::kInt8, DType::kUint8}) {
      cases.add(fmt::format("{} {} plain", arch::op_name(row.kind), dtype_name(type)),
                legal_op(row.kind, type));
      if (is_pool(row.kind) || row.kind == OpKind::CONV_2D || row.kind == OpKind::DEPTHWISE_CONV_2D)
        cases.windows(row.kind, type);
    }
    for (const delegate::Demand& demand : row.demands)
      if (auto pair = limit_case(row, demand))
        cases.add(fmt::format("{} at its limit: {}", arch::op_name(row.kind),
                              delegate::rule_text(row, demand)),
                  std::move(pair->at), pair->at_options.numerics);
  }
  return std::move(cases.out);
}

}  // namespace deputy::graphs
