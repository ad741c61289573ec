// Every command's help has examples, and they run as they stand there.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/system/deputy_process.h"
#include "tools/npy.h"

using namespace deputy;
using namespace deputy::test;

namespace {

/// What follows "Example:" or "Examples:" in a help text, a command a line.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> out;
  const std::size_t at = help.find("Example");
  if (at == std::string::npos) return out;
  for (std::size_t from = help.find(':', at) + 1; from < help.size();) {
    const std::size_t end = std::min(help.find('\n', from), help.size());
    std::string line = help.substr(from, end - from);
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) out.push_back(line);
    from = end + 1;
  }
  return out;
}

/// The commands that the help of `path` lists: "  run          Compile a model, ...".
std::vector<std::string> subcommands(std::vector<std::string> path) {
  path.push_back("--help");
  const std::string help = run_deputy(path).out;
  std::vector<std::string> out;
  const std::size_t at = help.find("Subcommands:\n");
  if (at == std::string::npos) return out;
  for (std::size_t from = at + 13; from < help.size() && help[from] == ' ';) {
    const std::size_t end = std::min(help.find('\n', from), help.size());
    if (help.compare(from, 2, "  ") == 0 && help[from + 2] != ' ')
      out.push_back(help.substr(from + 2, help.find(' ', from + 2) - from - 2));
    from = end + 1;
  }
  return out;
}

void write_samples(const std::string& path, DType type, const Shape& shape, std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  if (type == DType::kFloat32)
    for (std::size_t i = 0; i + 3 < bytes; i += 4)
      data[i + 3] = 0x3f, data[i + 2] = static_cast<std::uint8_t>(i * 37);  // 0.5 to 2
  const auto file = tools::format_npy(type, shape, data);
  write_text(path, {file.begin(), file.end()});
}

/// What the examples' files are.
void prepare(const TempFolder& folder) {
  namespace fs = std::filesystem;
  fs::create_directory_symlink(project_file("configs"), folder.file("configs"));
  fs::create_symlink(DEPUTY_BINARY, folder.file("deputy"));
  fs::copy_file(project_file("workloads/trained/digits.onnx"), folder.file("model.onnx"));
  REQUIRE(run_deputy({"network", "ecg_tcn", "-o", folder.file("model.tflite")}).exit_code == 0);
  write_text(folder.file("mine.dsp"), "halt\n");
  write_text(folder.file("x.bin"), std::string(256, '\1'));
  write_samples(folder.file("samples.npy"), DType::kFloat32, {8, 1, 28, 28}, 8 * 784 * 4);
  write_samples(folder.file("test_x.npy"), DType::kFloat32, {8, 1, 28, 28}, 8 * 784 * 4);
  write_samples(folder.file("test_y.npy"), DType::kInt32, {8}, 32);
}

// Examples that need what is not here, change what is, or take seconds that their own tests take
// already.
const std::map<std::string, const char*> kNotRun = {
    {"check-data", "golden data"},
    {"bench ratios", "outside models"},
    {"validate", "writes into the source tree"},
    {"probe", "seven seconds; ends with exit code 8"}};

}  // namespace

TEST_CASE("every command's help has an example, and it runs") {
  TempFolder folder;
  prepare(folder);
  std::vector<std::vector<std::string>> commands;
  for (const std::string& name : subcommands({})) {
    commands.push_back({name});
    for (const std::string& sub : subcommands({name})) commands.push_back({name, sub});
  }
  CHECK(commands.size() >= 25);
  std::size_t ran = 0;
  for (auto path : commands) {
    std::string name = path[0];
    if (path.size() > 1) name += " " + path[1];
    path.push_back("--help");
    const auto examples = examples_of(run_deputy(path).out);
    INFO(name);
    CHECK_FALSE(examples.empty());
    if (kNotRun.contains(name)) continue;
    for (const std::string& example : examples) {
      INFO(example);
      const std::string script = folder.file("example.sh");
      write_text(script, "cd " + folder.path() + "\nexport PATH=$PWD:$PATH\n" + example + "\n");
      const int status = std::system(
          ("bash " + script + " >" + folder.file("out") + " 2>" + folder.file("err")).c_str());
      INFO(read_text(folder.file("out")).substr(0, 2000) << read_text(folder.file("err")));
      CHECK(WEXITSTATUS(status) == 0);
      ++ran;
    }
  }
  CHECK(ran >= 25);
}
