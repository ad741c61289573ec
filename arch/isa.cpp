#include "arch/isa.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy::arch {

void encode(const Instruction& instruction, std::vector<std::uint32_t>& out) {
  std::visit(
      [&]<class T>(const T& op) {
        Header header = instruction.header;
        header.opcode = static_cast<std::uint8_t>(T::kOpcode);
        header.words = static_cast<std::uint8_t>(kHeaderWords + packed_words<T>());
        const char* bad = first_bad_field(op);
        DEPUTY_CHECK(bad == nullptr, bad ? bad : "");
        pack(header, out);
        pack(op, out);
      },
      instruction.op);
}

Decoded decode(std::span<const std::uint32_t> words) {
  Decoded result;
  const auto fail = [&](DecodeFault fault, const char* field = nullptr) {
    result.fault = fault;
    result.field = field;
    return result;
  };
  if (words.size() < kHeaderWords) return fail(DecodeFault::kTruncated);
  result.instruction.header = unpack<Header>(words);
  const Header& header = result.instruction.header;
  bool known = false;
  for_each_instruction([&]<class T>(T) {
    if (header.opcode != static_cast<std::uint8_t>(T::kOpcode)) return;
    known = true;
    if (header.words != kHeaderWords + packed_words<T>()) {
      result.fault = DecodeFault::kBadLength;
    } else if (words.size() < header.words) {
      result.fault = DecodeFault::kTruncated;
    } else {
      const T op = unpack<T>(words.subspan(kHeaderWords));
      if (const char* bad = first_bad_field(op)) {
        result.fault = DecodeFault::kBadField;
        result.field = bad;
      }
      result.instruction.op = op;
    }
  });
  return known ? result : fail(DecodeFault::kUnknownOpcode);
}

std::string disassemble(const Instruction& instruction) {
  const Header& h = instruction.header;
  return std::visit(
      [&]<class T>(const T& op) {
        std::string text = fmt::format("{:<8}tag={} wait={}/{}/{}", T::kName, h.tag, h.wait_load, h.wait_compute,
                                       h.wait_store);
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
