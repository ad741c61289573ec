// Assembly text to DSP programs. The language is described in docs/dsp.md; the operations are those
// of arch/dsp_ops.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arch/dsp_config.h"
#include "base/result.h"

namespace deputy::dsp_asm {

struct Options {
  std::map<std::string, std::int64_t> parameters;  ///< values for .param
  arch::DspLatencyConfig latency;                  ///< what .sched schedules for
};
struct Program {
  std::vector<std::uint32_t> words;
  std::map<std::string, std::uint32_t> labels;  ///< to words
  std::vector<int> lines;                       ///< of each word, from 1
};

/// Errors name `name`:line:column. Assembling the same text with the same options gives the same
/// words.
base::Result<Program> assemble(std::string_view text, const std::string& name,
                               const Options& options = {});

/// A program as a file's bytes (magic, version, words), and back.
std::vector<std::uint8_t> write_program(const std::vector<std::uint32_t>& words);
base::Result<std::vector<std::uint32_t>> read_program(const std::vector<std::uint8_t>& bytes,
                                                      const std::string& name);

/// One line a packet: its word number, then its operations. Words that are no packet are printed as
/// `.word`.
std::string disassemble(const std::vector<std::uint32_t>& words);

}  // namespace deputy::dsp_asm
