// What the examples need besides Deputy: files in, and a word at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "deputy/hw_port.h"

using Bytes = std::vector<std::uint8_t>;

inline Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Bytes out{std::istreambuf_iterator<char>(in), {}};
  if (!in || out.empty()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(7);
  }
  return out;
}

/// Row `index` of the int8 array in an .npy file, rows of `bytes`: behind a header of 128 bytes.
inline Bytes npy_row(const Bytes& file, std::size_t index, std::size_t bytes) {
  const std::size_t begin = 128 + index * bytes;
  if (begin + bytes > file.size()) std::exit(9);
  return {file.begin() + static_cast<std::ptrdiff_t>(begin),
          file.begin() + static_cast<std::ptrdiff_t>(begin + bytes)};
}

/// The class with the highest score, of int8 scores.
inline const char* beat_class(const Bytes& scores) {
  static const char* const names[] = {"normal", "supraventricular", "ventricular", "st-shift",
                                      "artefact"};
  const auto less = [](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::int8_t>(a) < static_cast<std::int8_t>(b);
  };
  return names[std::max_element(scores.begin(), scores.end(), less) - scores.begin()];
}

inline double us(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

/// Ends a program: the error's number is the exit code, as everywhere in Deputy.
inline int finish(const deputy::base::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.text().c_str());
  return static_cast<int>(error.kind);
}

/// For results that must hold; the example is a test.
inline deputy::base::Status require(bool holds, const char* what) {
  if (holds) return {};
  return deputy::base::Error{deputy::base::ErrorKind::kMismatch, "example", what, ""};
}
