// The DSP as a part of the SoC: jobs by its queue manager, fences, faults, isolation, its books.
#include "host_runtime/hal/intc_driver.h"
#include "host_runtime/runtime/session.h"
#include "tests/stream/board.h"
#include "tools/files.h"

extern "C" int sc_main(int, char**) { return 0; }  // the library wants one; main() is Catch2's

namespace deputy::stream_test {
namespace {

sim::FaultPlan plan(const char* kind, const char* target, std::int64_t nth = 1,
                    std::int64_t repeat = 1) {
  sim::Fault f;
  f.kind = kind, f.target = target, f.nth = nth, f.repeat = repeat;
  return {{f}};
}

constexpr std::uint32_t kDone = arch::kStatusDone;
constexpr std::uint32_t failed(arch::DspError error) {
  return arch::kStatusError | static_cast<std::uint32_t>(error) << 8;
}

}  // namespace

TEST_CASE("every kernel gives its reference's bytes as a job of the SoC, and the books balance") {
  const auto soc = board();
  const auto cases = dsp_kernels::kernel_cases(3, dsp_kernels::Fill::kRandom);
  std::vector<dsp_kernels::KernelUse> uses;
  for (std::size_t i = 0; i < cases.size(); ++i)
    uses.push_back({std::to_string(i), cases[i].kernel, cases[i].parameters});
  auto sized = soc;
  sized.dsp.tcm.program_bytes = 1 << 20;
  const Bytes image = image_of(uses, sized);
  const auto record = on_board(sized, [&](HwPort& port) -> base::Status {
    Device device(port, device_options(sized));
    DEPUTY_ASSIGN(auto context, device.default_context());
    DEPUTY_ASSIGN(const auto firmware, DspFirmware::load(device, image, "all"));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO(cases[i].kernel << ": " << cases[i].what);
      const CaseJob job(device, firmware, std::to_string(i), cases[i]);
      DEPUTY_ASSIGN(const Fence fence, device.run_dsp(context, job.task, {}));
      DEPUTY_TRY(device.wait(fence, port.now_ps() + device.bound_ps()));
      CHECK(*job.out.read() == job.expected);
    }
    return {};
  });
  CHECK(record.dsp_jobs.size() == cases.size());
  CHECK(record.dsp_jobs[0].program_bytes > 0);
  CHECK(record.dsp_jobs[1].program_bytes == 0);  // it is there
  CHECK(record.energy_nj.at("dsp.vector") > 0);
  CHECK(record.busy.at("dsp").size() > 0);
}

TEST_CASE("DSP, NPU and DMA engine hand over without the host") {
  const auto soc = board();
  tools::SimulateOptions options;
  options.soc = soc, options.engine = delegate::EnginePolicy::kNpu,
  options.io = delegate::IoPlacement::kDram;
  const auto graph = tools::load_model(tests::source_dir() + "/workloads/ecg/ecg_beats.tflite");
  REQUIRE(graph.ok());
  const auto executable = delegate::compile(*graph, tools::compile_options(options));
  REQUIRE(executable.ok());
  const Bytes file = arch::write_executable(*executable),
              image = image_of({{"fir", "fir", {{"TAPS", 16}}}}, soc);
  const auto fir = fir_case();
  on_board(soc, [&](HwPort& port) -> base::Status {
    Device device(port, device_options(soc));
    DEPUTY_ASSIGN(auto context, device.default_context());
    DEPUTY_ASSIGN(const auto firmware, DspFirmware::load(device, image, "fir"));
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, file, "ecg", {.context = context, .frames = 1}));
    const CaseJob job(device, firmware, "fir", fir);
    // The network reads the filter's first bytes where the DSP puts them.
    DEPUTY_ASSIGN(Buffer input, job.out.view(0, 256));
    DEPUTY_TRY(session->frame(0).bind_input(0, input));
    Buffer radio = buffer(device, Bytes(5));
    DEPUTY_ASSIGN(const Fence filtered, device.run_dsp(context, job.task, {}));
    DEPUTY_ASSIGN(const Fence named, session->frame(0).submit({.waits = {filtered}}));
    DEPUTY_ASSIGN(const Fence sent, device.copy(context, radio, session->frame(0).output(0),
                                                std::vector<Fence>{named}));
    port.sleep_until(port.now_ps() + 10 * kMs);
    CHECK(device.sync().value(sent.timeline()) >= sent.value());
    DEPUTY_TRY(device.wait(sent, port.now_ps() + 10 * kMs));
    DEPUTY_ASSIGN(const auto chained, radio.read());
    DEPUTY_TRY(
        session->run(std::vector<Bytes>{Bytes(job.expected.begin(), job.expected.begin() + 256)}));
    DEPUTY_ASSIGN(const auto alone, session->read_tensor(session->executable().outputs[0]));
    CHECK(chained == alone);
    return {};
  });
}

