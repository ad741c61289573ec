// Mutated operator calls: shapes, types, attributes, quantisation and constant operands of the
// conformance cases changed at random. check_host_op must refuse or the kernel must stay inside its
// operands' memory, each in a heap block of exactly its size (the asan preset sees every byte
// beyond).
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>

#include "arch/host_timing.h"
#include "delegate/import/tflite.h"
#include "host_runtime/cpu/kernels.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace {

constexpr std::int64_t kMaxBytes = 1
                                   << 20;  // a mutation may ask for more; then only the check runs

struct Operand {
  bool present = false, constant = false;
  arch::TensorDesc desc;
  std::vector<std::uint8_t> data;
};

/// One operator call, free to be changed.
struct Call {
  arch::OpKind kind;
  arch::OpAttrs attrs;
  std::vector<Operand> inputs, outputs;
};

using Random = std::mt19937;
int pick(Random& random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}

std::int32_t odd_number(Random& random) {
  constexpr std::int32_t kNumbers[] = {
      0, 1, 2, 3, 4, 7, -1, -2, 16, 255, 65536, 2147483647, -2147483647 - 1};
  return kNumbers[pick(random, std::size(kNumbers))];
}

void mutate_attrs(arch::OpAttrs& attrs, Random& random) {
  std::int32_t* const fields[] = {&attrs.stride_h,
                                  &attrs.stride_w,
                                  &attrs.dilation_h,
                                  &attrs.dilation_w,
                                  &attrs.filter_h,
                                  &attrs.filter_w,
                                  &attrs.pad_top,
                                  &attrs.pad_bottom,
                                  &attrs.pad_left,
                                  &attrs.pad_right,
                                  &attrs.axis,
                                  &attrs.batch_dims,
                                  &attrs.num,
                                  &attrs.block_size,
                                  &attrs.begin_mask,
                                  &attrs.end_mask,
                                  &attrs.ellipsis_mask,
                                  &attrs.new_axis_mask,
                                  &attrs.shrink_axis_mask,
                                  &attrs.depth_multiplier};
  *fields[pick(random, std::size(fields))] = odd_number(random);
  if (pick(random, 4) == 0) attrs.activation = static_cast<std::uint8_t>(pick(random, 6));
  if (pick(random, 4) == 0) attrs.keep_dims = !attrs.keep_dims;
  if (pick(random, 4) == 0) attrs.align_corners = !attrs.align_corners;
  if (pick(random, 4) == 0) attrs.half_pixel_centers = !attrs.half_pixel_centers;
  if (pick(random, 4) == 0) attrs.reflect = !attrs.reflect;
}

void mutate_operand(Operand& o, Random& random) {
  auto& shape = o.desc.shape;
  auto& quant = o.desc.quant;
  switch (pick(random, 8)) {
    case 0:
      if (!shape.empty())
        shape[static_cast<std::size_t>(pick(random, static_cast<int>(shape.size())))] =
            odd_number(random);
      break;
    case 1:
      shape.push_back(pick(random, 3));
      break;
    case 2:
      if (!shape.empty()) shape.pop_back();
      break;
    case 3:
      if (shape.size() > 1) std::swap(shape.front(), shape.back());
      break;
    case 4:
      o.desc.dtype = static_cast<DType>(pick(random, kDTypeCount));
      break;
    case 5:
      if (pick(random, 2))
        quant = {};
      else if (quant.present())
        quant.zero_point[0] = odd_number(random);
      break;
    case 6: {
      constexpr float kScales[] = {0, 1e-45f, 1e-30f, 1e-3f, 1, 1e30f, 3e38f, -1};
      if (quant.present()) quant.scale[0] = kScales[pick(random, std::size(kScales))];
      break;
    }
    default:
      if (o.constant && o.data.size() >= 4 && o.desc.dtype == DType::kInt32) {
        const std::int32_t value = odd_number(random);
        std::memcpy(o.data.data() + 4 * static_cast<std::size_t>(
                                            pick(random, static_cast<int>(o.data.size() / 4))),
                    &value, 4);
      }
  }
}

/// Room for a tensor whose dimensions may be anything; -1 where it is too large to try.
std::int64_t bytes_of(const arch::TensorDesc& desc) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(desc.dtype));
  for (auto dim : desc.shape) {
    if (dim < 0) return -1;
    bytes *= dim;
    if (bytes > kMaxBytes) return -1;
  }
  return bytes;
}

