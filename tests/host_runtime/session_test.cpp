// Sessions on the fake port: loading, running, what the hardware sees of it, and every way to fail.
#include "host_runtime/runtime/session.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "arch/isa.h"
#include "arch/registers.h"
#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;
using arch::Executable;
using arch::Region;

namespace {

using Bytes = std::vector<std::uint8_t>;

arch::PlacedTensor tensor(const std::string& name, Shape shape, Region region,
                          std::uint64_t offset) {
  arch::PlacedTensor t;
  t.desc = {name, DType::kInt8, std::move(shape), {{1.0f}, {0}, 0}};
  t.placement = arch::Placement::kRegion;
  t.region = region;
  t.offset = offset;
  return t;
}

/// "in" (fast arena) -RELU on the CPU-> "mid" -NPU program-> "out" (slow arena); the program copies
/// mid to out.
Executable sample(bool with_npu) {
  Executable e;
  e.model_name = "sample";
  e.tensors = {tensor("in", {1, 100}, Region::kFastArena, 0),
               tensor("mid", {1, 100}, Region::kFastArena, 128),
               tensor("out", {1, 100}, Region::kSlowArena, 64)};
  e.inputs = {0};
  e.fast_arena_bytes = 256;
  e.slow_arena_bytes = 192;
  e.ops.resize(2);
  e.ops[0] = {"mid", arch::OpKind::RELU, 0, false, false, "kept on the CPU", 0};
  arch::Step host;
  host.inputs = {0};
  host.outputs = {1};
  e.steps = {host};
  e.outputs = {1};
  if (!with_npu) {
    e.ops.resize(1);
    return e;
  }
  e.ops[1] = {"out", arch::OpKind::CONV_2D, 1, true, false, "", 0};
  arch::Load load;
  load.region = 1, load.mem_offset = 128, load.row_bytes = 100;
  arch::Store store;
  store.region = 2, store.mem_offset = 64, store.row_bytes = 100;
  arch::Program program;
  program.source_ops = {1};
  arch::Instruction i;
  i.header.tag = 1;
  i.op = load;
  arch::encode(i, program.words);
  i.header.wait_load = 1;
  i.op = store;
  arch::encode(i, program.words);
  i.op = arch::End{};
  arch::encode(i, program.words);
  e.programs = {program};
  arch::Step npu;
  npu.kind = arch::StepKind::kNpu;
  npu.inputs = {1};
  npu.outputs = {2};
  e.steps.push_back(npu);
  e.outputs = {2, 0, 2};  // one twice, and the input itself
  return e;
}

/// The sample with "mid" its input and "out" its output, each in an external region; the NPU alone.
Executable external_sample() {
  Executable e = sample(true);
  e.tensors[1].region = Region::kExternal0, e.tensors[2].region = Region::kExternal1;
  e.tensors[1].offset = e.tensors[2].offset = 0;
  e.inputs = {1}, e.outputs = {2};
  e.steps.erase(e.steps.begin());
  e.externals = {{1, 100, false, 64, arch::ExternalMemory::kDram},
                 {2, 100, true, 256, arch::ExternalMemory::kSram}};
  arch::Load load;
  load.region = 3, load.row_bytes = 100;
  arch::Store store;
  store.region = 4, store.row_bytes = 100;
  e.programs[0].words.clear();
  for (const arch::Operation& op :
       {arch::Operation(load), arch::Operation(store), arch::Operation(arch::End{})}) {
    arch::Instruction i;
    i.header.tag = 1, i.header.wait_load = !std::holds_alternative<arch::Load>(op);
    i.op = op;
    arch::encode(i, e.programs[0].words);
  }
  return e;
}

/// The fake NPU does what the sample's program says, through the registers and memory alone.
void act_as_npu(FakePort& port) {
  port.on_write(FakePort::kNpu, arch::npu_reg::kCmd, [&port](std::uint32_t) {
    port.after(5'000'000, [&port] {
      const auto base = [&](std::uint32_t region) {
        return std::uint64_t{port.get(FakePort::kNpu, arch::npu_reg::kBase0Lo + 8 * region)};
      };
      std::uint32_t first;
      std::memcpy(&first, port.at(port.get(FakePort::kNpu, arch::npu_reg::kQBaseLo), 4), 4);
      REQUIRE((first & 0xFF) == 0x10);  // a LOAD
      std::memcpy(port.at(base(2) + 64, 100), port.at(base(1) + 128, 100), 100);
      port.finish(FakePort::kNpu);
    });
  });
}

std::unique_ptr<Session> load(Device& device, const Executable& e) {
  auto session = Session::load(device, arch::write_executable(e), "m.dpx");
  if (!session.ok()) FAIL(session.error().text());
  return std::move(session).value();
}
std::string load_problem(FakePort& port, const Executable& e) {
  Device device(port, {});
  const auto session = Session::load(device, arch::write_executable(e), "m.dpx");
  return session.ok() ? "" : session.error().text();
}

Bytes ramp(int start) {
  Bytes bytes(100);
  for (int i = 0; i < 100; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(start + i);
  return bytes;
}
Bytes relu(Bytes bytes) {
  for (auto& b : bytes) b = static_cast<std::int8_t>(b) < 0 ? 0 : b;
  return bytes;
}

}  // namespace

TEST_CASE("an executable without NPU work needs no NPU") {
  FakePort port;
  port.set(FakePort::kNpu, arch::npu_reg::kId, 0);
  Device device(port, {});
  const auto session = load(device, sample(false));
  REQUIRE(session->run(std::vector<Bytes>{ramp(-50)}).ok());
  CHECK(*session->read_tensor(1) == relu(ramp(-50)));
  CHECK(session->record().steps.size() == 1);
  CHECK(session->record().copied_bytes == 200);
}

TEST_CASE("host and NPU steps run in order, again and again") {
  FakePort port;
  act_as_npu(port);
  Device device(port, {});
  const auto session = load(device, sample(true));
  for (const int start : {-50, 7, -128}) {
    REQUIRE(session->run(std::vector<Bytes>{ramp(start)}).ok());
    CHECK(*session->read_tensor(2) == relu(ramp(start)));
    CHECK(*session->read_tensor(0) == ramp(start));
    CHECK(*session->read_tensor(1) == relu(ramp(start)));
  }
  const InferenceRecord& r = session->record();
  CHECK(r.copied_bytes == 400);  // one input, three outputs
  REQUIRE(r.steps.size() == 2);
  CHECK(r.steps[1].step == 1);
  CHECK(r.start_ps <= r.steps[0].start_ps);
  CHECK(r.steps[0].end_ps <= r.steps[1].start_ps);
  CHECK(r.steps[1].end_ps - r.steps[1].start_ps >= 5'000'000);
  CHECK(r.steps[1].end_ps <= r.end_ps);
}

TEST_CASE("external regions are allocated as compiled, and bound") {
  FakePort port;
  Device device(port, {});
  const auto session = load(device, external_sample());
  port.on_write(FakePort::kNpu, arch::npu_reg::kCmd, [&port](std::uint32_t) {
    const auto base = [&](std::uint32_t region) {
      return std::uint64_t{port.get(FakePort::kNpu, arch::npu_reg::kBase0Lo + 8 * region)};
    };
    CHECK(port.get(FakePort::kNpu, arch::npu_reg::kSize0 + 4 * 3) == 100);
    CHECK(port.get(FakePort::kNpu, arch::npu_reg::kSize0 + 4 * 4) == 100);
    CHECK(base(3) >= arch::kDramBase);
    CHECK(base(4) < arch::kDramBase);
    CHECK(base(4) % 256 == 0);
    std::memcpy(port.at(base(4), 100), port.at(base(3), 100), 100);
    port.finish(FakePort::kNpu);
  });
  for (const int start : {3, 90}) {
    REQUIRE(session->run(std::vector<Bytes>{ramp(start)}).ok());
    CHECK(*session->read_tensor(2) == ramp(start));
    CHECK(session->record().copied_bytes == 200);
  }
}

TEST_CASE("a program that writes the external region of an input is refused while loading") {
  FakePort port;
  Executable e = external_sample();
  std::swap(e.externals[0], e.externals[1]);
  std::swap(e.tensors[1].region, e.tensors[2].region);
  CHECK_THAT(load_problem(port, e), Catch::Contains("program 0") && Catch::Contains("region 4"));
}

TEST_CASE("two sessions share one NPU without touching each other's memory") {
  FakePort port;
  act_as_npu(port);
  Device device(port, {});
  const auto first = load(device, sample(true));
  REQUIRE(first->run(std::vector<Bytes>{ramp(10)}).ok());
  {
    const auto second = load(device, sample(true));
    REQUIRE(second->run(std::vector<Bytes>{ramp(20)}).ok());
    REQUIRE(first->run(std::vector<Bytes>{ramp(30)}).ok());
    CHECK(*first->read_tensor(2) == relu(ramp(30)));
    CHECK(*second->read_tensor(2) == relu(ramp(20)));
    REQUIRE(second->run(std::vector<Bytes>{ramp(40)}).ok());
    CHECK(*second->read_tensor(2) == relu(ramp(40)));
  }
  REQUIRE(first->run(std::vector<Bytes>{ramp(50)}).ok());  // the second one's memory is gone
  CHECK(*first->read_tensor(2) == relu(ramp(50)));
}

TEST_CASE("exactly the needed bytes are charged, cleaned and invalidated") {
  for (const bool functional : {true, false}) {
    FakePort port;
    port.set_functional(functional);
    act_as_npu(port);
    Device device(port, {});
    const auto session = load(device, sample(true));
    port.maintenance.clear();
    REQUIRE(session->run(functional ? std::vector<Bytes>{ramp(0)} : std::vector<Bytes>{}).ok());
    // mid was written by the CPU and is read by the NPU; in is an output, too, and the CPU wrote
    // it: it is cleaned before the NPU signals the end; then the ring's entry; out is written by
    // the NPU and copied out.
    REQUIRE(port.maintenance.size() == 4);
    CHECK(port.maintenance[0].clean);
    CHECK(port.maintenance[0].address == arch::kSramBase + 128);
    CHECK(port.maintenance[0].bytes == 128);
    CHECK(port.maintenance[1].clean);
    CHECK(port.maintenance[1].address == arch::kSramBase);
    CHECK(port.maintenance[1].bytes == 128);
    CHECK(port.maintenance[2].clean);
    CHECK(port.maintenance[2].bytes == arch::kQueueEntryBytes);
    CHECK_FALSE(port.maintenance[3].clean);
    CHECK(port.maintenance[3].bytes == 128);
    // in, RELU's kinds of work, the ring's entry, three outputs.
    REQUIRE(port.charges.size() >= 5);
    const auto& in = port.charges.front();
    CHECK(in.kernel == CpuKernel::kCopy);
    CHECK(in.amount == 100);
    REQUIRE(in.touches.size() == 1);
    CHECK(in.touches[0].address == arch::kSramBase);
    CHECK(in.touches[0].write);
    const auto& op = port.charges[1];
    REQUIRE(op.touches.size() == 2);
    CHECK((op.touches[0].address == arch::kSramBase && !op.touches[0].write));
    CHECK((op.touches[1].address == arch::kSramBase + 128 && op.touches[1].write &&
           op.touches[1].bytes == 100));
    for (std::size_t i = 2; i + 4 < port.charges.size(); ++i)
      CHECK(port.charges[i].touches.empty());
    CHECK(port.charges[port.charges.size() - 4].amount == arch::kQueueEntryBytes);
    CHECK_FALSE(port.charges.back().touches[0].write);
    CHECK(session->read_tensor(2).ok() == functional);
  }
}

TEST_CASE("an SoC with another NPU is refused, with the field and the remedy") {
  arch::NpuConfig other;
  other.mac.oc_lanes = 16;
  FakePort port(other);
  CHECK(load_problem(port, sample(true)) ==
        "m.dpx: compiled for npu.mac.oc_lanes = 8, but this NPU has 16 (compile the model for this "
        "SoC's configuration)");
  CHECK(port.allocations() == 0);
}

TEST_CASE("executables that cannot run are refused while loading") {
  FakePort port;
  Executable e = sample(false);
  e.tensors[0].desc.dtype = e.tensors[1].desc.dtype = DType::kBool;
  CHECK_THAT(load_problem(port, e), Catch::Contains("m.dpx, RELU 'mid'"));
  e = sample(false);
  e.tensors[1].offset = 64;
  CHECK_THAT(load_problem(port, e), Catch::Contains("outputs overlap its operands"));
  e = sample(true);
  e.slow_arena_bytes = 128 + 36;
  e.programs[0].words.pop_back();
  CHECK_THAT(load_problem(port, e), Catch::Contains("program 0: command stream"));
  e = sample(true);
  port.limit_memory(MemoryKind::kSram, 100);
  CHECK_THAT(load_problem(port, e), Catch::Contains("sram"));
  CHECK(port.allocations() == 0);
  Device device(port, {});
  CHECK_THAT(Session::load(device, Bytes(10), "bad.dpx").error().text(),
             Catch::Contains("bad.dpx: not a valid executable"));
}

TEST_CASE("wrong inputs are refused by name") {
  FakePort port;
  Device device(port, {});
  const auto session = load(device, sample(false));
  CHECK(session->run(std::vector<Bytes>{}).error().message ==
        "the model takes 1 inputs, 0 were given");
  const auto status = session->run(std::vector<Bytes>{Bytes(99)});
  CHECK(status.error().kind == base::ErrorKind::kInput);
  REQUIRE(session->run(std::vector<Bytes>{ramp(0)}).ok());
  CHECK(!session->run(std::vector<Bytes>{Bytes(99)}).ok());
  CHECK(session->record().steps.empty());  // not those of the run before
  CHECK(status.error().text().rfind("input 0 'in': 100 bytes expected (int8 1x100), 99 given", 0) ==
        0);
}

TEST_CASE("a failed run says where, leaves no values, and does not break the next") {
  FakePort port;
  Device device(port, {});
  const auto session = load(device, sample(true));
  CHECK_THAT(session->read_tensor(2).error().message, Catch::Contains("nothing has run yet"));
  port.on_write(FakePort::kNpu, arch::npu_reg::kCmd, [&](std::uint32_t) {
    port.set(FakePort::kNpu, arch::npu_reg::kErrInfo, 1u << 8 | 0x20u);
    port.finish(FakePort::kNpu, static_cast<std::uint32_t>(arch::NpuError::kRegionBounds));
  });
  const auto status = session->run(std::vector<Bytes>{ramp(0)});
  CHECK(status.error().kind == base::ErrorKind::kHardwareFault);
  CHECK_THAT(status.error().text(),
             Catch::Contains(
                 "step 1 (program 0, CONV_2D 'out'): npu: NPU fault: transfer leaves its region"));
  CHECK_THAT(session->read_tensor(2).error().message, Catch::Contains("the last run failed"));
  CHECK(session->record().steps.size() == 2);
  act_as_npu(port);
  REQUIRE(session->run(std::vector<Bytes>{ramp(3)}).ok());
  CHECK(*session->read_tensor(2) == relu(ramp(3)));
}

TEST_CASE("a job that shows no progress is given up") {
  FakePort port;
  Device device(port, {});
  const auto session = load(device, sample(true));
  CHECK_THAT(session->run(std::vector<Bytes>{ramp(0)}).error().text(),
             Catch::Contains("npu: the job hangs: PROGRESS has stood at 0 for"));
  CHECK(port.now_ps() >
        10'000'000'000);  // a look of the watchdog to see it run, one to see it stand
  CHECK(port.now_ps() < 40'000'000'000);
}

TEST_CASE("changed executables load and run, or are refused, but never crash") {
  const auto good = arch::write_executable(sample(true));
  const std::size_t records = good.size() - 64;
  std::mt19937 random(11);
  int ran = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    auto bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bytes[24 + random() % (records - 24)] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    const std::uint64_t hash = arch::content_hash(bytes);
    for (int b = 0; b < 8; ++b) bytes[16 + b] = static_cast<std::uint8_t>(hash >> (8 * b));
    FakePort port;
    port.limit_memory(MemoryKind::kSram, 1 << 20);
    port.limit_memory(MemoryKind::kDram, 1 << 20);
    port.on_write(FakePort::kNpu, arch::npu_reg::kCmd,
                  [&](std::uint32_t) { port.finish(FakePort::kNpu); });
    Device device(port, {});
    const auto session = Session::load(device, bytes, "m.dpx");
    if (!session.ok()) {
      ++refused;
      CHECK_FALSE(session.error().message.empty());
      continue;
    }
    const Executable& e = (*session)->executable();
    std::vector<Bytes> inputs;
    for (const std::uint32_t id : e.inputs)
      inputs.emplace_back(static_cast<std::size_t>(e.tensors[id].desc.bytes()), std::uint8_t{0x91});
    if ((*session)->run(inputs).ok()) ++ran;
    for (std::uint32_t id = 0; id < e.tensors.size(); ++id) (void)(*session)->read_tensor(id).ok();
  }
  CHECK(ran > 100);
  CHECK(refused > 100);
}

TEST_CASE("tensors that cannot be read say why") {
  FakePort port;
  Executable e = sample(false);
  e.tensors.push_back(tensor("inner", {4}, Region::kFastArena, 0));
  e.tensors.back().placement = arch::Placement::kNone;
  Device device(port, {});
  const auto session = load(device, e);
  REQUIRE(session->run(std::vector<Bytes>{ramp(0)}).ok());
  CHECK_THAT(session->read_tensor(3).error().text(),
             Catch::Contains("'inner' lived only inside the NPU"));
  CHECK_THAT(session->read_tensor(4).error().text(), Catch::Contains("the model has 4 tensors"));
}

TEST_CASE("a session gives its memory back") {
  FakePort port;
  {
    Device device(port, {});
    {
      const auto session = load(device, sample(true));
      CHECK(port.allocations() ==
            5);  // constants are empty; stream, two arenas, a ring each for two engines
    }
    CHECK(port.allocations() == 2);
  }
  CHECK(port.allocations() == 0);
}
