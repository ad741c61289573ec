#include "dsp_asm/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "arch/bitpack.h"

namespace deputy::dsp_asm {
namespace {

using arch::DspFormat, arch::DspOp, arch::DspOpInfo;

const char* file_name(char file) {
  switch (file) {
    case 'r':
      return "a scalar register (r0 to r31)";
    case 'v':
      return "a vector register (v0 to v31)";
    case 'V':
      return "an even vector register (v0, v2, ...), the first of a pair,";
    case 'a':
      return "an accumulator (a0 to a3)";
    default:
      return "a mask (m0 to m3)";
  }
}

// The range of the field `name` of an operation, for constants.
struct Range {
  std::int64_t low = 0, high = 0;
};
Range range_of(DspFormat format, std::string_view name) {
  Range out;
  arch::with_dsp_format(format, [&](auto f) {
    DspOp op;
    arch::dsp_fields<f()>(op, [&](const auto&, const base::Field& field) {
      if (name == field.name)
        out = {static_cast<std::int64_t>(arch::field_low(field)),
               static_cast<std::int64_t>(arch::field_high(field))};
    });
    return 0;
  });
  return out;
}

std::string nearest_mnemonic(std::string_view name) {
  std::string best;
  std::size_t best_common = 0;
  for (const auto& row : arch::dsp_op_infos()) {
    const std::string_view other = row.name;
    const auto common = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin());
    if (common > best_common) best_common = common, best = other;
  }
  return best_common >= 2 ? fmt::format("like '{}'? deputy list dsp-instructions", best)
                          : "deputy list dsp-instructions names them all";
}

base::Result<std::int64_t> constant(Cursor& cursor, const Symbols& symbols, Range range) {
  cursor.skip_blanks();
  const std::size_t at = cursor.position();
  cursor.accept("#");
  DEPUTY_ASSIGN(const std::int64_t value, cursor.expression(symbols));
  if (value < range.low || value > range.high)
    return cursor.error_at(at, fmt::format("{} does not fit", value),
                           fmt::format("{} to {}", range.low, range.high));
  return value;
}

// "[r1 + 2]", "[r1]+2", "[r1]-1%c0": offset or step in accesses.
base::Status address(Cursor& cursor, const Symbols& symbols, const Aliases& aliases,
                     const DspOpInfo& info, DspOp& op) {
  DEPUTY_TRY(cursor.expect("["));
  DEPUTY_ASSIGN(const int base, parse_register(cursor, 'r', aliases));
  op.a = static_cast<std::uint8_t>(base);
  const bool has_offset = info.format == DspFormat::kMem || info.format == DspFormat::kMemP;
  const auto offset = [&](const Symbols& s) -> base::Status {
    cursor.skip_blanks();
    const std::size_t at = cursor.position();
    const bool minus = cursor.accept("-");
    if (!minus) cursor.accept("+");
    DEPUTY_ASSIGN(std::int64_t value, cursor.term(s));
    if (minus) value = -value;
    const Range range = range_of(info.format, "imm");
    if (value < range.low || value > range.high)
      return cursor.error_at(
          at, fmt::format("{} does not fit", value),
          fmt::format("{} to {} accesses of {} bytes", range.low, range.high, info.size));
    op.imm = static_cast<std::int32_t>(value);
    return {};
  };
  if (has_offset && (cursor.peek() == '+' || cursor.peek() == '-')) DEPUTY_TRY(offset(symbols));
  DEPUTY_TRY(cursor.expect("]"));
  if (info.format != DspFormat::kMem) return {};
  if (op.imm == 0 && (cursor.peek() == '+' || cursor.peek() == '-')) {
    DEPUTY_TRY(offset(symbols));
    op.post = 1;
  }
  if (cursor.accept("%")) {
    cursor.skip_blanks();
    const std::size_t at = cursor.position();
    const std::string name = cursor.name();
    if (name.size() != 2 || name[0] != 'c' || name[1] < '0' || name[1] > '3')
      return cursor.error_at(at, "a circular buffer expected", "c0 to c3");
    op.circular = static_cast<std::uint8_t>(name[1] - '0' + 1);
  }
  return {};
}

base::Status predicate(Cursor& cursor, const Aliases& aliases, DspOp& op) {
  if (!cursor.accept("(")) return {};
  const bool negated = cursor.accept("!");
  DEPUTY_ASSIGN(const int mask, parse_register(cursor, 'm', aliases));
  DEPUTY_TRY(cursor.expect(")"));
  op.p = static_cast<std::uint8_t>(1 + mask + (negated ? arch::kDspMasks : 0));
  return {};
}

base::Result<int> control_register(Cursor& cursor) {
  cursor.skip_blanks();
  const std::size_t at = cursor.position();
  const std::string name = cursor.name();
  const auto rows = arch::dsp_controls();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (name == rows[i].name) return static_cast<int>(i);
  return cursor.error_at(at, fmt::format("'{}' is no control register", name));
}

// Short forms that stand for an operation of the table.
struct Short {
  std::string_view name, full;
};
constexpr Short kShorts[] = {{"mov", "add"}, {"nop", "add"}, {"ret", "jr"}};

void set_field(DspOp& op, char field, std::int64_t value) {
  switch (field) {
    case 'D':
      op.d = static_cast<std::uint8_t>(value);
      break;
    case 'A':
      op.a = static_cast<std::uint8_t>(value);
      break;
    case 'B':
      op.b = static_cast<std::uint8_t>(value);
      break;
    case 'C':
      op.c = static_cast<std::uint8_t>(value);
      break;
    default:
      op.imm = static_cast<std::int32_t>(value);
  }
}

}  // namespace

