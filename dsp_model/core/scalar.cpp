// Scalar arithmetic, branches and loops. What can go wrong was checked before (DspCore::check).
#include <algorithm>
#include <bit>

#include "dsp_model/core/machine.h"

namespace deputy::dsp_model {
namespace {

using arch::DspOp, arch::DspOpcode;

std::int32_t saturate(std::int64_t v) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX));
}
std::uint32_t square_root(std::uint32_t v) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = 1u << 15; bit; bit >>= 1)
    if (std::uint64_t{root | bit} * (root | bit) <= v) root |= bit;
  return root;
}
std::uint32_t divide(std::uint32_t a, std::uint32_t b) {
  if (b == 0) return UINT32_MAX;
  return static_cast<std::uint32_t>(std::int64_t{static_cast<std::int32_t>(a)} /
                                    static_cast<std::int32_t>(b));
}
std::uint32_t remainder(std::uint32_t a, std::uint32_t b) {
  if (b == 0) return a;
  return static_cast<std::uint32_t>(std::int64_t{static_cast<std::int32_t>(a)} %
                                    static_cast<std::int32_t>(b));
}

// rD = F(rA, rB, imm, rD), on uint32.
template <class F>
void result(Machine& m, const DspOp& op) {
  if (op.d)
    m.x.r[op.d] = static_cast<std::uint32_t>(
        F{}(m.x.r[op.a], m.x.r[op.b], static_cast<std::uint32_t>(op.imm), m.x.r[op.d]));
}
template <class F>
void branch(Machine& m, const DspOp& op) {
  if (!F{}(m.x.r[op.a], m.x.r[op.b])) return;
  m.next = m.pc + static_cast<std::uint32_t>(op.imm), m.taken = true;
}
void jump(Machine& m, const DspOp& op) {
  m.next = m.pc + static_cast<std::uint32_t>(op.imm), m.taken = true;
}
void call(Machine& m, const DspOp& op) {
  m.x.r[arch::kDspLinkRegister] = m.next;
  jump(m, op);
}
void jump_register(Machine& m, const DspOp& op) { m.next = m.x.r[op.a], m.taken = true; }

void start_loop(Machine& m, const DspOp& op, std::uint32_t times) {
  const std::uint32_t end = m.pc + static_cast<std::uint32_t>(op.imm);
  if (times == 0)
    m.next = end, m.taken = true;
  else
    m.loops[op.d] = {true, m.next, end, times};
}
void loop_register(Machine& m, const DspOp& op) { start_loop(m, op, m.x.r[op.a]); }
void loop_constant(Machine& m, const DspOp& op) { start_loop(m, op, op.a); }
void end_loop(Machine& m, const DspOp& op) {
  for (int l = op.d % arch::kDspLoopLevels; l < arch::kDspLoopLevels; ++l)
    m.loops[static_cast<std::size_t>(l)].active = false;
}
void select(Machine& m, const DspOp& op) {
  if (op.d) m.x.r[op.d] = m.x.r[op.c] ? m.x.r[op.a] : m.x.r[op.b];
}

std::int32_t s(std::uint32_t v) { return static_cast<std::int32_t>(v); }

}  // namespace

