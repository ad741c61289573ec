// Golden data access (golden.h).
#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/check.h"
#include "tests/support/source_dir.h"

namespace deputy::tests {
namespace {
using nlohmann::json;

json load_json(const std::string& path) {
  std::ifstream in(path);
  return json::parse(in);
}

DType dtype_from(const std::string& name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtype_name(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  throw std::runtime_error("unknown dtype " + name);
}

template <class T>
Difference compare_as(const std::vector<std::uint8_t>& got,
                      const std::vector<std::uint8_t>& expected) {
  Difference d;
  const std::size_t count = expected.size() / sizeof(T);
  double top = 0;
  for (std::size_t i = 0; i < count; ++i) {
    T b;
    std::memcpy(&b, expected.data() + i * sizeof(T), sizeof(T));
    top = std::max(top, std::fabs(static_cast<double>(b)));
  }
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, got.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&b, expected.data() + i * sizeof(T), sizeof(T));
    if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
    ++d.count;
    double size = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    if constexpr (std::is_floating_point_v<T>)
      size /= std::max({1e-30, top / 100, std::fabs(static_cast<double>(b))});
    if (!(size <= d.largest)) d.largest = size;
  }
  return d;
}

std::vector<GoldenTensor> tensors(const json& list) {
  std::vector<GoldenTensor> out;
  for (const auto& t : list) {
    GoldenTensor g{t.at("file"), dtype_from(t.at("dtype")), static_cast<std::int32_t>(out.size())};
    if (t.contains("tensor")) g.index = t.at("tensor");
    out.push_back(g);
  }
  return out;
}
}  // namespace

std::optional<std::string> shared_data_dir() {
  const std::string dir = tests::source_dir() + "/../shared/data";
  if (std::filesystem::exists(dir + "/manifest.json")) return dir;
  return std::nullopt;
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string Difference::text() const {
  if (size_mismatch) return "sizes differ";
  return std::to_string(count) + " elements differ, largest difference " + std::to_string(largest);
}

Difference compare(DType type, const std::vector<std::uint8_t>& got,
                   const std::vector<std::uint8_t>& expected) {
  if (got.size() != expected.size()) return {.size_mismatch = true};
  switch (type) {
    case DType::kInt8:
      return compare_as<std::int8_t>(got, expected);
    case DType::kInt16:
      return compare_as<std::int16_t>(got, expected);
    case DType::kInt32:
      return compare_as<std::int32_t>(got, expected);
    case DType::kInt64:
      return compare_as<std::int64_t>(got, expected);
    case DType::kFloat32:
      return compare_as<float>(got, expected);
    default:
      return compare_as<std::uint8_t>(got, expected);
  }
}

std::vector<OpCase> load_op_cases(const std::string& data_dir) {
  const json manifest = load_json(data_dir + "/ops/manifest.json");
  std::vector<OpCase> out;
  for (const auto& c : manifest.at("cases")) {
    OpCase op;
    op.name = c.at("name");
    op.model = "ops/" + c.at("model").get<std::string>();
    for (const auto& i : c.at("inputs"))
      op.inputs.push_back("ops/" + i.at("file").get<std::string>());
    for (const auto& o : c.at("outputs"))
      for (const char* runtime : {"tflm", "tfjs"}) {
        const std::string key = std::string(runtime) + "_file";
        if (!o.contains(key) || o.at(key).is_null()) continue;
        auto& list = key[3] == 'm' ? op.tflm : op.tfjs;
        list.push_back({"ops/" + o.at(key).get<std::string>(), dtype_from(o.at("dtype")),
                        static_cast<std::int32_t>(list.size())});
      }
    const auto& tfjs = c.at("runtimes").at("tfjs");
    op.only_xnnpack = tfjs.value("ok", false) && tfjs.contains("builtin_kernels") &&
                      tfjs.at("builtin_kernels").empty();
    out.push_back(op);
  }
  return out;
}

std::vector<ModelGolden> load_models(const std::string& data_dir) {
  const json manifest = load_json(data_dir + "/manifest.json");
  std::vector<ModelGolden> out;
  for (const auto& m : manifest.at("models")) {
    ModelGolden model;
    model.name = m.at("name");
    model.model = m.at("file");
    if (!model.model.ends_with(".tflite") || !m.contains("cases")) continue;
    for (const auto& c : m.at("cases")) {
      ModelCase mc;
      for (const auto& i : c.at("inputs")) mc.inputs.push_back(i.get<std::string>());
      const auto& outputs = c.at("outputs");
      if (outputs.contains("tflm")) mc.tflm = tensors(outputs.at("tflm"));
      if (outputs.contains("xnnpack")) mc.xnnpack = tensors(outputs.at("xnnpack"));
      model.cases.push_back(mc);
    }
    if (m.contains("layers") && !m.at("layers").is_null()) {
      const auto& layers = m.at("layers");
      if (layers.contains("tflm")) model.tflm_layers = tensors(layers.at("tflm"));
      if (layers.contains("xnnpack")) model.xnnpack_layers = tensors(layers.at("xnnpack"));
    }
    out.push_back(model);
  }
  return out;
}

}  // namespace deputy::tests
