// One operator call built in a test: typed operands in, checked, run, outputs read back.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "arch/host_timing.h"
#include "host_runtime/cpu/kernels.h"

namespace deputy::tests {

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::kInt8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::kUint8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DType::kInt16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::kInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::kInt64;
  else
    return DType::kFloat32;
}

struct Quant {
  float scale;
  std::int32_t zero_point = 0;
};

class OpUnderTest {
 public:
  explicit OpUnderTest(arch::OpKind op) : kind(op) {}

  template <class T>
  OpUnderTest& input(Shape shape, std::vector<T> values, std::vector<Quant> quant = {},
                     std::int32_t axis = 0) {
    add(ins_, dtype_of<T>(), std::move(shape), quant, axis);
    auto& data = ins_.back().data;
    data.resize(values.size() * sizeof(T));
    std::memcpy(data.data(), values.data(), data.size());
    REQUIRE(static_cast<std::int64_t>(data.size()) == ins_.back().desc.bytes());
    return *this;
  }
  OpUnderTest& absent() {
    ins_.push_back({});
    ins_.back().present = false;
    return *this;
  }
  template <class T>
  OpUnderTest& output(Shape shape, std::vector<Quant> quant = {}) {
    add(outs_, dtype_of<T>(), std::move(shape), quant, 0);
    outs_.back().data.resize(
        static_cast<std::size_t>(std::max<std::int64_t>(outs_.back().desc.bytes(), 0)));
    return *this;
  }

  /// Operand data is seen by the check, as for constants.
  base::Status check() {
    return host_runtime::check_host_op(kind, attrs, views(ins_), views(outs_));
  }
  std::string refusal() {
    const auto status = check();
    return status.ok() ? "accepted" : status.error().message;
  }
  base::Status run(Numerics mode = Numerics::kTflite) {
    return host_runtime::run_host_op(kind, attrs, views(ins_), views(outs_), mode);
  }
  template <class T>
  std::vector<T> result(Numerics mode = Numerics::kTflite, std::size_t output = 0) {
    INFO(refusal());
    REQUIRE(check().ok());
    REQUIRE(run(mode).ok());
    std::vector<T> values(outs_[output].data.size() / sizeof(T));
    std::memcpy(values.data(), outs_[output].data.data(), outs_[output].data.size());
    return values;
  }
  std::vector<arch::HostWork> work() {
    return arch::host_work(kind, attrs, views(ins_), views(outs_));
  }

  arch::OpKind kind;
  arch::OpAttrs attrs;

 private:
  struct Operand {
    bool present = true;
    arch::TensorDesc desc;
    std::vector<std::uint8_t> data;
  };
  static void add(std::deque<Operand>& list, DType type, Shape shape,
                  const std::vector<Quant>& quant, std::int32_t axis) {
    list.emplace_back();
    auto& desc = list.back().desc;
    desc.name = "t" + std::to_string(list.size() - 1);
    desc.dtype = type;
    desc.shape = std::move(shape);
    for (const auto& q : quant)
      desc.quant.scale.push_back(q.scale), desc.quant.zero_point.push_back(q.zero_point);
    desc.quant.axis = axis;
  }
  static std::vector<arch::TensorView> views(std::deque<Operand>& list) {
    std::vector<arch::TensorView> out;
    for (auto& o : list)
      out.push_back(o.present ? arch::TensorView{&o.desc, o.data.data()} : arch::TensorView{});
    return out;
  }
  std::deque<Operand> ins_, outs_;
};

}  // namespace deputy::tests
