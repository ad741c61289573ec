// Constants of a model that passes over it read and add.
#include <cstring>

#include "delegate/import/onnx/model.h"

namespace deputy::delegate::onnx_import {

std::vector<std::uint8_t> integer_bytes(DType dtype, const std::vector<std::int32_t>& values) {
  std::vector<std::uint8_t> out;
  for (const std::int32_t v : values)
    for (std::size_t i = 0; i < dtype_size(dtype); ++i)
      out.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
  return out;
}

std::vector<float> floats_of(const Model& model, int id) {
  std::vector<float> out(static_cast<std::size_t>(model.value(id).desc.elements()));
  if (!out.empty()) std::memcpy(out.data(), model.value(id).data.data(), out.size() * 4);
  return out;
}

int add_floats(Model& model, std::string name, Shape shape, const std::vector<float>& data) {
  const int id = model.add_value(std::move(name));
  Value& value = model.value(id);
  value.desc.dtype = DType::kFloat32, value.desc.shape = std::move(shape);
  value.constant = value.shaped = true;
  value.data.resize(data.size() * 4);
  if (!data.empty()) std::memcpy(value.data.data(), data.data(), value.data.size());
  return id;
}

}  // namespace deputy::delegate::onnx_import
