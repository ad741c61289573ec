// What the plans of DSP jobs are made with. Internal to delegate/dsp.
#pragma once

#include <cstdint>
#include <vector>

namespace deputy::delegate {

inline constexpr std::int64_t kVector = 128;    ///< bytes
inline constexpr std::int64_t kMostMoves = 62;  // a job has 63 commands, one of them its program
inline constexpr std::int64_t kMostBands = kMostMoves / 3;

inline std::int64_t up(std::int64_t bytes) { return (bytes + kVector - 1) / kVector * kVector; }
inline std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }
template <class T>
void append(std::vector<std::uint8_t>& to, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  to.insert(to.end(), bytes, bytes + values.size() * sizeof(T));
}

}  // namespace deputy::delegate
