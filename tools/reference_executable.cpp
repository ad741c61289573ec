// The reference page of the executable format, from the records' own field lists.
#include <fmt/format.h>

#include <type_traits>

#include "arch/byte_io.h"
#include "arch/executable.h"
#include "tools/reference.h"

namespace deputy::tools {
namespace {

// How byte_io.h stores a member.
template <class T>
std::string stored_as() {
  if constexpr (std::is_same_v<T, std::string>) {
    return "u32 count, then the characters";
  } else if constexpr (arch::kIsVector<T>) {
    return "u32 count, then each " + stored_as<typename T::value_type>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("IEEE float, {} bits", 8 * sizeof(T));
  } else {
    constexpr bool is_signed = std::is_signed_v<T> && !std::is_same_v<T, bool>;
    return fmt::format("{}{}{}", is_signed ? "i" : "u", 8 * sizeof(T),
                       std::is_enum_v<T> ? " (enumeration)" : "");
  }
}

template <class T>
void rows(const std::string& prefix, std::string& out) {
  T value{};
  T::fields(value, [&](auto& member, const base::Field& field) {
    using M = std::remove_cvref_t<decltype(member)>;
    const std::string name = prefix + field.name;
    if constexpr (base::HasFields<M>)
      rows<M>(name + ".", out);
    else
      out += fmt::format("| {} | {} |\n", name, stored_as<M>());
  });
}

template <class T>
std::string record(const char* title) {
  std::string out = fmt::format("\n## {}\n\n| field | stored as |\n|---|---|\n", title);
  rows<T>("", out);
  return out;
}

}  // namespace

std::string executable_page() {
  std::string out = fmt::format(
      "# Executable format, version {}\n\n"
      "Little-endian. A header (`DPTYEXE` and a zero byte, u32 version, u32 section count, u64 "
      "FNV-1a hash of\n"
      "everything after it), a table of {} sections (u32 id, u32 zero, u64 offset, u64 bytes), "
      "then the sections, each\n"
      "{}-byte aligned: general, tensors, operators, steps, programs, external regions, "
      "fallbacks,\n"
      "constants. Records are their fields in order.\n",
      arch::kExecutableVersion, arch::kSectionCount, arch::kConstantAlign);
  out += record<arch::PlacedTensor>("Tensor");
  out += record<arch::SourceOp>("Operator");
  out += record<arch::Step>("Step");
  out += record<arch::Program>("Program");
  out += record<arch::ExternalRegion>("External region");
  out += fmt::format(
      "\nRecord i is region {} + i, of at most {}. `written` is 1 for a graph output and 0 for a "
      "graph input, `memory` is 0 for\n"
      "SRAM and 1 for DRAM, `align` a power of two up to {}. Regions bound for one run must not "
      "overlap.\n",
      static_cast<int>(arch::Region::kExternal0), arch::kMaxExternalRegions,
      arch::kMaxExternalAlign);
  out +=
      "\n## Fallbacks\n\nu32 count, then each u32 bytes and an executable file: none, or one for "
      "each program, in their order. A fallback\n"
      "has the inputs and outputs of its program's step (names, types, shapes and quantisation in "
      "the same order), the\n"
      "same numerics, and no programs, external regions or fallbacks.\n";
  out += record<arch::NpuConfig>("Target (in the general section)");
  return out;
}

}  // namespace deputy::tools