TEST_CASE("every fault at the DSP passes with recovery, or is reported within the bound") {
  const auto soc = board();
  const Bytes image = image_of({{"fir", "fir", {{"TAPS", 16}}}}, soc);
  const auto fir = fir_case();
  int kinds = 0;
  for (const sim::FaultKindInfo& kind : sim::fault_kinds())
    for (const char* target : kind.targets) {
      const std::string at = target;
      // The engine's own start register and interrupt line are for bring-up: jobs go through its
      // queue.
      using enum sim::FaultKind;
      const bool of_queue =
          kind.kind == kLostDoorbell || kind.kind == kLostInterrupt || kind.kind == kLateInterrupt;
      if (!at.starts_with("dsp") || (of_queue && at == "dsp")) continue;
      ++kinds;
      for (const bool permanent : {false, true}) {
        INFO(kind.name << " at " << target << (permanent ? ", permanent" : ""));
        sim::FaultPlan faults = plan(
            kind.name, target, kind.kind == sim::FaultKind::kLostSignal ? 1 : 2, permanent ? 0 : 1);
        if (kind.kind == sim::FaultKind::kLateInterrupt || kind.kind == sim::FaultKind::kLateSignal)
          faults.faults[0].delay_ns = 30'000'000;
        const auto record = on_board(
            soc,
            [&](HwPort& port) -> base::Status {
              Device device(port, device_options(soc, RecoveryPolicy::full()));
              DEPUTY_ASSIGN(auto context, device.default_context());
              DEPUTY_ASSIGN(const auto firmware, DspFirmware::load(device, image, "fir"));
              for (int round = 0; round < 5; ++round) {
                const CaseJob job(device, firmware, "fir", fir);
                DEPUTY_ASSIGN(const Fence fence, device.run_dsp(context, job.task, {}));
                const std::uint64_t start = port.now_ps(), bound = device.bound_ps();
                const base::Status waited = device.wait(fence, start + bound);
                CHECK(port.now_ps() <= start + bound);
                if (!permanent) CHECK(waited.ok());
                if (waited.ok())
                  CHECK(*job.out.read() == job.expected);
                else
                  CHECK(waited.error().kind == base::ErrorKind::kHardwareFault);
                if (!waited.ok()) CHECK(!job.out.read().ok());  // undefined
              }
              return {};
            },
            faults);
        CHECK(record.faults[0].fired >= 1);
      }
    }
  CHECK(kinds >= 12);
}

