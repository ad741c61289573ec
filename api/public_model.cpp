#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "api/compile_model.h"
#include "api/handles.h"
#include "api/import_model.h"
#include "api/input_shapes.h"
#include "deputy/model.h"

namespace deputy {
namespace api {

std::vector<TensorInfo> tensor_infos(const arch::Executable& executable,
                                     std::span<const std::uint32_t> tensors) {
  std::vector<TensorInfo> out;
  for (const std::uint32_t id : tensors) {
    const arch::TensorDesc& desc = executable.tensors[id].desc;
    out.push_back(
        {desc.name, desc.dtype, desc.shape, desc.quant, static_cast<std::uint64_t>(desc.bytes())});
  }
  return out;
}

namespace {

base::Result<std::vector<QuirkFile>> read_quirks(const std::vector<std::string>& paths) {
  std::vector<QuirkFile> out;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) return base::Error{base::ErrorKind::kIo, path, "cannot be read", "check the path"};
    DEPUTY_ASSIGN(auto file, parse_quirks(text, path));
    out.push_back(std::move(file));
  }
  DEPUTY_TRY(check_overlap(out));
  return out;
}

delegate::CompileOptions compile_options(const TargetImpl& target,
                                         const deputy::ModelOptions& options) {
  delegate::CompileOptions out = target.compile;
  out.numerics = options.numerics;
  out.engine = static_cast<delegate::EnginePolicy>(options.engine);
  out.io = static_cast<delegate::IoPlacement>(options.io);
  out.fallback = options.fallback;
  return out;
}
static_assert(
    static_cast<int>(EnginePolicy::kAuto) == static_cast<int>(delegate::EnginePolicy::kAuto) &&
    static_cast<int>(EnginePolicy::kNpu) == static_cast<int>(delegate::EnginePolicy::kNpu) &&
    static_cast<int>(EnginePolicy::kCpu) == static_cast<int>(delegate::EnginePolicy::kCpu));
static_assert(static_cast<int>(deputy::ShapePolicy::kRefuse) ==
                  static_cast<int>(ShapePolicy::kRefuse) &&
              static_cast<int>(deputy::ShapePolicy::kCpu) == static_cast<int>(ShapePolicy::kCpu) &&
              static_cast<int>(deputy::ShapePolicy::kRecompile) ==
                  static_cast<int>(ShapePolicy::kRecompile));
static_assert(
    static_cast<int>(IoPlacement::kArena) == static_cast<int>(delegate::IoPlacement::kArena) &&
    static_cast<int>(IoPlacement::kSram) == static_cast<int>(delegate::IoPlacement::kSram) &&
    static_cast<int>(IoPlacement::kDram) == static_cast<int>(delegate::IoPlacement::kDram));

// What a compile for other shapes needs long after the first one.
struct Recipe {
  std::shared_ptr<const TargetImpl> target;
  std::vector<std::uint8_t> file;
  std::vector<Shape> shapes;  ///< the file's own
  std::vector<QuirkFile> quirks;
  std::optional<CompiledCache> cache;
  std::weak_ptr<ModelImpl> notes;  ///< the model owns the recipe

  base::Result<std::vector<std::uint8_t>> operator()(
      const delegate::Graph& graph, const delegate::CompileOptions& options) const {
    auto wanted = input_shapes(graph);
    if (wanted == shapes) wanted.clear();
    DEPUTY_ASSIGN(auto compiled, compile_model({graph, options, target->device, quirks}, file,
                                               wanted, cache ? &*cache : nullptr));
    if (const auto model = notes.lock()) {
      if (!compiled.cache.text.empty()) model->notes.push_back(compiled.cache.text);
      for (const AppliedQuirk& quirk : compiled.quirks)
        model->notes.push_back(fmt::format("quirk {} of {}: {} ({})", quirk.id, quirk.file,
                                           quirk.action, quirk.reason));
    }
    return std::move(compiled.bytes);
  }
};

}  // namespace
}  // namespace api

std::string Target::name() const { return impl_ ? impl_->name : ""; }

base::Result<Model> Model::compile(const Target& target, std::span<const std::uint8_t> file,
                                   const std::string& name, const ModelOptions& options) {
  if (!target.impl())
    return api::bad_argument(name, "a target of no SoC", "take simulate()'s, or soc_target()'s");
  auto impl = std::make_shared<api::ModelImpl>();
  DEPUTY_ASSIGN(auto graph, api::import_model(file, name, "", {}, &impl->notes));
  impl->name = name;
  const auto recipe = std::make_shared<api::Recipe>();
  recipe->target = target.impl();
  recipe->file.assign(file.begin(), file.end());
  recipe->shapes = api::input_shapes(graph);
  DEPUTY_ASSIGN(recipe->quirks, api::read_quirks(options.quirk_files));
  if (!options.cache_folder.empty()) recipe->cache.emplace(options.cache_folder);
  recipe->notes = impl;
  api::ModelOptions with;
  with.compile = api::compile_options(*target.impl(), options);
  with.policy = static_cast<api::ShapePolicy>(options.shapes);
  with.compiler = [recipe](const auto& g, const auto& o) { return (*recipe)(g, o); };
  impl->source = std::make_shared<api::Model>(std::move(graph), std::move(with));
  DEPUTY_ASSIGN(const auto program, impl->source->program(recipe->shapes));
  impl->file = program->file;
  DEPUTY_ASSIGN(impl->executable, arch::read_executable(impl->file, name));
  return Model(std::move(impl));
}

base::Result<Model> Model::from_executable(std::span<const std::uint8_t> file,
                                           const std::string& name) {
  auto impl = std::make_shared<api::ModelImpl>();
  impl->name = name;
  impl->file.assign(file.begin(), file.end());
  DEPUTY_ASSIGN(impl->executable, arch::read_executable(file, name));
  return Model(std::move(impl));
}

std::string Model::name() const { return impl_->name; }

std::vector<TensorInfo> Model::inputs() const {
  return api::tensor_infos(impl_->executable, impl_->executable.inputs);
}
std::vector<TensorInfo> Model::outputs() const {
  return api::tensor_infos(impl_->executable, impl_->executable.outputs);
}

std::vector<OperatorInfo> Model::operators() const {
  std::vector<OperatorInfo> out;
  for (std::size_t i = 0; i < impl_->executable.ops.size(); ++i) {
    const arch::SourceOp& op = impl_->executable.ops[i];
    out.push_back({op.name, std::string(impl_->executable.op_word(i)), op.on_npu, op.reason});
  }
  return out;
}

std::span<const std::uint8_t> Model::executable() const { return impl_->file; }
std::vector<std::string> Model::notes() const { return impl_->notes; }

}  // namespace deputy
