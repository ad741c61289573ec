// Quirk files: what they say, what is refused, and what they do to a compile.
#include "api/quirks.h"

#include <catch2/catch.hpp>

#include "tests/delegate/layer_graph.h"

namespace deputy::api {
namespace {

using Catch::Matchers::Contains;

const std::string kEntry =
    "quirks:\n"
    "  - id: Q1\n"
    "    op: DEPTHWISE_CONV_2D\n"
    "    type: int8, uint8\n"
    "    when: {stride: 2, kernel: 3..5}\n"
    "    hardware: 1.2..1.10\n"
    "    driver: ..2.0\n"
    "    action: deny\n"
    "    reason: wrong last channel\n";

DeviceIdentity device(const std::string& hardware, const std::string& driver = "1.0") {
  DeviceIdentity out;
  out.hardware = base::Version::parse(hardware, "").value();
  out.firmware = {{1, 0}};
  out.driver = base::Version::parse(driver, "").value();
  return out;
}

QuirkFile parsed(const std::string& text) {
  auto file = parse_quirks(text, "q.yaml");
  INFO((file.ok() ? "" : file.error().text()));
  REQUIRE(file.ok());
  return std::move(*file);
}

// "stride: 2" replaced by `with` in the one entry.
std::string edited(const std::string& what, const std::string& with) {
  std::string text = kEntry;
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

delegate::Graph conv_graph(std::int32_t kernel, std::int32_t stride, bool pad = false) {
  delegate::testing::LayerGraph g;
  auto x = g.input({1, 9, 9, 4});
  if (pad) x = g.pad(x, 1, 1, 1, 1);
  return g.finish({g.conv(x, 4, kernel, {}, stride)});
}

}  // namespace

TEST_CASE("a quirk concerns versions by number") {
  const Quirk q = parsed(kEntry).quirks.at(0);
  for (const char* inside : {"1.2", "1.9", "1.10", "1.10.0"}) CHECK(concerns(q, device(inside)));
  for (const char* outside : {"1.1", "1.11", "2.0", "1.10.1"}) CHECK(!concerns(q, device(outside)));
  CHECK(concerns(q, device("1.9", "2.0")));
  CHECK(!concerns(q, device("1.9", "2.1")));
}

TEST_CASE("a quirk file keeps its hash and survives being written") {
  const QuirkFile file = parsed(kEntry);
  CHECK(file.sha256 == hex(sha256(kEntry)));
  const std::string text = quirks_text(file.quirks, "# comment\n");
  const QuirkFile again = parsed(text);
  CHECK(quirks_text(again.quirks, "# comment\n") == text);
  CHECK(again.quirks[0].when.at("kernel").text() == "3..5");
  CHECK(again.quirks[0].types.size() == 2);
  CHECK(again.quirks[0].hardware.text() == "1.2..1.10");
  CHECK(parsed(quirks_text({}, "")).quirks.empty());
}

TEST_CASE("what a quirk file must not say is refused with its line and a remedy") {
  const struct {
    std::string text, line, what;
  } cases[] = {
      {edited("stride: 2", "strid: 2"), "q.yaml:5", "strid"},
      {edited("action: deny", "action: deny\n    hardwar: 1.0"), "q.yaml:9", "hardwar"},
      {edited("DEPTHWISE_CONV_2D", "DEPTHWISE"), "q.yaml:3", "DEPTHWISE"},
      {edited("int8, uint8", "int8, int9"), "q.yaml:4", "int9"},
      {edited("stride: 2", "stride: 3..2"), "q.yaml:5", "empty range"},
      {edited("stride: 2", "stride: ..0"), "q.yaml:5", "empty range"},
      {edited("stride: 2", "stride: two"), "q.yaml:5", "not a whole number"},
      {edited("1.2..1.10", "1.10..1.9"), "q.yaml:6", "empty range"},
      {edited("1.2..1.10", "one"), "q.yaml:6", "not a version"},
      {edited("action: deny", "action: forbid"), "q.yaml:8", "forbid"},
      {edited("action: deny", "action: workaround"), "q.yaml:", "workaround"},
      {edited("action: deny", "action: workaround\n    workaround: no-thing"), "q.yaml:9",
       "no-thing"},
      {edited("    reason: wrong last channel\n", ""), "q.yaml:", "reason"},
      {edited("    op: DEPTHWISE_CONV_2D\n", ""), "q.yaml:", "op"},
      {kEntry + kEntry.substr(8), "q.yaml:10", "'Q1' is taken"},
      {"other: 1\n", "q.yaml:1", "other"},
  };
  for (const auto& c : cases) {
    const auto file = parse_quirks(c.text, "q.yaml");
    INFO(c.text);
    REQUIRE(!file.ok());
    INFO(file.error().text());
    CHECK(file.error().kind == base::ErrorKind::kConfig);
    CHECK_THAT(file.error().where, Contains(c.line));
    CHECK_THAT(file.error().text(), Contains(c.what));
    CHECK(!file.error().remedy.empty());
  }
}

TEST_CASE("entries that hold for the same thing overlap") {
  std::string second = kEntry.substr(8);
  second.replace(second.find("Q1"), 2, "Q2");
  const auto both = [&](const std::string& what, const std::string& with) {
    std::string text = second;
    text.replace(text.find(what), what.size(), with);
    return parse_quirks(kEntry + text, "q.yaml");
  };
  CHECK_THAT(both("Q2", "Q3").error().text(), Contains("overlaps 'Q1'"));
  CHECK_THAT(both("3..5", "5..").error().text(), Contains("overlaps"));
  CHECK(both("3..5", "6..").ok());
  CHECK(both("1.2..1.10", "1.11..").ok());
  CHECK(!both("1.2..1.10", "1.9..").ok());
  CHECK(both("..2.0", "2.1..").ok());
  CHECK(both("DEPTHWISE_CONV_2D", "CONV_2D").ok());
  CHECK(both("int8, uint8", "int16").ok());
  CHECK(both("kernel", "span").ok());  // another condition
  QuirkFile a = parsed(kEntry), b = a;
  b.quirks[0].id = "Q9";
  CHECK(!check_overlap({a, b}).ok());
}

TEST_CASE("a denied operator runs on the CPU with the entry's reason, others stay") {
  const QuirkFile file = parsed(
      "quirks:\n  - {id: K, op: CONV_2D, when: {kernel: 5..}, hardware: 1.10, action: deny, "
      "reason: wide kernels}\n");
  for (const auto& [kernel, hardware, denied] :
       {std::tuple(5, "1.10", true), std::tuple(3, "1.10", false), std::tuple(5, "1.9", false)}) {
    const delegate::Graph g = conv_graph(kernel, 1);
    delegate::CompileOptions options;
    options.engine = delegate::EnginePolicy::kNpu;
    const QuirkEffect effect = apply_quirks(g, {file}, device(hardware), options);
    auto executable = delegate::compile(g, options);
    REQUIRE(executable.ok());
    explain_denied(effect, *executable);
    CHECK(executable->ops[0].on_npu == !denied);
    CHECK(executable->ops[0].reason == (denied ? "quirk K of q.yaml: wide kernels" : ""));
    CHECK(effect.applied.size() == (denied ? 1u : 0u));
    if (denied) CHECK(effect.applied[0].sha256 == file.sha256);
  }
}

TEST_CASE("a PAD that fusion would fold into a faulty padding stays apart") {
  const QuirkFile file = parsed(
      "quirks:\n  - {id: P, op: CONV_2D, when: {padding: 1..}, action: deny, reason: padding}\n");
  const delegate::Graph g = conv_graph(3, 1, true);
  delegate::CompileOptions options;
  options.engine = delegate::EnginePolicy::kNpu;
  const QuirkEffect effect = apply_quirks(g, {file}, device("1.0"), options);
  REQUIRE(effect.applied.size() == 1);
  const auto executable = delegate::compile(g, options);
  REQUIRE(executable.ok());
  CHECK(!executable->ops[0].on_npu);  // the PAD
  CHECK(executable->ops[1].on_npu);
  CHECK(executable->ops[0].fused_into == -1);
}

TEST_CASE("a workaround switches its optimisation off where its operator occurs") {
  const QuirkFile file = parsed(
      "quirks:\n  - {id: W, op: CONV_2D, action: workaround, workaround: no-compression, reason: "
      "decoder}\n");
  delegate::CompileOptions options;
  CHECK(apply_quirks(conv_graph(3, 1), {file}, device("1.0"), options).applied.at(0).action ==
        "no-compression");
  CHECK(!options.optimisations.compression);
  CHECK(options.placement.rules.empty());
}

}  // namespace deputy::api