TEST_CASE("an isolated job reaches what its context maps, and finds nothing of another's") {
  const auto soc = board();
  const auto fir = fir_case();
  const Bytes image = image_of({{"fir", "fir", {{"TAPS", 16}}}}, soc);
  const auto record = on_board(soc, [&](HwPort& port) -> base::Status {
    DeviceOptions options = device_options(soc);
    options.isolation = true, options.board = tools::board_times(soc, true);
    Device device(port, options);
    DEPUTY_ASSIGN(auto mine, device.create_context({}));
    DEPUTY_ASSIGN(auto theirs, device.create_context({}));
    DEPUTY_ASSIGN(const auto firmware, DspFirmware::load(device, image, "fir"));
    const CaseJob job(device, firmware, "fir", fir);
    DEPUTY_ASSIGN(const Fence good, device.run_dsp(mine, job.task, {}));
    DEPUTY_TRY(device.wait(good, kForever));
    CHECK(*job.out.read() == job.expected);
    // The same data memory, unread: zeros for the other context.
    DspTask look;
    look.firmware = firmware;
    const std::uint32_t where = fir.expected[0].address,
                        bytes = static_cast<std::uint32_t>(fir.expected[0].bytes.size());
    look.store(1, 0, where, bytes);
    const Buffer seen = buffer(device, Bytes(bytes, 1));
    look.regions = {{seen, false, true}};
    DEPUTY_ASSIGN(const Fence looked, device.run_dsp(theirs, look, {}));
    DEPUTY_TRY(device.wait(looked, kForever));
    CHECK(*seen.read() == Bytes(bytes, 0));
    // A region that the job's own context did not map.
    DspTask thief = look;
    thief.commands.clear();
    thief.regions = {{seen, true, false}};
    thief.load(1, 4096, 0, 64);
    const Buffer secret = buffer(device, Bytes(8192, 7));
    DEPUTY_ASSIGN(thief.regions[0].buffer, secret.view(0, 64));
    DEPUTY_ASSIGN(const Fence refused, device.run_dsp(theirs, thief, {}));
    CHECK(device.wait(refused, kForever).error().text().find("leaves its region") !=
          std::string::npos);
    return {};
  });
  CHECK(record.counters.at("dsp.scrubs") >= 2);
}

TEST_CASE(
    "programs move data by the DSP's own channel, talk to the host by mail, and are refused when "
    "malformed") {
  const auto soc = board({"host.coherent=true"});
  on_board(soc, [&](HwPort& port) -> base::Status {
    Bare dsp(port);
    const auto take = [&] { return dsp.read(arch::dsp_reg::kMailOut); };
    for (std::uint32_t i = 0; i < 64; ++i)
      dsp.memory.host[12288 + i] = static_cast<std::uint8_t>(i + 1);
    // Fetches 64 bytes by itself, waits for a word, adds it to the first and sends the sum.
    arch::DspCommand talk = dsp.run();
    talk.arguments = 1, talk.argument[0] = dsp.at(12288);
    dsp.start({dsp.program(
                   " mtc dma_mem_low, r1\n movi r2, 256\n mtc dma_tcm, r2\n movi r2, 64\n mtc "
                   "dma_row_bytes, r2\n movi r2, 1\n"
                   " mtc dma_rows, r2\n mtc dma_start, r2\n wait 2\n movi r3, 256\n ldw r4, [r3]\n "
                   "wait 1\n mfc r5, mail_in\n"
                   " add r4, r4, r5\n mtc mail_out, r4\n mtc host_interrupt, r0\n wait 4\n halt\n"),
               talk});
    port.sleep_until(port.now_ps() + kMs);
    CHECK(dsp.read(arch::dsp_reg::kStatus) == arch::kStatusRunning);
    CHECK((dsp.read(arch::dsp_reg::kMailStatus) & 0xFF) == 0);
    dsp.write(arch::dsp_reg::kMailIn, 5);
    port.sleep_until(port.now_ps() + kMs);
    CHECK(dsp.read(arch::dsp_reg::kIrqStatus) == (arch::kDspIrqMail | arch::kDspIrqEvent));
    CHECK((dsp.read(arch::dsp_reg::kMailStatus) & 0xFF) == 1);
    CHECK(take() == 0x04030201 + 5);
    CHECK(take() == 0);
    CHECK(dsp.read(arch::dsp_reg::kHostEvents) == 1);
    dsp.write(arch::dsp_reg::kEvent, 1);
    CHECK(dsp.wait() == kDone);

    // A store without a program; then everything that can be wrong with a list.
    using Kind = arch::DspCommandKind;
    dsp.start({dsp.move(Kind::kStore, dsp.at(4096), 256, 64)});
    CHECK(dsp.wait() == kDone);
    CHECK(std::memcmp(dsp.memory.host + 4096, dsp.memory.host + 12288, 64) == 0);
    dsp.start({dsp.run()}, 4);
    CHECK(dsp.wait() == failed(arch::DspError::kBadList));
    arch::DspCommand bad = dsp.run();
    bad.kind = 9;
    dsp.start({bad});
    CHECK(dsp.wait() == failed(arch::DspError::kBadCommand));
    dsp.start(
        {dsp.move(Kind::kLoad, dsp.at(0), static_cast<std::uint32_t>(soc.dsp.tcm.bytes) - 32, 64)});
    CHECK(dsp.wait() == failed(arch::DspError::kTcmBounds));
    dsp.start({dsp.move(Kind::kLoad, 0x10000000, 0, 64)});
    CHECK(dsp.wait() == failed(arch::DspError::kBus));
    CHECK(dsp.read(arch::dsp_reg::kErrAddrLo) == 0x10000000);
    arch::DspCommand huge = dsp.program(" halt\n");
    huge.row_bytes = 4 << 20;
    dsp.start({huge});
    CHECK(dsp.wait() == failed(arch::DspError::kNoRoom));
    dsp.start({dsp.program(" nop\n trap 7\n"), dsp.run()});
    CHECK(dsp.wait() == failed(arch::DspError::kProgram));
    CHECK(dsp.read(arch::dsp_reg::kErrInfo) ==
          (static_cast<std::uint32_t>(arch::DspFault::kTrap) | 1u << 8));
    CHECK(dsp.read(arch::dsp_reg::kErrAddrHi) == 1);
    dsp.start({dsp.program("a: jmp a\n"), dsp.run()});
    port.sleep_until(port.now_ps() + kMs);
    CHECK(dsp.read(arch::dsp_reg::kStatus) == arch::kStatusRunning);
    dsp.write(arch::dsp_reg::kReset, 1);
    CHECK(dsp.read(arch::dsp_reg::kStatus) == 0);
    dsp.start({dsp.program(" halt\n"), dsp.run()});
    CHECK(dsp.wait() == kDone);
    port.free(dsp.memory);
    return {};
  });
}

