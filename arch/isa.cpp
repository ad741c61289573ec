#include "arch/isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deputy::arch {

namespace {

constexpr int kWaits = 3, kWaitBits = 32, kMaxFields = 60;

// The waits and the fields of an instruction in the order of their encoding.
struct Values {
  std::array<std::int64_t, kMaxFields> value{};
  std::array<std::uint8_t, kMaxFields> bits{};
  std::array<bool, kMaxFields> is_signed{}, implied{};  ///< implied: an encoding may leave it out
  int count = 0;
  void add(std::int64_t v, int width, bool sign, bool may_imply) {
    value[count] = v, bits[count] = static_cast<std::uint8_t>(width), is_signed[count] = sign,
    implied[count] = may_imply, ++count;
  }
};

template <class T>
Values values_of(const Header& header, const T& op) {
  Values out;
  for (const std::uint32_t wait : {header.wait_load, header.wait_compute, header.wait_store})
    out.add(wait, kWaitBits, false, false);
  T::fields(op, [&](const auto& member, const base::Field& f) {
    out.add(static_cast<std::int64_t>(member), f.bits, f.is_signed, f.implied);
  });
  return out;
}
template <class T>
void set_values(T& op, const Values& values) {
  int i = kWaits;
  T::fields(op, [&](auto& member, const base::Field&) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(values.value[i++]);
  });
}
template <class T>
Values implied_values(T op) {
  if constexpr (requires { T::imply(op); }) T::imply(op);
  return values_of(Header{}, op);
}

FieldSize smallest(std::int64_t value, bool is_signed) {
  const auto fits = [&](int bits) {
    return is_signed
               ? value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1)
               : value < std::int64_t{1} << bits;
  };
  return fits(8) ? FieldSize::kOneByte : fits(16) ? FieldSize::kTwoBytes : FieldSize::kFull;
}

std::uint8_t byte_at(std::span<const std::uint32_t> words, int at) {
  return static_cast<std::uint8_t>(words[static_cast<std::size_t>(at / 4)] >> (at % 4 * 8));
}

// Everything after the opcode, into `result`.
template <class T>
DecodeFault decode_body(std::span<const std::uint32_t> words, Decoded& result) {
  Header& header = result.instruction.header;
  Values values = values_of(Header{}, T{});
  const int codes = (values.count + 3) / 4;
  if (header.words < 1 + (codes + 3) / 4) return DecodeFault::kBadLength;
  if (words.size() < header.words) return DecodeFault::kTruncated;
  const auto body = words.subspan(1, header.words - 1u);
  std::array<bool, kMaxFields> there{};
  int at = codes;
  for (int i = 0; i < values.count; ++i) {
    const auto size = static_cast<FieldSize>(byte_at(body, i / 4) >> (i % 4 * 2) & 3);
    const int bytes = field_bytes(size, values.bits[i]);
    if (size == FieldSize::kOmitted) continue;
    if (at + bytes > static_cast<int>(body.size()) * 4) return DecodeFault::kBadLength;
    std::uint64_t raw = 0;
    for (int b = 0; b < bytes; ++b) raw |= std::uint64_t{byte_at(body, at++)} << (8 * b);
    if (values.is_signed[i] && raw >> (8 * bytes - 1)) raw |= ~std::uint64_t{0} << (8 * bytes);
    values.value[i] = static_cast<std::int64_t>(raw), there[i] = true;
  }
  if (header.words != 1 + (at + 3) / 4) return DecodeFault::kBadLength;

  T op;
  set_values(op, values);
  const Values implied = implied_values(op);
  for (int i = 0; i < values.count; ++i)
    if (values.implied[i] && !there[i]) values.value[i] = implied.value[i];
  set_values(op, values);
  header.wait_load = static_cast<std::uint32_t>(values.value[0]);
  header.wait_compute = static_cast<std::uint32_t>(values.value[1]);
  header.wait_store = static_cast<std::uint32_t>(values.value[2]);
  result.instruction.op = op;
  result.field = first_bad_field(op);
  if (result.field) return DecodeFault::kBadField;
  // A value may be too wide for its member.
  int i = kWaits;
  T::fields(op, [&](const auto& member, const base::Field& f) {
    if (static_cast<std::int64_t>(member) != values.value[i++]) result.field = f.name;
  });
  return result.field ? DecodeFault::kBadField : DecodeFault::kNone;
}

}  // namespace

void encode(const Instruction& instruction, std::vector<std::uint32_t>& out) {
  std::visit(
      [&]<class T>(const T& op) {
        const char* bad = first_bad_field(op);
        DEPUTY_CHECK(bad == nullptr, bad ? bad : "");
        const Values values = values_of(instruction.header, op),
                     defaults = values_of(Header{}, T{}), implied = implied_values(op);
        std::array<std::uint8_t, kMaxFields * 6> bytes{};
        int end = (values.count + 3) / 4;
        for (int i = 0; i < values.count; ++i) {
          if (values.value[i] == (values.implied[i] ? implied : defaults).value[i]) continue;
          const FieldSize size = smallest(values.value[i], values.is_signed[i]);
          bytes[i / 4] |= static_cast<std::uint8_t>(static_cast<int>(size) << (i % 4 * 2));
          for (int b = 0; b < field_bytes(size, values.bits[i]); ++b)
            bytes[end++] = static_cast<std::uint8_t>(values.value[i] >> (8 * b));
        }
        const int words = 1 + (end + 3) / 4;
        out.push_back(static_cast<std::uint32_t>(T::kOpcode) |
                      static_cast<std::uint32_t>(words) << 8 |
                      static_cast<std::uint32_t>(instruction.header.tag) << 16);
        for (int w = 0; w < words - 1; ++w) {
          std::uint32_t word = 0;
          for (int b = 0; b < 4; ++b)
            word |= static_cast<std::uint32_t>(bytes[w * 4 + b]) << (8 * b);
          out.push_back(word);
        }
      },
      instruction.op);
}

Decoded decode(std::span<const std::uint32_t> words) {
  Decoded result;
  if (words.empty()) {
    result.fault = DecodeFault::kTruncated;
    return result;
  }
  Header& header = result.instruction.header;
  header.opcode = words[0] & 0xFF, header.words = words[0] >> 8 & 0xFF,
  header.tag = words[0] >> 16 & 0xFFFF;
  result.fault = DecodeFault::kUnknownOpcode;
  for_each_instruction([&]<class T>(T) {
    if (header.opcode == static_cast<std::uint8_t>(T::kOpcode))
      result.fault = decode_body<T>(words, result);
  });
  return result;
}

std::string disassemble(const Instruction& instruction) {
  const Header& h = instruction.header;
  return std::visit(
      [&]<class T>(const T& op) {
        std::string text = fmt::format("{:<8}tag={} wait={}/{}/{}", T::kName, h.tag, h.wait_load,
                                       h.wait_compute, h.wait_store);
        T::fields(op, [&](const auto& member, const base::Field& f) {
          const std::string_view name = f.name;
          if (name.ends_with("_addr") || name == "addr" || name == "mem_offset")
            text += fmt::format(" {}=0x{:x}", name, static_cast<std::uint64_t>(member));
          else
            text += fmt::format(" {}={}", name, static_cast<std::int64_t>(member));
        });
        return text;
      },
      instruction.op);
}

std::string_view opcode_name(std::uint8_t opcode) {
  std::string_view name = "?";
  for_each_instruction([&]<class T>(T) {
    if (static_cast<std::uint8_t>(T::kOpcode) == opcode) name = T::kName;
  });
  return name;
}

}  // namespace deputy::arch
