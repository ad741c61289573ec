#include "delegate/program_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "arch/isa.h"

namespace deputy::delegate {
namespace {

// The fields of an instruction by name, so that this file need not know every kind of instruction.
std::map<std::string_view, std::uint64_t> numbers_of(const arch::Operation& op) {
  std::map<std::string_view, std::uint64_t> out;
  std::visit(
      [&](const auto& o) {
        using T = std::remove_cvref_t<decltype(o)>;
        T::fields(o, [&](const auto& value, const base::Field& field) {
          if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>)
            out[field.name] = static_cast<std::uint64_t>(value);
        });
      },
      op);
  return out;
}

std::uint64_t bytes_of(const arch::Operation& op) {
  return std::visit(
      [](const auto& o) -> std::uint64_t {
        if constexpr (requires { o.bytes(); })
          return o.bytes();
        else
          return 0;
      },
      op);
}

class Reader {
 public:
  explicit Reader(const arch::Executable& executable) : executable_(executable) {}

  std::vector<KernelSummary> read() {
    for (std::size_t p = 0; p < executable_.programs.size(); ++p) {
      last_ = nullptr;
      std::span<const std::uint32_t> words = executable_.programs[p].words;
      for (std::size_t at = 0; at < words.size();) {
        const arch::Decoded decoded = arch::decode(words.subspan(at));
        if (decoded.fault != arch::DecodeFault::kNone) break;
        if (!std::holds_alternative<arch::End>(decoded.instruction.op)) add(decoded.instruction, p);
        at += decoded.instruction.header.words;
      }
    }
    std::vector<KernelSummary> out;
    for (const std::uint32_t tag : order_) out.push_back(std::move(by_tag_[tag]));
    return out;
  }

 private:
  void add(const arch::Instruction& instruction, std::size_t program) {
    const std::uint32_t tag = instruction.header.tag;
    const auto [it, fresh] = by_tag_.try_emplace(tag);
    KernelSummary& k = it->second;
    if (fresh) {
      k.tag = tag, k.program = static_cast<std::uint32_t>(program);
      order_.push_back(tag);
    }
    if (last_ != &k) ++k.runs;
    last_ = &k;
    const auto n = numbers_of(instruction.op);
    // A compressed stream counts as what it takes in memory.
    const std::uint64_t bytes =
        n.contains("stream_bytes") ? n.at("stream_bytes") : bytes_of(instruction.op);
    if (instruction.queue() == arch::Queue::kLoad) {
      add_load(k, n, bytes);
    } else if (instruction.queue() == arch::Queue::kStore) {
      ++k.stores;
      k.store_bytes += bytes;
      k.output_buffers.insert(static_cast<std::uint32_t>(n.at("spm_addr")));
      if (!in_sram(n.at("region"))) k.dram_map_bytes += bytes;
    } else {
      ++k.computes;
      if (n.contains("ofm_h"))
        ++k.tiles[fmt::format("{}x{}x{}", n.at("ofm_h"), n.at("ofm_w"), n.at("ofm_c"))];
    }
  }

  void add_load(KernelSummary& k, const std::map<std::string_view, std::uint64_t>& n,
                std::uint64_t bytes) {
    ++k.loads;
    const auto value = [&](std::string_view name) { return n.contains(name) ? n.at(name) : 0; };
    // A load without a traffic field can only be one that decodes weights.
    const auto traffic = static_cast<arch::Traffic>(
        n.contains("traffic") ? n.at("traffic")
                              : static_cast<std::uint64_t>(arch::Traffic::kWeights));
    const auto spm = static_cast<std::uint32_t>(value("spm_addr"));
    if (traffic == arch::Traffic::kFeatureMap) {
      k.map_load_bytes += bytes;
      k.input_buffers.insert(spm);
      if (!in_sram(value("region"))) k.dram_map_bytes += bytes;
    } else if (traffic == arch::Traffic::kParams) {
      k.param_load_bytes += bytes;
    } else {
      k.weight_load_bytes += bytes;
      k.weight_buffers.insert(spm);
      if (seen_
              .insert({k.tag, value("region"), value("mem_offset"), bytes, value("mem_row_stride")})
              .second)
        k.weight_stored_bytes += bytes;
    }
  }

  bool in_sram(std::uint64_t region) const {
    return executable_.region_in_sram(static_cast<arch::Region>(region));
  }

  const arch::Executable& executable_;
  std::map<std::uint32_t, KernelSummary> by_tag_;
  std::vector<std::uint32_t> order_;
  const KernelSummary* last_ = nullptr;
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>>
      seen_;
};

}  // namespace

std::vector<KernelSummary> summarise_programs(const arch::Executable& executable) {
  return Reader(executable).read();
}

}  // namespace deputy::delegate