TEST_CASE("an image is read back, and refused when damaged or too large") {
  const auto soc = board();
  const Bytes bytes = image_of({{"fir", "fir", {{"TAPS", 16}}}, {"qrs", "qrs", {}}}, soc);
  const auto image = arch::read_dsp_image(bytes, "i");
  REQUIRE(image.ok());
  CHECK(image->kernels.size() == 2);
  REQUIRE(image->find("qrs"));
  CHECK(image->find("qrs")->entry > 0);
  CHECK(!image->find("fft"));
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    Bytes damaged = bytes;
    damaged[at] ^= 0x10;
    CHECK(!arch::read_dsp_image(damaged, "i").ok());
    CHECK(!arch::read_dsp_image(Bytes(bytes.begin(), bytes.begin() + static_cast<long>(at)), "i")
               .ok());
  }
  auto small = soc;
  small.dsp.tcm.program_bytes = 256;
  on_board(small, [&](HwPort& port) -> base::Status {
    Device device(port, device_options(small));
    const auto firmware = DspFirmware::load(device, bytes, "i");
    REQUIRE(!firmware.ok());
    CHECK(firmware.error().text().find("program memory") != std::string::npos);
    return {};
  });
}

TEST_CASE("a board without a DSP says so") {
  auto soc = board();
  soc.dsp.present = false;
  soc::Platform platform(soc, {});
  const auto outcome = platform.run_to_end([&](HwPort& port) -> base::Status {
    Device device(port, device_options(soc));
    return device.start();
  });
  REQUIRE(!outcome.status.ok());
  CHECK(outcome.status.error().text().find("no DSP") != std::string::npos);
}

}  // namespace deputy::stream_test
