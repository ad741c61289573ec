// Loads and stores. Addresses were checked before (DspCore::check_memory), so nothing here can
// leave the memory.
#include <cstring>

#include "dsp_model/core/machine.h"

namespace deputy::dsp_model {
namespace {

using arch::DspControl, arch::DspOp, arch::DspOpcode, arch::kDspVectorBytes;

void advance(Machine& m, const DspOp& op, const Access& at) {
  if (op.post && op.a) m.x.r[op.a] = at.after;
}
template <class T>
T load_as(const Machine& m, std::uint32_t address) {
  T value;
  std::memcpy(&value, m.tcm.data() + address, sizeof value);
  return value;
}
template <class T>
void store_as(Machine& m, std::uint32_t address, T value) {
  std::memcpy(m.tcm.data() + address, &value, sizeof value);
}

template <class T>
void load(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  const auto value =
      static_cast<std::uint32_t>(static_cast<std::int32_t>(load_as<T>(m, at.address)));
  advance(m, op, at);
  if (op.d) m.x.r[op.d] = value;
}
template <class T>
void store(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  store_as<T>(m, at.address, static_cast<T>(m.x.r[op.d]));
  advance(m, op, at);
}
void advance_reversed(Machine& m, const DspOp& op) {
  if (op.a) m.x.r[op.a] = reverse_bits(reverse_bits(m.x.r[op.a]) + reverse_bits(m.x.r[op.b]));
}
void load_reversed(Machine& m, const DspOp& op) {
  const auto value = load_as<std::uint32_t>(m, m.x.r[op.a]);
  advance_reversed(m, op);
  if (op.d) m.x.r[op.d] = value;
}
void store_reversed(Machine& m, const DspOp& op) {
  store_as<std::uint32_t>(m, m.x.r[op.a], m.x.r[op.d]);
  advance_reversed(m, op);
}
void load_vector(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  std::memcpy(m.x.v[op.d].b, m.tcm.data() + at.address, kDspVectorBytes);
  advance(m, op, at);
}
void store_vector(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  std::memcpy(m.tcm.data() + at.address, m.x.v[op.d].b, kDspVectorBytes);
  advance(m, op, at);
}
template <class T>
void load_splat(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  const T value = load_as<T>(m, at.address);
  for (std::size_t i = 0; i < kDspVectorBytes; i += sizeof value)
    std::memcpy(m.x.v[op.d].b + i, &value, sizeof value);
  advance(m, op, at);
}

void load_masked(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  for (int i = 0; i < kDspVectorBytes; ++i)
    if (selected(m, op, i)) m.x.v[op.d].b[i] = m.tcm[at.address + static_cast<std::uint32_t>(i)];
}
void store_masked(Machine& m, const DspOp& op) {
  const Access at = access_of(m, op);
  for (int i = 0; i < kDspVectorBytes; ++i)
    if (selected(m, op, i)) m.tcm[at.address + static_cast<std::uint32_t>(i)] = m.x.v[op.d].b[i];
}
// An element takes part when the predicate selects its first byte.
template <class T>
void gather(Machine& m, const DspOp& op) {
  Vec out = m.x.v[op.d];
  for (int i = 0; i < kDspVectorBytes; i += static_cast<int>(sizeof(T)))
    if (selected(m, op, i))
      std::memcpy(out.b + i, m.tcm.data() + element_address(m, op, i), sizeof(T));
  m.x.v[op.d] = out;
}
template <class T>
void scatter(Machine& m, const DspOp& op) {
  for (int i = 0; i < kDspVectorBytes; i += static_cast<int>(sizeof(T)))
    if (selected(m, op, i))
      std::memcpy(m.tcm.data() + element_address(m, op, i), m.x.v[op.d].b + i, sizeof(T));
}

}  // namespace

Access access_of(const Machine& m, const DspOp& op) {
  const std::uint32_t base = m.x.r[op.a];
  const auto size = std::int32_t{op.size};
  const auto step = static_cast<std::uint32_t>(op.imm * size);
  std::uint32_t moved = base + step;
  bool good = true;
  if (op.circular) {
    const std::size_t n = op.circular - 1u;
    const std::uint32_t first = m.control[static_cast<std::size_t>(DspControl::kCircularBase) + n];
    const std::uint32_t bytes = m.control[static_cast<std::size_t>(DspControl::kCircularBytes) + n];
    const std::uint64_t jump = static_cast<std::uint64_t>(op.imm < 0 ? -op.imm : op.imm) *
                               static_cast<std::uint64_t>(size);
    good = base - first < bytes && jump <= bytes;
    if (op.imm >= 0 && moved - first >= bytes) moved -= bytes;
    if (op.imm < 0 && base - first < static_cast<std::uint32_t>(jump)) moved += bytes;
  }
  return op.post ? Access{base, moved, good} : Access{moved, base, good};
}

void add_memory_handlers(HandlerTable& table) {
  const auto set = [&](DspOpcode code, Handler handler) {
    table[static_cast<std::size_t>(code)] = handler;
  };
  set(DspOpcode::kLLdw, load<std::int32_t>), set(DspOpcode::kLLdh, load<std::int16_t>),
      set(DspOpcode::kLLdhu, load<std::uint16_t>);
  set(DspOpcode::kLLdb, load<std::int8_t>), set(DspOpcode::kLLdbu, load<std::uint8_t>);
  set(DspOpcode::kLStw, store<std::uint32_t>), set(DspOpcode::kLSth, store<std::uint16_t>),
      set(DspOpcode::kLStb, store<std::uint8_t>);
  set(DspOpcode::kLLdwbr, load_reversed), set(DspOpcode::kLStwbr, store_reversed);
  set(DspOpcode::kLVld, load_vector), set(DspOpcode::kLVldu, load_vector),
      set(DspOpcode::kLVst, store_vector), set(DspOpcode::kLVstu, store_vector);
  set(DspOpcode::kLVldm, load_masked), set(DspOpcode::kLVstm, store_masked);
  set(DspOpcode::kLVldsB, load_splat<std::uint8_t>),
      set(DspOpcode::kLVldsH, load_splat<std::uint16_t>),
      set(DspOpcode::kLVldsW, load_splat<std::uint32_t>);
  set(DspOpcode::kLVgathH, gather<std::uint16_t>), set(DspOpcode::kLVgathW, gather<std::uint32_t>);
  set(DspOpcode::kLVscatH, scatter<std::uint16_t>),
      set(DspOpcode::kLVscatW, scatter<std::uint32_t>);
}

}  // namespace deputy::dsp_model
