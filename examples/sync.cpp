// One inference, from a .tflite file to a class, on the simulated SoC.
// sync ECG_FOLDER (workloads/ecg)
#include "deputy/session.h"
#include "deputy/simulate.h"
#include "support.h"

using namespace deputy;

int main(int argc, char** argv) {
  const std::string ecg = argc > 1 ? argv[1] : "workloads/ecg";
  const Bytes tflite = read_file(ecg + "/ecg_beats.tflite");
  const Bytes beat = read_file(ecg + "/sample_beat.npy"),
              golden = read_file(ecg + "/golden/sample_beat_tflite.npy");

  const auto program = [&](HwPort& port, const Target& target) -> base::Status {
    DEPUTY_ASSIGN(const Model model, Model::compile(target, tflite, "ecg_beats"));
    std::size_t on_npu = 0;
    for (const OperatorInfo& op : model.operators()) on_npu += op.on_npu;
    std::printf("compiled for %s: %zu of %zu operators on the NPU\n", target.name().c_str(), on_npu,
                model.operators().size());

    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(const Session session, Session::load(device, model));
    DEPUTY_ASSIGN(const auto outputs,
                  session.run(std::vector<Bytes>{npy_row(beat, 0, session.inputs()[0].bytes)}));

    const RunRecord record = session.record();
    std::printf("inference: %.1f us, %llu bytes copied by the CPU\n",
                us(record.end_ps - record.start_ps),
                static_cast<unsigned long long>(record.copied_bytes));
    std::printf("the beat is %s\n", beat_class(outputs[0]));
    return require(outputs[0] == npy_row(golden, 0, outputs[0].size()),
                   "the scores are not the expected ones");
  };
  const auto report = simulate("wearable", {}, program);
  if (!report.ok()) return finish(report.error());
  std::printf("the whole program: %.1f us, %.2f uJ\n", us(report->end_ps),
              report->energy_nj / 1000);
}