class Memory {
 public:
  /// A block of exactly `bytes`, filled from `data` as far as it goes and with noise after.
  std::uint8_t* block(std::int64_t bytes, const std::vector<std::uint8_t>& data, Random& random) {
    blocks_.push_back(std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(bytes)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i)
      blocks_.back()[i] = i < data.size() ? data[i] : static_cast<std::uint8_t>(random());
    return blocks_.back().get();
  }

 private:
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
};

struct Counts {
  int refused = 0, ran = 0, failed_at_run_time = 0;
};

void try_call(const Call& call, Random& random, Counts& counts) {
  Memory memory;
  bool runnable = true;
  std::vector<arch::TensorView> check_in, check_out, run_in, run_out;
  const auto add = [&](const std::vector<Operand>& operands, auto& check_views, auto& run_views) {
    for (const Operand& o : operands) {
      if (!o.present) {
        check_views.push_back({}), run_views.push_back({});
        continue;
      }
      const std::int64_t bytes = bytes_of(o.desc);
      runnable = runnable && bytes >= 0;
      std::uint8_t* data = bytes >= 0 ? memory.block(bytes, o.data, random) : nullptr;
      check_views.push_back({&o.desc, o.constant ? data : nullptr});
      run_views.push_back({&o.desc, data});
    }
  };
  add(call.inputs, check_in, run_in);
  add(call.outputs, check_out, run_out);
  if (!host_runtime::check_host_op(call.kind, call.attrs, check_in, check_out).ok()) {
    ++counts.refused;
    return;
  }
  if (!runnable) return;
  (void)arch::host_work(call.kind, call.attrs, check_in, check_out);
  for (Numerics mode : {Numerics::kTflite, Numerics::kSingle, Numerics::kFp32}) {
    const bool ok = host_runtime::run_host_op(call.kind, call.attrs, run_in, run_out, mode).ok();
    ++(ok ? counts.ran : counts.failed_at_run_time);
  }
}

std::vector<Call> calls_of(const delegate::Graph& graph) {
  std::vector<Call> calls;
  for (const auto& op : graph.ops) {
    Call call{op.kind, op.attrs, {}, {}};
    const auto fill = [&](const std::vector<delegate::TensorId>& ids, std::vector<Operand>& out) {
      for (auto id : ids)
        out.push_back(id == delegate::kNoTensor
                          ? Operand{}
                          : Operand{true, graph.tensor(id).constant, graph.tensor(id).desc,
                                    graph.tensor(id).data});
    };
    fill(op.inputs, call.inputs);
    fill(op.outputs, call.outputs);
    calls.push_back(call);
  }
  return calls;
}

void mutate(Call& call, Random& random) {
  const int changes = 1 + pick(random, 3);
  for (int i = 0; i < changes; ++i) {
    const int operands = static_cast<int>(call.inputs.size() + call.outputs.size());
    const int which = pick(random, operands + 2);
    if (which >= operands) {
      mutate_attrs(call.attrs, random);
    } else {
      const auto at = static_cast<std::size_t>(which);
      Operand& o =
          at < call.inputs.size() ? call.inputs[at] : call.outputs[at - call.inputs.size()];
      if (pick(random, 20) == 0) o.present = false;
      if (pick(random, 10) == 0) o.constant = false;
      mutate_operand(o, random);
    }
  }
  if (pick(random, 12) == 0 && !call.inputs.empty()) call.inputs.pop_back();
  if (pick(random, 12) == 0 && !call.outputs.empty()) call.outputs.push_back(call.outputs[0]);
  if (pick(random, 12) == 0) call.outputs.pop_back();
  // Another operator on the same operands.
  if (pick(random, 6) == 0) {
    const auto kinds = arch::all_ops();
    call.kind = kinds[static_cast<std::size_t>(pick(random, static_cast<int>(kinds.size())))];
  }
}

TEST_CASE("mutated operator calls are refused or stay inside their operands") {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  Random random(20261129);
  Counts counts;
  for (const OpCase& c : load_op_cases(*data)) {
    const auto graph = delegate::import_tflite(read_bytes(*data + "/" + c.model), c.name);
    REQUIRE(graph.ok());
    for (const Call& original : calls_of(*graph))
      for (int i = 0; i < 40; ++i) {
        Call call = original;
        mutate(call, random);
        try_call(call, random, counts);
      }
  }
  // The mutations reach both sides: most calls are refused, many still run.
  CHECK(counts.refused > 10000);
  CHECK(counts.ran > 5000);
}

}  // namespace
}  // namespace deputy::tests