base::Result<int> parse_register(Cursor& cursor, char file, const Aliases& aliases) {
  cursor.skip_blanks();
  const std::size_t at = cursor.position();
  std::string name = cursor.name();
  if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
  const char letter = file == 'V' ? 'v' : file;
  const int count = letter == 'r'   ? arch::kDspScalars
                    : letter == 'v' ? arch::kDspVectors
                                    : arch::kDspMasks;
  int number = -1;
  if (name.size() >= 2 && name[0] == letter) {
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) number = -1;
  }
  if (number < 0 || number >= count || (file == 'V' && number % 2))
    return cursor.error_at(at, fmt::format("{} expected, not '{}'", file_name(file),
                                           name.empty() ? std::string(cursor.rest()) : name));
  return number;
}

base::Result<Parsed> parse_operation(Cursor& cursor, const Symbols& symbols,
                                     const Aliases& aliases) {
  cursor.skip_blanks();
  Parsed out;
  out.position = cursor.position();
  DspOp guard;
  DEPUTY_TRY(predicate(cursor, aliases, guard));
  cursor.skip_blanks();
  const std::size_t at = cursor.position();
  const std::string mnemonic = cursor.name();
  if (mnemonic.empty()) return cursor.error("an operation expected");
  std::string_view full = mnemonic;
  for (const Short& s : kShorts)
    if (mnemonic == s.name) full = s.full;
  const DspOpInfo* info = arch::find_dsp_op(full);
  if (!info)
    return cursor.error_at(at, fmt::format("there is no operation '{}'", mnemonic),
                           nearest_mnemonic(mnemonic));
  out.op = arch::make_dsp_op(info->code);
  if (guard.p && !info->predicated())
    return cursor.error_at(out.position, fmt::format("'{}' takes no predicate", mnemonic));
  out.op.p = guard.p;
  if (mnemonic == "nop") return out;
  if (mnemonic == "ret") {
    out.op.a = arch::kDspLinkRegister;
    return out;
  }
  bool first = true;
  for (const arch::DspOperand& operand : info->operands) {
    if (!operand.file || (mnemonic == "mov" && operand.field == 'B')) break;
    if (!first) DEPUTY_TRY(cursor.expect(","));
    first = false;
    switch (operand.file) {
      case '#': {
        const std::string_view field = operand.field == 'D'   ? "d"
                                       : operand.field == 'A' ? "a"
                                                              : "imm";
        Range range = range_of(info->format, field);
        if (info->format == DspFormat::kI16)
          range.high = 65535;  // the same bits as its negative twin
        DEPUTY_ASSIGN(std::int64_t value, constant(cursor, symbols, range));
        if (info->format == DspFormat::kI16 && value > 32767) {
          if (info->code != arch::DspOpcode::kSMovhi)
            return cursor.error(fmt::format("{} does not fit", value),
                                "-32768 to 32767; li takes any word");
          value -= 65536;
        }
        set_field(out.op, operand.field, value);
        break;
      }
      case '@':
        out.target = cursor.name();
        if (out.target.empty()) return cursor.error("a label expected");
        break;
      case 'c': {
        DEPUTY_ASSIGN(const int which, control_register(cursor));
        out.op.imm = which;
        break;
      }
      case '[':
        DEPUTY_TRY(address(cursor, symbols, aliases, *info, out.op));
        break;
      default: {
        DEPUTY_ASSIGN(const int number, parse_register(cursor, operand.file, aliases));
        set_field(out.op, operand.field, number);
      }
    }
  }
  if (const auto fault = arch::check_dsp_op(out.op); fault != arch::DspDecodeFault::kNone)
    return cursor.error_at(out.position, std::string(arch::dsp_decode_fault_text(fault)));
  return out;
}

}  // namespace deputy::dsp_asm
