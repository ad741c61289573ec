#include "arch/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/byte_io.h"
#include "arch/executable_check.h"

namespace deputy::arch {
namespace {

constexpr std::uint8_t kMagic[8] = {'D', 'P', 'T', 'Y', 'E', 'X', 'E', 0};
constexpr std::size_t kHashAt = 16, kHeaderBytes = 24, kSectionEntryBytes = 24;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kConstantAlign - 1) / kConstantAlign * kConstantAlign;
}

/// The executable's scalars and operand lists: section kGeneral.
template <class Self, class V>
void general_fields(Self& e, V&& v) {
  using base::Field;
  v(e.model_name, Field{.name = "model name"});
  v(e.numerics, Field{.name = "numerics"});
  v(e.target, Field{.name = "target"});
  v(e.inputs, Field{.name = "inputs"});
  v(e.outputs, Field{.name = "outputs"});
  v(e.fast_arena_bytes, Field{.name = "fast arena bytes"});
  v(e.slow_arena_bytes, Field{.name = "slow arena bytes"});
}

template <class T>
std::vector<std::uint8_t> record_bytes(const T& records) {
  ByteWriter writer;
  writer.put(records);
  return std::move(writer.bytes());
}

struct Section {
  std::size_t offset = 0, bytes = 0;
};

class Parser {
 public:
  /// nested: the bytes are a fallback, which has none of its own.
  Parser(std::span<const std::uint8_t> bytes, const std::string& name, bool nested = false)
      : bytes_(bytes), name_(name), nested_(nested) {}

  base::Result<Executable> run() {
    DEPUTY_TRY(read_header());
    DEPUTY_TRY(read_section_table());
    Executable e;
    DEPUTY_TRY(read_section(SectionId::kGeneral, "general", [&](ByteReader& reader) {
      general_fields(e, [&](auto& member, const base::Field& f) { reader.read(member, f); });
    }));
    DEPUTY_TRY(read_records(SectionId::kTensors, "tensors", e.tensors));
    DEPUTY_TRY(read_records(SectionId::kOps, "ops", e.ops));
    DEPUTY_TRY(read_records(SectionId::kSteps, "steps", e.steps));
    DEPUTY_TRY(read_records(SectionId::kPrograms, "programs", e.programs));
    DEPUTY_TRY(read_records(SectionId::kExternals, "externals", e.externals));
    DEPUTY_TRY(read_records(SectionId::kFallbacks, "fallbacks", e.fallbacks));
    DEPUTY_TRY(read_records(SectionId::kDspJobs, "DSP jobs", e.dsp_jobs));
    const auto constants = section(SectionId::kConstants);
    e.constants.assign(constants.begin(), constants.end());
    if (const std::string problem = executable_problem(e); !problem.empty())
      return malformed(problem);
    if (nested_ && !e.fallbacks.empty()) return malformed("a fallback with fallbacks of its own");
    for (std::size_t i = 0; i < e.fallbacks.size(); ++i) {
      const std::string name = fmt::format("{}, fallback {}", name_, i);
      DEPUTY_ASSIGN(const Executable fallback, Parser(e.fallbacks[i], name, true).run());
      if (const std::string problem = fallback_problem(e, i, fallback); !problem.empty())
        return malformed(fmt::format("fallback {}: {}", i, problem));
    }
    return e;
  }

 private:
  base::Error malformed(const std::string& what) const {
    return {base::ErrorKind::kModel, name_, "not a valid executable: " + what,
            "compile the model again"};
  }

  base::Status read_header() {
    if (bytes_.size() < kHeaderBytes)
      return malformed(
          fmt::format("{} bytes are shorter than the {}-byte header", bytes_.size(), kHeaderBytes));
    if (std::memcmp(bytes_.data(), kMagic, sizeof kMagic) != 0)
      return malformed("it does not begin with DPTYEXE");
    ByteReader header(bytes_.subspan(sizeof kMagic));
    if (const auto version = header.get<std::uint32_t>(); version != kExecutableVersion)
      return malformed(
          fmt::format("version {}, this build reads version {}", version, kExecutableVersion));
    if (const auto count = header.get<std::uint32_t>(); count != kSectionCount)
      return malformed(fmt::format("{} sections instead of {}", count, kSectionCount));
    const auto stored = header.get<std::uint64_t>();
    if (const std::uint64_t computed = fnv1a(bytes_.subspan(kHeaderBytes)); stored != computed)
      return malformed(
          fmt::format("the content hash is {:016x}, the header says {:016x}", computed, stored));
    return {};
  }