#define DEPUTY_SCALAR(Id, expression)                                                        \
  table[static_cast<std::size_t>(DspOpcode::kS##Id)] =                                       \
      result<decltype([]([[maybe_unused]] std::uint32_t a, [[maybe_unused]] std::uint32_t b, \
                         [[maybe_unused]] std::uint32_t imm,                                 \
                         [[maybe_unused]] std::uint32_t d) { return expression; })>
#define DEPUTY_BRANCH(Id, expression)                  \
  table[static_cast<std::size_t>(DspOpcode::kS##Id)] = \
      branch<decltype([](std::uint32_t a, std::uint32_t b) { return expression; })>

void add_scalar_handlers(HandlerTable& table) {
  DEPUTY_SCALAR(Add, a + b);
  DEPUTY_SCALAR(Sub, a - b);
  DEPUTY_SCALAR(And, a & b);
  DEPUTY_SCALAR(Or, a | b);
  DEPUTY_SCALAR(Xor, a ^ b);
  DEPUTY_SCALAR(Shl, a << (b & 31));
  DEPUTY_SCALAR(Shr, a >> (b & 31));
  DEPUTY_SCALAR(Sar, s(a) >> (b & 31));
  DEPUTY_SCALAR(Min, std::min(s(a), s(b)));
  DEPUTY_SCALAR(Max, std::max(s(a), s(b)));
  DEPUTY_SCALAR(Slt, s(a) < s(b));
  DEPUTY_SCALAR(Sltu, a < b);
  DEPUTY_SCALAR(Seq, a == b);
  DEPUTY_SCALAR(Adds, saturate(std::int64_t{s(a)} + s(b)));
  DEPUTY_SCALAR(Subs, saturate(std::int64_t{s(a)} - s(b)));
  DEPUTY_SCALAR(Addbr, reverse_bits(reverse_bits(a) + reverse_bits(b)));
  DEPUTY_SCALAR(Mul, a * b);
  DEPUTY_SCALAR(Mulh, (std::int64_t{s(a)} * s(b)) >> 32);
  DEPUTY_SCALAR(Mulr, saturate((std::int64_t{s(a)} * s(b) + (std::int64_t{1} << 30)) >> 31));
  DEPUTY_SCALAR(Madd, d + a * b);
  DEPUTY_SCALAR(Div, divide(a, b));
  DEPUTY_SCALAR(Divu, b ? a / b : UINT32_MAX);
  DEPUTY_SCALAR(Rem, remainder(a, b));
  DEPUTY_SCALAR(Isqrt, square_root(a));
  DEPUTY_SCALAR(Abs, saturate(s(a) < 0 ? -std::int64_t{s(a)} : std::int64_t{s(a)}));
  DEPUTY_SCALAR(Clz, std::countl_zero(a));
  DEPUTY_SCALAR(Brev, reverse_bits(a));
  DEPUTY_SCALAR(Addi, a + imm);
  DEPUTY_SCALAR(Andi, a & imm);
  DEPUTY_SCALAR(Ori, a | imm);
  DEPUTY_SCALAR(Shli, a << (imm & 31));
  DEPUTY_SCALAR(Shri, a >> (imm & 31));
  DEPUTY_SCALAR(Sari, s(a) >> (imm & 31));
  DEPUTY_SCALAR(Slti, s(a) < s(imm));
  DEPUTY_SCALAR(Muli, a * imm);
  DEPUTY_SCALAR(Movi, imm);
  DEPUTY_SCALAR(Movhi, (d & 0xFFFF) | imm << 16);
  DEPUTY_BRANCH(Beq, a == b);
  DEPUTY_BRANCH(Bne, a != b);
  DEPUTY_BRANCH(Blt, s(a) < s(b));
  DEPUTY_BRANCH(Bge, s(a) >= s(b));
  DEPUTY_BRANCH(Bltu, a < b);
  DEPUTY_BRANCH(Bgeu, a >= b);
  table[static_cast<std::size_t>(DspOpcode::kSSel)] = select;
  table[static_cast<std::size_t>(DspOpcode::kSJmp)] = jump;
  table[static_cast<std::size_t>(DspOpcode::kSCall)] = call;
  table[static_cast<std::size_t>(DspOpcode::kSJr)] = jump_register;
  table[static_cast<std::size_t>(DspOpcode::kSLoop)] = loop_register;
  table[static_cast<std::size_t>(DspOpcode::kSLoopi)] = loop_constant;
  table[static_cast<std::size_t>(DspOpcode::kSEndloop)] = end_loop;
}

}  // namespace deputy::dsp_model
