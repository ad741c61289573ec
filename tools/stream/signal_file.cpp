#include "tools/stream/signal_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "tools/files.h"

namespace deputy::tools {
namespace {

constexpr int kMostClasses = 1000;

base::Result<std::vector<StreamLabel>> read_labels(const std::string& path, std::int64_t samples,
                                                   const ChainInfo& chain) {
  const std::vector<std::string>& classes = chain.classes;
  const bool values = chain.judge == Judge::kValue;
  DEPUTY_ASSIGN(const auto bytes, read_file(path));
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<StreamLabel> out;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    std::string at, kind, more;
    if (!(words >> at) || at[0] == '#') continue;
    const auto bad = [&](std::string what) {
      return base::Error{base::ErrorKind::kInput, fmt::format("{}:{}", path, number),
                         std::move(what),
                         values ? "a line is a sample's number, its value and perhaps its class"
                                : "a line is a sample's number and its class"};
    };
    const auto whole = [](const std::string& word, auto& value) {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      return error == std::errc{} && end == word.data() + word.size();
    };
    StreamLabel label;
    if (!whole(at, label.sample) || label.sample < 0)
      return bad(fmt::format("'{}' is no sample number", at));
    if (!(words >> kind)) return bad(values ? "there is no value" : "there is no class");
    if (values) {
      if (!whole(kind, label.value) || !std::isfinite(label.value))
        return bad(fmt::format("'{}' is no number", kind));
      if (!(words >> kind)) kind.assign(1, '0');
    }
    if (words >> more) return bad(fmt::format("'{}' is too much", more));
    const auto named = std::ranges::find(classes, kind);
    if (named != classes.end())
      label.kind = static_cast<int>(named - classes.begin());
    else if (!whole(kind, label.kind) || label.kind < 0 ||
             label.kind >= (classes.empty() ? kMostClasses : static_cast<int>(classes.size())))
      return bad(fmt::format("there is no class '{}'", kind));
    if (!out.empty() && label.sample < out.back().sample)
      return bad("labels are not in order of time");
    if (label.sample < samples) out.push_back(label);
  }
  return out;
}

}  // namespace

base::Result<StreamSignal> read_signal(const StreamScenario& scenario, const ChainInfo& chain) {
  const FrameShape& shape = chain.shape;
  const std::filesystem::path folder = scenario.folder;
  const std::string path = (folder / scenario.source.file).string();
  StreamSignal out;
  DEPUTY_ASSIGN(const auto bytes, read_file(path));
  const auto wanted = static_cast<std::size_t>(scenario.source.seconds * shape.samples_per_second /
                                               shape.samples_per_frame);
  const std::size_t frames = std::min(bytes.size() / shape.frame_bytes, wanted);
  if (frames == 0)
    return base::Error{
        base::ErrorKind::kInput, path,
        fmt::format("{} bytes are not a frame of {} bytes", bytes.size(), shape.frame_bytes),
        "give a longer signal, or more seconds"};
  for (std::size_t f = 0; f < frames; ++f) {
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(f * shape.frame_bytes);
    out.frames.emplace_back(from, from + shape.frame_bytes);
  }
  if (!scenario.source.labels.empty()) {
    DEPUTY_ASSIGN(out.labels,
                  read_labels((folder / scenario.source.labels).string(),
                              static_cast<std::int64_t>(frames) * shape.samples_per_frame, chain));
  }
  return out;
}

base::Status write_signal(const StreamScenario& scenario, const std::string& file,
                          const std::string& labels) {
  DEPUTY_ASSIGN(const ChainInfo* chain, find_chain(scenario.chain));
  DEPUTY_ASSIGN(const StreamSignal signal, chain->signal(scenario));
  std::vector<std::uint8_t> bytes;
  for (const auto& frame : signal.frames) bytes.insert(bytes.end(), frame.begin(), frame.end());
  std::string text;
  for (const StreamLabel& label : signal.labels) {
    const auto kind = static_cast<std::size_t>(label.kind);
    text += fmt::format("{} ", label.sample);
    if (chain->judge == Judge::kValue) text += fmt::format("{:.2f} ", label.value);
    text += kind < chain->classes.size() ? chain->classes[kind] : std::to_string(kind);
    text += "\n";
  }
  if (!file.empty()) DEPUTY_TRY(write_file(file, bytes));
  if (!labels.empty()) DEPUTY_TRY(write_text(labels, text));
  return {};
}

}  // namespace deputy::tools