  /// The table has one canonical form, so checking it means computing where each section must be.
  base::Status read_section_table() {
    ByteReader table(bytes_.subspan(kHeaderBytes));
    std::size_t end = kHeaderBytes + kSectionCount * kSectionEntryBytes;
    for (std::uint32_t i = 0; i < kSectionCount; ++i) {
      const auto id = table.get<std::uint32_t>(), zero = table.get<std::uint32_t>();
      const auto offset = table.get<std::uint64_t>(), bytes = table.get<std::uint64_t>();
      if (!table.ok()) return malformed("the bytes end inside the section table");
      if (id != i + 1 || zero != 0)
        return malformed(fmt::format("section {} has the id {}", i + 1, id));
      const std::size_t begin = aligned(end);
      if (offset != begin || begin > bytes_.size() || bytes > bytes_.size() - begin)
        return malformed(fmt::format(
            "section {} ({} bytes at {}) is not where it must be ({}) or leaves the file", id,
            bytes, offset, begin));
      if (std::any_of(bytes_.begin() + static_cast<std::ptrdiff_t>(end),
                      bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
                      [](std::uint8_t b) { return b != 0; }))
        return malformed(fmt::format("the padding before section {} is not zero", id));
      sections_[i] = {begin, static_cast<std::size_t>(bytes)};
      end = begin + sections_[i].bytes;
    }
    if (end != bytes_.size())
      return malformed(fmt::format("{} bytes follow the last section", bytes_.size() - end));
    return {};
  }

  std::span<const std::uint8_t> section(SectionId id) const {
    const Section& s = sections_[static_cast<std::size_t>(id) - 1];
    return bytes_.subspan(s.offset, s.bytes);
  }

  template <class F>
  base::Status read_section(SectionId id, const char* title, F&& read) {
    ByteReader reader(section(id));
    read(reader);
    if (!reader.ok()) return malformed(fmt::format("section '{}': {}", title, reader.problem()));
    if (reader.remaining() != 0)
      return malformed(fmt::format("section '{}' has bytes left over", title));
    return {};
  }
  template <class T>
  base::Status read_records(SectionId id, const char* title, std::vector<T>& out) {
    return read_section(id, title,
                        [&](ByteReader& reader) { reader.read(out, base::Field{.name = title}); });
  }

  std::span<const std::uint8_t> bytes_;
  const std::string& name_;
  const bool nested_;
  Section sections_[kSectionCount];
};

}  // namespace

bool Executable::on_dsp(std::size_t op) const {
  return std::ranges::any_of(steps, [&](const Step& s) {
    return s.kind == StepKind::kHost && s.dsp_job != kNoDspJob && s.source_op == op;
  });
}

std::string_view Executable::op_word(std::size_t op) const {
  if (ops[op].kind == OpKind::ONNX)
    for (const Step& s : steps)
      if (s.kind == StepKind::kHost && s.source_op == op)
        return arch::op_word(ops[op].kind, s.attrs);
  return op_name(ops[op].kind);
}

std::uint64_t Executable::region_bytes(Region region) const {
  if (region == Region::kConstants) return constants.size();
  if (region == Region::kFastArena) return fast_arena_bytes;
  if (region == Region::kSlowArena) return slow_arena_bytes;
  const auto index = static_cast<std::size_t>(external_index(region));
  return index < externals.size() ? externals[index].bytes : 0;
}

bool Executable::region_written(Region region) const {
  if (!is_external(region)) return region != Region::kConstants;
  const auto index = static_cast<std::size_t>(external_index(region));
  return index < externals.size() && externals[index].written;
}

bool Executable::region_in_sram(Region region) const {
  if (!is_external(region)) return region == Region::kFastArena;
  const auto index = static_cast<std::size_t>(external_index(region));
  return index < externals.size() && externals[index].memory == ExternalMemory::kSram;
}

std::vector<std::uint8_t> write_executable(const Executable& e) {
  ByteWriter general;
  general_fields(e, [&](const auto& member, const base::Field&) { general.put(member); });
  const std::vector<std::uint8_t> sections[kSectionCount] = {
      std::move(general.bytes()), record_bytes(e.tensors),  record_bytes(e.ops),
      record_bytes(e.steps),      record_bytes(e.programs), record_bytes(e.externals),
      record_bytes(e.fallbacks),  record_bytes(e.dsp_jobs), e.constants};
  ByteWriter body;  // everything after the header; offsets count from the file's start
  std::size_t end = kHeaderBytes + kSectionCount * kSectionEntryBytes;
  for (std::uint32_t i = 0; i < kSectionCount; ++i) {
    body.put(i + 1);
    body.put(std::uint32_t{0});
    body.put(std::uint64_t{aligned(end)});
    body.put(std::uint64_t{sections[i].size()});
    end = aligned(end) + sections[i].size();
  }
  ByteWriter file;
  file.append(kMagic);
  file.put(kExecutableVersion);
  file.put(std::uint32_t{kSectionCount});
  file.put(std::uint64_t{0});  // the hash, once the body is there
  file.append(body.bytes());
  for (const auto& section : sections) {
    file.pad_to(kConstantAlign);
    file.append(section);
  }
  std::vector<std::uint8_t>& bytes = file.bytes();
  const std::uint64_t hash = fnv1a(std::span(bytes).subspan(kHeaderBytes));
  for (std::size_t i = 0; i < sizeof hash; ++i)
    bytes[kHashAt + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  return std::move(bytes);
}

base::Result<Executable> read_executable(std::span<const std::uint8_t> bytes,
                                         const std::string& name) {
  return Parser(bytes, name).run();
}

std::uint64_t content_hash(std::span<const std::uint8_t> bytes) {
  DEPUTY_CHECK(bytes.size() >= kHeaderBytes, "content_hash of something that is not an executable");
  return fnv1a(bytes.subspan(kHeaderBytes));
}

}  // namespace deputy::arch
