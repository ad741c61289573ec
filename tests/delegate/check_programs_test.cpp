// The checker of NPU programs against mutated ones: what changes a result must be found, as far as
// the checker promises to. Whether a mutation matters is decided by running it.
#include "delegate/passes/check_programs.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "delegate/compile.h"
#include "delegate/passes/program_order.h"
#include "tests/support/graphs/agreement.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937;

struct Kind {
  int mutants = 0, matter = 0, found = 0, found_harmless = 0;
};
using Tally = std::map<std::string, Kind>;

std::vector<std::uint32_t> encoded(const std::vector<arch::Instruction>& program) {
  std::vector<std::uint32_t> words;
  for (const arch::Instruction& i : program) arch::encode(i, words);
  return words;
}

// One change to one transfer's side in system memory, or to its waits, or to its side in the
// scratchpad.
std::string mutate(arch::Instruction& i, Random& random) {
  const std::uint32_t by = 1 + random() % 40;
  const bool less = random() % 2;
  const auto move = [&](auto& field, std::uint64_t least) {
    using T = std::remove_reference_t<decltype(field)>;
    field = less && field >= least + by ? static_cast<T>(field - by) : static_cast<T>(field + by);
  };
  if (random() % 8 == 0) {
    i.header.wait_load = i.header.wait_compute = i.header.wait_store = 0;
    return "waits";
  }
  return std::visit(
      [&]<class T>(T& op) -> std::string {
        if constexpr (std::is_base_of_v<arch::Transfer, T>) {
          const std::string name = T::kName;
          if (op.region == 0) {  // constants: the checker knows no more than their size
            move(op.mem_offset, 0);
            return name + " constants";
          }
          switch (random() % 7) {
            case 0:
              move(op.mem_offset, 0);
              return name + " mem_offset";
            case 1:
              move(op.row_bytes, 1);
              return name + " row_bytes";
            case 2:
              if (op.rows == 1) op.mem_row_stride = op.spm_row_stride = op.row_bytes;
              move(op.rows, 1);
              return name + " rows";
            case 3:
              if (op.planes == 1)
                op.mem_plane_stride = op.spm_plane_stride = op.row_bytes * op.rows;
              move(op.planes, 1);
              return name + " planes";
            case 4:
              move(op.rows > 1 ? op.mem_row_stride : op.mem_plane_stride, 0);
              return name + " mem stride";
            case 5:
              op.region = op.region == 1 ? 2 : 1;
              return name + " region";
            default:
              move(op.spm_addr, 0);
              return name + " spm_addr";
          }
        }
        return "";
      },
      i.op);
}

std::vector<Bytes> outcome(const arch::Executable& e, const std::vector<Bytes>& inputs) {
  try {
    std::vector<Bytes> all;
    for (const auto order : {test::Order::kStream, test::Order::kEagerLoads,
                             test::Order::kLateStores, test::Order::kLateLoads}) {
      const auto outputs = test::ExecutableRunner(e, true).run(inputs, order, 5);
      all.insert(all.end(), outputs.begin(), outputs.end());
    }
    return all;
  } catch (const std::exception&) {
    return {};
  }
}

void try_mutants(const MemoryUse& use, const std::vector<Bytes>& inputs, int count, Random& random,
                 Tally& tally) {
  REQUIRE(check_programs(use).value_or("") == "");
  const auto right = outcome(use.executable, inputs);
  REQUIRE(!right.empty());
  for (int n = 0; n < count && !use.executable.programs.empty(); ++n) {
    arch::Executable changed = use.executable;
    arch::Program& program = changed.programs[random() % changed.programs.size()];
    std::vector<arch::Instruction> code = test::decode_program(program.words);
    const std::string kind = mutate(code[random() % code.size()], random);
    if (kind.empty()) continue;
    program.words = encoded(code);
    const auto problem = check_programs({use.graph, changed, use.views, use.actions, use.keep_all});
    Kind& k = tally[kind];
    const bool matters = outcome(changed, inputs) != right;
    ++k.mutants, k.matter += matters, k.found += matters && problem,
        k.found_harmless += !matters && problem;
  }
}

Tally mutate_graphs(std::uint64_t first, std::uint64_t graphs, int mutants) {
  Tally tally;
  for (std::uint64_t seed = first; seed < first + graphs; ++seed) {
    const Graph graph = graphs::random_graph(seed);
    const auto inputs = graphs::random_inputs(graph, seed);
    Random random(static_cast<unsigned>(seed));
    for (graphs::Setting setting : graphs::settings(seed, 0, 1)) {
      if (setting.options.engine == EnginePolicy::kCpu) continue;
      INFO("seed " << seed << ", " << setting.text());
      CompileTrace trace;
      trace.checked = [&](const MemoryUse& use) {
        try_mutants(use, inputs, mutants, random, tally);
      };
      setting.options.trace = &trace;
      REQUIRE(compile(graph, setting.options).ok());
    }
  }
  return tally;
}

void check(const Tally& tally) {
  std::string table;
  int store_matter = 0, store_found = 0, load_matter = 0, load_found = 0;
  for (const auto& [kind, k] : tally) {
    table += fmt::format(
        "  {:<18} {:6} mutants, {:6} matter, {:6} of those found; {:6} harmless found\n", kind,
        k.mutants, k.matter, k.found, k.found_harmless);
    if (kind.ends_with("spm_addr") || kind == "waits" || kind == "LOAD constants") continue;
    (kind.starts_with("STORE") ? store_matter : load_matter) += k.matter;
    (kind.starts_with("STORE") ? store_found : load_found) += k.found;
  }
  INFO(table);
  CHECK(store_matter > 20);
  CHECK(load_matter > 20);
  CHECK(store_found == store_matter);           // every wrong place in memory
  CHECK(load_found * 100 >= load_matter * 90);  // some load another part of the right operand
}

}  // namespace

TEST_CASE("mutated programs are found out") { check(mutate_graphs(0, 6, 20)); }

TEST_CASE("many mutated programs are found out", "[.slow]") { check(mutate_graphs(100, 150, 60)); }

TEST_CASE("waits entail what was waited for") {
  ProgramOrder order;
  const auto add = [&](arch::Operation op, std::uint32_t l, std::uint32_t c, std::uint32_t s) {
    arch::Instruction i;
    i.op = op;
    i.header.wait_load = l, i.header.wait_compute = c, i.header.wait_store = s;
    return order.add(i);
  };
  using Clock = ProgramOrder::Clock;
  CHECK(add(arch::Load{}, 0, 0, 0) == Clock{0, 0, 0});
  CHECK(add(arch::Fill{}, 1, 0, 0) == Clock{1, 0, 0});
  CHECK(add(arch::Store{}, 0, 1, 0) == Clock{1, 1, 0});  // the fill waited for the load
  CHECK(add(arch::Load{}, 0, 0, 0) == Clock{1, 0, 0});
  CHECK(add(arch::Load{}, 0, 0, 1) == Clock{2, 1, 1});
  CHECK(add(arch::Store{}, 0, 0, 0) == Clock{1, 1, 1});
  CHECK(add(arch::Fill{}, 0, 0, 2) == Clock{1, 1, 2});
}

}  // namespace deputy::delegate
