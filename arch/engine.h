// What can run an operator, and its words: the only table of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace deputy::arch {

struct Executable;
struct Step;

enum class Engine : std::uint8_t { kCpu = 0, kNpu = 1, kDsp = 2 };

struct EngineWords {
  const char* word;   ///< in options, files and tables
  const char* title;  ///< in sentences
};
inline constexpr std::array<EngineWords, 3> kEngineWords = {
    {{"cpu", "CPU"}, {"npu", "NPU"}, {"dsp", "DSP"}}};

constexpr const char* engine_word(Engine e) {
  return kEngineWords[static_cast<std::size_t>(e)].word;
}
constexpr const char* engine_title(Engine e) {
  return kEngineWords[static_cast<std::size_t>(e)].title;
}
/// Nothing when it is the word of none.
constexpr std::optional<Engine> engine_named(std::string_view word) {
  for (std::size_t i = 0; i < kEngineWords.size(); ++i)
    if (word == kEngineWords[i].word) return static_cast<Engine>(i);
  return {};
}

/// Where the compiler placed an operator, or a step. A step of the DSP is one of the host's that it
/// does.
Engine engine_of(const Executable& executable, std::size_t op);
Engine engine_of(const Step& step);

}  // namespace deputy::arch
