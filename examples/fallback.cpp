// An NPU that dies in the middle of an inference: the runtime climbs its ladder, computes the NPU's
// part on the CPU, and the result is the same bytes. fallback ECG_FOLDER FAULT_PLAN (workloads/ecg
// configs/faults/npu_dead.yaml)
#include "deputy/session.h"
#include "deputy/simulate.h"
#include "support.h"

using namespace deputy;

int main(int argc, char** argv) {
  const std::string ecg = argc > 1 ? argv[1] : "workloads/ecg";
  const std::string plan = argc > 2 ? argv[2] : "configs/faults/npu_dead.yaml";
  const Bytes tflite = read_file(ecg + "/ecg_beats.tflite");
  const Bytes beat = read_file(ecg + "/sample_beat.npy"),
              golden = read_file(ecg + "/golden/sample_beat_tflite.npy");

  const auto program = [&](HwPort& port, const Target& target) -> base::Status {
    ModelOptions options;
    options.engine = EnginePolicy::kNpu;
    options.fallback = true;  // with each NPU program one for the CPU
    DEPUTY_ASSIGN(const Model model, Model::compile(target, tflite, "ecg_beats", options));
    DeviceOptions careful;
    careful.recovery = RecoveryOptions::full();
    DEPUTY_ASSIGN(const Device device, Device::open(port, careful));
    DEPUTY_ASSIGN(const Session session, Session::load(device, model));
    DEPUTY_ASSIGN(const auto outputs,
                  session.run(std::vector<Bytes>{npy_row(beat, 0, session.inputs()[0].bytes)}));

    for (const RecoveryEvent& event : device.recovery_events())
      std::printf("%9.1f us  %s: %s (%s)\n", us(event.time_ps), event.engine.c_str(),
                  recovery_step_text(event.step), event.what.c_str());
    const RunRecord record = session.record();
    std::printf("%zu NPU program%s computed on the CPU\n", record.degraded.size(),
                record.degraded.size() == 1 ? "" : "s");
    std::printf("the beat is %s, after %.1f us\n", beat_class(outputs[0]),
                us(record.end_ps - record.start_ps));
    DEPUTY_TRY(require(!record.degraded.empty(), "the CPU had nothing to do"));
    return require(outputs[0] == npy_row(golden, 0, outputs[0].size()),
                   "the scores are not the expected ones");
  };
  SimulationOptions faulty;
  faulty.fault_plan = plan;
  const auto report = simulate("wearable", faulty, program);
  if (!report.ok()) return finish(report.error());
  std::printf("%zu faults were injected\n", report->faults.size());
  if (report->faults.empty()) return 8;
}
