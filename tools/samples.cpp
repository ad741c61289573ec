#include "tools/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

namespace deputy::tools {
namespace {

namespace fs = std::filesystem;

base::Error io(const std::string& path, std::string message) {
  return {base::ErrorKind::kIo, path, std::move(message), ""};
}

base::Result<NpyHeader> read_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (!file || error) return io(path, "cannot be read");
  std::vector<std::uint8_t> start(std::min<std::uintmax_t>(size, kMostNpyHeader));
  file.read(reinterpret_cast<char*>(start.data()), static_cast<std::streamsize>(start.size()));
  DEPUTY_ASSIGN(auto header, parse_npy_header(start, path));
  if (header.start + header.bytes != size)
    return base::Error{base::ErrorKind::kInput, path,
                       fmt::format("holds {} bytes of data, its shape {} needs {}",
                                   size - header.start, shape_text(header.shape), header.bytes),
                       ""};
  return header;
}

/// Without dimensions of size 1.
Shape squeezed(const Shape& shape) {
  Shape out;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [](auto d) { return d != 1; });
  return out;
}

/// How many samples of `wanted` an array of `shape` is; 0 when it is none.
std::uint64_t samples_in(const Shape& shape, const Shape& wanted) {
  const Shape all = squeezed(shape), one = squeezed(wanted);
  if (all == one) return 1;
  // With a batch in the model, rows of the file are taken in batches.
  const std::int64_t elements = element_count(wanted), whole = element_count(shape);
  if (elements == 0 || whole % elements != 0) return 0;
  if (!all.empty() && Shape(all.begin() + 1, all.end()) == one)
    return static_cast<std::uint64_t>(all[0]);
  if (!all.empty() && !one.empty() &&
      Shape(all.begin() + 1, all.end()) == Shape(one.begin() + 1, one.end()) && wanted[0] > 1)
    return static_cast<std::uint64_t>(all[0] / one[0]);
  return 0;
}

/// kInput names the first value that is NaN or infinite by its place in the file.
base::Status check_finite(const std::vector<std::uint8_t>& sample, const std::string& path,
                          std::uint64_t index) {
  for (std::size_t k = 0; k * sizeof(float) < sample.size(); ++k) {
    float v;
    std::memcpy(&v, &sample[k * sizeof v], sizeof v);
    if (std::isfinite(v)) continue;
    return base::Error{
        base::ErrorKind::kInput, path,
        fmt::format("value {} of sample {} is {}", k, index, std::isnan(v) ? "NaN" : "infinite"),
        "remove the sample (numbers count from 0)"};
  }
  return {};
}

}  // namespace

base::Result<Samples::Input> Samples::open_input(const std::vector<std::string>& paths,
                                                 const arch::TensorDesc& desc) {
  Input out;
  out.bytes = static_cast<std::uint64_t>(desc.bytes());
  for (const std::string& path : paths) {
    std::vector<std::string> files = {path};
    std::error_code error;
    if (fs::is_directory(path, error)) {
      files.clear();
      for (const auto& entry : fs::directory_iterator(path, error))
        if (entry.path().extension() == ".npy") files.push_back(entry.path().string());
      std::sort(files.begin(), files.end());
      if (files.empty())
        return base::Error{base::ErrorKind::kInput, path, "the folder has no .npy file",
                           "save samples with numpy.save"};
    }
    for (const std::string& file : files) {
      DEPUTY_ASSIGN(auto header, read_header(file));
      const std::uint64_t count =
          header.dtype == desc.dtype ? samples_in(header.shape, desc.shape) : 0;
      if (count == 0)
        return base::Error{base::ErrorKind::kInput, file,
                           fmt::format("holds {} {}, but input '{}' is {} {}",
                                       dtype_name(header.dtype), shape_text(header.shape),
                                       desc.name, dtype_name(desc.dtype), shape_text(desc.shape)),
                           "one sample of that shape, or many along a dimension before it"};
      out.files.push_back({file, std::move(header), count});
    }
  }
  return out;
}

base::Result<Samples> Samples::open(const std::vector<std::string>& paths,
                                    const delegate::Graph& graph) {
  Samples out;
  std::map<std::string, std::vector<std::string>> by_input;
  const bool one = graph.inputs.size() == 1;
  for (const std::string& path : paths) {
    const std::size_t equals = path.find('=');
    std::string name = one ? graph.tensor(graph.inputs[0]).desc.name : "";
    std::string rest = path;
    for (const delegate::TensorId id : graph.inputs)
      if (equals != std::string::npos && path.substr(0, equals) == graph.tensor(id).desc.name)
        name = path.substr(0, equals), rest = path.substr(equals + 1);
    if (name.empty())
      return base::Error{base::ErrorKind::kUsage, path,
                         fmt::format("the model has {} inputs", graph.inputs.size()),
                         "write INPUT=PATH for each"};
    by_input[name].push_back(rest);
  }
  for (const delegate::TensorId id : graph.inputs) {
    const arch::TensorDesc& desc = graph.tensor(id).desc;
    const auto given = by_input.find(desc.name);
    if (given == by_input.end())
      return base::Error{base::ErrorKind::kUsage, "samples",
                         fmt::format("there is none for input '{}'", desc.name),
                         "give a .npy file or a folder of them"};
    DEPUTY_ASSIGN(auto input, open_input(given->second, desc));
    std::uint64_t count = 0;
    for (const File& file : input.files) count += file.samples;
    if (!out.inputs_.empty() && count != out.size_)
      return base::Error{base::ErrorKind::kInput, desc.name,
                         fmt::format("{} samples, but {} for the input before", count, out.size_),
                         ""};
    out.size_ = count;
    out.inputs_.push_back(std::move(input));
  }
  return out;
}

base::Result<std::vector<std::vector<std::uint8_t>>> Samples::get(std::uint64_t index) const {
  std::vector<std::vector<std::uint8_t>> out;
  for (const Input& input : inputs_) {
    std::uint64_t at = index;
    const File* file = nullptr;
    for (const File& f : input.files) {
      if (at < f.samples) {
        file = &f;
        break;
      }
      at -= f.samples;
    }
    if (!file) return io("samples", "there are fewer than were asked for");
    std::ifstream stream(file->path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(file->header.start + at * input.bytes));
    std::vector<std::uint8_t> bytes(input.bytes);
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream) return io(file->path, "cannot be read any more");
    if (file->header.dtype == DType::kFloat32) DEPUTY_TRY(check_finite(bytes, file->path, at));
    out.push_back(std::move(bytes));
  }
  return out;
}

std::string Samples::identity() const {
  std::string out;
  for (const Input& input : inputs_)
    for (const File& f : input.files)
      out += fmt::format("{} {} {};", fs::path(f.path).filename().string(),
                         shape_text(f.header.shape), f.header.bytes);
  return out;
}

}  // namespace deputy::tools
