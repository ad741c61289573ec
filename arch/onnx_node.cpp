#include "arch/onnx_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace deputy::arch {
namespace {

bool plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.' || c == '-';
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (plain(c))
      out += c;
    else
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (plain(text[i])) {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    if (text[i] != '%' || i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(&text[i + 1], &text[i + 1] + 2, value, 16);
    if (error != std::errc() || end != &text[i + 1] + 2) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<OnnxAttr> parse_attr(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 >= text.size())
    return std::nullopt;
  OnnxAttr out;
  const auto name = unescaped(text.substr(0, equals));
  if (!name) return std::nullopt;
  out.name = *name;
  out.type = static_cast<OnnxAttr::Type>(text[equals + 1]);
  const std::string_view values = text.substr(equals + 2);
  if (values.empty() && out.type != OnnxAttr::Type::kStrings)
    return out.type == OnnxAttr::Type::kInts || out.type == OnnxAttr::Type::kFloats
               ? std::optional(out)
               : std::nullopt;
  for (const std::string_view value : split(values, ',')) {
    std::int64_t integer = 0;
    float real = 0;
    switch (out.type) {
      case OnnxAttr::Type::kInts:
        if (!read_number(value, integer)) return std::nullopt;
        out.ints.push_back(integer);
        break;
      case OnnxAttr::Type::kFloats:
        if (!read_number(value, real)) return std::nullopt;
        out.floats.push_back(real);
        break;
      case OnnxAttr::Type::kStrings: {
        const auto string = unescaped(value);
        if (!string) return std::nullopt;
        out.strings.push_back(*string);
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return out;
}

}  // namespace

const OnnxAttr* OnnxNode::find(std::string_view name) const {
  for (const OnnxAttr& attr : attrs)
    if (attr.name == name) return &attr;
  return nullptr;
}
std::int64_t OnnxNode::integer(std::string_view name, std::int64_t otherwise) const {
  const OnnxAttr* attr = find(name);
  return attr && !attr->ints.empty() ? attr->ints[0] : otherwise;
}
float OnnxNode::real(std::string_view name, float otherwise) const {
  const OnnxAttr* attr = find(name);
  return attr && !attr->floats.empty() ? attr->floats[0] : otherwise;
}
std::string OnnxNode::text(std::string_view name, std::string otherwise) const {
  const OnnxAttr* attr = find(name);
  return attr && !attr->strings.empty() ? attr->strings[0] : otherwise;
}
std::vector<std::int64_t> OnnxNode::integers(std::string_view name,
                                             std::vector<std::int64_t> otherwise) const {
  const OnnxAttr* attr = find(name);
  return attr && attr->type == OnnxAttr::Type::kInts ? attr->ints : otherwise;
}

std::string onnx_text(const OnnxNode& node) {
  std::string out = fmt::format("{} {}", escaped(node.op), node.opset);
  for (const OnnxAttr& attr : node.attrs) {
    out += fmt::format(" {}={}", escaped(attr.name), static_cast<char>(attr.type));
    const char* comma = "";
    for (const auto value : attr.ints) out += fmt::format("{}{}", comma, value), comma = ",";
    for (const auto value : attr.floats) out += fmt::format("{}{}", comma, value), comma = ",";
    for (const auto& value : attr.strings) out += comma + escaped(value), comma = ",";
  }
  return out;
}

std::optional<OnnxNode> parse_onnx(std::string_view text) {
  const auto words = split(text, ' ');
  OnnxNode out;
  if (words.size() < 2 || words[0].empty() || !read_number(words[1], out.opset))
    return std::nullopt;
  const auto op = unescaped(words[0]);
  if (!op) return std::nullopt;
  out.op = *op;
  for (std::size_t i = 2; i < words.size(); ++i) {
    auto attr = parse_attr(words[i]);
    if (!attr) return std::nullopt;
    out.attrs.push_back(std::move(*attr));
  }
  return out;
}

std::string_view onnx_op(std::string_view text) { return text.substr(0, text.find(' ')); }

HostWork onnx_work(std::string_view text, std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs) {
  const std::string_view op = onnx_op(text);
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), op) != names.end();
  };
  const auto elements = [](const TensorView& view) {
    return view ? static_cast<std::uint64_t>(view.desc->elements()) : 0;
  };
  std::uint64_t results = 0, bytes = 0, read = 0;
  for (const TensorView& view : outputs)
    if (view) results += elements(view), bytes += static_cast<std::uint64_t>(view.desc->bytes());
  for (const TensorView& view : inputs) read += elements(view);
  const bool real = !inputs.empty() && inputs[0] && is_real(inputs[0].desc->dtype);
  const CpuKernel mac = real ? CpuKernel::kMacFloat : CpuKernel::kMacInt8;
  const auto dimension = [&](std::size_t input, std::size_t from_end) -> std::uint64_t {
    if (input >= inputs.size() || !inputs[input] || inputs[input].desc->shape.size() < from_end)
      return 1;
    return static_cast<std::uint64_t>(
        inputs[input].desc->shape[inputs[input].desc->shape.size() - from_end]);
  };
  if (is({"Conv", "ConvInteger", "QLinearConv"})) {
    const std::size_t weights = op == "QLinearConv" ? 3 : 1;
    const std::uint64_t filters =
        weights < inputs.size() && inputs[weights] && !inputs[weights].desc->shape.empty()
            ? std::max(1, inputs[weights].desc->shape[0])
            : 1;
    return {mac, weights < inputs.size() ? results * elements(inputs[weights]) / filters : results};
  }
  if (op == "ConvTranspose" && inputs.size() > 1 && inputs[1] && !inputs[1].desc->shape.empty())
    return {mac, elements(inputs[0]) * elements(inputs[1]) /
                     static_cast<std::uint64_t>(std::max(1, inputs[1].desc->shape[0]))};
  if (is({"MatMul", "MatMulInteger", "QLinearMatMul"})) return {mac, results * dimension(0, 1)};
  if (op == "Gemm")
    return {mac, inputs.size() > 1 && outputs.size()
                     ? results * elements(inputs[1]) /
                           std::max<std::uint64_t>(1, outputs[0]
                                                          ? static_cast<std::uint64_t>(
                                                                outputs[0].desc->shape.empty()
                                                                    ? 1
                                                                    : outputs[0].desc->shape.back())
                                                          : 1)
                     : results};
  if (is({"LSTM", "GRU", "RNN"})) {  // each step meets every weight, once a batch entry
    const std::uint64_t steps = dimension(0, 3) * dimension(0, 2);
    const std::uint64_t weights = inputs.size() > 2 ? elements(inputs[1]) + elements(inputs[2]) : 0;
    return {mac, steps * weights};
  }
  if (is({"Reshape",      "Flatten",     "Squeeze",        "Unsqueeze", "Transpose",
          "Concat",       "Split",       "Slice",          "Expand",    "Tile",
          "Pad",          "Gather",      "GatherElements", "GatherND",  "ScatterElements",
          "ScatterND",    "Identity",    "Shape",          "Size",      "ConstantOfShape",
          "DepthToSpace", "SpaceToDepth"}))
    return {CpuKernel::kCopy, bytes};
  if (is({"Add",
          "Sub",
          "Mul",
          "Max",
          "Min",
          "Relu",
          "Clip",
          "Abs",
          "Neg",
          "Sign",
          "Where",
          "Equal",
          "Less",
          "Greater",
          "And",
          "Or",
          "Xor",
          "Not",
          "Cast",
          "ReduceSum",
          "ReduceMean",
          "ReduceMax",
          "ReduceMin",
          "ArgMax",
          "ArgMin",
          "MaxPool",
          "AveragePool",
          "GlobalAveragePool",
          "GlobalMaxPool",
          "QuantizeLinear",
          "DequantizeLinear"}))
    return {CpuKernel::kElementwise, std::max(results, read)};
  return {CpuKernel::kTranscendental, std::max(results, read)};
}

}  // namespace deputy::arch
