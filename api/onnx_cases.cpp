#include "api/onnx_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace deputy::api {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Result;

Result<std::vector<std::uint8_t>> bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{base::ErrorKind::kIo, path.string(), "cannot be read", ""};
  return std::vector<std::uint8_t>{std::istreambuf_iterator<char>(in),
                                   std::istreambuf_iterator<char>()};
}

Result<std::vector<arch::OnnxResult>> tensors(const fs::path& folder, const char* kind) {
  std::vector<arch::OnnxResult> out;
  for (int i = 0;; ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(path)) return out;
    DEPUTY_ASSIGN(const auto bytes, bytes_of(path));
    DEPUTY_ASSIGN(auto tensor, delegate::read_onnx_tensor(bytes, path.string()));
    out.push_back(std::move(tensor));
  }
}

double as_float(DType type, const std::uint8_t* data, std::size_t i) {
  if (type == DType::kFloat64) {
    double v;
    std::memcpy(&v, data + i * 8, 8);
    return v;
  }
  if (type == DType::kFloat32) {
    float v;
    std::memcpy(&v, data + i * 4, 4);
    return static_cast<double>(v);
  }
  std::uint16_t h;
  std::memcpy(&h, data + i * 2, 2);
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// What differs; empty: nothing.
std::string difference(const arch::TensorDesc& desc, const std::vector<std::uint8_t>& got,
                       const arch::OnnxResult& want) {
  if (desc.dtype != want.dtype || desc.shape != want.shape)
    return fmt::format("is {} {}, expected {} {}", dtype_name(desc.dtype), shape_text(desc.shape),
                       dtype_name(want.dtype), shape_text(want.shape));
  if (got.size() != want.data.size()) return "has another size";
  const bool real = arch::is_real(want.dtype);
  const std::size_t width = dtype_size(want.dtype), count = got.size() / width;
  std::size_t unequal = 0;
  std::string first;
  for (std::size_t i = 0; i < count; ++i) {
    bool same = std::memcmp(&got[i * width], &want.data[i * width], width) == 0;
    if (want.dtype == DType::kBool) same = (got[i] != 0) == (want.data[i] != 0);
    if (real && !same) {
      const double a = as_float(want.dtype, got.data(), i),
                   b = as_float(want.dtype, want.data.data(), i);
      same = (std::isnan(a) && std::isnan(b)) || a == b ||
             std::fabs(a - b) <= 1e-3 * std::fabs(b) + 1e-6;
      if (!same && first.empty()) first = fmt::format(", the first {} for {}", a, b);
    }
    unequal += !same;
  }
  return unequal ? fmt::format("{} of {} elements differ{}", unequal, count, first) : "";
}

struct Case {
  std::vector<std::uint8_t> model;
  std::string name, folder;
  std::vector<std::string> input_names;
  std::vector<arch::OnnxResult> inputs, outputs;
};

struct Outcome {
  OnnxOutcome outcome = OnnxOutcome::kPass;
  std::string detail;
  int native = 0;
  bool unknown = false;
};

enum class Variant : std::uint8_t { kPlain, kIntegersConstant, kOneInput };

Outcome run_variant(const Case& c, Variant variant, const OnnxRunner& run) {
  Bindings bindings;
  std::vector<std::vector<std::uint8_t>> inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool constant = variant == Variant::kIntegersConstant
                              ? !arch::is_real(c.inputs[i].dtype)
                              : variant == Variant::kOneInput && i > 0;
    if (constant) {
      bindings.constants[c.input_names[i]] = c.inputs[i];
      continue;
    }
    bindings.shapes[c.input_names[i]] = c.inputs[i].shape;
    inputs.push_back(c.inputs[i].data);
  }
  // The model's own shapes say what results look like; they count unless they are open.
  Bindings closed = bindings;
  closed.shapes.clear();
  auto graph = import_model(c.model, c.name + ".onnx", c.folder, closed);
  if (!graph.ok() && graph.error().kind == base::ErrorKind::kInput)
    graph = import_model(c.model, c.name + ".onnx", c.folder, bindings);
  if (!graph.ok())
    return {OnnxOutcome::kRefused, graph.error().text(), 0,
            graph.error().remedy.starts_with("bind the operand")};
  Outcome out;
  for (const auto& op : graph->ops) out.native += op.kind != arch::OpKind::ONNX;
  if (graph->inputs.size() != inputs.size())
    return {OnnxOutcome::kRefused,
            fmt::format("{} inputs, {} test tensors", graph->inputs.size(), inputs.size())};
  const auto results = run(*graph, inputs);
  if (!results.ok()) return {OnnxOutcome::kRefused, results.error().text()};
  for (std::size_t i = 0; i < c.outputs.size() && i < results->size(); ++i) {
    const std::string text =
        difference(graph->tensor(graph->outputs[i]).desc, (*results)[i], c.outputs[i]);
    if (!text.empty())
      return {OnnxOutcome::kWrong, fmt::format("output {} {}", i, text), out.native};
  }
  return out;
}

}  // namespace

OnnxCaseResult run_onnx_case(const std::string& folder, const OnnxRunner& run) {
  OnnxCaseResult result;
  Case c;
  c.folder = folder, c.name = result.name = fs::path(folder).filename().string();
  const auto refused = [&](const Error& error) {
    result.outcome = OnnxOutcome::kRefused, result.detail = error.text();
    return result;
  };
  auto model = bytes_of(fs::path(folder) / "model.onnx");
  if (!model.ok()) return refused(model.error());
  c.model = std::move(*model);
  result.ops = delegate::onnx_operators_of(c.model, &c.input_names);
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end());
  if (sets.empty()) return refused({base::ErrorKind::kIo, folder, "has no test data", ""});
  for (const fs::path& set : sets) {
    auto inputs = tensors(set, "input"), outputs = tensors(set, "output");
    // A model that is refused says more than an operand that is no tensor.
    if (!inputs.ok() || !outputs.ok())
      if (const auto graph = import_model(c.model, c.name + ".onnx", c.folder); !graph.ok())
        return refused(graph.error());
    if (!inputs.ok()) return refused(inputs.error());
    if (!outputs.ok()) return refused(outputs.error());
    c.inputs = std::move(*inputs), c.outputs = std::move(*outputs);
    if (c.inputs.size() > c.input_names.size())
      return refused({base::ErrorKind::kInput, folder, "has more test tensors than inputs", ""});
    Outcome outcome = run_variant(c, Variant::kPlain, run);
    if (outcome.unknown) {
      result.bound = true;
      outcome = run_variant(c, Variant::kIntegersConstant, run);
    }
    result.outcome = outcome.outcome, result.detail = outcome.detail;
    if (outcome.outcome != OnnxOutcome::kPass) return result;
    // With one operand that is what has just passed.
    const bool same = c.inputs.size() <= 1 && !result.bound;
    const Outcome network = same ? outcome : run_variant(c, Variant::kOneInput, run);
    result.native += network.native;
    if (network.outcome == OnnxOutcome::kWrong) {
      result.outcome = OnnxOutcome::kWrong,
      result.detail = "with constant operands: " + network.detail;
      return result;
    }
    if (network.outcome == OnnxOutcome::kRefused)
      result.detail = "with constant operands refused: " + network.detail;
  }
  return result;
}

std::vector<std::string> onnx_case_folders(const std::string& folder, const std::string& filter) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory() && fs::exists(entry.path() / "model.onnx") &&
        entry.path().filename().string().find(filter) != std::string::npos)
      out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace deputy::api
