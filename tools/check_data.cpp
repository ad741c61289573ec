#include "tools/check_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/files.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::json;

struct Golden {
  std::string label;
  std::string file;
  std::int32_t tensor = -1;  ///< TFLite tensor index for layers, else -1
  std::size_t output = 0;    ///< graph output
};

struct Case {
  std::string name, model;
  std::vector<std::string> inputs;
  std::vector<Golden> goldens;
  bool allow_one_step = false;
};

std::string golden_runtime(const CheckDataOptions& options, bool operator_cases) {
  if (!options.runtime.empty()) return options.runtime;
  if (options.simulate.numerics != Numerics::kFp32) return "tflm";
  return operator_cases ? "tfjs" : "xnnpack";
}

// {"cases": [{name, model, inputs: [{file}], outputs: [{tflm_file, tfjs_file}], runtimes}]}
std::vector<Case> operator_cases(const Json& manifest, const std::string& runtime) {
  std::vector<Case> cases;
  for (const auto& row : manifest.at("cases")) {
    Case c;
    c.name = row.at("name");
    c.model = row.at("model");
    for (const auto& input : row.at("inputs")) c.inputs.push_back(input.at("file"));
    std::size_t index = 0;
    for (const auto& output : row.at("outputs")) {
      if (output.contains(runtime + "_file"))
        c.goldens.push_back(
            {fmt::format("output {}", index), output.at(runtime + "_file"), -1, index});
      ++index;
    }
    if (runtime == "tfjs") {
      const auto& info = row.at("runtimes").at("tfjs");
      c.allow_one_step = info.contains("builtin_kernels") && !info.at("builtin_kernels").empty();
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

// {"models": [{name, file, cases: [{id, inputs: [file], outputs: {runtime: [{file}]}}], layers:
// {runtime: [...]}}]}
std::vector<Case> model_cases(const Json& manifest, const std::string& runtime, bool layers) {
  std::vector<Case> cases;
  for (const auto& model : manifest.at("models")) {
    const std::string file = model.at("file");
    if (!file.ends_with(".tflite")) continue;
    for (const auto& row : model.at("cases")) {
      Case c;
      const int id = row.at("id");
      c.name = fmt::format("{}/{}", model.at("name").get<std::string>(), id);
      c.model = file;
      for (const auto& input : row.at("inputs")) c.inputs.push_back(input);
      if (row.at("outputs").contains(runtime)) {
        std::size_t index = 0;
        for (const auto& output : row.at("outputs").at(runtime)) {
          c.goldens.push_back({fmt::format("output {}", index), output.at("file"), -1, index});
          ++index;
        }
      }
      if (layers && id == 0 && model.contains("layers") && model.at("layers").contains(runtime))
        for (const auto& layer : model.at("layers").at(runtime))
          if (layer.contains("file"))
            c.goldens.push_back({fmt::format("tensor {}", layer.at("tensor").get<int>()),
                                 layer.at("file"), layer.at("tensor").get<std::int32_t>(), 0});
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

// The ONNX models of the second layout: those with cases of their own, and twins that share another
// model's ("vectors_of").
std::vector<Case> onnx_cases(const Json& manifest) {
  std::vector<Case> cases;
  for (const auto& model : manifest.at("models")) {
    const std::string file = model.at("file");
    if (!file.ends_with(".onnx")) continue;
    const bool twin = model.contains("vectors_of");
    const std::string runtime = twin ? model.at("expect").get<std::string>() : "ort";
    const Json* source = &model;
    if (twin)
      for (const auto& other : manifest.at("models"))
        if (other.at("name") == model.at("vectors_of")) source = &other;
    for (const auto& row : source->at("cases")) {
      Case c;
      c.name = fmt::format("{}/{}", model.at("name").get<std::string>(), row.at("id").get<int>());
      c.model = file;
      for (const auto& input : row.at("inputs"))
        c.inputs.push_back(input.is_object() ? input.at("file") : input);
      if (row.at("outputs").contains(runtime)) {
        std::size_t index = 0;
        for (const auto& output : row.at("outputs").at(runtime)) {
          c.goldens.push_back({fmt::format("output {}", index), output.at("file"), -1, index});
          ++index;
        }
      }
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

template <class T>
void compare_as(const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& want,
                TensorCheck& check) {
  for (std::size_t i = 0; i + sizeof(T) <= got.size(); i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &got[i], sizeof(T));
    std::memcpy(&b, &want[i], sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      // 1e-4 relative, with the same amount absolute near zero; NaN must meet NaN.
      if (std::isnan(a) && std::isnan(b)) continue;
      const double diff =
          std::abs(static_cast<double>(a) - b) / std::max(1.0, std::abs(static_cast<double>(b)));
      const double seen = std::isnan(diff) ? INFINITY : diff;
      check.max_difference = std::max(check.max_difference, seen);
      check.different += !(seen <= 1e-4);
    } else {
      check.different += a != b;
      check.max_difference =
          std::max(check.max_difference, std::abs(static_cast<double>(a) - static_cast<double>(b)));
    }
  }
}

TensorCheck compare(const std::string& label, DType dtype, const std::vector<std::uint8_t>& got,
                    const std::vector<std::uint8_t>& want) {
  TensorCheck check;
  check.name = label;
  check.elements = static_cast<std::int64_t>(want.size() / dtype_size(dtype));
  if (got.size() != want.size()) {
    check.different = std::max<std::int64_t>(1, check.elements);
    check.max_difference = INFINITY;
    return check;
  }
  switch (dtype) {
    case DType::kInt8:
      compare_as<std::int8_t>(got, want, check);
      break;
    case DType::kUint8:
      compare_as<std::uint8_t>(got, want, check);
      break;
    case DType::kBool:
      compare_as<std::uint8_t>(got, want, check);
      break;
    case DType::kInt16:
      compare_as<std::int16_t>(got, want, check);
      break;
    case DType::kFloat16:
      compare_as<std::uint16_t>(got, want, check);
      break;
    case DType::kInt32:
      compare_as<std::int32_t>(got, want, check);
      break;
    case DType::kInt64:
      compare_as<std::int64_t>(got, want, check);
      break;
    case DType::kFloat32:
      compare_as<float>(got, want, check);
      break;
    case DType::kUint16:
      compare_as<std::uint16_t>(got, want, check);
      break;
    case DType::kUint32:
      compare_as<std::uint32_t>(got, want, check);
      break;
    case DType::kUint64:
      compare_as<std::uint64_t>(got, want, check);
      break;
    case DType::kFloat64:
      compare_as<double>(got, want, check);
      break;
  }
  return check;
}

CaseResult refused(const Case& c, const base::Error& error) {
  return {c.name, CaseOutcome::kRefused, error.text(), {}};
}

CaseResult run_case(const Case& c, const std::string& folder, const CheckDataOptions& options) {
  CaseResult result;
  result.name = c.name;
  const auto path = [&](const std::string& file) {
    return (std::filesystem::path(folder) / file).string();
  };
  if (c.goldens.empty()) {
    result.outcome = CaseOutcome::kNoGolden;
    return result;
  }
  const auto graph = load_model(path(c.model));
  if (!graph.ok()) return refused(c, graph.error());
  std::vector<std::string> files;
  for (const auto& input : c.inputs) files.push_back(path(input));
  const auto inputs = load_inputs(*graph, files, 1);
  if (!inputs.ok()) return refused(c, inputs.error());
  SimulateOptions run = options.simulate;
  run.all_tensors = options.layers;
  const auto simulation = simulate(*graph, run, *inputs);
  if (!simulation.ok()) return refused(c, simulation.error());

  const arch::Executable& exe = simulation->executable;
  for (const auto& golden : c.goldens) {
    const auto want = read_file(path(golden.file));
    if (!want.ok()) return refused(c, want.error());
    if (golden.tensor < 0) {
      const arch::TensorDesc& desc = exe.tensors[exe.outputs[golden.output]].desc;
      result.tensors.push_back(
          compare(golden.label, desc.dtype, simulation->outputs[golden.output], *want));
      continue;
    }
    const auto found = std::find_if(
        simulation->tensors.begin(), simulation->tensors.end(),
        [&](const auto& t) { return exe.tensors[t.first].source_index == golden.tensor; });
    if (found == simulation->tensors.end()) {
      result.tensors.push_back({golden.label + " (never stored)", 1, 1, INFINITY});
      continue;
    }
    result.tensors.push_back(
        compare(golden.label, exe.tensors[found->first].desc.dtype, found->second, *want));
  }
  for (const auto& line : simulation->soc.imbalances) result.detail += "books: " + line + "; ";
  if (!result.detail.empty()) {
    result.outcome = CaseOutcome::kDiffers;
    return result;
  }
  for (const auto& t : result.tensors) {
    if (t.different == 0) continue;
    result.outcome =
        c.allow_one_step && t.max_difference <= 1 && result.outcome != CaseOutcome::kDiffers
            ? CaseOutcome::kWithinOne
            : CaseOutcome::kDiffers;
    result.detail += fmt::format("{}: {} of {} differ, by up to {:g}; ", t.name, t.different,
                                 t.elements, t.max_difference);
  }
  return result;
}

}  // namespace

base::Result<std::vector<CaseResult>> check_data(
    const std::string& manifest, const CheckDataOptions& options,
    const std::function<void(std::size_t, std::size_t, const std::string&)>& progress) {
  DEPUTY_ASSIGN(auto bytes, read_file(manifest));
  std::vector<Case> cases;
  try {
    const Json json = Json::parse(bytes.begin(), bytes.end());
    if (json.contains("models") && options.runtime == "ort")
      cases = onnx_cases(json);
    else if (json.contains("models"))
      cases = model_cases(json, golden_runtime(options, false), options.layers);
    else
      cases = operator_cases(json, golden_runtime(options, true));
  } catch (const Json::exception& e) {
    return base::Error{base::ErrorKind::kInput, manifest,
                       fmt::format("not a manifest: {}", e.what()),
                       "expected an object with \"cases\" or \"models\""};
  }
  std::erase_if(cases,
                [&](const Case& c) { return c.name.find(options.filter) == std::string::npos; });
  if (cases.empty())
    return base::Error{base::ErrorKind::kInput, manifest,
                       fmt::format("no case matches '{}'", options.filter), ""};
  const std::string folder = std::filesystem::path(manifest).parent_path().string();
  std::vector<CaseResult> results;
  for (const auto& c : cases) {
    results.push_back(run_case(c, folder, options));
    progress(results.size(), cases.size(), c.name);
  }
  return results;
}

}  // namespace deputy::tools
