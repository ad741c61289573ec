#include "api/compile_key.h"

#include <fmt/format.h>

#include "compiler_sources_hash.h"

namespace deputy::api {
namespace {

// Raised by hand when equal sources mean something else, for instance after a change of a library
// they use.
constexpr int kCompilerVersion = 1;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(double value) {
  return fmt::format("{}", value);
}  // shortest text that reads back equal
// With lengths before the parts: no two lists of rules give the same text.
std::string text_of(const std::vector<delegate::PlacementRule>& rules) {
  std::string out;
  for (const auto& [op, target, deny] : rules)
    out += fmt::format("{}:{} {} {};", op.size(), op, static_cast<int>(target), deny);
  return out;
}
std::string text_of(const std::string& value) { return fmt::format("{}:{}", value.size(), value); }
template <class T>
requires(std::is_enum_v<T>) std::string text_of(T value) {
  return std::to_string(static_cast<int>(value));
}
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) std::string text_of(T value) {
  return std::to_string(value);
}

}  // namespace

std::string KeyParts::compiler_identity() {
  return fmt::format("{} executable {} sources {}", kCompilerVersion, arch::kExecutableVersion,
                     DEPUTY_COMPILER_SOURCES);
}

std::string key_text(const KeyParts& parts) {
  std::string out;
  const auto line = [&](const std::string& name, const std::string& value) {
    out += name + "=" + value + "\n";
  };
  line("compiler", parts.compiler);
  line("model", hex(sha256(parts.model)));
  line("model_name", text_of(parts.model_name));
  for (const Shape& shape : parts.input_shapes) line("input", shape_text(shape));
  for (const std::string& rule : parts.rules) line("rule", text_of(rule));
  line("device.engine", text_of(parts.device.engine));
  line("device.hardware", parts.device.hardware.text());
  line("device.firmware", parts.device.firmware.text());
  line("device.driver", parts.device.driver.text());
  visit_options(parts.options,
                [&](const std::string& name, const auto& value) { line(name, text_of(value)); });
  return out;
}

}  // namespace deputy::api
