#include "tools/cli/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/check.h"
#include "tools/files.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

int fail(const base::Error& error) {
  fmt::print(stderr, "deputy: {}\n", error.text());
  return static_cast<int>(error.kind);
}

int finish(const base::Status& status) { return status.ok() ? 0 : fail(status.error()); }

namespace {

// NAME=VALUE; shapes are 1x3x32x32.
base::Result<api::Bindings> parse_bindings(const CommonOptions& common) {
  api::Bindings out;
  const auto bad = [](const char* option, const std::string& text) {
    return base::Error{base::ErrorKind::kUsage, option, fmt::format("'{}' is not understood", text),
                       "write NAME=8, or INPUT=1x3x32x32"};
  };
  const auto numbers = [](const std::string& text) {
    Shape shape;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('x', at), text.size());
      std::int32_t value = -1;
      const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, value);
      if (error != std::errc() || stop != text.data() + end || value < 0) return Shape{};
      shape.push_back(value);
      at = end + 1;
    }
    return shape;
  };
  for (const std::string& text : common.dims) {
    const std::size_t equals = text.rfind('=');
    const Shape value = equals == std::string::npos ? Shape{} : numbers(text.substr(equals + 1));
    if (value.size() != 1 || equals == 0) return bad("--dim", text);
    out.dims[text.substr(0, equals)] = value[0];
  }
  for (const std::string& text : common.shapes) {
    const std::size_t equals = text.rfind('=');
    const Shape value = equals == std::string::npos ? Shape{} : numbers(text.substr(equals + 1));
    if (value.empty() || equals == 0) return bad("--shape", text);
    out.shapes[text.substr(0, equals)] = value;
  }
  return out;
}

// The words that an option may have, and what they mean.
template <class T>
struct Word {
  const char* word;
  T value;
};
constexpr Word<delegate::EnginePolicy> kEngines[] = {{"auto", delegate::EnginePolicy::kAuto},
                                                     {"npu", delegate::EnginePolicy::kNpu},
                                                     {"cpu", delegate::EnginePolicy::kCpu}};
constexpr Word<std::optional<Numerics>> kNumerics[] = {  // auto: by the model's format
    {"auto", std::nullopt},
    {"tflite", Numerics::kTflite},
    {"single", Numerics::kSingle},
    {"fp32", Numerics::kFp32}};
constexpr Word<delegate::Effort> kEfforts[] = {{"fast", delegate::Effort::kFast},
                                               {"full", delegate::Effort::kFull}};
constexpr Word<delegate::ContractPolicy> kContracts[] = {
    {"cpu", delegate::ContractPolicy::kCpu},
    {"reject", delegate::ContractPolicy::kReject},
    {"convert", delegate::ContractPolicy::kConvert}};
constexpr Word<delegate::IoPlacement> kPlacements[] = {{"arena", delegate::IoPlacement::kArena},
                                                       {"sram", delegate::IoPlacement::kSram},
                                                       {"dram", delegate::IoPlacement::kDram}};

// Calls v(option, its words, its value) for each of them.
template <class V>
void each_word_option(const CommonOptions& c, V&& v) {
  v("engine", kEngines, c.engine), v("numerics", kNumerics, c.numerics),
      v("effort", kEfforts, c.effort);
  v("contract", kContracts, c.contract), v("io", kPlacements, c.io);
}

template <class T, std::size_t N>
std::vector<std::string> names_of(const Word<T> (&words)[N]) {
  std::vector<std::string> out;
  for (const Word<T>& w : words) out.emplace_back(w.word);
  return out;
}

// Of a word that check_words() has let through.
template <class T, std::size_t N>
T value_of(const Word<T> (&words)[N], const std::string& word) {
  for (const Word<T>& w : words)
    if (word == w.word) return w.value;
  DEPUTY_CHECK(false, "a word that nobody has checked");
}

}  // namespace

