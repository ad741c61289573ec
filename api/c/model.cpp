// Models.
#include <algorithm>

#include "api/c/handles.h"
#include "api/handles.h"

using namespace deputy;
using namespace deputy::api::c;

namespace {

static_assert(DEPUTY_PLACE_NPU == static_cast<int>(EnginePolicy::kNpu) &&
              DEPUTY_PLACE_CPU == static_cast<int>(EnginePolicy::kCpu));
static_assert(DEPUTY_NUMERICS_SINGLE == static_cast<int>(Numerics::kSingle) &&
              DEPUTY_NUMERICS_FP32 == static_cast<int>(Numerics::kFp32));
static_assert(DEPUTY_IO_SRAM == static_cast<int>(IoPlacement::kSram) &&
              DEPUTY_IO_DRAM == static_cast<int>(IoPlacement::kDram));
static_assert(DEPUTY_SHAPES_CPU == static_cast<int>(ShapePolicy::kCpu) &&
              DEPUTY_SHAPES_RECOMPILE == static_cast<int>(ShapePolicy::kRecompile));
static_assert(DEPUTY_INT8 == static_cast<int>(DType::kInt8) &&
              DEPUTY_UINT8 == static_cast<int>(DType::kUint8) &&
              DEPUTY_INT16 == static_cast<int>(DType::kInt16) &&
              DEPUTY_INT32 == static_cast<int>(DType::kInt32) &&
              DEPUTY_INT64 == static_cast<int>(DType::kInt64) &&
              DEPUTY_FLOAT32 == static_cast<int>(DType::kFloat32) &&
              DEPUTY_FLOAT16 == static_cast<int>(DType::kFloat16) &&
              DEPUTY_BOOL == static_cast<int>(DType::kBool));
static_assert(DEPUTY_UINT16 == static_cast<int>(DType::kUint16) &&
              DEPUTY_UINT32 == static_cast<int>(DType::kUint32) &&
              DEPUTY_UINT64 == static_cast<int>(DType::kUint64) &&
              DEPUTY_FLOAT64 == static_cast<int>(DType::kFloat64));

deputy_model* make(Model model) {
  auto inputs = model.inputs(), outputs = model.outputs();
  return new deputy_model{std::move(model), std::move(inputs), std::move(outputs)};
}

// Each of these enums counts from 0 to 2.
base::Status check_choice(std::int32_t value, const char* what) {
  return value >= 0 && value <= 2 ? base::Status()
                                  : api::bad_argument(what, "there is no such choice");
}

base::Status info(const std::vector<TensorInfo>& tensors, std::uint32_t index,
                  deputy_tensor_info& out) {
  if (index >= tensors.size())
    return api::bad_argument("tensor", "there is no such input or output");
  const TensorInfo& t = tensors[index];
  if (t.shape.size() > DEPUTY_MAX_RANK)
    return api::bad_argument(t.name, "it has too many dimensions for this struct");
  out = {};
  out.name = t.name.c_str(), out.type = static_cast<std::int32_t>(t.type);
  out.rank = static_cast<std::uint32_t>(t.shape.size()), out.bytes = t.bytes;
  std::ranges::copy(t.shape, out.shape);
  if (t.quantisation.present())
    out.scale = t.quantisation.scale[0], out.zero_point = t.quantisation.zero_point[0];
  return {};
}

}  // namespace

extern "C" {

void deputy_model_options_init(deputy_model_options* options) {
  if (!options) return;
  *options = {};
  options->struct_bytes = sizeof *options;
}

deputy_status deputy_model_compile(const deputy_target* target, const void* file, size_t bytes,
                                   const char* name, const deputy_model_options* options,
                                   deputy_model** model) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(target);
    DEPUTY_C_NEED(file);
    DEPUTY_C_NEED(name);
    DEPUTY_C_NEED(model);
    DEPUTY_ASSIGN(const auto o, options_or_default(options, deputy_model_options_init));
    DEPUTY_TRY(check_choice(o.engine, "engine"));
    DEPUTY_TRY(check_choice(o.numerics, "numerics"));
    DEPUTY_TRY(check_choice(o.io, "io"));
    DEPUTY_TRY(check_choice(o.shapes, "shapes"));
    DEPUTY_TRY(check_list(o.quirk_files, o.quirk_file_count, "quirk_files"));
    ModelOptions with;
    with.engine = static_cast<EnginePolicy>(o.engine),
    with.numerics = static_cast<Numerics>(o.numerics);
    with.io = static_cast<IoPlacement>(o.io), with.fallback = o.fallback != 0;
    with.shapes = static_cast<ShapePolicy>(o.shapes);
    if (o.cache_folder) with.cache_folder = o.cache_folder;
    if (o.quirk_files) with.quirk_files.assign(o.quirk_files, o.quirk_files + o.quirk_file_count);
    DEPUTY_ASSIGN(
        auto made,
        Model::compile(target->value, {static_cast<const std::uint8_t*>(file), bytes}, name, with));
    *model = make(std::move(made));
    return {};
  });
}

deputy_status deputy_model_from_executable(const void* file, size_t bytes, const char* name,
                                           deputy_model** model) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(file);
    DEPUTY_C_NEED(name);
    DEPUTY_C_NEED(model);
    DEPUTY_ASSIGN(auto made,
                  Model::from_executable({static_cast<const std::uint8_t*>(file), bytes}, name));
    *model = make(std::move(made));
    return {};
  });
}

void deputy_model_destroy(deputy_model* model) { delete model; }

deputy_status deputy_model_executable(const deputy_model* model, const void** file, size_t* bytes) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(file);
    DEPUTY_C_NEED(bytes);
    *file = model->value.executable().data(), *bytes = model->value.executable().size();
    return {};
  });
}

deputy_status deputy_model_counts(const deputy_model* model, uint32_t* inputs, uint32_t* outputs) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(inputs);
    DEPUTY_C_NEED(outputs);
    *inputs = static_cast<uint32_t>(model->inputs.size()),
    *outputs = static_cast<uint32_t>(model->outputs.size());
    return {};
  });
}

deputy_status deputy_model_input(const deputy_model* model, uint32_t index,
                                 deputy_tensor_info* out) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(out);
    return info(model->inputs, index, *out);
  });
}

deputy_status deputy_model_output(const deputy_model* model, uint32_t index,
                                  deputy_tensor_info* out) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(out);
    return info(model->outputs, index, *out);
  });
}

deputy_status deputy_model_placement(const deputy_model* model, uint32_t* operators,
                                     uint32_t* on_cpu) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(operators);
    DEPUTY_C_NEED(on_cpu);
    const auto all = model->value.operators();
    *operators = static_cast<uint32_t>(all.size());
    *on_cpu = static_cast<uint32_t>(
        std::ranges::count_if(all, [](const OperatorInfo& op) { return !op.on_npu; }));
    return {};
  });
}

}  // extern "C"