std::vector<std::string> words_of(const std::string& option) {
  std::vector<std::string> out;
  each_word_option({}, [&](const char* name, const auto& words, const std::string&) {
    if (option == name) out = names_of(words);
  });
  DEPUTY_CHECK(!out.empty(), "an option without words");
  return out;
}

base::Status check_words(const CommonOptions& common, const std::string& where) {
  base::Status status;
  each_word_option(common, [&](const char* name, const auto& words, const std::string& value) {
    const auto names = names_of(words);
    if (!status.ok() || std::ranges::find(names, value) != names.end()) return;
    const bool usage = where.empty();
    status = base::Error{usage ? base::ErrorKind::kUsage : base::ErrorKind::kConfig,
                         usage ? fmt::format("--{}", name) : where,
                         fmt::format("there is no {} '{}'", name, value),
                         fmt::format("use one of {}", fmt::join(names, ", "))};
  });
  return status;
}

base::Result<SimulateOptions> simulate_options(const CommonOptions& common,
                                               const std::string& model) {
  SimulateOptions out;
  DEPUTY_TRY(check_words(common));
  DEPUTY_ASSIGN(out.bindings, parse_bindings(common));
  DEPUTY_ASSIGN(auto path, find_soc(common.soc));
  DEPUTY_ASSIGN(out.soc, soc::load_soc_config(path, common.sets));
  out.strict = common.strict;
  for (const std::string& text : common.force) {
    DEPUTY_ASSIGN(auto rule, delegate::parse_force(text));
    out.placement.rules.push_back(std::move(rule));
  }
  for (const std::string& text : common.deny) {
    DEPUTY_ASSIGN(auto rule, delegate::parse_deny(text));
    out.placement.rules.push_back(std::move(rule));
  }
  out.placement.min_partition = common.min_partition;
  out.placement.max_partitions = common.max_partitions;
  out.sram_limit = common.sram_limit;
  out.optimisations = common.optimisations;
  for (const std::string& path : common.quirks) {
    DEPUTY_ASSIGN(const auto bytes, read_file(path));
    DEPUTY_ASSIGN(auto file, api::parse_quirks({bytes.begin(), bytes.end()}, path));
    out.quirks.push_back(std::move(file));
  }
  DEPUTY_TRY(api::check_overlap(out.quirks));
  out.cache = common.cache;
  out.cache_limit = common.cache_limit;
  out.effort = value_of(kEfforts, common.effort);
  out.fallback = common.fallback;
  out.contract = value_of(kContracts, common.contract);
  out.io = value_of(kPlacements, common.io);
  out.engine = value_of(kEngines, common.engine);
  const auto numerics = value_of(kNumerics, common.numerics);
  out.numerics = numerics.value_or(model.ends_with(".onnx") ? Numerics::kFp32 : Numerics::kTflite);
  return out;
}

base::Status no_placement_options(const CommonOptions& common, const std::string& file) {
  const CommonOptions none;
  if (common.io != none.io)
    return base::Error{base::ErrorKind::kUsage, file,
                       "it is compiled already: its inputs and outputs have their regions",
                       "give the model file, or drop --io"};
  if (common.fallback)
    return base::Error{base::ErrorKind::kUsage, file,
                       "it is compiled already, with or without fallbacks",
                       "give the model file, or drop --fallback"};
  if (common.quirks.empty() && common.cache.empty() && common.force == none.force &&
      common.deny == none.deny && common.min_partition == none.min_partition &&
      common.max_partitions == none.max_partitions)
    return {};
  return base::Error{base::ErrorKind::kUsage, file,
                     "it is compiled already: its operators have their engines",
                     "give the model file, or drop --force, --deny, --min-partition, "
                     "--max-partitions, --quirks, --cache"};
}

Progress::Progress() : terminal_(isatty(2) != 0), start_(seconds_now()) {}
Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}
void Progress::show(const std::string& text) {
  if (!terminal_ || seconds_now() - start_ < 1.0) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace deputy::tools
